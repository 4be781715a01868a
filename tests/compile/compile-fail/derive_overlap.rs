//! Two fields contain bit 15 of the same dword.
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
    #[field(dword = 1, bits = "15:0")]
    mask: U<16>,
    #[field(dword = 1, bits = "31:15")]
    count: U<17>,
}

fn main() {}
