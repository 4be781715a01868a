//! Oracle: OpenGL 4.6, 13.3, written as lists of dwords for each vertex and buffer. A primitive is
//! recorded completely or not at all.

use super::*;
use genxml_core::{Address, U};
use std::collections::BTreeMap;
use std::convert::Infallible;

const ADDRESS: u64 = 0x10_0000;

fn buffer(index: u64, dwords: u64) -> Option<ThreeDStateSoBuffer> {
    Some(ThreeDStateSoBuffer {
        so_buffer_enable: true,
        so_buffer_index: U::from_bits(index),
        surface_base_address: Address::from_bits(ADDRESS * (index + 1)),
        surface_size: genxml_core::MinusOne::from_bits(dwords - 1),
        ..ThreeDStateSoBuffer::new()
    })
}

fn streamout(pitches: [u64; 4]) -> ThreeDStateStreamout {
    ThreeDStateStreamout {
        so_function_enable: true,
        so_statistics_enable: true,
        stream_0_vertex_read_length: genxml_core::MinusOne::from_bits(16),
        stream_1_vertex_read_length: genxml_core::MinusOne::from_bits(16),
        stream_2_vertex_read_length: genxml_core::MinusOne::from_bits(16),
        stream_3_vertex_read_length: genxml_core::MinusOne::from_bits(16),
        buffer_0_surface_pitch: U::from_bits(pitches[0]),
        buffer_1_surface_pitch: U::from_bits(pitches[1]),
        buffer_2_surface_pitch: U::from_bits(pitches[2]),
        buffer_3_surface_pitch: U::from_bits(pitches[3]),
        ..ThreeDStateStreamout::new()
    }
}

fn declaration(slot: u64, register: u64, mask: u64) -> SoDecl {
    SoDecl {
        output_buffer_slot: U::from_bits(slot),
        register_index: U::from_bits(register),
        component_mask: U::from_bits(mask),
        ..SoDecl::new()
    }
}

fn hole(slot: u64, mask: u64) -> SoDecl {
    SoDecl { hole_flag: true, ..declaration(slot, 63, mask) }
}

/// Memory: the dword at each address that was written.
type Memory = BTreeMap<u64, u32>;

fn output(out: &mut StreamOut, memory: &mut Memory, stream: usize, vertices: &[Vec<u32>]) {
    let vertices: Vec<&[u32]> = vertices.iter().map(Vec::as_slice).collect();
    let done = out.primitive(stream, &vertices, &mut |address, bytes| {
        assert!(address.is_multiple_of(4) && bytes.len().is_multiple_of(4));
        for (n, dword) in bytes.chunks(4).enumerate() {
            memory.insert(address + 4 * n as u64, u32::from_le_bytes(dword.try_into().unwrap()));
        }
        Ok::<(), Infallible>(())
    });
    assert_eq!(done, Ok(()));
}

/// Vertex `v`: its dword n is 1000 * v + n.
fn vertex(v: u32) -> Vec<u32> {
    (0..40).map(|n| 1000 * v + n).collect()
}

/// Declarations of four streams side by side, as the packet has them.
fn list(streams: [&[SoDecl]; 4]) -> (Vec<genxml::gen8::render3d_stages::SoDeclEntry>, [u64; 4]) {
    let longest = streams.iter().map(|stream| stream.len()).max().unwrap_or_default();
    let at =
        |stream: usize, n: usize| streams[stream].get(n).copied().unwrap_or(declaration(3, 5, 15));
    let entries = (0..longest)
        .map(|n| genxml::gen8::render3d_stages::SoDeclEntry {
            stream_0_decl: at(0, n),
            stream_1_decl: at(1, n),
            stream_2_decl: at(2, n),
            stream_3_decl: at(3, n),
        })
        .collect();
    (entries, streams.map(|stream| stream.len() as u64))
}

fn make(
    streams: [&[SoDecl]; 4],
    selects: [u64; 4],
    pitches: [u64; 4],
    buffers: &[Option<ThreeDStateSoBuffer>; 4],
    offsets: [u32; 4],
) -> StreamOut {
    let (entries, counts) = list(streams);
    let declarations = ThreeDStateSoDeclList {
        stream_to_buffer_selects_0: U::from_bits(selects[0]),
        stream_to_buffer_selects_1: U::from_bits(selects[1]),
        stream_to_buffer_selects_2: U::from_bits(selects[2]),
        stream_to_buffer_selects_3: U::from_bits(selects[3]),
        num_entries_0: U::from_bits(counts[0]),
        num_entries_1: U::from_bits(counts[1]),
        num_entries_2: U::from_bits(counts[2]),
        num_entries_3: U::from_bits(counts[3]),
        entry: entries[..].into(),
    };
    StreamOut::new(&streamout(pitches), &declarations, buffers, offsets)
}

#[test]
fn pieces_and_holes() {
    // Buffer 0 gets the position, a hole of two dwords, then YZ of register 2. Buffer 1 gets W of
    // register 3.
    let stream = [declaration(0, 1, 15), declaration(1, 3, 8), hole(0, 3), declaration(0, 2, 6)];
    let buffers = [buffer(0, 64), buffer(1, 64), None, None];
    let mut out =
        make([&stream, &[], &[], &[]], [3, 0, 0, 0], [40, 8, 0, 0], &buffers, [16, 0, 0, 0]);
    let mut memory = Memory::new();
    output(&mut out, &mut memory, 0, &[vertex(1), vertex(2), vertex(3)]);
    let mut want = Memory::new();
    for v in 0..3_u64 {
        let value = |n: u64| (1000 * (v + 1) + n) as u32;
        let first = ADDRESS + 16 + 40 * v;
        want.extend((0..4).map(|n| (first + 4 * n, value(4 + n))));
        want.extend((0..2).map(|n| (first + 24 + 4 * n, value(9 + n))));
        want.insert(2 * ADDRESS + 8 * v, value(15));
    }
    assert_eq!(memory, want);
    assert_eq!(out.offsets, [16 + 120, 24, 0, 0]);
    assert_eq!((out.written[0], out.needed[0]), (1, 1));
}

/// Random declarations, compared with lists of dwords that are made one dword at a time.
#[test]
fn random_declarations() {
    let mut state = 7_u32;
    let mut random = move |n: u32| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        u64::from((state >> 8) % n)
    };
    const CONTIGUOUS: [u64; 10] = [1, 2, 4, 8, 3, 6, 12, 7, 14, 15];
    for _ in 0..300 {
        let count = random(6) as usize + 1;
        let stream: Vec<SoDecl> = (0..count)
            .map(|_| match random(4) {
                0 => hole(random(2), [0, 1, 3, 7, 15][random(5) as usize]),
                _ => declaration(random(2), random(9), CONTIGUOUS[random(10) as usize]),
            })
            .collect();
        // For each buffer: the source of each dword of a vertex, or none for a hole.
        let mut layout: [Vec<Option<u64>>; 2] = Default::default();
        for d in &stream {
            for c in (0..4).filter(|c| d.component_mask.get() >> c & 1 == 1) {
                let from = (!d.hole_flag).then_some(4 * d.register_index.get() + c);
                layout[d.output_buffer_slot.get() as usize].push(from);
            }
        }
        let selects: u64 =
            (0..2).map(|n| u64::from(layout[n].iter().any(Option::is_some)) << n).sum();
        let gap = random(2);
        let pitches = [0, 1].map(|n| 4 * (layout[n].len() as u64 + gap).max(1));
        let sizes = [random(60) + 1, random(60) + 1];
        let buffers = [buffer(0, sizes[0]), buffer(1, sizes[1]), None, None];
        let mut out = make(
            [&stream, &[], &[], &[]],
            [selects, 0, 0, 0],
            [pitches[0], pitches[1], 0, 0],
            &buffers,
            [0; 4],
        );
        let (mut memory, mut want) = (Memory::new(), Memory::new());
        let (mut start, mut written) = ([0_u64; 2], 0);
        for primitive in 0..12_u32 {
            let vertices: Vec<Vec<u32>> = (0..3).map(|v| vertex(3 * primitive + v)).collect();
            output(&mut out, &mut memory, 0, &vertices);
            let mut places = Vec::new();
            for (v, vertex) in vertices.iter().enumerate() {
                for b in (0..2).filter(|b| selects >> b & 1 == 1) {
                    for (n, from) in layout[b].iter().enumerate() {
                        let place = start[b] + pitches[b] * v as u64 + 4 * n as u64;
                        places.push((b, place, from.map(|from| vertex[from as usize])));
                    }
                }
            }
            if selects != 0 && places.iter().all(|&(b, place, _)| place + 4 <= 4 * sizes[b]) {
                let address = |b: usize, place| ADDRESS * (b as u64 + 1) + place;
                want.extend(
                    places
                        .iter()
                        .filter_map(|&(b, place, value)| Some((address(b, place), value?))),
                );
                for b in (0..2).filter(|b| selects >> b & 1 == 1) {
                    start[b] += 3 * pitches[b];
                }
                written += 1;
            }
        }
        assert_eq!(memory, want);
        assert_eq!((out.written[0], out.needed[0]), (written, 12));
        assert_eq!(out.offsets[..2], start);
    }
}

/// A buffer that is not bound makes only the stream that writes it overflow (2a p.216).
#[test]
fn unbound_buffers() {
    let [zero, one] = [[declaration(0, 0, 15)], [declaration(1, 0, 15)]];
    let disabled =
        buffer(0, 64).map(|buffer| ThreeDStateSoBuffer { so_buffer_enable: false, ..buffer });
    for (first, pitch) in [(disabled, 16), (buffer(0, 64), 0), (None, 16)] {
        let buffers = [first, buffer(1, 64), None, None];
        let mut out =
            make([&zero, &one, &[], &[]], [1, 2, 0, 0], [pitch, 16, 0, 0], &buffers, [0; 4]);
        let mut memory = Memory::new();
        for stream in 0..3 {
            output(&mut out, &mut memory, stream, &[vertex(5)]);
        }
        assert_eq!(out.needed, [1, 1, 1, 0]);
        assert_eq!(out.written, [0, 1, 0, 0]);
        assert_eq!(
            memory.keys().copied().collect::<Vec<_>>(),
            [0, 4, 8, 12].map(|n| 2 * ADDRESS + n)
        );
        assert_eq!(out.offsets, [0, 16, 0, 0]);
    }
}

/// A unit of a read offset skips 32 bytes. Dwords after the read length or the vertex read as 0.
#[test]
fn what_is_read_of_a_vertex() {
    let stream = [declaration(0, 0, 1), declaration(0, 2, 1), declaration(0, 32, 15)];
    let (entries, _) = list([&stream, &[], &[], &[]]);
    let declarations = ThreeDStateSoDeclList {
        num_entries_0: U::from_bits(3),
        entry: entries[..].into(),
        ..ThreeDStateSoDeclList::new()
    };
    let packet = ThreeDStateStreamout {
        stream_0_vertex_read_offset: U::from_bits(1),
        stream_0_vertex_read_length: genxml_core::MinusOne::from_bits(0),
        ..streamout([24, 0, 0, 0])
    };
    let mut out =
        StreamOut::new(&packet, &declarations, &[buffer(0, 64), None, None, None], [0; 4]);
    let mut memory = Memory::new();
    output(&mut out, &mut memory, 0, &[vertex(1)]);
    assert_eq!(memory.values().copied().collect::<Vec<_>>(), [1008, 0, 0, 0, 0, 0]);
    // Test a count of entries that is larger than the number of entries in the packet, and
    // offsets at the end of their range.
    let declarations = ThreeDStateSoDeclList { num_entries_0: U::from_bits(255), ..declarations };
    let mut out = StreamOut::new(
        &packet,
        &declarations,
        &[buffer(0, 1 << 30), None, None, None],
        [u32::MAX; 4],
    );
    output(&mut out, &mut memory, 0, &[vertex(1)]);
    assert_eq!((out.needed[0], out.written[0]), (1, 0));
}

/// Oracle: the table of 2a p.226-227.
#[test]
fn which_streams_are_drawn() {
    let drawn = |enabled, disable, select, force| {
        let packet = ThreeDStateStreamout {
            so_function_enable: enabled,
            api_rendering_disable: disable,
            render_stream_select: U::from_bits(select),
            force_rendering: force,
            ..ThreeDStateStreamout::new()
        };
        let out = StreamOut::new(&packet, &ThreeDStateSoDeclList::new(), &[None; 4], [0; 4]);
        (0..STREAMS).filter(|&stream| out.renders(stream)).collect::<Vec<_>>()
    };
    assert_eq!(drawn(false, false, 2, Force::NORMAL), [0, 1, 2, 3]);
    assert_eq!(drawn(true, false, 2, Force::NORMAL), [2]);
    assert!(
        drawn(true, true, 2, Force::NORMAL).is_empty()
            && drawn(false, true, 0, Force::NORMAL).is_empty()
    );
    assert!(drawn(true, false, 2, Force::FORCE_OFF).is_empty());
    assert_eq!(drawn(true, true, 1, Force::FORCE_ON), [1]);
    assert_eq!(drawn(false, true, 1, Force::FORCE_ON), [0, 1, 2, 3]);
}
