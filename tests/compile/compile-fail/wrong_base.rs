//! A binding table points to surface states: an offset from Dynamic State Base Address is not an
//! offset from Surface State Base Address.
use genxml::core::address::{Address, DynamicState};
use genxml::core::lit;
use genxml::gen8::state::BindingTableState;
use genxml::packet;

fn main() {
    let sampler: Address<DynamicState, 64, 32> = lit!(0x40);
    let entry = packet! {
        BindingTableState { surface_state_pointer: sampler, .. }
    };
    println!("{:?}", entry.pack());
}
