//! Runs kernels of G45.

use genxml_eu::Generation;
use genxml_eu::asm::{Options, assemble};
use genxml_eu::syntax::Syntax;
use genxml_sim::eu::decode::{extend, fetch_on, kernel_on};
use genxml_sim::eu::fast::Plan;
use genxml_sim::eu::regions::{GRF_BYTES, MRF, MRF_BYTES, Registers};
use genxml_sim::eu::uop::Uop;
use genxml_sim::eu::{Environment, Kernel, Launch, Message, Stop, Thread, Trap};
use genxml_sim::{EngineId, Fault, Place};

const PLACE: Place = Place::new(EngineId::Render, "test", 0, 0);

/// An environment with a budget of instructions. It answers messages with numbers, and records
/// them.
pub struct World {
    pub steps: u64,
    pub messages: Vec<Message>,
}

impl World {
    pub fn new(steps: u64) -> World {
        World { steps, messages: Vec::new() }
    }
}

impl Environment for World {
    fn step(&mut self, _: u32, _: u32) -> Result<(), Fault> {
        self.steps = self.steps.checked_sub(1).ok_or(Fault::Hang { limit: 0, at: PLACE })?;
        Ok(())
    }
    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let length = (message.descriptor >> 20 & 15) as usize;
        assert!(message.payload >= MRF && message.payload + 32 * length <= MRF + MRF_BYTES);
        if let Some(first) = message.response {
            for at in (0..32 * (message.descriptor as usize >> 16 & 15)).step_by(4) {
                if first + at + 4 <= GRF_BYTES {
                    registers.set_u32(first + at, (0.5 + at as f32 / 100.0).to_bits());
                }
            }
        }
        if self.messages.len() < 100 {
            self.messages.push(*message);
        }
        Ok(())
    }
    fn timestamp(&self) -> u64 {
        7
    }
    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        trap.fault(PLACE.in_kernel(0, offset))
    }
}

pub fn decode(bytes: &[u8]) -> Kernel {
    kernel_on(Generation::Gen45, 0, 0, |offset| fetch_on(Generation::Gen45, bytes, offset))
}

/// The bytes of a program in Mesa's language.
pub fn assembled(text: &str) -> Vec<u8> {
    let options = Options { generation: Generation::Gen45, ..Options::default() };
    match assemble(text, Syntax::Mesa, &options) {
        Ok(assembly) => assembly.bytes,
        Err(errors) => panic!("{}", errors[0]),
    }
}

/// A message that ends a thread.
pub const END: &str = "send(8) 0 null<1>UD g0<8,8,1>UD 0x86108000
    urb MsgDesc: 0 urb_write complete mlen 1 rlen 0 { align1 nomask EOT };\n";

pub fn launch(mask: u32) -> Launch {
    Launch { generation: Generation::Gen45, dispatch_mask: mask, ..Launch::default() }
}

/// Runs a thread to its end. Code that it reaches by computed jumps is decoded.
pub fn play(
    bytes: &[u8],
    kernel: &mut Kernel,
    thread: &mut Thread,
    world: &mut World,
) -> Result<(), Fault> {
    loop {
        match thread.resume(kernel, world)? {
            Stop::End => return Ok(()),
            Stop::Decode(offset) => {
                extend(kernel, offset, |offset| fetch_on(Generation::Gen45, bytes, offset));
            }
            stop => return Err(thread.stuck(stop, kernel, world)),
        }
    }
}

/// Runs a program in Mesa's language, with the end of the thread after it, on the fast path and on
/// the general path. Both must give the same registers.
pub fn run(text: &str, start: &Launch, setup: impl Fn(&mut Thread)) -> Result<Thread, Fault> {
    let bytes = assembled(&format!("{text}\n{END}"));
    let threads = [false, true].map(|general| {
        let mut kernel = decode(&bytes);
        if general {
            for uop in &mut kernel.uops {
                *uop = Uop { plan: Plan::NONE, ..uop.clone() };
            }
        }
        let mut thread = Thread::new(start);
        setup(&mut thread);
        play(&bytes, &mut kernel, &mut thread, &mut World::new(100_000)).map(|()| thread)
    });
    let [fast, general] = threads;
    if let (Ok(fast), Ok(general)) = (&fast, &general) {
        for (at, (one, other)) in fast.regs.bytes().iter().zip(general.regs.bytes()).enumerate() {
            assert_eq!(one, other, "byte {at} of the registers: fast path, general path\n{text}");
        }
    }
    fast
}

/// Element `n` of `size` bytes from register `number` on.
pub fn read(thread: &Thread, number: usize, n: usize, size: usize) -> u32 {
    let at = 32 * number + n * size;
    match size {
        1 => thread.regs.u8(at).into(),
        2 => thread.regs.u16(at).into(),
        _ => thread.regs.u32(at),
    }
}

/// Replaces the dwords from register `number` on.
pub fn write(thread: &mut Thread, number: usize, dwords: &[u32]) {
    for (n, dword) in dwords.iter().enumerate() {
        thread.regs.set_u32(32 * number + 4 * n, *dword);
    }
}
