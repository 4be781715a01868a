//! Commands that access the URB. Oracle: Ivy Bridge vol 1 part 3 p.198 for the units of
//! MI_URB_CLEAR; lines of 64 bytes are assumptions::URB_LINE_BYTES.

use crate::mi::*;
use genxml_cases::packets;
use genxml_sim::Fault;

/// Size of the URB in bytes (assumptions::URB_BYTES).
const URB: u64 = 384 << 10;

fn load_line(line: u64, from: u64) -> MiLoadUrbMem {
    MiLoadUrbMem { urb_address: u(line), memory_address: at(from) }
}

fn store_line(line: u64, to: u64) -> MiStoreUrbMem {
    MiStoreUrbMem { urb_address: u(line), memory_address: at(to) }
}

fn clear(address: u64, length: u64) -> MiUrbClear {
    MiUrbClear { urb_address: u(address), urb_clear_length: u(length) }
}

/// Lines keep the loaded data until units of 32 bytes are cleared. The URB keeps its data from
/// batch to batch.
#[test]
fn lines_and_clears() {
    let mut model = model();
    let data: Vec<u32> = (0..64).map(|n| 0x1000_0000 + n).collect();
    model.put(DATA, &data);
    let out = DATA + 0x1000;
    let stats = model
        .render(&packets![
            load_line(100, DATA),
            load_line(101, DATA + 64),
            load_line(URB / 64 - 1, DATA + 128),
            load_line(0, DATA + 192)
        ])
        .unwrap();
    assert_eq!((stats.without_effect, stats.bytes_read), (0, 256));
    // Units 201 and 202: the second half of line 100 and the first half of line 101.
    let stats = model
        .render(&packets![
            clear(201, 2),
            clear(0, 0),
            store_line(100, out),
            store_line(101, out + 64),
            store_line(URB / 64 - 1, out + 128),
            store_line(0, out + 192),
            store_line(5000, out + 256),
            clear(0, URB / 32),
            store_line(100, out + 320),
            store_line(URB / 64 - 1, out + 384)
        ])
        .unwrap();
    assert_eq!((stats.without_effect, stats.bytes_written), (0, 7 * 64));
    let mut expected = data.clone();
    expected[8..24].fill(0);
    expected.resize(7 * 16, 0);
    assert_eq!(model.get(out, 7 * 16), expected);
}

/// Addresses after the end of the URB name the field and the value.
#[test]
fn outside_of_the_urb() {
    let faults = [
        packets![clear(URB / 32 - 1, 2)],
        packets![load_line(URB / 64, DATA)],
        packets![store_line(8191, DATA)],
    ]
    .map(|batch| model().render(&batch).unwrap_err());
    for (fault, value) in faults.iter().zip([URB / 32 - 1, URB / 64, 8191]) {
        assert!(
            matches!(fault, Fault::BadPacket { field: "URB Address", value: found, .. }
                if *found == value),
            "{fault}"
        );
    }
    let unmapped = 0x7000_0000;
    for batch in [packets![load_line(0, unmapped)], packets![store_line(0, unmapped)]] {
        let fault = model().render(&batch).unwrap_err();
        assert!(matches!(fault, Fault::Page { .. }), "{fault}");
    }
}
