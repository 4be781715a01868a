//! Missing parts of `#[packet(...)]`.
use genxml::Packet;
use genxml::core::U;

#[derive(Clone, Copy, Packet)]
struct Nothing {
    #[field(dword = 0, bits = "31:0")]
    data: U<32>,
}

#[derive(Clone, Copy, Packet)]
#[packet(length = 1)]
struct Nameless {
    #[field(dword = 0, bits = "31:0")]
    data: U<32>,
}

#[derive(Clone, Copy, Packet)]
#[packet(name = "ENDLESS")]
struct Endless {
    #[field(dword = 0, bits = "31:0")]
    data: U<32>,
}

#[derive(Clone, Copy, Packet)]
#[packet(name = "ENGINE", engine = "rendr", length = 1, opcode(bits = "31:16", value = 0x10000))]
struct Engine {
    #[field(dword = 0, bits = "15:0")]
    data: U<16>,
}

#[derive(Clone, Copy, Packet)]
#[packet(name = "TAIL", length = 1)]
struct Tail(U<32>);

fn main() {}
