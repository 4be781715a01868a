//! A GPU address is not an offset from a base.
use genxml::core::address::{Address, Graphics};
use genxml::gen8::state::BindingTableState;
use genxml::packet;

fn main() {
    let surface: Address<Graphics, 64, 64> = Address::ZERO;
    let entry = packet! { BindingTableState { surface_state_pointer: surface, .. } };
    println!("{entry:?}");
}
