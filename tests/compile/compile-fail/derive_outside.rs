//! A field is in dword 2, but the packet has only dwords 0 and 1.
use genxml::Packet;
use genxml::core::U;

#[derive(Clone, Copy, Packet)]
#[packet(
    name = "MY_COMMAND",
    engine = "render",
    length = 2,
    opcode(bits = "31:16", value = 0x7a42),
    dword_length(bits = "7:0"),
    zero(bits = "15:8")
)]
struct MyCommand {
    #[field(dword = 1, bits = "31:0")]
    mask: U<32>,
    #[field(dword = 2, bits = "31:0")]
    count: U<32>,
}

fn main() {}
