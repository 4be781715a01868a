//! A packet is copied freely: the struct derives `Clone` and `Copy` too. Unlike a field's own type, an integer is no
//! enumeration.
use genxml::Packet;
use genxml::core::U;

#[derive(Packet)]
#[packet(name = "MY_STATE", length = 1)]
struct MyState {
    #[field(dword = 0, bits = "31:0")]
    data: U<32>,
}

fn main() {}
