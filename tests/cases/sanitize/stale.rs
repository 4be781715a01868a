//! Draws that read a vertex, index or constant buffer whose memory is gone or was replaced since
//! its packet, and the same draws as they should be.
//!
//! Oracle: the tests replace memory themselves. A context keeps the address (2a p.136, p.243; 2d
//! p.1-3), and the kernel binds the objects of each submission anew (Linux i915_drm.h, `struct
//! drm_i915_gem_exec_object2`).

use super::state::{after_bases, brief, triangle, with};
use crate::geometry::harness;
use genxml::capture::{Capture, CaptureWriter, WriteObject};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::gen8::enums::{ThreeDPrimTopoType as Code, ThreeDVertexComponentControl as Component};
use genxml::gen8::mi::MiBatchBufferEnd;
use genxml::gen8::render3d_constants::{
    ThreeDStateConstantBody, ThreeDStateConstantPs, ThreeDStateConstantVs,
};
use genxml::gen8::render3d_fetch::*;
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::state::StateBaseAddress;
use genxml_cases::{BATCH, DYNAMIC_STATE, Model, at, draw, packets, u};
use genxml_sim::inspect::sanitize::{Finding, Sanitizers};
use genxml_sim::mem::Memory;
use genxml_sim::replay::{Replay, Step};
use genxml_sim::{Event, Gpu, Now};
use tempfile::tempdir;

/// Memory that the draws read.
const VERTICES: u64 = harness::VERTICES;
const INDICES: u64 = harness::INDICES;
const CONSTANTS: u64 = 0x43_0000;
/// Bytes of each of these.
const BYTES: u64 = 64 << 10;

/// A model, a batch that sets state and draws, and the packets of the second batch before its draw.
struct Case {
    model: Model,
    first: Vec<u32>,
    second: Vec<u32>,
}

impl Case {
    /// A draw of indexed or other points, whose vertices are written by stream output.
    fn points(indices: bool) -> Case {
        let mut draw = harness::Draw::new(Code::_3DPRIM_POINTLIST, 4);
        draw.indices = indices.then(|| vec![0, 1, 2, 3]);
        let mut model = harness::model();
        let batch = draw.batch(&mut model);
        Case::of(model, &batch)
    }

    /// A triangle whose pixel shader gets push constants from memory at [`CONSTANTS`].
    fn constants(body: ThreeDStateConstantBody) -> Case {
        let mut scene = triangle();
        scene.constants = vec![[0; 8]];
        let packet = ThreeDStateConstantPs { constant_body: body, ..ThreeDStateConstantPs::new() };
        let scene = with(scene, packets![packet]);
        let mut model = scene.model();
        model.map(CONSTANTS, BYTES);
        let batch = scene.batch(&mut model);
        Case::of(model, &batch)
    }

    fn of(model: Model, batch: &[u32]) -> Case {
        Case { model, first: after_bases(batch), second: Vec::new() }
    }

    /// Packets before the first draw.
    fn with(mut self, packets: &[u32]) -> Case {
        let end = self.first.len() - ThreeDPrimitive::DWORDS;
        self.first.splice(end..end, packets.iter().copied());
        self
    }

    /// Packets before the second draw.
    fn then(mut self, packets: &[u32]) -> Case {
        self.second.extend(packets);
        self
    }

    /// What `state` finds in the first batch, then `change`, then the second draw. `objects` are
    /// those of both submissions, if they are reported.
    fn run(
        mut self,
        objects: Option<[Vec<(u64, u64)>; 2]>,
        change: impl FnOnce(&mut Model),
    ) -> Vec<Finding> {
        let mut sanitizers = Sanitizers::new(["state"], Generation::Gen8).expect("a sanitizer");
        let now = Now { engine: EngineId::Render, clock: 0 };
        let report = |index: usize, sanitizers: &mut Sanitizers| {
            if let Some(lists) = &objects {
                genxml_sim::Observer::event(sanitizers, now, &Event::Objects(&lists[index]));
            }
        };
        report(0, &mut sanitizers);
        let model = &mut self.model;
        model.submit_observed(EngineId::Render, &self.first, &mut sanitizers).expect("a draw");
        change(model);
        report(1, &mut sanitizers);
        let primitive = &self.first[self.first.len() - ThreeDPrimitive::DWORDS..];
        let second = [&self.second, primitive].concat();
        // Draws without their memory end with a fault, after the sanitizer has seen them.
        let _ = model.submit_observed(EngineId::Render, &second, &mut sanitizers);
        sanitizers.findings().map(|(_, finding)| finding.clone()).collect()
    }
}

/// Replaces the memory at an address.
fn replace(address: u64) -> impl FnOnce(&mut Model) {
    move |model| {
        model.gpu.unmap(model.context, address, BYTES / 4096);
        model.map(address, BYTES);
    }
}

fn unmap(address: u64) -> impl FnOnce(&mut Model) {
    move |model| model.gpu.unmap(model.context, address, BYTES / 4096)
}

/// A body with a length in registers and an address for each buffer.
fn body(buffers: [(u64, u64); 4]) -> ThreeDStateConstantBody {
    let [zero, one, two, three] = buffers;
    ThreeDStateConstantBody {
        constant_buffer_0_read_length: u(zero.0),
        // Buffer 0 is relative to the base (2d p.1).
        pointer_to_constant_buffer_0: at(zero.1.wrapping_sub(DYNAMIC_STATE)),
        constant_buffer_1_read_length: u(one.0),
        pointer_to_constant_buffer_1: at(one.1),
        constant_buffer_2_read_length: u(two.0),
        pointer_to_constant_buffer_2: at(two.1),
        constant_buffer_3_read_length: u(three.0),
        pointer_to_constant_buffer_3: at(three.1),
    }
}

/// One register from buffer `number`.
fn buffer(number: usize) -> ThreeDStateConstantBody {
    let mut buffers = [(0, DYNAMIC_STATE), (0, 0), (0, 0), (0, 0)];
    buffers[number] = (1, CONSTANTS);
    body(buffers)
}

const VERTEX: (&str, &str) = ("STATE-STALE-VERTICES", "3DSTATE_VERTEX_BUFFERS");
const INDEX: (&str, &str) = ("STATE-STALE-INDICES", "3DSTATE_INDEX_BUFFER");
const CONSTANT: (&str, &str) = ("STATE-STALE-CONSTANTS", "3DSTATE_CONSTANT_PS");

fn vertex_buffers(buffer: VertexBufferState) -> Vec<u32> {
    let list = [buffer];
    packets![ThreeDStateVertexBuffers { vertex_buffer_state: list[..].into() }]
}

fn index_buffer() -> ThreeDStateIndexBuffer {
    ThreeDStateIndexBuffer {
        index_format: ThreeDStateIndexBufferIndexFormat::DWORD,
        buffer_starting_address: at(INDICES),
        buffer_size: u(16),
        ..ThreeDStateIndexBuffer::new()
    }
}

#[test]
fn other_memory_at_the_address() {
    type Row = (&'static str, fn() -> Case, u64, (&'static str, &'static str));
    let rows: [Row; 6] = [
        ("vertices", || Case::points(false), VERTICES, VERTEX),
        ("indices", || Case::points(true), INDICES, INDEX),
        ("constants 0", || Case::constants(buffer(0)), CONSTANTS, CONSTANT),
        ("constants 1", || Case::constants(buffer(1)), CONSTANTS, CONSTANT),
        ("constants 2", || Case::constants(buffer(2)), CONSTANTS, CONSTANT),
        ("constants 3", || Case::constants(buffer(3)), CONSTANTS, CONSTANT),
    ];
    for (name, make, address, expected) in rows {
        let found = make().run(None, replace(address));
        assert_eq!(brief(&found), [expected], "{name}");
        let sides = (found[0].first.at.packet, found[0].second.at.packet);
        assert_eq!(sides, (expected.1, "3DPRIMITIVE"), "{name}");
        let found = make().run(None, unmap(address));
        assert_eq!(brief(&found), [expected], "{name}, gone");
        let second = &found[0].second.action;
        assert!(second.ends_with("no memory of the submission has the address now"), "{second}");
        // The memory is the same, or another draw's memory is replaced.
        assert_eq!(brief(&make().run(None, |_| ())), [], "{name}");
        assert_eq!(brief(&make().run(None, replace(harness::OUT + (256 << 10)))), [], "{name}");
    }
}

/// The second batch sends the packet again.
#[test]
fn packets_that_are_sent_again() {
    let again = vertex_buffers(draw::vertex_buffer(VERTICES, 16, BYTES));
    assert_eq!(brief(&Case::points(false).then(&again).run(None, replace(VERTICES))), []);
    let again = packets![index_buffer()];
    assert_eq!(brief(&Case::points(true).then(&again).run(None, replace(INDICES))), []);
    let again = packets![ThreeDStateConstantPs {
        constant_body: buffer(2),
        ..ThreeDStateConstantPs::new()
    }];
    let case = Case::constants(buffer(2)).then(&again);
    assert_eq!(brief(&case.run(None, replace(CONSTANTS))), []);
    // Without Address Modify Enable, the buffer keeps its address.
    let kept = VertexBufferState {
        address_modify_enable: false,
        ..draw::vertex_buffer(INDICES, 16, BYTES)
    };
    let case = Case::points(false).then(&vertex_buffers(kept));
    assert_eq!(brief(&case.run(None, replace(VERTICES))), [VERTEX]);
    // A packet for another entry does not set this one.
    let other =
        VertexBufferState { vertex_buffer_index: u(1), ..draw::vertex_buffer(VERTICES, 16, BYTES) };
    let case = Case::points(false).then(&vertex_buffers(other));
    assert_eq!(brief(&case.run(None, replace(VERTICES))), [VERTEX]);
}

/// Buffer 0 is relative to Dynamic State Base Address (2d p.1), which changes between the draws.
#[test]
fn constants_relative_to_an_earlier_base() {
    let moved = packets![StateBaseAddress {
        dynamic_state_base_address_modify_enable: true,
        dynamic_state_base_address: at(DYNAMIC_STATE + 0x1000),
        ..StateBaseAddress::new()
    }];
    let stale = |number: usize| {
        let mut case = Case::constants(buffer(number)).then(&moved);
        // The other state that is relative to the base is the same there.
        let state = case.model.get(DYNAMIC_STATE, 0x400);
        case.model.put(DYNAMIC_STATE + 0x1000, &state);
        let found = case.run(None, |_| ());
        let constants = found.iter().filter(|it| it.first.at.packet == CONSTANT.1);
        constants.map(|it| it.rule.id).collect::<Vec<_>>()
    };
    assert_eq!(stale(0), ["STATE-STALE-BASE"]);
    assert_eq!(stale(2), [""; 0]);
}

/// Buffers that the second draw does not read.
#[test]
fn buffers_that_the_draw_does_not_read() {
    // No element reads buffer 1.
    let other =
        VertexBufferState { vertex_buffer_index: u(1), ..draw::vertex_buffer(INDICES, 16, BYTES) };
    let case = Case::points(false).with(&vertex_buffers(other));
    assert_eq!(brief(&case.run(None, replace(INDICES))), [], "no element");
    // The second draw has elements without a source.
    let constant = [VertexElementState {
        valid: true,
        component_0_control: Component::VFCOMP_STORE_0,
        component_1_control: Component::VFCOMP_STORE_0,
        component_2_control: Component::VFCOMP_STORE_0,
        component_3_control: Component::VFCOMP_STORE_1_FP,
        ..VertexElementState::new()
    }];
    let case = Case::points(false)
        .then(&packets![ThreeDStateVertexElements { element: constant[..].into() }]);
    assert_eq!(brief(&case.run(None, replace(VERTICES))), [], "no source");
    let null =
        VertexBufferState { null_vertex_buffer: true, ..draw::vertex_buffer(VERTICES, 16, BYTES) };
    let case = Case::points(false).with(&vertex_buffers(null));
    assert_eq!(brief(&case.run(None, replace(VERTICES))), [], "null");
    // A sequential draw with an index buffer.
    let case = Case::points(false).with(&packets![index_buffer()]);
    assert_eq!(brief(&case.run(None, replace(INDICES))), [], "sequential");
    // A stage that is off, and one without push constants.
    let vs = ThreeDStateConstantVs { constant_body: buffer(2), ..ThreeDStateConstantVs::new() };
    let case =
        Case::constants(body([(1, DYNAMIC_STATE), (0, 0), (0, 0), (0, 0)])).with(&packets![vs]);
    assert_eq!(brief(&case.run(None, replace(CONSTANTS))), [], "VS off");
    let case = Case::constants(body([(1, DYNAMIC_STATE), (0, 0), (0, CONSTANTS), (0, 0)]));
    assert_eq!(brief(&case.run(None, replace(CONSTANTS))), [], "length 0");
    let off = ThreeDStatePs { push_constant_enable: false, ..triangle().ps };
    let case = Case::constants(buffer(2)).then(&packets![off]);
    assert_eq!(brief(&case.run(None, replace(CONSTANTS))), [], "no push constants");
    // A draw without vertices.
    let mut case = Case::points(false);
    case.first.extend(packets![ThreeDPrimitive::new()]);
    assert_eq!(brief(&case.run(None, replace(VERTICES))), [], "no vertices");
}

/// With the driver's objects, memory that another object has is stale even if it is the same
/// physical memory.
#[test]
fn other_objects() {
    let make = || Case::points(false);
    let list = make().model.buffers();
    let others = |address: u64, size: u64| -> Vec<(u64, u64)> {
        let rest = list.iter().filter(|(start, _)| *start != VERTICES).copied();
        rest.chain([(address, size)]).collect()
    };
    let second = |other: Vec<(u64, u64)>| {
        let found = make().run(Some([list.clone(), other]), |_| ());
        let text = found.first().map(|finding| finding.second.action.clone());
        let found = brief(&found).into_iter().map(|(rule, _)| rule.to_owned()).collect::<Vec<_>>();
        (found, text.unwrap_or_default())
    };
    assert_eq!(second(list.clone()).0, [""; 0]);
    let (found, text) = second(others(VERTICES, BYTES / 2));
    assert_eq!(found, [VERTEX.0]);
    assert!(text.ends_with("is in the object of 0x8000 bytes at 0x0000_0040_0000 now"), "{text}");
    assert_eq!(second(others(VERTICES - 4096, BYTES + 4096)).0, [VERTEX.0]);
    let (found, text) = second(others(VERTICES + 4096, BYTES - 4096));
    assert_eq!(found, [VERTEX.0]);
    assert!(text.ends_with("no memory of the submission has the address now"), "{text}");
    // The object has other memory.
    let found = make().run(Some([list.clone(), list.clone()]), replace(VERTICES));
    assert_eq!(brief(&found), [VERTEX]);
    let text = &found[0].second.action;
    assert!(text.ends_with("another object of this size has the address now"), "{text}");
}

/// A capture in which the vertex buffer is freed, and another object of the same size gets its
/// address. Without a quarantine, the new object can get the physical memory of the old one.
#[test]
fn objects_that_a_capture_frees() {
    let run = |freed: bool| {
        let mut case = Case::points(false);
        let mut writer = CaptureWriter::new("stale");
        let first = [case.first.clone(), packets![MiBatchBufferEnd::new()]].concat();
        let primitive = case.first[case.first.len() - ThreeDPrimitive::DWORDS..].to_vec();
        let second = [primitive, packets![MiBatchBufferEnd::new()]].concat();
        let mapped: Vec<(u64, u64)> = case.model.buffers();
        let contents: Vec<(String, u64, Vec<u8>)> = mapped
            .iter()
            .map(|(address, size)| {
                let bytes = case.model.read(*address, *size as usize);
                (format!("{address:x}"), *address, bytes)
            })
            .collect();
        let mut exec = |batch: &[u32], vertices: &str| {
            let bytes: Vec<u8> = batch.iter().flat_map(|dword| dword.to_le_bytes()).collect();
            let objects: Vec<WriteObject<'_>> = contents
                .iter()
                .map(|(name, address, contents)| {
                    let size = contents.len() as u64;
                    match *address {
                        BATCH => WriteObject::whole(name, *address, size, &bytes),
                        VERTICES => WriteObject::new(vertices, *address, size, contents),
                        _ => WriteObject::new(name, *address, size, contents),
                    }
                })
                .collect();
            writer.exec(1, EngineId::Render, BATCH, bytes.len() as u64, &objects);
            if vertices == "old" && freed {
                writer.free(vertices);
            }
        };
        exec(&first, "old");
        exec(&second, if freed { "new" } else { "old" });
        let directory = tempdir().expect("a directory");
        writer.finish(directory.path()).expect("a capture");
        let capture = Capture::open(directory.path()).expect("a capture");
        let mut replay = Replay::new(&capture);
        replay.quarantine(BYTES);
        let mut sanitizers = Sanitizers::new(["state"], Generation::Gen8).expect("a sanitizer");
        while let Some(step) = replay.step_observed(&mut sanitizers) {
            if let Step::Exec { result, .. } = step {
                result.expect("a draw");
            }
        }
        sanitizers.findings().map(|(_, finding)| finding.clone()).collect::<Vec<_>>()
    };
    let found = run(true);
    assert_eq!(brief(&found), [VERTEX]);
    let text = &found[0].second.action;
    assert!(text.ends_with("another object of this size has the address now"), "{text}");
    assert_eq!(brief(&run(false)), []);
}

/// Each submission has an object and page tables of its own, and frees the object. If the memory
/// that is kept is missing, for the object or for its page tables, it is freed.
#[test]
fn kept_memory_is_freed_if_memory_runs_out() {
    const OBJECT: u64 = 64 << 10;
    let mut writer = CaptureWriter::new("freed");
    let batch = packets![MiBatchBufferEnd::new()];
    let bytes: &[u8] = bytemuck::cast_slice(&batch);
    for number in 0..20 {
        let name = format!("object {number}");
        let objects = [
            WriteObject::whole("batch", BATCH, 4096, bytes),
            WriteObject::new(&name, (number + 1) << 30, OBJECT, &[]),
        ];
        writer.exec(1, EngineId::Render, BATCH, bytes.len() as u64, &objects);
        writer.free(&name);
    }
    let directory = tempdir().expect("a directory");
    writer.finish(directory.path()).expect("a capture");
    let capture = Capture::open(directory.path()).expect("a capture");
    // The least memory without a quarantine, and a little more.
    let run = |pages: u64, quarantine: u64| {
        let mut replay = Replay::new(&capture);
        *replay.gpu() = Gpu::with_memory(Memory::with_limit(4096 * pages));
        replay.quarantine(quarantine);
        let mut steps = std::iter::from_fn(|| replay.step());
        steps.all(|step| !matches!(step, Step::Exec { result: Err(_), .. }))
    };
    let least = (1..200).find(|pages| run(*pages, 0)).expect("enough memory");
    for pages in least..least + 2 * OBJECT / 4096 {
        assert!(run(pages, 1 << 30), "{pages} pages");
    }
    assert!(!run(least - 1, 1 << 30));
}
