//! Oracle: gen8_facts 3.5 and 2a p.117-123, worked out by hand.

use super::*;

const STRIPS: Output =
    Output { vertices: None, control: 8, format: Control::Cuts, dwords: 8, stream: 2 };

#[test]
fn where_things_lie() {
    assert_eq!((STRIPS.first(), STRIPS.room(16 + 24), STRIPS.room(15)), (16, 3, 0));
    let counted = Output { vertices: Some(5), ..STRIPS };
    assert_eq!((counted.first(), counted.room(16), counted.count(&[9])), (8, 1, 5));
    let bare = Output { vertices: Some(5), control: 0, ..STRIPS };
    assert_eq!((bare.first(), bare.room(16)), (0, 2));
    assert_eq!(STRIPS.count(&[7, 1]), 7);
    assert_eq!(STRIPS.count(&[]), 0);
}

/// The control data have one bit for each vertex, from bit 0 of the first dword after the vertex
/// count on. Dwords after the control data header are not control data.
#[test]
fn cuts() {
    let mut entry = [0; 24];
    entry[8] = 1 << 2 | 1 << 31;
    entry[9] = 1;
    entry[15] = 1 << 31;
    entry[16] = !0;
    let cuts: Vec<u32> = (0..1024).filter(|&vertex| STRIPS.cut(&entry, vertex)).collect();
    assert_eq!(cuts, [2, 31, 32, 255]);
    assert_eq!(STRIPS.stream(&entry, 2), 2);
    let counted = Output { vertices: Some(9), ..STRIPS };
    assert!(!counted.cut(&entry, 0) && counted.cut(&[4; 8], 2));
    let none = Output { control: 0, ..STRIPS };
    assert!((0..1024).all(|vertex| !none.cut(&entry, vertex)));
}

/// The control data have two bits for each vertex. Without a control data header, all vertices
/// belong to the default stream.
#[test]
fn streams() {
    let points = Output { format: Control::Streams, ..STRIPS };
    let mut entry = [0; 24];
    entry[8] = 0b11_10_01_00;
    entry[9] = 0b10;
    entry[15] = 1 << 30;
    let streams: Vec<usize> = (0..18).map(|vertex| points.stream(&entry, vertex)).collect();
    assert_eq!(streams, [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]);
    assert_eq!(points.stream(&entry, 127), 1);
    assert!(!points.cut(&entry, 1));
    assert_eq!(Output { control: 0, ..points }.stream(&entry, 1), 2);
}

#[test]
fn lanes() {
    let widths = [Mode::Single, Mode::DualInstance, Mode::DualObject, Mode::Simd8].map(Mode::width);
    assert_eq!(widths, [1, 2, 2, 8]);
}
