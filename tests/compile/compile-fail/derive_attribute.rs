//! Attributes that are missing, unknown or given twice.
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
    #[field(dword = 1, bits = "3:0", defalt = 1)]
    one: U<4>,
    #[field(dword = 1)]
    two: U<4>,
    #[field(dword = 1, bits = "11:8", bits = "11:8")]
    three: U<4>,
    four: U<4>,
    #[field(dword = 1, bits = "16:19")]
    five: U<4>,
}

fn main() {}
