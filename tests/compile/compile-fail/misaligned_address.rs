//! The state cache fetches lines: the dynamic state base address is a multiple of 4096.
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
