//! Constants of the command streamer (CURBE).

use crate::rig::{Rig, u};
use crate::urb::fences;
use genxml::core::MinusOne;
use genxml::gen45::commands_common::CsUrbState;
use genxml_sim::gen45::urb::ROW;

/// Loads use the entries in turn; `curbe` returns the newest one. Oracle: digests/gen45_facts 4.4.
#[test]
fn entries_in_turn() {
    let mut rig = Rig::new();
    let urb = rig.urb();
    assert!(urb.next_curbe(1).is_err(), "no entries yet");
    urb.fence(&fences()).unwrap();
    urb.set_constants(&CsUrbState {
        number_of_urb_entries: u(4),
        urb_entry_allocation_size: MinusOne::new(3).unwrap(),
    });
    assert_eq!(urb.curbe().len(), 0);
    for n in 0..9u8 {
        urb.next_curbe(2).unwrap().fill(n);
        assert_eq!(urb.curbe(), vec![n; 2 * ROW]);
    }
    // Entry 8 is entry 0 again: rows 196 and 197. Entry 7 is the last of four.
    assert_eq!((urb.rows(196, 1)[0], urb.rows(196 + 9, 1)[0], urb.rows(198, 1)[0]), (8, 7, 0));
    assert!(urb.next_curbe(4).unwrap_err().to_string().contains("longer"));
    urb.drop_curbe();
    assert_eq!(urb.curbe().len(), 0);
    urb.set_constants(&CsUrbState {
        number_of_urb_entries: u(1),
        urb_entry_allocation_size: MinusOne::new(32).unwrap(),
    });
    assert_eq!(urb.next_curbe(32).unwrap().len(), 32 * ROW);
}
