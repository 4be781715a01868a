//! The macro knows only the names of these types. They have 2 and 7 bits, the attributes others.
use genxml::Packet;
use genxml::core::U;
use genxml::gen8::blitter::BlitColorDepth;
use genxml::gen8::state::MemoryObjectControlState;

#[derive(Clone, Copy, Packet)]
#[packet(name = "MY_STATE", length = 2, zero = "31:15")]
struct MyState {
    #[field(dword = 0, bits = "0")]
    narrow: BlitColorDepth,
    #[field(dword = 0, bits = "4:1")]
    wide: BlitColorDepth,
    #[field(dword = 0, bits = "14:5", nested)]
    control: MemoryObjectControlState,
    #[field(dword = 1, bits = "11:0")]
    depths: [BlitColorDepth; 4],
    #[field(dword = 1, bits = "31:12")]
    rest: U<20>,
}

fn main() {}
