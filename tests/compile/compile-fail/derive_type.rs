//! Types that a field cannot have.
use genxml::Packet;

#[derive(Clone, Copy, Packet)]
#[packet(
    name = "MY_COMMAND",
    engine = "render",
    length = 4,
    opcode(bits = "31:16", value = 0x7a42),
    dword_length(bits = "7:0"),
    zero(bits = "15:8")
)]
struct MyCommand {
    #[field(dword = 1, bits = "15:0")]
    mask: u16,
    #[field(dword = 1, bits = "31:16")]
    text: Vec<u8>,
    #[field(dword = 2, bits = "63:0")]
    difference: i64,
}

fn main() {}
