//! Messages to the URB. Oracle: gen8_facts 4.4 and G45 vol 4, 8.4.3, dword by dword.

use super::DATA;
use genxml::eu;
use genxml::gen8::media::MediaObject;
use genxml::gen8::mi::{MiLoadUrbMem, MiStoreUrbMem};
use genxml::gen8::state::InterfaceDescriptorData;
use genxml_cases::{Media, Model, Random, at, push, raw_buffer, u};
use std::collections::BTreeMap;

/// Runs a kernel with registers of constants from r1 on. Returns what it wrote to the buffer.
fn run(kernel: &[u32], constants: &[[u32; 8]], dwords: usize) -> Vec<u32> {
    let mut model = Model::new();
    model.map(DATA, 4096);
    let descriptor = InterfaceDescriptorData {
        constant_indirect_urb_entry_read_length: u(constants.len() as u64),
        ..InterfaceDescriptorData::new()
    };
    let media = Media {
        surfaces: vec![raw_buffer(DATA, 4096)],
        descriptors: vec![descriptor],
        curbe: constants.iter().flatten().flat_map(|dword| dword.to_le_bytes()).collect(),
        ..Media::new(kernel)
    };
    let mut batch = media.state(&mut model);
    push(&mut batch, &MediaObject::new());
    model.render(&batch).unwrap();
    model.get(DATA, dwords)
}

/// Channels write components with their own offsets and masks. A block read returns the bytes, and
/// a read by channels returns the components.
#[test]
fn channels() {
    // r1 has handles, r2 offsets, r3 masks, r4 to r6 data. r7 is the header of the block read.
    const KERNEL: &[u32] = &eu! {
        send (8|M0)      null  r1  0x6  0x0c0a8037            // write, offset 3, masks, offsets: 6 registers
        (W) send (8|M0)  r10   r7  0x6  0x02480002            // four hwords
        (W) mov (8|M0)   r9.0<1>:ud  0:ud
        (W) send (8|M0)  null  r9  0xA  0x0a0a0400            // eight owords
        (W) mov (8|M0)   r20.0<1>:ud  r1.0<8;8,1>:ud
        (W) mov (8|M0)   r21.0<1>:ud  r2.0<8;8,1>:ud
        (W) send (8|M0)  r10   r20  0x6  0x044a0038      // read, offset 3, offsets: four components
        (W) mov (1|M0)   r9.2<1>:ud  8:ud
        (W) send (8|M0)  null  r9  0xA  0x0a0a0400
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut random = Random::new(8);
    // Two entries of two registers. Each channel has its oword in one of them, three owords after
    // its offset.
    let handles: [u32; 8] = std::array::from_fn(|channel| 100 + 2 * (channel as u32 / 4));
    let offsets: [u32; 8] = std::array::from_fn(|channel| (channel as u32 % 4).wrapping_sub(3));
    let masks: [u32; 8] = std::array::from_fn(|_| (random.bits() as u32 & 7) << 16);
    let data: [[u32; 8]; 3] =
        std::array::from_fn(|_| std::array::from_fn(|_| random.bits() as u32));
    let mut header = [0; 8];
    header[0] = 100;
    let mut urb: BTreeMap<u32, u32> = BTreeMap::new();
    for channel in 0..8 {
        for (component, data) in data.iter().enumerate() {
            if masks[channel] >> (16 + component) & 1 == 1 {
                let at = handles[channel] * 32
                    + offsets[channel].wrapping_add(3) * 16
                    + 4 * component as u32;
                urb.insert(at, data[channel]);
            }
        }
    }
    let dword = |at: u32| urb.get(&at).copied().unwrap_or(0);
    let mut expected: Vec<u32> = (0..32).map(|n| dword(3200 + 4 * n)).collect();
    for component in 0..4 {
        expected.extend((0..8).map(|channel| {
            dword(handles[channel] * 32 + offsets[channel].wrapping_add(3) * 16 + 4 * component)
        }));
    }
    let found = run(KERNEL, &[handles, offsets, masks, data[0], data[1], data[2], header], 64);
    assert_eq!(found, expected);
}

/// MI_LOAD_URB_MEM writes line 150, which is the entry of handle 300; MI_STORE_URB_MEM reads what a
/// thread wrote to handle 302, the line after it.
#[test]
fn lines_of_the_command_streamer() {
    // r1 is the header of the read, r2 the header of the write.
    const KERNEL: &[u32] = &eu! {
        (W) send (8|M0)  r10  r1  0x6  0x02280002            // two hwords
        (W) mov (8|M0)   r9.0<1>:ud  0:ud
        (W) send (8|M0)  null  r9  0xA  0x060a0300            // four owords
        (W) mov (8|M0)   r3.0<1>:ud  r10.0<8;8,1>:ud
        (W) mov (8|M0)   r4.0<1>:ud  r11.0<8;8,1>:ud
        (W) send (8|M0)  null  r2  0x6  0x06080000            // write two hwords
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = Model::new();
    model.map(DATA, 4096);
    let line: Vec<u32> = (0..16).map(|n| 0x0101 * n + 7).collect();
    model.put(DATA + 1024, &line);
    let constants = [[300, 0, 0, 0, 0, 0, 0, 0], [302, 0, 0, 0, 0, 0xff00, 0, 0]];
    let descriptor = InterfaceDescriptorData {
        constant_indirect_urb_entry_read_length: u(2),
        ..InterfaceDescriptorData::new()
    };
    let media = Media {
        surfaces: vec![raw_buffer(DATA, 4096)],
        descriptors: vec![descriptor],
        curbe: constants.iter().flatten().flat_map(|dword: &u32| dword.to_le_bytes()).collect(),
        ..Media::new(KERNEL)
    };
    let mut batch = media.state(&mut model);
    let load = MiLoadUrbMem { urb_address: u(150), memory_address: at(DATA + 1024) };
    let store = MiStoreUrbMem { urb_address: u(151), memory_address: at(DATA + 2048) };
    push(&mut batch, &load);
    push(&mut batch, &MediaObject::new());
    push(&mut batch, &store);
    model.render(&batch).unwrap();
    assert_eq!(model.get(DATA, 16), line);
    assert_eq!(model.get(DATA + 2048, 16), line);
}

/// Blocks with and without interleaving, masks of their header, owords, and atomics.
#[test]
fn blocks() {
    // r1 is the header of writes, r2 and r3 are the data, r4 is the header of reads.
    const KERNEL: &[u32] = &eu! {
        (W) send (8|M0)  null  r1  0x6  0x06080010            // write hwords, offset 1
        (W) mov (1|M0)   r1.0<1>:ud  300:ud
        (W) send (8|M0)  null  r1  0x6  0x06088010            // write hwords interleaved, offset 1
        (W) mov (1|M0)   r1.0<1>:ud  400:ud
        (W) send (8|M0)  null  r1  0x6  0x04080031            // write an oword, offset 3
        (W) send (8|M0)  r10  r4  0x6  0x02280012            // two hwords of the first
        (W) mov (1|M0)   r4.0<1>:ud  300:ud
        (W) send (8|M0)  r12  r4  0x6  0x02288012            // two hwords interleaved
        (W) mov (8|M0)   r9.0<1>:ud  0:ud
        (W) send (8|M0)  null  r9  0xA  0x0a0a0400
        (W) mov (1|M0)   r4.0<1>:ud  400:ud
        (W) mov (8|M0)   r10.0<1>:ud  0:ud
        (W) mov (8|M0)   r11.0<1>:ud  0:ud
        (W) mov (8|M0)   r12.0<1>:ud  0:ud
        (W) mov (8|M0)   r13.0<1>:ud  0:ud
        (W) send (8|M0)  r10  r4  0x6  0x02180033            // an oword back
        (W) mov (8|M0)   r5.0<1>:ud  7:ud
        (W) send (8|M0)  r11  r4  0x6  0x02180055            // add one to dword 5
        (W) send (8|M0)  r12  r4  0x6  0x04180056            // add seven
        (W) send (8|M0)  r13  r4  0x6  0x04180054            // replace by seven
        (W) mov (1|M0)   r9.2<1>:ud  8:ud
        (W) send (8|M0)  null  r9  0xA  0x0a0a0400
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let data = [[1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14, 15, 16, 17, 18]];
    // Masks: dwords 0, 1, 3 of lower halves, 4, 6, 7 of upper ones.
    let header = [200, 500, 0, 0, 0, 0b1101_1011 << 8, 0, 0];
    let found = run(KERNEL, &[header, data[0], data[1], [200, 500, 0, 0, 0, 0, 0, 0]], 64);
    let masked = |row: [u32; 8]| {
        let mut row = row;
        (row[2], row[5]) = (0, 0);
        row
    };
    // The halves of each register go to the two entries and are read back.
    let expected = [masked(data[0]), masked(data[1]), masked(data[0]), masked(data[1])].concat();
    assert_eq!(found[..32], expected);
    assert_eq!(found[32..36], [1, 2, 0, 4]);
    assert_eq!(found[40], 0);
    assert_eq!(found[48], 1);
    assert_eq!(found[56], 8);
}
