//! Draws without one of the packets that they use, with invalid and stale pointers, and with
//! reserved values in structures; and the same draws as they should be. Oracle: the pages of 2a and
//! 2d that the tables below name.

use super::kernels::{END, kernel};
use crate::geometry::harness;
use crate::screen::scene::{Scene, on_screen};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::gen8::enums::{ThreeDColorBufferBlendFactor as Factor, ThreeDPrimTopoType as Code};
use genxml::gen8::mi::{PipeControl, PipelineSelect, PipelineSelectPipelineSelection as Pipeline};
use genxml::gen8::render3d_binding::*;
use genxml::gen8::render3d_constants::*;
use genxml::gen8::render3d_depth::*;
use genxml::gen8::render3d_fetch::*;
use genxml::gen8::render3d_pixel::*;
use genxml::gen8::render3d_raster::*;
use genxml::gen8::render3d_stages::*;
use genxml::gen8::state::{NumberOfMultisamples, StateBaseAddress};
use genxml_cases::{Compute, DYNAMIC_STATE, KERNELS, Model, SURFACE_STATE, at, draw, packets, u};
use genxml_sim::inspect::sanitize::{Finding, Sanitizers};
use genxml_sim::{Event, Now};
use std::collections::BTreeSet;

/// What `state` finds while the batches run, one after the other, in one context. The draws of some
/// tests end with a fault, after the sanitizer has seen them.
fn findings(model: &mut Model, batches: &[&[u32]]) -> Vec<Finding> {
    let mut sanitizers = Sanitizers::new(["state"], Generation::Gen8).expect("a sanitizer");
    for batch in batches {
        let _ = model.submit_observed(EngineId::Render, batch, &mut sanitizers);
    }
    sanitizers.findings().map(|(_, finding)| finding.clone()).collect()
}

/// Rule and packet, which is the second word of the second side.
pub(super) fn brief(findings: &[Finding]) -> Vec<(&str, &str)> {
    findings
        .iter()
        .map(|finding| {
            let second = finding.second.action.split([' ', ':']).nth(1).unwrap_or_default();
            (finding.rule.id, second)
        })
        .collect()
}

/// The batch without the packets of a name. The model finds the packets: it runs the batch.
fn without(mut model: Model, batch: &[u32], name: &str) -> Vec<u32> {
    let mut kept = Vec::new();
    let mut removed = 0;
    let mut split = |_: Now, event: &Event<'_>| match event {
        Event::Packet { at, .. } if at.packet == name => removed += 1,
        Event::Packet { at, dwords, .. } if at.packet != "MI_BATCH_BUFFER_END" => {
            kept.extend_from_slice(dwords);
        }
        _ => {}
    };
    let _ = model.submit_observed(EngineId::Render, batch, &mut split);
    assert_ne!(removed, 0, "no {name}");
    kept
}

/// The packets that switch off all that the scenes do not use.
pub(super) fn prelude() -> Vec<u32> {
    let mut batch = draw::urb(4);
    for index in 0..8 {
        batch.extend(packets![ThreeDStateVfInstancing {
            vertex_element_index: u(index),
            ..ThreeDStateVfInstancing::new()
        }]);
    }
    batch.extend(packets![
        ThreeDStateVf::new(),
        ThreeDStateVfSgvs::new(),
        ThreeDStateVfStatistics::new(),
        ThreeDStateVs::new(),
        ThreeDStateHs::new(),
        ThreeDStateTe::new(),
        ThreeDStateDs::new(),
        ThreeDStateGs::new(),
        ThreeDStateStreamout::new(),
        ThreeDStateWmHzOp::new(),
        ThreeDStateWmChromakey::new(),
        ThreeDStateWmDepthStencil::new(),
        ThreeDStateDepthBuffer::new(),
        ThreeDStateHierDepthBuffer::new(),
        ThreeDStateStencilBuffer::new(),
        ThreeDStateClearParams::new(),
        ThreeDStateSamplePattern::new(),
        ThreeDStateAaLineParameters::new(),
        ThreeDStateLineStipple::new(),
        ThreeDStatePolyStippleOffset::new(),
        ThreeDStatePolyStipplePattern::new(),
        ThreeDStateSbeSwiz::new(),
        ThreeDStateClip::new(),
        ThreeDStateSf::new(),
        ThreeDStateRaster::new(),
        ThreeDStateWm::new(),
        ThreeDStatePsExtra::new(),
        ThreeDStateMultisample::new(),
        ThreeDStateSampleMask::new(),
        ThreeDStateDrawingRectangle::new(),
    ]);
    batch.extend(packets![
        ThreeDStateConstantVs::new(),
        ThreeDStateConstantHs::new(),
        ThreeDStateConstantDs::new(),
        ThreeDStateConstantGs::new(),
        ThreeDStatePushConstantAllocVs::new(),
        ThreeDStatePushConstantAllocHs::new(),
        ThreeDStatePushConstantAllocDs::new(),
        ThreeDStatePushConstantAllocGs::new(),
        ThreeDStatePushConstantAllocPs::new(),
        ThreeDStateBindingTablePointersVs::new(),
        ThreeDStateBindingTablePointersHs::new(),
        ThreeDStateBindingTablePointersDs::new(),
        ThreeDStateBindingTablePointersGs::new(),
        ThreeDStateSamplerStatePointersVs::new(),
        ThreeDStateSamplerStatePointersHs::new(),
        ThreeDStateSamplerStatePointersDs::new(),
        ThreeDStateSamplerStatePointersGs::new(),
        ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: at(SAMPLERS) },
    ]);
    batch
}

/// Offset of sampler states from the dynamic state base.
const SAMPLERS: u64 = 0xc00;

/// A kernel that samples the surface of entry 0 with sampler 1, and writes a render target.
fn sampling() -> &'static [u32] {
    let text = format!(
        "
        (W) mov (8|M0)  r6.0<1>:ud  0:ud
        (W) mov (8|M0)  r7.0<1>:ud  0:ud
        (W) send (8|M0) r20 r6 0x2 0x04420100
        {END}"
    );
    Vec::leak(kernel(&text).0)
}

pub(super) fn triangle() -> Scene {
    let corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)];
    let vertices = corners.map(|(x, y)| on_screen(x, y, 7)).to_vec();
    Scene::new([8, 8], Code::_3DPRIM_TRILIST, vertices)
}

fn lines() -> Scene {
    let corners = [(0.0, 0.0), (6.0, 6.0)];
    let vertices = corners.map(|(x, y)| on_screen(x, y, 7)).to_vec();
    let mut scene = Scene::new([8, 8], Code::_3DPRIM_LINELIST, vertices);
    scene.raster.antialiasing_enable = true;
    scene.wm.line_stipple_enable = true;
    scene
}

fn stencilled() -> Scene {
    let mut scene = triangle();
    scene.stencil = Some(0);
    scene.tests.stencil_test_enable = true;
    scene
}

fn tested() -> Scene {
    let mut scene = triangle();
    scene.depth = Some((ThreeDStateDepthBufferSurfaceFormat::D32_FLOAT, 0));
    scene.tests.depth_test_enable = true;
    scene
}

fn blended(factor: Factor) -> Scene {
    let mut scene = triangle().floats();
    scene.blend.entry[0].color_buffer_blend_enable = true;
    scene.blend.entry[0].source_blend_factor = factor;
    scene.blend.entry[0].destination_blend_factor = Factor::BLENDFACTOR_ONE;
    scene
}

/// Puts packets before the draw.
pub(super) fn with(mut scene: Scene, more: Vec<u32>) -> Scene {
    scene.more.extend(more);
    scene
}

/// The batch of a scene, after the prelude.
fn scene(scene: &Scene) -> (Model, Vec<u32>) {
    let mut model = scene.model();
    let batch = scene.batch(&mut model);
    (model, after_bases(&batch))
}

/// The batch of a draw with the prelude after its base addresses.
pub(super) fn after_bases(batch: &[u32]) -> Vec<u32> {
    let (bases, rest) = batch.split_at(draw::pipeline().len());
    [bases, &prelude(), rest].concat()
}

/// A draw that writes its vertices with stream output.
fn streams(indices: bool) -> (Model, Vec<u32>) {
    let mut draw = harness::Draw::new(Code::_3DPRIM_POINTLIST, 4);
    draw.indices = indices.then(|| vec![0, 1, 2, 3]);
    let mut model = harness::model();
    let batch = draw.batch(&mut model);
    (model, after_bases(&batch))
}

/// Puts the kernel of [`sampling`] after the one of the scene.
fn stage(stage: impl FnOnce(u64) -> Vec<u32>) -> (Model, Vec<u32>) {
    let (mut model, batch) = scene(&with(triangle(), stage(0x800)));
    model.put(KERNELS + 0x800, sampling());
    (model, batch)
}

fn vs() -> (Model, Vec<u32>) {
    stage(|kernel| {
        packets![ThreeDStateVs {
            function_enable: true,
            kernel_start_pointer: at(kernel),
            maximum_number_of_threads: genxml_cases::minus_one(8),
            ..ThreeDStateVs::new()
        }]
    })
}

fn constants() -> ThreeDStateConstantBody {
    ThreeDStateConstantBody {
        constant_buffer_0_read_length: u(1),
        ..ThreeDStateConstantVs::new().constant_body
    }
}

/// A scene, and the packets that its draw uses.
type Row = (&'static str, fn() -> (Model, Vec<u32>), &'static [&'static str]);

/// Draws with the packets that they use. Each packet is left out once.
const ROWS: &[Row] = &[
    (
        "every draw",
        || scene(&triangle()),
        &[
            "PIPELINE_SELECT",
            "STATE_BASE_ADDRESS",
            "3DSTATE_VF_TOPOLOGY",
            "3DSTATE_VERTEX_ELEMENTS",
            "3DSTATE_VF_SGVS",
            "3DSTATE_VF_STATISTICS",
            "3DSTATE_VF_INSTANCING",
            "3DSTATE_VERTEX_BUFFERS",
            "3DSTATE_URB_VS",
            "3DSTATE_URB_HS",
            "3DSTATE_URB_DS",
            "3DSTATE_URB_GS",
            "3DSTATE_VS",
            "3DSTATE_HS",
            "3DSTATE_TE",
            "3DSTATE_DS",
            "3DSTATE_GS",
            "3DSTATE_STREAMOUT",
            "3DSTATE_CLIP",
            "3DSTATE_SF",
            "3DSTATE_RASTER",
            "3DSTATE_WM",
            "3DSTATE_MULTISAMPLE",
            "3DSTATE_SAMPLE_MASK",
            "3DSTATE_DRAWING_RECTANGLE",
            "3DSTATE_DEPTH_BUFFER",
            "3DSTATE_WM_DEPTH_STENCIL",
            "3DSTATE_WM_HZ_OP",
            "3DSTATE_PS_EXTRA",
            "3DSTATE_PS_BLEND",
            "3DSTATE_WM_CHROMAKEY",
            "3DSTATE_PS",
            "3DSTATE_SBE",
            "3DSTATE_BINDING_TABLE_POINTERS_PS",
            "3DSTATE_BLEND_STATE_POINTERS",
        ],
    ),
    ("lines", || scene(&lines()), &["3DSTATE_AA_LINE_PARAMETERS", "3DSTATE_LINE_STIPPLE"]),
    (
        "stippled polygons",
        || {
            let mut scene = triangle();
            scene.wm.polygon_stipple_enable = true;
            self::scene(&scene)
        },
        &["3DSTATE_POLY_STIPPLE_PATTERN", "3DSTATE_POLY_STIPPLE_OFFSET"],
    ),
    (
        "scissor rectangles",
        || {
            let mut scene = triangle();
            scene.scissors = vec![ScissorRect::new()];
            self::scene(&scene)
        },
        &["3DSTATE_SCISSOR_STATE_POINTERS"],
    ),
    ("clipping", || scene(&triangle().clipped()), &["3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP"]),
    ("depth test", || scene(&tested()), &["3DSTATE_VIEWPORT_STATE_POINTERS_CC"]),
    (
        "hierarchical depth",
        || {
            let scene = tested();
            let buffer = ThreeDStateDepthBuffer {
                hierarchical_depth_buffer_enable: true,
                ..scene.depth_buffer()
            };
            self::scene(&with(scene, packets![buffer]))
        },
        &["3DSTATE_HIER_DEPTH_BUFFER", "3DSTATE_CLEAR_PARAMS"],
    ),
    (
        "stencil test",
        || scene(&stencilled()),
        &["3DSTATE_STENCIL_BUFFER", "3DSTATE_CC_STATE_POINTERS"],
    ),
    (
        "blending with a constant",
        || scene(&blended(Factor::BLENDFACTOR_CONST_COLOR)),
        &["3DSTATE_CC_STATE_POINTERS"],
    ),
    (
        "samples",
        || {
            let mut scene = triangle();
            scene.samples = NumberOfMultisamples::_4;
            scene.targets[0].samples = 4;
            self::scene(&scene)
        },
        &["3DSTATE_SAMPLE_PATTERN"],
    ),
    (
        "swizzles",
        || {
            let mut scene = triangle();
            scene.sbe.attribute_swizzle_enable = true;
            self::scene(&scene)
        },
        &["3DSTATE_SBE_SWIZ"],
    ),
    (
        "constants of the pixel shader",
        || {
            let mut scene = triangle();
            scene.constants = vec![[0; 8]];
            self::scene(&scene)
        },
        &["3DSTATE_CONSTANT_PS", "3DSTATE_PUSH_CONSTANT_ALLOC_PS"],
    ),
    (
        "textures",
        || {
            let mut scene = triangle();
            scene.kernel = sampling();
            self::scene(&scene)
        },
        &["3DSTATE_SAMPLER_STATE_POINTERS_PS", "3DSTATE_BINDING_TABLE_POINTERS_PS"],
    ),
    (
        "vertex shader",
        vs,
        &[
            "3DSTATE_CONSTANT_VS",
            "3DSTATE_SAMPLER_STATE_POINTERS_VS",
            "3DSTATE_BINDING_TABLE_POINTERS_VS",
        ],
    ),
    (
        "constants of the vertex shader",
        || {
            let (model, batch) = vs();
            let constants = ThreeDStateConstantVs {
                constant_body: constants(),
                ..ThreeDStateConstantVs::new()
            };
            let primitive = batch.len() - ThreeDPrimitive::DWORDS;
            let (state, primitive) = batch.split_at(primitive);
            (model, [state, &packets![constants], primitive].concat())
        },
        &["3DSTATE_PUSH_CONSTANT_ALLOC_VS"],
    ),
    (
        "tessellation",
        || {
            stage(|kernel| {
                packets![
                    ThreeDStateHs {
                        enable: true,
                        kernel_start_pointer: at(kernel),
                        ..ThreeDStateHs::new()
                    },
                    ThreeDStateTe { te_enable: true, ..ThreeDStateTe::new() },
                    ThreeDStateDs {
                        function_enable: true,
                        kernel_start_pointer: at(kernel),
                        ..ThreeDStateDs::new()
                    },
                ]
            })
        },
        &[
            "3DSTATE_CONSTANT_HS",
            "3DSTATE_SAMPLER_STATE_POINTERS_HS",
            "3DSTATE_BINDING_TABLE_POINTERS_HS",
            "3DSTATE_CONSTANT_DS",
            "3DSTATE_SAMPLER_STATE_POINTERS_DS",
            "3DSTATE_BINDING_TABLE_POINTERS_DS",
        ],
    ),
    (
        "geometry shader",
        || {
            stage(|kernel| {
                packets![ThreeDStateGs {
                    enable: true,
                    kernel_start_pointer: at(kernel),
                    ..ThreeDStateGs::new()
                }]
            })
        },
        &[
            "3DSTATE_CONSTANT_GS",
            "3DSTATE_SAMPLER_STATE_POINTERS_GS",
            "3DSTATE_BINDING_TABLE_POINTERS_GS",
        ],
    ),
    ("stream output", || streams(false), &["3DSTATE_SO_DECL_LIST", "3DSTATE_SO_BUFFER"]),
    ("indices", || streams(true), &["3DSTATE_INDEX_BUFFER", "3DSTATE_VF"]),
];

/// Packets that set state which the draw of a row does not use: leaving them out is no mistake.
const UNUSED: &[(&str, &[&str])] = &[
    (
        "every draw",
        &[
            "3DSTATE_VF",
            "3DSTATE_SBE_SWIZ",
            "3DSTATE_STENCIL_BUFFER",
            "3DSTATE_HIER_DEPTH_BUFFER",
            "3DSTATE_CLEAR_PARAMS",
            "3DSTATE_SAMPLE_PATTERN",
            "3DSTATE_AA_LINE_PARAMETERS",
            "3DSTATE_LINE_STIPPLE",
            "3DSTATE_POLY_STIPPLE_OFFSET",
            "3DSTATE_POLY_STIPPLE_PATTERN",
            "3DSTATE_CONSTANT_VS",
            "3DSTATE_CONSTANT_PS",
            "3DSTATE_PUSH_CONSTANT_ALLOC_PS",
            "3DSTATE_BINDING_TABLE_POINTERS_VS",
            "3DSTATE_SAMPLER_STATE_POINTERS_PS",
            "3DSTATE_CC_STATE_POINTERS",
            "3DSTATE_SCISSOR_STATE_POINTERS",
            "3DSTATE_VIEWPORT_STATE_POINTERS_CC",
            "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP",
        ],
    ),
    ("lines", &["3DSTATE_POLY_STIPPLE_PATTERN"]),
    ("depth test", &["3DSTATE_CC_STATE_POINTERS", "3DSTATE_STENCIL_BUFFER"]),
    ("stream output", &["3DSTATE_SF", "3DSTATE_PS_EXTRA", "3DSTATE_DEPTH_BUFFER"]),
];

#[test]
fn each_packet_that_a_draw_uses() {
    let mut count = 0;
    for (name, make, packets) in ROWS {
        let (mut model, batch) = make();
        assert_eq!(brief(&findings(&mut model, &[&batch])), [], "{name}");
        for packet in *packets {
            let (model, batch) = make();
            let mutant = without(model, &batch, packet);
            let found = findings(&mut make().0, &[&mutant]);
            let rules: BTreeSet<_> = brief(&found).into_iter().collect();
            assert_eq!(rules, BTreeSet::from([("STATE-UNSET", *packet)]), "{name}: {packet}");
            assert_eq!(found[0].second.at.packet, "3DPRIMITIVE");
            count += 1;
        }
    }
    assert_eq!(count, 70);
    for (name, packets) in UNUSED {
        let row = ROWS.iter().find(|(row, ..)| row == name).expect("a row");
        for packet in *packets {
            let (model, batch) = (row.1)();
            let mutant = without(model, &batch, packet);
            let found = findings(&mut (row.1)().0, &[&mutant]);
            assert_eq!(brief(&found), [], "{name}: {packet}");
        }
    }
}

/// Runs the batch of a scene, then `between`, then its draw again.
fn twice(scene: &Scene, between: &[u32]) -> Vec<Finding> {
    let mut model = scene.model();
    for address in [SURFACE_STATE, DYNAMIC_STATE] {
        model.map(address + MOVED, 0x2000);
    }
    model.map(KERNELS + MOVED, 0x2000);
    let batch = scene.batch(&mut model);
    let batch = after_bases(&batch);
    // The same state and kernels at the other bases.
    for address in [SURFACE_STATE, DYNAMIC_STATE, KERNELS] {
        let dwords = model.get(address, 0x400);
        model.put(address + MOVED, &dwords);
    }
    let draw = &batch[batch.len() - ThreeDPrimitive::DWORDS..];
    let sum = [&batch, between, draw].concat();
    findings(&mut model, &[&sum])
}

/// Distance of the second bases from the first ones.
const MOVED: u64 = 0x100_0000;

/// Packets with pointers, each with what it points to.
fn pointers() -> Vec<(&'static str, Vec<u32>)> {
    // The packets as the scene sends them.
    let scene = everything();
    let mut model = scene.model();
    let batch = scene.batch(&mut model);
    let batch = after_bases(&batch);
    let mut found = Vec::new();
    let mut collect = |_: Now, event: &Event<'_>| {
        if let Event::Packet { at, dwords, .. } = event
            && POINTERS.contains(&at.packet)
        {
            found.retain(|(name, _)| *name != at.packet);
            found.push((at.packet, dwords.to_vec()));
        }
    };
    model.submit_observed(EngineId::Render, &batch, &mut collect).expect("a draw");
    found
}

/// Packets with a pointer relative to a base, which the draw of [`everything`] uses.
const POINTERS: &[&str] = &[
    "3DSTATE_BLEND_STATE_POINTERS",
    "3DSTATE_CC_STATE_POINTERS",
    "3DSTATE_VIEWPORT_STATE_POINTERS_CC",
    "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP",
    "3DSTATE_SCISSOR_STATE_POINTERS",
    "3DSTATE_BINDING_TABLE_POINTERS_PS",
    "3DSTATE_PS",
];

/// A draw that uses all these pointers.
fn everything() -> Scene {
    let mut scene = stencilled().clipped();
    scene.depth = Some((ThreeDStateDepthBufferSurfaceFormat::D32_FLOAT, 0));
    scene.tests.depth_test_enable = true;
    scene.scissors = vec![ScissorRect::new()];
    scene
}

/// The bases change, and all pointers but one are sent again.
#[test]
fn pointers_relative_to_an_earlier_base() {
    let scene = everything();
    let pointers = pointers();
    assert_eq!(pointers.len(), POINTERS.len());
    let bases = |moved: u64| StateBaseAddress {
        surface_state_base_address_modify_enable: true,
        surface_state_base_address: at(SURFACE_STATE + moved),
        dynamic_state_base_address_modify_enable: true,
        dynamic_state_base_address: at(DYNAMIC_STATE + moved),
        instruction_base_address_modify_enable: true,
        instruction_base_address: at(KERNELS + moved),
        ..StateBaseAddress::new()
    };
    let sent = |left_out: &str| -> Vec<u32> {
        let kept = pointers.iter().filter(|(name, _)| *name != left_out);
        kept.flat_map(|(_, dwords)| dwords.iter().copied()).collect()
    };
    for name in POINTERS {
        let found = twice(&scene, &[packets![bases(MOVED)], sent(name)].concat());
        assert_eq!(brief(&found), [("STATE-STALE-BASE", *name)], "{name}");
        let sides = (found[0].first.at.packet, found[0].second.at.packet);
        assert_eq!(sides, (*name, "3DPRIMITIVE"));
        // The same bases once more are no change.
        assert_eq!(brief(&twice(&scene, &packets![bases(0)])), [], "{name}");
    }
    assert_eq!(brief(&twice(&scene, &[packets![bases(MOVED)], sent("")].concat())), []);
}

/// The descriptors were loaded when the bases were others.
#[test]
fn descriptors_relative_to_an_earlier_base() {
    let text = kernel(END).0;
    let bases = |instruction: u64| StateBaseAddress {
        instruction_base_address_modify_enable: true,
        instruction_base_address: at(instruction),
        ..StateBaseAddress::new()
    };
    for (instruction, expected) in [
        (KERNELS + MOVED, &[("STATE-STALE-BASE", "MEDIA_INTERFACE_DESCRIPTOR_LOAD")][..]),
        (KERNELS, &[]),
    ] {
        let mut model = Model::new();
        let compute = Compute::new(&text);
        let batch = compute.batch(&mut model);
        model.map(KERNELS + MOVED, 0x1000);
        model.put(KERNELS + MOVED, &text);
        let again = packets![bases(instruction), compute.walker()];
        assert_eq!(brief(&findings(&mut model, &[&[batch, again].concat()])), expected);
    }
}

/// Other memory at the address of the viewports.
#[test]
fn pointers_to_memory_that_is_mapped_anew() {
    let scene = triangle().clipped();
    for (moved, expected) in
        [(true, &[("STATE-STALE-MEMORY", "3DSTATE_BLEND_STATE_POINTERS")][..]), (false, &[])]
    {
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        let batch = after_bases(&batch);
        let draw = batch[batch.len() - ThreeDPrimitive::DWORDS..].to_vec();
        let mut sanitizers = Sanitizers::new(["state"], Generation::Gen8).expect("a sanitizer");
        model.submit_observed(EngineId::Render, &batch, &mut sanitizers).expect("a draw");
        if moved {
            let dwords = model.get(DYNAMIC_STATE, 0x1000);
            model.gpu.unmap(model.context, DYNAMIC_STATE, 4);
            model.map(DYNAMIC_STATE, 0x4000);
            model.put(DYNAMIC_STATE, &dwords);
        }
        model.submit_observed(EngineId::Render, &draw, &mut sanitizers).expect("a draw");
        let found: Vec<_> = sanitizers.findings().map(|(_, f)| f.clone()).collect();
        let mut found = brief(&found);
        found.retain(|(_, packet)| *packet != "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP");
        assert_eq!(found, expected);
    }
}

/// Pointers without their valid bits (2a p.31, p.33).
#[test]
fn invalid_pointers() {
    let blend = ThreeDStateBlendStatePointers::new();
    let color = ThreeDStateCcStatePointers::new();
    for (scene, packets, expected) in [
        (stencilled(), packets![color], "3DSTATE_CC_STATE_POINTERS"),
        (stencilled(), packets![blend], "3DSTATE_BLEND_STATE_POINTERS"),
        (
            blended(Factor::BLENDFACTOR_INV_CONST_ALPHA),
            packets![color],
            "3DSTATE_CC_STATE_POINTERS",
        ),
    ] {
        let (mut model, batch) = self::scene(&with(scene.clone(), packets));
        let found = findings(&mut model, &[&batch]);
        assert_eq!(brief(&found), [("STATE-INVALID", expected)]);
        assert_eq!(found[0].first.at.packet, expected);
        let (mut model, batch) = self::scene(&scene);
        assert_eq!(brief(&findings(&mut model, &[&batch])), []);
    }
    // Without a stencil test and without constants, nothing needs COLOR_CALC_STATE.
    let (mut model, batch) = scene(&with(triangle(), packets![color]));
    assert_eq!(brief(&findings(&mut model, &[&batch])), []);
}

/// A walker in the 3D pipeline, and a draw in the GPGPU pipeline.
#[test]
fn pipelines() {
    let text = kernel(END).0;
    for (selected, expected) in [
        (Pipeline::_3D, &[("STATE-PIPELINE", "the")][..]),
        (Pipeline::MEDIA, &[("STATE-PIPELINE", "the")]),
        (Pipeline::GPGPU, &[]),
    ] {
        let mut model = Model::new();
        let compute = Compute::new(&text);
        let batch = compute.batch(&mut model);
        let again = packets![PipelineSelect { pipeline_selection: selected }, compute.walker()];
        let found = findings(&mut model, &[&[batch, again].concat()]);
        assert_eq!(brief(&found), expected, "{selected:?}");
    }
    for (selected, expected) in [
        (Pipeline::_3D, &[][..]),
        (Pipeline::MEDIA, &[("STATE-PIPELINE", "the")]),
        (Pipeline::GPGPU, &[("STATE-PIPELINE", "the")]),
    ] {
        let select = packets![PipelineSelect { pipeline_selection: selected }];
        let (mut model, batch) = scene(&with(triangle(), select));
        assert_eq!(brief(&findings(&mut model, &[&batch])), expected, "{selected:?}");
    }
}

/// Media state that nothing set, and media state that PIPE_CONTROL cleared.
#[test]
fn media_state() {
    let text = kernel(END).0;
    let make = || {
        let mut model = Model::new();
        let compute = Compute { curbe: vec![0; 64], ..Compute::new(&text) };
        let batch = compute.batch(&mut model);
        (model, batch, packets![compute.walker()])
    };
    let packets = [
        ("PIPELINE_SELECT", "STATE-UNSET"),
        ("MEDIA_VFE_STATE", "STATE-UNSET"),
        ("MEDIA_INTERFACE_DESCRIPTOR_LOAD", "STATE-UNSET"),
        ("MEDIA_CURBE_LOAD", "STATE-UNSET"),
    ];
    for (packet, rule) in packets {
        let (mut model, batch, _) = make();
        assert_eq!(brief(&findings(&mut model, &[&batch])), []);
        let (model, batch, _) = make();
        let mutant = without(model, &batch, packet);
        let found = findings(&mut make().0, &[&mutant]);
        assert!(brief(&found).contains(&(rule, packet)), "{packet}: {found:?}");
    }
    let clear = PipeControl { generic_media_state_clear: true, ..PipeControl::new() };
    for (control, expected) in [
        (
            clear,
            &[("STATE-LOST", "MEDIA_VFE_STATE"), ("STATE-LOST", "MEDIA_INTERFACE_DESCRIPTOR_LOAD")]
                [..],
        ),
        (PipeControl::new(), &[]),
    ] {
        let (mut model, batch, walker) = make();
        let found = findings(&mut model, &[&[batch, packets![control], walker].concat()]);
        assert_eq!(brief(&found), expected);
        assert!(found.iter().all(|finding| finding.first.at.packet == "PIPE_CONTROL"));
    }
}

/// Structures with reserved values: values without a name, and bits that must be zero.
#[test]
fn reserved_values() {
    const VALUE: &str = "STATE-RESERVED-VALUE";
    const BITS: &str = "STATE-RESERVED-BITS";
    const SAMPLER: u64 = DYNAMIC_STATE + SAMPLERS + 16;
    const BLEND: u64 = DYNAMIC_STATE + 0x600;
    const COLOR: u64 = DYNAMIC_STATE + 0x700;
    // Rule, structure, address of a dword, the bits that are kept and those that are set.
    let changes = [
        // Surface Type 6 and bit 27 (2d p.323), Shader Channel Select Red 2 (2d p.347).
        (VALUE, "RENDER_SURFACE_STATE", SURFACE_STATE, 0x1fff_ffff, 6 << 29),
        (BITS, "RENDER_SURFACE_STATE", SURFACE_STATE, !0, 1 << 27),
        (VALUE, "RENDER_SURFACE_STATE", SURFACE_STATE + 28, !(7 << 25), 2 << 25),
        // Min Mode Filter 5, Mip Mode Filter 2, LOD PreClamp Mode 1 (2d p.397-398).
        (VALUE, "SAMPLER_STATE", SAMPLER, 0, 5 << 14),
        (VALUE, "SAMPLER_STATE", SAMPLER, 0, 2 << 20),
        (VALUE, "SAMPLER_STATE", SAMPLER, 0, 1 << 27),
        // Bits 18:0 (2d p.36), Color Blend Function 5 of target 0 (2d p.37).
        (BITS, "BLEND_STATE", BLEND, 0, 1 << 3),
        (VALUE, "BLEND_STATE", BLEND + 4, 0, 5 << 18),
        // Bits 14:1 (2d p.77).
        (BITS, "COLOR_CALC_STATE", COLOR, 0, 1 << 14),
    ];
    let mut scene = stencilled();
    scene.kernel = sampling();
    let make = || {
        let mut model = scene.model();
        let batch = after_bases(&scene.batch(&mut model));
        (model, batch)
    };
    let (mut model, batch) = make();
    assert_eq!(brief(&findings(&mut model, &[&batch])), []);
    for (rule, structure, address, keep, set) in changes {
        let (mut model, batch) = make();
        let old = model.get(address, 1)[0];
        model.put(address, &[old & keep | set]);
        let found = findings(&mut model, &[&batch]);
        assert_eq!(brief(&found), [(rule, structure)], "{structure} {set:#x}");
    }
    // Shared Local Memory Size 3 (2d p.232), and bits 31:16 of the dword with the binding table.
    let text = kernel(END).0;
    for (rule, dword, set) in [(VALUE, 6, 3 << 16), (BITS, 4, 1 << 20)] {
        let mut model = Model::new();
        let batch = Compute::new(&text).batch(&mut model);
        assert_eq!(brief(&findings(&mut model, &[&batch])), []);
        let mut model = Model::new();
        let batch = Compute::new(&text).batch(&mut model);
        let address = DYNAMIC_STATE + 4 * dword;
        let old = model.get(address, 1)[0];
        model.put(address, &[old | set]);
        let found = findings(&mut model, &[&batch]);
        assert_eq!(brief(&found), [(rule, "INTERFACE_DESCRIPTOR_DATA")]);
    }
}

/// The same mistake in many draws is one finding; another context has its own.
#[test]
fn findings_of_contexts() {
    let (model, batch) = scene(&triangle());
    let mutant = without(model, &batch, "3DSTATE_SAMPLE_MASK");
    let primitive = &mutant[mutant.len() - ThreeDPrimitive::DWORDS..];
    let (mut model, _) = scene(&triangle());
    let found = findings(&mut model, &[&[&mutant, primitive].concat(), primitive]);
    assert_eq!(brief(&found), [("STATE-UNSET", "3DSTATE_SAMPLE_MASK")]);
    assert_eq!(found[0].count, 3);
}
