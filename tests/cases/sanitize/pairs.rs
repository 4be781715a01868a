//! A write through one cache and an access through another one: reported without the flush or
//! invalidation between them, and not reported with it. Oracle: the table of caches of
//! digests/gen8_facts 2.2 and Mesa's iris_pipe_control.c.

use crate::geometry::harness;
use crate::screen::scene::{DEPTH, Scene, TARGETS, VERTICES, on_screen};
use genxml::engine::EngineId;
use genxml::eu;
use genxml::eu::Generation;
use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth, BlitRasterOperation, XyColorBlt};
use genxml::gen8::enums::{
    ThreeDCompareFunction as Compare, ThreeDLogicOpFunction, ThreeDPrimTopoType as Code,
};
use genxml::gen8::mi::*;
use genxml::gen8::render3d_depth::ThreeDStateDepthBufferSurfaceFormat as DepthFormat;
use genxml_cases::{
    BATCH, Compute, KERNELS, Model, SCRATCH, SURFACE_STATE, at, packets, push, raw_buffer, u,
};
use genxml_core::S;
use genxml_sim::Gpu;
use genxml_sim::gpu::Progress;
use genxml_sim::inspect::sanitize::{self, Finding, Sanitizers};

/// Memory that kernels and the command streamer access.
const DATA: u64 = 0x40_0000;

/// Kernels that read or write two owords of binding table entry 0.
macro_rules! kernel {
    ($unit:tt $descriptor:tt) => {
        &eu! {
            (W) mov (8|M0)   r126.0<1>:ud  0:ud
            (W) mov (8|M0)   r127.0<1>:ud  0:ud
            (W) send (8|M0)  r20  r126  $unit  $descriptor
            (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
            (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
        }
    };
}
const READ: &[u32] = kernel!(0xA 0x02180200);
const READ_CONSTANTS: &[u32] = kernel!(0x9 0x02180200);
const READ_SAMPLER: &[u32] = kernel!(0x4 0x02194200);
const WRITE: &[u32] = &eu! {
    (W) mov (8|M0)   r126.0<1>:ud  0:ud
    (W) mov (8|M0)   r127.0<1>:ud  0:ud
    (W) send (8|M0)  null  r126  0xA  0x040a0200
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// Runs `kernel`, which is at its own address.
fn walker(model: &mut Model, kernel: &[u32]) -> Vec<u32> {
    let number = [READ, READ_CONSTANTS, READ_SAMPLER, WRITE].iter().position(|k| *k == kernel);
    let base = KERNELS + 0x1000 * number.expect("a kernel") as u64;
    let surfaces = vec![raw_buffer(DATA, 4096)];
    Compute { base, surfaces, ..Compute::new(kernel) }.batch(model)
}

fn store(address: u64, value: u32) -> Vec<u32> {
    packets![MiStoreDataImm {
        data_dword: (&[u(value.into())]).into(),
        ..MiStoreDataImm::new(at(address))
    }]
}

/// The command streamer reads a dword.
fn copy(address: u64) -> Vec<u32> {
    packets![MiCopyMemMem {
        source_memory_address: at(address),
        destination_memory_address: at(SCRATCH),
        ..MiCopyMemMem::new()
    }]
}

/// All bits that flush or invalidate.
const ALL: PipeControl = PipeControl {
    depth_cache_flush_enable: true,
    render_target_cache_flush_enable: true,
    dc_flush_enable: true,
    pipe_control_flush_enable: true,
    vf_cache_invalidation_enable: true,
    texture_cache_invalidation_enable: true,
    constant_cache_invalidation_enable: true,
    state_cache_invalidation_enable: true,
    instruction_cache_invalidate_enable: true,
    ..PipeControl::new()
};

/// Runs a batch and returns what `flush` found.
#[track_caller]
fn found(model: &mut Model, engine: EngineId, batch: &[u32]) -> Vec<Finding> {
    let mut sanitizers = Sanitizers::new(["flush"], Generation::Gen8).unwrap();
    model.submit_observed(engine, batch, &mut sanitizers).unwrap();
    sanitizers.findings().map(|(_, finding)| finding.clone()).collect()
}

/// Rule and packets of both sides.
fn brief(findings: &[Finding]) -> Vec<(&str, &str, &str)> {
    let of =
        |finding: &Finding| (finding.rule.id, finding.first.at.packet, finding.second.at.packet);
    findings.iter().map(of).collect()
}

/// Sets or clears a bit.
type Set = fn(&mut PipeControl, bool);

/// Checks `first` and `second` with all bits but one between them, and with only that bit.
#[track_caller]
fn pair(
    model: &mut Model,
    first: &[u32],
    second: &[u32],
    set: Set,
    rule: (&str, &str, &str),
) -> Vec<Finding> {
    let mut without = ALL;
    set(&mut without, false);
    let mut only = PipeControl::new();
    set(&mut only, true);
    let with = |flush: PipeControl| [first, &packets![flush], second].concat();
    let bad = found(model, EngineId::Render, &with(without));
    assert_eq!(brief(&bad), [rule], "with all other bits");
    let good = found(model, EngineId::Render, &with(only));
    assert_eq!(brief(&good), [], "with the bit");
    bad
}

fn scene() -> Scene {
    let corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)];
    let vertices = corners.map(|(x, y)| on_screen(x, y, 7)).to_vec();
    Scene::new([8, 8], Code::_3DPRIM_TRILIST, vertices)
}

fn with_depth() -> Scene {
    let mut scene = scene();
    scene.depth = Some((DepthFormat::D32_FLOAT, 1.0_f32.to_bits()));
    scene.tests.depth_test_enable = true;
    scene.tests.depth_buffer_write_enable = true;
    scene.tests.depth_test_function = Compare::COMPAREFUNCTION_LEQUAL;
    scene
}

fn blending() -> Scene {
    let mut scene = scene();
    scene.blend.entry[0].logic_op_enable = true;
    scene.blend.entry[0].logic_op_function = ThreeDLogicOpFunction::LOGICOP_XOR;
    scene
}

#[test]
fn a_render_target_read_by_the_command_streamer() {
    let scene = scene();
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    let findings = pair(
        &mut model,
        &draw,
        &copy(TARGETS + 4),
        |flush, on| flush.render_target_cache_flush_enable = on,
        ("FLUSH-RENDER-TARGET", "3DPRIMITIVE", "MI_COPY_MEM_MEM"),
    );
    // The guide shows this finding.
    let guide = include_str!("../../../runtime/src/guide/flushes.md");
    let text = findings[0].to_string();
    assert!(guide.contains(&text), "{text}");
    let Finding { first, second, count, .. } = &findings[0];
    assert_eq!((first.address, first.bytes, *count), (TARGETS + 4, 4, 1));
    assert_eq!((second.address, second.bytes), (TARGETS + 4, 4));
}

#[test]
fn a_depth_buffer_read_by_the_command_streamer() {
    let scene = with_depth();
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    pair(
        &mut model,
        &draw,
        &copy(DEPTH),
        |flush, on| flush.depth_cache_flush_enable = on,
        ("FLUSH-DEPTH", "3DPRIMITIVE", "MI_COPY_MEM_MEM"),
    );
}

/// A model for kernels.
fn data() -> Model {
    let mut model = Model::new();
    model.map(DATA, 4096);
    model
}

#[test]
fn the_data_port_read_by_others() {
    let dc: Set = |flush, on| flush.dc_flush_enable = on;
    let mut model = data();
    let write = walker(&mut model, WRITE);
    let findings = pair(
        &mut model,
        &write,
        &copy(DATA),
        dc,
        ("FLUSH-DATA", "GPGPU_WALKER", "MI_COPY_MEM_MEM"),
    );
    let thread = findings[0].first.at.thread.expect("an instruction of a kernel");
    assert_eq!((thread.kernel, thread.ip), (KERNELS + 0x3000, 32));
    assert_eq!(findings[0].first.thread, Some(0));
    for reader in [READ_CONSTANTS, READ_SAMPLER] {
        let read = walker(&mut model, reader);
        pair(&mut model, &write, &read, dc, ("FLUSH-DATA", "GPGPU_WALKER", "GPGPU_WALKER"));
    }
    // The data port sees its own writes.
    let read = walker(&mut model, READ);
    assert_eq!(brief(&found(&mut model, EngineId::Render, &[write, read].concat())), []);
}

/// More packets than an engine executes in one turn lie between the accesses. In the second run,
/// the host also interrupts the batch after each turn.
#[test]
fn accesses_in_different_turns() {
    let nothing = packets![MiNoop::new()].repeat(1000);
    let rule = ("INVALIDATE-TEXTURE", "MI_STORE_DATA_IMM", "GPGPU_WALKER");
    for is_interrupted in [false, true] {
        let mut model = data();
        let read = walker(&mut model, READ_SAMPLER);
        let end = packets![MiBatchBufferEnd::new()];
        let batch =
            [&read, &nothing, &store(DATA, 1), &nothing, &read, &end].map(|b| &b[..]).concat();
        model.put(BATCH, &batch);
        model.gpu.enqueue(model.context, EngineId::Render, BATCH, 4 * batch.len() as u64);
        let mut sanitizers = Sanitizers::new(["flush"], Generation::Gen8).unwrap();
        let units = if is_interrupted { 1 } else { u64::MAX };
        let mut slices = 0;
        while model.gpu.advance_for(units, Some(&mut sanitizers)).unwrap() != Progress::Idle {
            slices += 1;
        }
        assert_eq!(slices > 6, is_interrupted, "{slices} slices");
        let findings: Vec<_> = sanitizers.findings().map(|(_, it)| it.clone()).collect();
        assert_eq!(brief(&findings), [rule]);
    }
}

#[test]
fn kernels_that_read_a_second_time() {
    let cases: [(&[u32], Set, &str); 3] = [
        (READ, |flush, on| flush.dc_flush_enable = on, "INVALIDATE-DATA"),
        (
            READ_CONSTANTS,
            |flush, on| flush.constant_cache_invalidation_enable = on,
            "INVALIDATE-CONSTANT",
        ),
        (
            READ_SAMPLER,
            |flush, on| flush.texture_cache_invalidation_enable = on,
            "INVALIDATE-TEXTURE",
        ),
    ];
    for (kernel, bit, rule) in cases {
        let mut model = data();
        let read = walker(&mut model, kernel);
        let first = [read.clone(), store(DATA, 1)].concat();
        let sides = ("MI_STORE_DATA_IMM", "GPGPU_WALKER");
        pair(&mut model, &first, &read, bit, (rule, sides.0, sides.1));
        // The first read of the line cannot find older data.
        let once = [store(DATA, 2), read].concat();
        assert_eq!(brief(&found(&mut model, EngineId::Render, &once)), []);
    }
}

#[test]
fn vertices_that_are_read_a_second_time() {
    let scene = scene();
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    pair(
        &mut model,
        &[draw.clone(), store(VERTICES, 0)].concat(),
        &draw,
        |flush, on| flush.vf_cache_invalidation_enable = on,
        ("INVALIDATE-VERTEX", "MI_STORE_DATA_IMM", "3DPRIMITIVE"),
    );
}

#[test]
fn state_and_kernels_that_are_read_a_second_time() {
    let scene = scene();
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    let state = model.get(SURFACE_STATE, 1)[0];
    pair(
        &mut model,
        &[draw.clone(), store(SURFACE_STATE, state)].concat(),
        &draw,
        |flush, on| flush.state_cache_invalidation_enable = on,
        ("INVALIDATE-STATE", "MI_STORE_DATA_IMM", "3DPRIMITIVE"),
    );
    let kernel = model.get(KERNELS, 1)[0];
    pair(
        &mut model,
        &[draw.clone(), store(KERNELS, kernel)].concat(),
        &draw,
        |flush, on| flush.instruction_cache_invalidate_enable = on,
        ("INVALIDATE-INSTRUCTION", "MI_STORE_DATA_IMM", "3DPRIMITIVE"),
    );
}

/// The first draw reads the line, so that the flush also has to drop it.
#[test]
fn targets_that_are_read_a_second_time() {
    let scene = blending();
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    // The store is to a pixel that no triangle covers, in the line of others.
    let flush =
        packets![PipeControl { render_target_cache_flush_enable: true, ..PipeControl::new() }];
    let reads = [draw.clone(), flush, draw.clone(), store(TARGETS + 8 * 4, 1)].concat();
    assert_eq!(brief(&found(&mut model, EngineId::Render, &reads)), []);
    let other = [store(TARGETS, 3), draw.clone()].concat();
    assert_eq!(brief(&found(&mut model, EngineId::Render, &other)), []);
    let mut wide = blending();
    wide.size = [4, 8];
    let mut model = wide.model();
    let draw = wide.batch(&mut model);
    // The right half of the line is not drawn to; a second scene draws there.
    let mut other = blending();
    other.size = [16, 8];
    let both = [draw, store(TARGETS + 32, 5), other.batch(&mut model)].concat();
    let findings = found(&mut model, EngineId::Render, &both);
    assert_eq!(
        brief(&findings)[0],
        ("INVALIDATE-RENDER-TARGET", "MI_STORE_DATA_IMM", "3DPRIMITIVE")
    );
}

#[test]
fn depths_that_are_read_a_second_time() {
    let mut scene = with_depth();
    scene.tests.depth_buffer_write_enable = false;
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    pair(
        &mut model,
        &[draw.clone(), store(DEPTH, 1.0_f32.to_bits())].concat(),
        &draw,
        |flush, on| flush.depth_cache_flush_enable = on,
        ("INVALIDATE-DEPTH", "MI_STORE_DATA_IMM", "3DPRIMITIVE"),
    );
}

#[test]
fn a_write_over_data_that_is_not_flushed() {
    let scene = scene();
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    pair(
        &mut model,
        &draw,
        &store(TARGETS, 9),
        |flush, on| flush.render_target_cache_flush_enable = on,
        ("FLUSH-WRITE-ORDER", "3DPRIMITIVE", "MI_STORE_DATA_IMM"),
    );
}

#[test]
fn stream_output_read_by_the_command_streamer() {
    let mut model = harness::model();
    let draw = harness::Draw::new(Code::_3DPRIM_POINTLIST, 3).batch(&mut model);
    let read = packets![MiLoadRegisterMem {
        register_address: at(0x2600),
        memory_address: at(harness::OUT),
        ..MiLoadRegisterMem::new()
    }];
    let both = |flush: PipeControl| [draw.clone(), packets![flush], read.clone()].concat();
    let rule = ("FLUSH-STREAM-OUT", "3DPRIMITIVE", "MI_LOAD_REGISTER_MEM");
    let textures = PipeControl { texture_cache_invalidation_enable: true, ..PipeControl::new() };
    assert_eq!(brief(&found(&mut model, EngineId::Render, &both(textures))), [rule]);
    for flush in [
        PipeControl { pipe_control_flush_enable: true, ..PipeControl::new() },
        PipeControl { vf_cache_invalidation_enable: true, ..PipeControl::new() },
        PipeControl {
            command_streamer_stall_enable: true,
            stall_at_pixel_scoreboard: true,
            ..PipeControl::new()
        },
    ] {
        assert_eq!(brief(&found(&mut model, EngineId::Render, &both(flush))), []);
    }
}

/// The unit that writes the offset of a stream also reads it for 3DSTATE_SO_BUFFER, in order. Mesa
/// draws in this way without a flush between the draws (iris_state.c).
#[test]
fn offsets_of_stream_output_need_no_flush() {
    const OFFSET: u64 = harness::OUT + 0x8000;
    let mut model = harness::model();
    let mut draw = harness::Draw::new(Code::_3DPRIM_POINTLIST, 3);
    draw.buffers[0].stream_offset = u(0xffff_ffff);
    draw.buffers[0].stream_output_buffer_offset_address_enable = true;
    draw.buffers[0].stream_output_buffer_offset_address = at(OFFSET);
    let draw = draw.batch(&mut model);
    let twice = [draw.clone(), draw.clone()].concat();
    assert_eq!(brief(&found(&mut model, EngineId::Render, &twice)), []);
    let read = packets![MiLoadRegisterMem {
        register_address: at(0x2600),
        memory_address: at(OFFSET),
        ..MiLoadRegisterMem::new()
    }];
    let rule = ("FLUSH-STREAM-OUT", "3DPRIMITIVE", "MI_LOAD_REGISTER_MEM");
    assert_eq!(brief(&found(&mut model, EngineId::Render, &[draw, read].concat())), [rule]);
}

/// The kernel flushes between submissions.
#[test]
fn another_submission_needs_no_flush() {
    let scene = scene();
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    let mut sanitizers = Sanitizers::new(["flush"], Generation::Gen8).unwrap();
    for batch in [draw.clone(), copy(TARGETS), [store(VERTICES, 0), draw].concat()] {
        model.submit_observed(EngineId::Render, &batch, &mut sanitizers).unwrap();
    }
    assert_eq!(sanitizers.findings().count(), 0);
}

/// The same memory at another address is the same memory.
#[test]
fn aliases_count() {
    let scene = scene();
    let mut model = scene.model();
    let draw = scene.batch(&mut model);
    let alias = 0x9000_0000;
    let physical = model.gpu.vm(model.context).physical(TARGETS).unwrap();
    let frames = genxml_sim::mem::Frames { first: physical / 4096, count: 1 };
    model.gpu.map(model.context, alias, frames).unwrap();
    let findings = found(&mut model, EngineId::Render, &[draw, copy(alias)].concat());
    assert_eq!(brief(&findings), [("FLUSH-RENDER-TARGET", "3DPRIMITIVE", "MI_COPY_MEM_MEM")]);
    let sides = [findings[0].first.address, findings[0].second.address];
    assert_eq!(sides, [TARGETS, alias]);
}

/// XY_COLOR_BLT of one row of 16 dwords.
fn fill() -> Vec<u32> {
    packets![XyColorBlt {
        _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
        destination_pitch: S::new(64).unwrap(),
        raster_operation: BlitRasterOperation::PATTERN_COPY,
        color_depth: BlitColorDepth::_32BPP,
        destination_x2_coordinate_right: S::new(16).unwrap(),
        destination_y2_coordinate_bottom: S::new(1).unwrap(),
        destination_base_address: at(DATA),
        solid_pattern_color: u(5),
        ..XyColorBlt::new()
    }]
}

#[test]
fn a_blit_read_by_its_command_streamer() {
    let mut model = data();
    let bad = found(&mut model, EngineId::Blitter, &[fill(), copy(DATA)].concat());
    assert_eq!(brief(&bad), [("FLUSH-BLITTER", "XY_COLOR_BLT", "MI_COPY_MEM_MEM")]);
    let flush = packets![MiFlushDw::new()];
    let good = found(&mut model, EngineId::Blitter, &[fill(), flush, copy(DATA)].concat());
    assert_eq!(brief(&good), []);
}

/// Another engine and another context wait for a semaphore, which is written before the data is.
#[test]
fn between_engines_and_contexts() {
    let (written, read) = (SCRATCH + 0x100, SCRATCH + 0x200);
    let wait = |address| {
        packets![MiSemaphoreWait {
            wait_mode: MiSemaphoreWaitWaitMode::POLLING_MODE,
            compare_operation: MiSemaphoreWaitCompareOperation::SAD_EQUAL_SDD,
            semaphore_data_dword: u(1),
            semaphore_address: at(address),
            ..MiSemaphoreWait::new()
        }]
    };
    for flushes in [false, true] {
        let mut gpu = Gpu::new();
        let contexts = [(); 2].map(|()| gpu.create_context().unwrap());
        let buffers = [(DATA, 4096), (SCRATCH, 4096), (BATCH, 8192)]
            .map(|(address, bytes)| (address, gpu.alloc(bytes).unwrap()));
        for context in contexts {
            for (address, buffer) in buffers {
                gpu.map(context, address, buffer).unwrap();
            }
        }
        let flush = if flushes { packets![MiFlushDw::new()] } else { Vec::new() };
        // The writer ends after the read: the kernel flushes at its end.
        let mut writer = [fill(), flush, store(written, 1), wait(read)].concat();
        let mut reader = [wait(written), copy(DATA), store(read, 1)].concat();
        for (batch, address) in [(&mut writer, BATCH), (&mut reader, BATCH + 4096)] {
            push(batch, &MiBatchBufferEnd::new());
            gpu.vm(contexts[0]).write(address, bytemuck::cast_slice(batch)).unwrap();
        }
        let mut sanitizers = Sanitizers::new(["flush"], Generation::Gen8).unwrap();
        gpu.enqueue(contexts[1], EngineId::Render, BATCH + 4096, 0);
        gpu.enqueue(contexts[0], EngineId::Blitter, BATCH, 0);
        gpu.run_observed(&mut sanitizers).unwrap();
        let findings: Vec<_> = sanitizers.findings().map(|(_, f)| f.clone()).collect();
        match flushes {
            true => assert_eq!(brief(&findings), []),
            false => {
                let rule = ("FLUSH-BLITTER", "XY_COLOR_BLT", "MI_COPY_MEM_MEM");
                assert_eq!(brief(&findings), [rule]);
                let engines = [findings[0].first.at.engine, findings[0].second.at.engine];
                assert_eq!(engines, [EngineId::Blitter, EngineId::Render]);
            }
        }
    }
}

#[test]
fn names() {
    let error = |names: &[&str], generation| {
        Sanitizers::new(names.iter().copied(), generation).unwrap_err().to_string()
    };
    let unknown = error(&["flush", "rays"], Generation::Gen8);
    assert_eq!(unknown, format!("there is no sanitizer \"rays\": use {}", sanitize::names()));
    let old = error(&["flush"], Generation::Gen45);
    assert_eq!(old, "the sanitizer flush has no rules for Gen45");
}
