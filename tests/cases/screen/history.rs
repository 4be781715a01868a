//! The history of a pixel: what each draw does there. Oracle: the state of the scene. Each test
//! knows which test fails, which values are compared, and what is written.

use crate::screen::exact::pattern;
use crate::screen::kernels;
use crate::screen::kills::UPPER;
use crate::screen::scene::{DEPTH, Scene, TARGETS, on_screen};
use genxml::engine::EngineId;
use genxml::gen8::enums::{
    ThreeDColorBufferBlendFactor as Factor, ThreeDColorBufferBlendFunction as Function,
    ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code,
    ThreeDStencilOperation as Operation,
};
use genxml::gen8::render3d_depth::ThreeDStateDepthBufferSurfaceFormat as DepthFormat;
use genxml::gen8::render3d_raster::{ScissorRect, ThreeDStateRasterCullMode as Cull};
use genxml::gen8::state::NumberOfMultisamples;
use genxml_cases::{Model, push, u};
use genxml_sim::inspect::history::fragment::Lost;
use genxml_sim::inspect::history::{
    Channels, DrawTouch, Entry, Finder, Fragment, History, HistoryError, Kind,
};

/// A rectangle of 8 x 8 pixels at the origin.
fn rectangle(value: u32) -> Scene {
    let corners = [(8.0, 8.0), (0.0, 8.0), (0.0, 0.0)];
    let vertices = corners.map(|(x, y)| on_screen(x, y, value)).to_vec();
    Scene::new([16, 16], Code::_3DPRIM_RECTLIST, vertices)
}

/// A triangle that covers the upper left half of a 16 x 16 screen, clockwise.
fn triangle(value: u32) -> Scene {
    let corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)];
    let vertices = corners.map(|(x, y)| on_screen(x, y, value)).to_vec();
    Scene::new([16, 16], Code::_3DPRIM_TRILIST, vertices)
}

/// The history of a pixel of a scene, and the model after the draw.
struct Told {
    history: History,
    model: Model,
}

impl Told {
    #[track_caller]
    fn new(scene: &Scene, at: [u32; 2], sample: u32, target: Option<u64>) -> Told {
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        let mut finder = Finder::new(at, sample, target, None);
        model.submit_observed(EngineId::Render, &batch, &mut finder).unwrap();
        let found = finder.found().unwrap();
        // The same buffers are at the same physical addresses in a second model.
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        let mut history = History::new(found.probe, None);
        model.submit_observed(EngineId::Render, &batch, &mut history).unwrap();
        // Without an observer, memory gets the same contents.
        let mut plain = scene.model();
        let batch = scene.batch(&mut plain);
        plain.render(&batch).unwrap();
        for address in [TARGETS, DEPTH].into_iter().take(1 + usize::from(scene.depth.is_some())) {
            assert_eq!(model.get(address, 4096), plain.get(address, 4096), "{address:#x}");
        }
        let told = Told { history, model };
        let address = told.history.probe().address;
        let value = told.history.value().unwrap().clone();
        let mut told = told;
        assert_eq!(told.model.read(address, value.bytes.len()), value.bytes, "the final value");
        told
    }

    #[track_caller]
    fn entry(&self) -> &Entry {
        let [entry] = self.history.entries() else {
            panic!("{} entries", self.history.entries().len())
        };
        assert_eq!((entry.kind, entry.submission), (Kind::Draw, 1));
        assert_eq!(entry.at.unwrap().packet, "3DPRIMITIVE");
        entry
    }

    #[track_caller]
    fn draw(&self) -> &DrawTouch {
        self.entry().draw.as_ref().unwrap()
    }

    #[track_caller]
    fn fragment(&self) -> &Fragment {
        let [fragment] = &self.draw().fragments[..] else {
            panic!("{} fragments", self.draw().fragments.len())
        };
        fragment
    }

    /// The decoded value before and after the draw.
    fn values(&self) -> [Channels; 2] {
        let entry = self.entry();
        [&entry.old, &entry.new].map(|value| self.history.probe().channels(value.as_ref().unwrap()))
    }
}

#[test]
fn a_write_with_vertices_and_weights() {
    let told = Told::new(&triangle(7), [3, 2], 0, None);
    assert_eq!(told.values(), [[0, 0, 0, 1], [7, 0, 0, 1]].map(Channels::Integers));
    let fragment = told.fragment();
    assert_eq!(fragment.lost_by(0), None);
    let expected = [[0.0, 0.0], [16.0, 0.0], [0.0, 16.0]].map(|[x, y]| Some([x, y, 0.0, 1.0]));
    assert_eq!((fragment.primitive.vertices, fragment.primitive.count), (expected, 3));
    let coverage = fragment.coverage.as_ref().unwrap();
    // The middle of the pixel is 3.5, 2.5.
    assert_eq!(coverage.barycentric, [1.0 - 6.0 / 16.0, 3.5 / 16.0, 2.5 / 16.0]);
    assert_eq!((coverage.rasterised, coverage.samples, coverage.back), (1, 1, false));
    let output = &fragment.outputs[0];
    assert_eq!((output.binding, output.color, output.enabled), (0, [7; 4], true));
    assert_eq!(output.target.unwrap().base, TARGETS);
    let shading = fragment.shading.as_ref().unwrap();
    assert!(shading.instructions > 1 && shading.writes.len() == 1, "{shading:?}");
    assert_eq!(shading.discard, None);
    // Nothing covers the pixel at the other corner.
    assert_eq!(Told::new(&triangle(7), [12, 12], 0, None).history.entries(), []);
}

#[test]
fn a_depth_test_that_fails_and_one_that_passes() {
    let half = 0.5f32.to_bits();
    for (function, passes) in
        [(Compare::COMPAREFUNCTION_LESS, true), (Compare::COMPAREFUNCTION_GREATER, false)]
    {
        let mut scene = rectangle(7);
        scene.vertices.iter_mut().for_each(|vertex| vertex.position[2] = 0.25);
        scene.depth = Some((DepthFormat::D32_FLOAT, half));
        scene.tests.depth_test_enable = true;
        scene.tests.depth_buffer_write_enable = true;
        scene.tests.depth_test_function = function;
        // The colour: the test decides whether it is written.
        let told = Told::new(&scene, [1, 6], 0, None);
        let fragment = told.fragment();
        let test = fragment.tests[0].depth.unwrap();
        assert_eq!((test.depth, test.stored_depth, test.passed), (0.25, 0.5, passes));
        assert_eq!((test.function, test.written), (function.name().unwrap(), passes));
        assert_eq!(fragment.lost_by(0), (!passes).then_some(Lost::Depth));
        assert_eq!(fragment.outputs.len(), usize::from(passes));
        assert_eq!(told.entry().old != told.entry().new, passes);
        // The depth buffer itself.
        let told = Told::new(&scene, [1, 6], 0, Some(DEPTH));
        let after = if passes { 0.25 } else { 0.5 };
        assert_eq!(told.values(), [0.5, after].map(Channels::Depth));
        assert!(told.draw().as_depth);
    }
}

#[test]
fn a_stencil_test_that_fails() {
    let mut scene = rectangle(7);
    scene.stencil = Some(3);
    scene.tests.stencil_test_enable = true;
    scene.tests.stencil_buffer_write_enable = true;
    scene.tests.stencil_test_mask = u(0xff);
    scene.tests.stencil_write_mask = u(0xff);
    scene.tests.stencil_test_function = Compare::COMPAREFUNCTION_EQUAL;
    scene.tests.stencil_fail_op = Operation::STENCILOP_INCR;
    scene.color.stencil_reference_value = u(5);
    let told = Told::new(&scene, [2, 2], 0, None);
    let test = told.fragment().tests[0].stencil.unwrap();
    assert_eq!((test.reference, test.stored, test.after, test.passed), (5, 3, 4, false));
    assert_eq!(told.fragment().lost_by(0), Some(Lost::Stencil));
    assert_eq!(told.fragment().shading, None);
}

#[test]
fn a_discard_with_its_instructions() {
    let mut scene = rectangle(7);
    scene.kernel = UPPER;
    scene.extra.pixel_shader_kills_pixel = true;
    let upper = Told::new(&scene, [4, 2], 0, None);
    assert_eq!(upper.fragment().lost_by(0), None);
    let told = Told::new(&scene, [4, 3], 0, None);
    let fragment = told.fragment();
    assert_eq!(fragment.lost_by(0), Some(Lost::Discard));
    assert_eq!(told.entry().old, told.entry().new);
    let shading = fragment.shading.as_ref().unwrap();
    let discard = shading.discard.unwrap();
    // Instructions of 16 bytes: the fifth sets the flag, the sixth writes.
    assert_eq!((discard.flag, discard.write), (Some(4 * 16), Some(5 * 16)));
}

#[test]
fn blending_with_its_colours() {
    let mut scene = rectangle(0.5f32.to_bits()).floats();
    scene.targets[0].before = [0.25f32.to_bits(); 4];
    let entry = &mut scene.blend.entry[0];
    entry.color_buffer_blend_enable = true;
    entry.source_blend_factor = Factor::BLENDFACTOR_SRC_ALPHA;
    entry.destination_blend_factor = Factor::BLENDFACTOR_ONE;
    entry.color_blend_function = Function::BLENDFUNCTION_ADD;
    let told = Told::new(&scene, [0, 0], 0, None);
    let blend = told.fragment().outputs[0].target.unwrap().blends[0].unwrap();
    assert_eq!((blend.source, blend.destination), ([0.5; 4], [0.25; 4]));
    assert_eq!(blend.result, [0.5 * 0.5 + 0.25; 4]);
    let [color, _] = blend.equations;
    assert_eq!(color[0], Some("BLENDFACTOR_SRC_ALPHA"));
    assert_eq!(told.values(), [[0.25; 4], [0.5; 4]].map(Channels::Floats));
}

#[test]
fn an_alpha_test_that_fails() {
    let mut scene = rectangle(0.5f32.to_bits()).floats();
    scene.blend.alpha_test_enable = true;
    scene.blend.alpha_test_function = Compare::COMPAREFUNCTION_NEVER;
    let told = Told::new(&scene, [0, 0], 0, None);
    assert_eq!(told.fragment().lost_by(0), Some(Lost::Alpha));
}

/// The kernel removes all samples by oMask.
#[test]
fn a_sample_mask_of_the_shader() {
    let mut scene = rectangle(0);
    scene.kernel = kernels::WITH_MASK;
    scene.extra.o_mask_present_to_render_target = true;
    let told = Told::new(&scene, [0, 0], 0, None);
    assert_eq!(told.fragment().outputs[0].omask.map(|mask| mask & 1), Some(0));
    assert_eq!(told.fragment().lost_by(0), Some(Lost::Discard));
}

#[test]
fn primitives_that_do_not_reach_the_pixel() {
    let mut scene = triangle(7);
    scene.raster.cull_mode = Cull::CULLMODE_BOTH;
    let told = Told::new(&scene, [3, 2], 0, None);
    assert_eq!(told.fragment().lost_by(0), Some(Lost::Culled));
    assert_eq!(told.draw().primitives, [1, 0, 1]);
    let mut scene = triangle(7);
    scene.scissors = vec![ScissorRect {
        scissor_rectangle_x_min: u(8),
        scissor_rectangle_x_max: u(15),
        scissor_rectangle_y_max: u(15),
        ..ScissorRect::unpack_lossy(&[0; ScissorRect::DWORDS])
    }];
    let told = Told::new(&scene, [3, 2], 0, None);
    assert_eq!(told.fragment().lost_by(0), Some(Lost::Scissor));
    let mut scene = triangle(7);
    scene.sample_mask = 0xfe;
    let told = Told::new(&scene, [3, 2], 0, None);
    assert_eq!(told.fragment().lost_by(0), Some(Lost::Mask));
}

/// Several primitives of a draw at a pixel: the new value of one is the old value of the next.
#[test]
fn primitives_in_order() {
    let mut scene = triangle(7);
    let second = triangle(9).vertices;
    scene.vertices.extend(second);
    let told = Told::new(&scene, [3, 2], 0, None);
    let [first, second] = &told.draw().fragments[..] else { panic!("two fragments") };
    assert_eq!([first.primitive.number, second.primitive.number], [0, 1]);
    assert_eq!(first.new, second.old);
    assert_eq!((&told.entry().old, &told.entry().new), (&first.old, &second.new));
    let values = [&first.new, &second.new]
        .map(|value| told.history.probe().channels(value.as_ref().unwrap()));
    assert_eq!(values, [[7, 0, 0, 1], [9, 0, 0, 1]].map(Channels::Integers));
}

#[test]
fn samples() {
    let mut scene = triangle(7);
    scene.samples = NumberOfMultisamples::_4;
    scene.targets[0].samples = 4;
    push(&mut scene.more, &pattern());
    // The edge goes through this pixel, so some of its samples are covered and some are not.
    let drawn: Vec<bool> = (0..4)
        .map(|sample| {
            let told = Told::new(&scene, [8, 7], sample, None);
            let entries = told.history.entries();
            assert!(entries.iter().all(|entry| entry.old != entry.new), "sample {sample}");
            !entries.is_empty()
        })
        .collect();
    assert!(drawn.contains(&true) && drawn.contains(&false), "{drawn:?}");
}

#[test]
fn pixels_that_do_not_exist() {
    let scene = triangle(7);
    let fail = |at, sample, target| {
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        let mut finder = Finder::new(at, sample, target, None);
        model.submit_observed(EngineId::Render, &batch, &mut finder).unwrap();
        finder.found().unwrap_err()
    };
    assert!(matches!(fail([16, 0], 0, None), HistoryError::Outside { width: 16, .. }));
    assert!(matches!(fail([0, 0], 1, None), HistoryError::Sample { sample: 1, samples: 1 }));
    let unknown = fail([0, 0], 0, Some(0x1234));
    assert!(matches!(&unknown, HistoryError::UnknownTarget { known, .. } if known == &[TARGETS]));
    let finder = Finder::new([0, 0], 0, None, None);
    assert_eq!(finder.found().unwrap_err(), HistoryError::NoTarget);
}
