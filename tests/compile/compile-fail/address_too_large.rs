//! An offset from Surface State Base Address must fit 32 bits.
use genxml::gen8::state::BindingTableState;
use genxml::packet;

fn main() {
    let entry = packet! { BindingTableState { surface_state_pointer: 0x1_0000_0000, .. } };
    println!("{:?}", entry.pack());
}
