//! Invalid state: for each, the fault's kind, and its field or what was being read. Null surfaces,
//! empty buffers and empty draws, which the manuals define, cause no fault.

use crate::screen::kernels;
use crate::screen::scene::{Scene, on_screen};
use genxml::core::UFix;
use genxml::gen8::enums::{
    ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code,
    ThreeDVertexComponentControl as Component,
};
use genxml::gen8::mi::MiBatchBufferStart;
use genxml::gen8::render3d_constants::{ThreeDStateConstantBody, ThreeDStateConstantPs};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat as DepthFormat,
    ThreeDStateStencilBuffer,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat, ThreeDStateVertexBuffers,
    ThreeDStateVertexElements, ThreeDStateVfTopology, VertexBufferState,
};
use genxml::gen8::render3d_pixel::{
    ThreeDStateBlendStatePointers, ThreeDStateCcStatePointers, ThreeDStatePs,
};
use genxml::gen8::render3d_raster::{
    ThreeDStateDrawingRectangle, ThreeDStateMultisample, ThreeDStateScissorStatePointers,
    ThreeDStateViewportStatePointersCc, ThreeDStateViewportStatePointersSfClip,
};
use genxml::gen8::render3d_stages::{ThreeDStateTe, ThreeDStateVs};
use genxml::gen8::state::{
    NumberOfMultisamples, RenderSurfaceState, RenderSurfaceStateExtent, SurfaceFormat, SurfaceType,
    TileMode,
};
use genxml_cases::draw::element as vertex_element;
use genxml_cases::{BATCH, KERNELS, SURFACE_STATE, at, minus_one, packets, push, u};
use genxml_core::{Shifted, U};
use genxml_sim::Fault;

/// An offset that leads to unmapped memory from every base address.
const NOWHERE: u64 = 0x7000_0000;

fn plain() -> Scene {
    let corners = [(0.0, 0.0), (32.0, 0.0), (0.0, 32.0)];
    Scene::new([16, 16], Code::_3DPRIM_TRILIST, corners.map(|(x, y)| on_screen(x, y, 1)).to_vec())
}

/// The fault as text: its kind, and the field, access or feature that it names, if it names one.
fn about(fault: &Fault) -> String {
    assert!(!fault.to_string().is_empty());
    match fault {
        Fault::Page { what, .. } => format!("Page: {what}"),
        Fault::BadPacket { field, .. } => format!("BadPacket: {field}"),
        Fault::Unimplemented { what, .. } => format!("Unimplemented: {what}"),
        Fault::IllegalInstruction { .. } => "IllegalInstruction".to_owned(),
        Fault::Hang { .. } => "Hang".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Draws with additional packets. Returns `Ok: ` with the first dword of the target, or the fault,
/// as text.
fn with(more: &[u32]) -> String {
    let mut scene = plain();
    scene.more.extend(more);
    match scene.run() {
        Ok(drawn) => format!("Ok: {}", drawn.dwords(0, 0, 0)[0]),
        Err(fault) => about(&fault),
    }
}

/// Draws with a changed surface state. Returns the same as `with`.
fn with_surface(change: impl Fn(&mut RenderSurfaceState)) -> String {
    let scene = plain();
    let mut model = scene.model();
    let batch = scene.batch(&mut model);
    let mut surface = scene.surface(0);
    change(&mut surface);
    model.put(SURFACE_STATE, &surface.pack());
    match model.render(&batch) {
        Ok(stats) => format!("Ok: {}", scene.drawn(&mut model, stats).dwords(0, 0, 0)[0]),
        Err(fault) => about(&fault),
    }
}

/// The unchanged scene and surface state cause no fault.
#[test]
fn nothing_wrong() {
    assert_eq!(with(&[]), "Ok: 1");
    assert_eq!(with_surface(|_| {}), "Ok: 1");
}

/// Writes to a null surface are dropped (2d RENDER_SURFACE_STATE, SURFTYPE_NULL). So are depth
/// writes.
#[test]
fn null_surfaces() {
    assert_eq!(with_surface(|s| s.surface_type = SurfaceType::SURFTYPE_NULL), "Ok: 0");
    assert_eq!(
        with_surface(|s| {
            s.surface_type = SurfaceType::SURFTYPE_NULL;
            s.surface_base_address = at(NOWHERE);
        }),
        "Ok: 0"
    );
    let mut scene = plain();
    scene.tests.depth_test_enable = true;
    scene.tests.depth_buffer_write_enable = true;
    scene.tests.stencil_test_enable = true;
    assert_eq!(scene.run().unwrap().dwords(0, 0, 0)[0], 1);
    // If a buffer is a render target, its pitch must be the size of one element; this pitch is
    // larger. A structured buffer cannot be a render target.
    for (kind, field) in [
        (SurfaceType::SURFTYPE_BUFFER, "Surface Pitch"),
        (SurfaceType::SURFTYPE_STRBUF, "Surface Type"),
    ] {
        assert_eq!(with_surface(|s| s.surface_type = kind), format!("BadPacket: {field}"));
    }
}

/// Nothing is drawn without vertices, without instances, from an empty or a null vertex buffer, or
/// for objects without area. A pitch of half a tile is invalid.
#[test]
fn zero_sizes() {
    let mut scene = plain();
    scene.instances = 0;
    assert_eq!(scene.art()[0], ".".repeat(16));
    scene.instances = 1;
    scene.vertices.truncate(2);
    assert_eq!(scene.art()[0], ".".repeat(16));
    scene.vertices.clear();
    assert_eq!(scene.art()[0], ".".repeat(16));
    let empty = [VertexBufferState {
        buffer_pitch: u(48),
        address_modify_enable: true,
        ..VertexBufferState::new()
    }];
    assert_eq!(
        with(&packets![ThreeDStateVertexBuffers { vertex_buffer_state: empty[..].into() }]),
        "Ok: 0"
    );
    let null = [VertexBufferState { null_vertex_buffer: true, ..empty[0] }];
    assert_eq!(
        with(&packets![ThreeDStateVertexBuffers { vertex_buffer_state: null[..].into() }]),
        "Ok: 0"
    );
    let mut points = plain();
    points.topology = Code::_3DPRIM_POINTLIST;
    points.sf.point_width = UFix::from_bits(0);
    assert_eq!(points.art()[0], ".".repeat(16));
    let mut flat = plain().clipped();
    flat.viewports[0].0.viewport_matrix_element_m00 = 0.0;
    flat.viewports[0].0.viewport_matrix_element_m11 = 0.0;
    assert_eq!(flat.art()[0], ".".repeat(16));
    let half_a_tile = |s: &mut RenderSurfaceState| {
        s.tile_mode = TileMode::YMAJOR;
        s.surface_pitch = minus_one(64);
    };
    assert_eq!(with_surface(half_a_tile), "BadPacket: Surface Pitch");
}

/// Pointers to unmapped memory: vertex buffer, blend and colour state, and push constants.
#[test]
fn bad_pointers_to_state() {
    let nowhere = [VertexBufferState {
        buffer_pitch: u(48),
        address_modify_enable: true,
        buffer_starting_address: at(NOWHERE),
        buffer_size: u(4096),
        ..VertexBufferState::new()
    }];
    for (what, packets) in [
        (
            "vertex buffer",
            packets![ThreeDStateVertexBuffers { vertex_buffer_state: nowhere[..].into() }],
        ),
        (
            "BLEND_STATE",
            packets![ThreeDStateBlendStatePointers {
                blend_state_pointer: at(NOWHERE),
                blend_state_pointer_valid: true,
            }],
        ),
        (
            "COLOR_CALC_STATE",
            packets![ThreeDStateCcStatePointers {
                color_calc_state_pointer: at(NOWHERE),
                color_calc_state_pointer_valid: true,
            }],
        ),
        (
            "push constants",
            packets![
                ThreeDStateConstantPs {
                    constant_body: ThreeDStateConstantBody {
                        constant_buffer_0_read_length: u(1),
                        pointer_to_constant_buffer_0: at(NOWHERE),
                        ..ThreeDStateConstantBody::new()
                    },
                    ..ThreeDStateConstantPs::new()
                },
                ThreeDStatePs { push_constant_enable: true, ..plain().ps },
            ],
        ),
    ] {
        assert_eq!(with(&packets), format!("Page: {what}"));
    }
}

/// Pointers to unmapped memory: the kernel, the binding table entry, the surface state, and the
/// surface.
#[test]
fn bad_pointers_to_the_kernel_and_surfaces() {
    let at_nowhere = ThreeDStatePs { kernel_start_pointer_0: at(NOWHERE), ..plain().ps };
    let mut scene = plain();
    push(&mut scene.more, &at_nowhere);
    let fault = scene.run().err().unwrap();
    assert!(
        about(&fault) == "IllegalInstruction"
            && fault.to_string().contains("instruction fetch: page fault")
    );
    for (address, dword, what) in [
        (None, 0, "binding table entry 0"),
        (Some(SURFACE_STATE + 64), 0x3fff_ffc0, "surface state of binding table entry 0"),
    ] {
        let scene = plain();
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        match address {
            Some(address) => model.put(address, &[dword]),
            None => model.gpu.unmap(model.context, SURFACE_STATE, 16),
        }
        assert_eq!(about(&model.render(&batch).unwrap_err()), format!("Page: {what}"));
    }
    assert!(with_surface(|s| s.surface_base_address = at(NOWHERE)).starts_with("Page: "));
}

/// Clears of depth and stencil have no pixel shader, and do not read the state of later stages.
/// Only a stencil test reads its reference values.
#[test]
fn bad_pointers_that_clears_do_not_read() {
    let mut scene = plain();
    scene.extra.pixel_shader_valid = false;
    let blend = ThreeDStateBlendStatePointers {
        blend_state_pointer: at(NOWHERE),
        blend_state_pointer_valid: true,
    };
    push(&mut scene.more, &blend);
    push(
        &mut scene.more,
        &ThreeDStateCcStatePointers {
            color_calc_state_pointer: at(NOWHERE),
            color_calc_state_pointer_valid: true,
        },
    );
    push(&mut scene.more, &ThreeDStateViewportStatePointersCc { cc_viewport_pointer: at(NOWHERE) });
    scene.tests.depth_test_enable = true;
    assert!(scene.run().is_ok());
    scene.tests.stencil_test_enable = true;
    assert_eq!(about(&scene.run().err().unwrap()), "Page: COLOR_CALC_STATE");
}

/// Pointers to unmapped memory that only some draws read: viewport, scissor rectangle and index
/// buffer.
#[test]
fn bad_pointers_that_only_some_draws_read() {
    let mut scene = plain().clipped();
    push(
        &mut scene.more,
        &ThreeDStateViewportStatePointersSfClip { sf_clip_viewport_pointer: at(NOWHERE) },
    );
    assert_eq!(about(&scene.run().err().unwrap()), "Page: SF_CLIP_VIEWPORT");
    let mut scene = plain();
    scene.scissors = vec![genxml::gen8::render3d_raster::ScissorRect::unpack_lossy(&[0; 2])];
    push(&mut scene.more, &ThreeDStateScissorStatePointers { scissor_rect_pointer: at(NOWHERE) });
    assert_eq!(about(&scene.run().err().unwrap()), "Page: SCISSOR_RECT");
    let mut scene = plain();
    let indices = ThreeDStateIndexBuffer {
        index_format: IndexFormat::DWORD,
        buffer_starting_address: at(NOWHERE),
        buffer_size: u(64),
        ..ThreeDStateIndexBuffer::new()
    };
    let indexed = ThreeDPrimitive {
        vertex_access_type: Access::RANDOM,
        vertex_count_per_instance: u(3),
        instance_count: u(1),
        ..ThreeDPrimitive::new()
    };
    push(&mut scene.more, &indices);
    push(&mut scene.more, &indexed);
    assert_eq!(about(&scene.run().err().unwrap()), "Page: index buffer");
}

/// Pointers to unmapped memory: depth and stencil buffers.
#[test]
fn bad_pointers_to_depth_and_stencil() {
    for stencil in [false, true] {
        let mut scene = plain();
        scene.depth = Some((DepthFormat::D32_FLOAT, 0));
        scene.stencil = Some(0);
        scene.tests.depth_test_enable = !stencil;
        scene.tests.stencil_test_enable = stencil;
        scene.tests.depth_test_function = Compare::COMPAREFUNCTION_LESS;
        scene.tests.stencil_test_function = Compare::COMPAREFUNCTION_NOTEQUAL;
        let model = &mut scene.model();
        let batch = scene.batch(model);
        let address =
            if stencil { crate::screen::scene::STENCIL } else { crate::screen::scene::DEPTH };
        model.gpu.unmap(model.context, address, 64);
        assert_eq!(about(&model.render(&batch).unwrap_err()), "Page: depth and stencil of a quad");
    }
}

#[test]
fn unknown_formats() {
    assert_eq!(
        with_surface(|s| s.surface_format = SurfaceFormat::from_bits(0x1f7)),
        "BadPacket: Surface Format"
    );
    assert!(
        with_surface(|s| s.surface_format = SurfaceFormat::BC1_UNORM).starts_with("BadPacket: ")
    );
    assert_eq!(
        with_surface(|s| s.surface_type = SurfaceType::from_bits(6)),
        "BadPacket: Surface Type"
    );
    let element = |source_element_format| {
        let elements = [vertex_element(0, source_element_format, Component::VFCOMP_STORE_SRC)];
        with(&packets![ThreeDStateVertexElements { element: elements[..].into() }])
    };
    assert_eq!(element(SurfaceFormat::from_bits(0x1f7)), "BadPacket: Source Element Format");
    assert_eq!(element(SurfaceFormat::BC1_UNORM), "BadPacket: Source Element Format");
    let topology = ThreeDStateVfTopology { primitive_topology_type: Code::from_bits(0x1f) };
    assert_eq!(with(&packets![topology]), "BadPacket: Primitive Topology Type");
    let indices = ThreeDStateIndexBuffer {
        index_format: IndexFormat::from_bits(3),
        ..ThreeDStateIndexBuffer::new()
    };
    let indexed = ThreeDPrimitive {
        vertex_access_type: Access::RANDOM,
        vertex_count_per_instance: u(3),
        instance_count: u(1),
        ..ThreeDPrimitive::new()
    };
    assert_eq!(with(&packets![indices, indexed]), "BadPacket: Index Format");
    let samples = ThreeDStateMultisample {
        number_of_multisamples: NumberOfMultisamples::from_bits(5),
        ..ThreeDStateMultisample::new()
    };
    assert_eq!(with(&packets![samples]), "BadPacket: Number of Multisamples");
    let depth = ThreeDStateDepthBuffer {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: DepthFormat::from_bits(7),
        surface_base_address: at(crate::screen::scene::DEPTH),
        depth_write_enable: true,
        ..ThreeDStateDepthBuffer::new()
    };
    let mut scene = plain();
    scene.tests.depth_test_enable = true;
    push(&mut scene.more, &depth);
    assert_eq!(about(&scene.run().err().unwrap()), "BadPacket: Surface Format");
    let mut scene = plain();
    scene.tests.stencil_test_enable = true;
    scene.stencil = Some(0);
    push(
        &mut scene.more,
        &ThreeDStateStencilBuffer {
            stencil_buffer_enable: true,
            surface_pitch: minus_one(1),
            surface_base_address: at(crate::screen::scene::STENCIL),
            ..ThreeDStateStencilBuffer::new()
        },
    );
    assert_eq!(about(&scene.run().err().unwrap()), "BadPacket: Surface Pitch");
}

/// Faults: an enabled pixel shader without a kernel for any width; zeros, ones or a truncated
/// kernel in place of a kernel; stages that need other stages.
#[test]
fn missing_kernels() {
    let none = ThreeDStatePs { _8_pixel_dispatch_enable: false, ..plain().ps };
    assert_eq!(with(&packets![none]), "BadPacket: 8 Pixel Dispatch Enable");
    // A draw that shades no pixel needs no kernel: the kernel driver's initial state has such a
    // draw.
    let mut outside = plain();
    outside.vertices.truncate(1);
    outside.more.extend(packets![none]);
    assert!(outside.run().is_ok());
    for kernel in [&[0; 8][..], &[u32::MAX; 8], &kernels::FLAT[..12]] {
        let scene = plain();
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        model.put(KERNELS, &[0; 64]);
        model.put(KERNELS, kernel);
        assert_eq!(about(&model.render(&batch).unwrap_err()), "IllegalInstruction");
    }
    let vs = ThreeDStateVs {
        function_enable: true,
        kernel_start_pointer: at(NOWHERE),
        ..ThreeDStateVs::new()
    };
    assert!(
        with(&packets![vs]).starts_with("Page: ") || with(&packets![vs]).starts_with("BadPacket: ")
    );
    let te = ThreeDStateTe { te_enable: true, ..ThreeDStateTe::new() };
    assert_eq!(with(&packets![te]), "BadPacket: TE Enable");
}

/// The work limit stops endless shaders and batches. The fault of a shader names the packet and the
/// kernel.
#[test]
fn endless() {
    let mut scene = plain();
    scene.kernel = kernels::ENDLESS;
    let mut model = scene.model();
    model.gpu.set_work_limit(1 << 16);
    let batch = scene.batch(&mut model);
    let fault = model.render(&batch).unwrap_err();
    let place = fault.place().unwrap();
    assert_eq!((about(&fault).as_str(), place.packet), ("Hang", "3DPRIMITIVE"));
    assert_eq!(place.thread.unwrap().kernel, KERNELS);
    // A batch that starts itself, at either level.
    for second in [0, 1] {
        let mut start = MiBatchBufferStart::new(at(BATCH));
        start.second_level_batch_buffer =
            genxml::gen8::mi::MiBatchBufferStartSecondLevelBatchBuffer::from_bits(second);
        assert_eq!(about(&model.render(&packets![start]).unwrap_err()), "Hang");
    }
    // Draws with very many vertices that form no object, or with very many instances.
    for (vertices, instances) in [(u32::MAX, 1), (0, u32::MAX), (1, u32::MAX)] {
        let huge = ThreeDPrimitive {
            vertex_count_per_instance: U::from_bits(vertices.into()),
            instance_count: U::from_bits(instances.into()),
            ..ThreeDPrimitive::new()
        };
        assert_eq!(about(&model.render(&packets![huge]).unwrap_err()), "Hang");
    }
}

/// Objects that cross the largest screen and cover almost no pixel also count as work.
#[test]
fn slivers() {
    let mut scene = plain();
    scene.vertices = [(0.0, 0.0), (16384.0, 16383.0), (16384.0, 16384.0)]
        .map(|(x, y)| on_screen(x, y, 1))
        .to_vec();
    let rectangle = ThreeDStateDrawingRectangle {
        clipped_drawing_rectangle_x_max: u(16383),
        clipped_drawing_rectangle_y_max: u(16383),
        ..ThreeDStateDrawingRectangle::new()
    };
    push(&mut scene.more, &rectangle);
    let mut model = scene.model();
    model.gpu.set_work_limit(1 << 24);
    let batch = scene.batch(&mut model);
    assert_eq!(about(&model.render(&batch).unwrap_err()), "Hang");
}

/// The largest sizes that the fields permit. If a covered pixel is in unmapped memory, the draw
/// faults; if all of them are in mapped memory, it succeeds. A layer far outside the target causes
/// no fault.
#[test]
fn largest_sizes() {
    let large = |s: &mut RenderSurfaceState| {
        s.extent = RenderSurfaceStateExtent::Image {
            width: minus_one(1 << 14),
            height: minus_one(1 << 14),
            depth: minus_one(1 << 11),
        };
        s.surface_pitch = minus_one(1 << 17);
        s.surface_qpitch = Shifted::new(1 << 16).unwrap();
    };
    assert_eq!(with_surface(large), "Page: a render target");
    assert_eq!(
        with_surface(|s| {
            large(s);
            s.surface_array = true;
            s.tile_mode = TileMode::YMAJOR;
        }),
        "Ok: 1",
        "all covered pixels are in the first tile, which is mapped"
    );
    let mut far = plain();
    far.vertices.iter_mut().for_each(|v| v.header[1] = 2047);
    far.targets[0].layers = 1;
    assert!(far.run().is_ok());
}
