//! A packet can be copied: the struct must derive `Clone` and `Copy` too. An integer is not an
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
