//! Tests of walkers.

mod events;
mod gpgpu;
mod modes;
mod objects;
mod patterns;

use genxml::eu;
use genxml_cases::{Compute, Model, raw_buffer};

/// A test of the harness: a thread writes its group's number with an oword block write. Oracle:
/// gen8_facts 3.7, group X is in r0.1.
#[test]
fn a_thread_writes() {
    const DATA: u64 = 0x40_0000;
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r126.0<1>:ud  0:ud
        (W) mov (8|M0)   r127.0<1>:ud  r0.1<0;1,0>:ud
        (W) shl (1|M0)   r126.2<1>:ud  r0.1<0;1,0>:ud  1:ud
        (W) send (8|M0)  null  r126  0xA  0x040a0200      // two owords to binding table entry 0
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = Model::new();
    model.map(DATA, 4096);
    let compute = Compute {
        surfaces: vec![raw_buffer(DATA, 4096)],
        groups: [5, 1, 1],
        ..Compute::new(KERNEL)
    };
    let stats = compute.run(&mut model).unwrap();
    assert_eq!(stats.threads, 5);
    let expected: Vec<u32> =
        (0..6).flat_map(|group| [if group < 5 { group } else { 0 }; 8]).collect();
    assert_eq!(model.get(DATA, 48), expected);
}
