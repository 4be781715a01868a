//! The dynamic state base address must be a multiple of 4096.
use genxml::gen8::state::StateBaseAddress;
use genxml::packet;

fn main() {
    let bases = packet! {
        StateBaseAddress {
            dynamic_state_base_address: 0x1_0040,
            ..
        }
    };
    println!("{:?}", bases.pack());
}
