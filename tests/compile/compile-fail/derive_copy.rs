//! A packet can be copied, so its struct must also derive `Clone` and `Copy`. This struct derives
//! neither.
use genxml::Packet;
use genxml::core::U;

#[derive(Packet)]
#[packet(name = "MY_STATE", length = 1)]
struct MyState {
    #[field(dword = 0, bits = "31:0")]
    data: U<32>,
}

fn main() {}
