//! The debug functions of the G45 in `genx eu run`: breakpoints of the instruction cache, single
//! steps, external halt, attention, and the architecture registers of the thread.

use crate::input::address;
use crate::output::{Error, bad_input};
use genxml::gen45::eu_registers::ControlRegister;
use genxml_eu::Generation;
use genxml_eu::ops::Opcode;
use genxml_sim::eu::debug::{Alone, Halt, Session, Watch};
use genxml_sim::eu::decode::Fetched;
use genxml_sim::eu::gen45::breakpoints::{AtOpcode, Breakpoints};
use genxml_sim::eu::regions::{A0, ACC_FILE, FLAGS, IP, MASK0, MS0, MSD0, N0, SR0};
use genxml_sim::eu::{Exception, Launch, Stop, Thread};
use genxml_sim::{Fault, eu::regions::CR0};
use std::str::FromStr;

/// Options for kernels of the G45.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Debug functions of the G45")]
pub struct Options {
    /// Breakpoint exception before the instruction at this byte offset in FILE, like that of the
    /// register ISC_L1CA_BP_ADR1 or 2. Enables breakpoints (cr0.1 bit 15). Without
    /// --system-routine, the run stops there. Up to two
    #[arg(long, value_name = "OFFSET", value_parser = address)]
    break_address: Vec<u64>,
    /// Breakpoint exception before instructions with this opcode, a name or a number, like that of
    /// the register ISC_L1CA_BP_OPC1 or 2. NAME:eot: only if the instruction ends the thread.
    /// Otherwise as --break-address. Up to two; only the first can have :eot
    #[arg(long, value_name = "NAME[:eot]")]
    break_opcode: Vec<OpcodeArg>,
    /// Start with a single step: a breakpoint exception after the first instruction, and after
    /// each further one if the system routine sets Breakpoint Suppress (cr0.0 bit 15) and does not
    /// clear Breakpoint Status (cr0.1 bit 31). Needs --system-routine
    #[arg(long)]
    single_step: bool,
    /// Request the exception External Halt after N instructions. It needs 0x4000 in --exceptions
    #[arg(long, value_name = "N", value_parser = address)]
    halt_after: Option<u64>,
    /// Answer the attention of the thread (wait n1) N times, as the host does with EU_ATT_CLR. At
    /// the next one, the run stops
    #[arg(long, value_name = "N", value_parser = address, default_value = "0")]
    clear_attention: u64,
    /// Print the architecture registers of the thread at the end
    #[arg(long)]
    state: bool,
}

/// The value of `--break-opcode`.
#[derive(Clone, Copy, Debug)]
struct OpcodeArg(AtOpcode);

impl FromStr for OpcodeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<OpcodeArg, String> {
        let (name, eot) = match text.strip_suffix(":eot") {
            Some(name) => (name, true),
            None => (text, false),
        };
        let named = |code: &u8| {
            Opcode::on(Generation::Gen45, *code).is_some_and(|opcode| opcode.name() == name)
        };
        let code = (0..128).find(named).map(u64::from).or_else(|| address(name).ok());
        match code {
            Some(code @ 0..128) => Ok(OpcodeArg(AtOpcode { code: code as u8, eot })),
            _ => Err(format!("`{name}` is not an operation of the G45 (`genx eu ops --gen g45`)")),
        }
    }
}

/// A request of the thread for the host's attention.
#[derive(Clone, Copy, Debug)]
pub struct Attention {
    /// Byte offset of the `wait` from the first instruction.
    pub offset: u32,
    /// The bit of data that the thread shows.
    pub data: bool,
}

/// Why a run stopped, and the requests for attention during it.
pub struct Run {
    /// The result of the session. A breakpoint exception without a system routine is a breakpoint.
    pub result: Result<Halt, Fault>,
    /// The requests. If the thread waits for an answer, the last one is not answered.
    pub attentions: Vec<Attention>,
}

impl Options {
    /// Refuses options that do not fit the generation or each other.
    ///
    /// # Errors
    /// Unusable input.
    pub fn check(&self, generation: Generation, routine: bool) -> Result<(), Error> {
        let used = !self.break_address.is_empty()
            || !self.break_opcode.is_empty()
            || self.single_step
            || self.halt_after.is_some()
            || self.clear_attention != 0
            || self.state;
        if used && !generation.has_message_registers() {
            return Err(bad_input("debug functions: only those of the G45 exist (--gen g45)"));
        }
        if self.break_address.len() > 2 || self.break_opcode.len() > 2 {
            return Err(bad_input("there are two breakpoints at addresses and two at opcodes"));
        }
        if self.break_opcode.get(1).is_some_and(|it| it.0.eot) {
            return Err(bad_input("only the first --break-opcode can have :eot"));
        }
        if self.single_step && !routine {
            return Err(bad_input("--single-step: a system routine is needed (--system-routine)"));
        }
        Ok(())
    }

    /// The breakpoints of the instruction cache. Addresses are offsets in the file.
    fn breakpoints(&self) -> Breakpoints {
        Breakpoints {
            addresses: [0, 1].map(|n| self.break_address.get(n).copied()),
            opcodes: [0, 1].map(|n| self.break_opcode.get(n).map(|it| it.0)),
        }
    }

    /// The instruction at an offset of the file, with its breakpoint.
    pub fn mark(&self, fetched: Fetched, offset: i32) -> Fetched {
        self.breakpoints().mark(fetched, u64::from(offset as u32))
    }

    /// Sets what the options change in the initial state.
    pub fn apply(&self, launch: &mut Launch) {
        if self.breakpoints().is_empty() && !self.single_step {
            return;
        }
        let control = ControlRegister::unpack_lossy(&[launch.control, launch.exceptions, 0, 0]);
        let control = ControlRegister {
            breakpoint_enable: true,
            breakpoint_status: control.breakpoint_status || self.single_step,
            breakpoint_suppress: control.breakpoint_suppress || self.single_step,
            ..control
        };
        [launch.control, launch.exceptions, ..] = control.pack();
    }

    /// Runs the session for up to `max` instructions, and acts for the host meanwhile.
    pub fn run<F: FnMut(i32) -> Fetched, W: Watch>(
        &self,
        session: &mut Session<F>,
        world: &mut Alone,
        max: u64,
        routine: bool,
        watch: &mut W,
    ) -> Run {
        let (mut attentions, mut halt) = (Vec::new(), self.halt_after);
        let older = session.kernel().generation.has_message_registers();
        let result = loop {
            let done = session.thread.executed();
            let end = halt.filter(|end| *end < max).unwrap_or(max);
            match session.run(world, end.saturating_sub(done), watch) {
                Ok(Halt::Limit) if end < max => {
                    session.thread.halt();
                    halt = None;
                }
                Ok(Halt::Wait(Stop::Notification(1))) if older => {
                    let (offset, data) = (session.position(), session.thread.attention_data());
                    attentions.push(Attention { offset, data });
                    if attentions.len() as u64 > self.clear_attention {
                        break Ok(Halt::Wait(Stop::Notification(1)));
                    }
                    session.thread.clear_attention();
                }
                Err(Fault::Exception { exception: Exception::Breakpoint, .. })
                    if older && !routine =>
                {
                    break Ok(Halt::Breakpoint(session.position()));
                }
                other => break other,
            }
        };
        Run { result, attentions }
    }

    /// The architecture registers, if they are to be printed: names with dwords.
    pub fn state(&self, thread: &Thread) -> Vec<(&'static str, Vec<u32>)> {
        if !self.state {
            return Vec::new();
        }
        let read = |at: usize, count: usize| (0..count).map(move |n| thread.regs.u32(at + 4 * n));
        let mut registers: Vec<_> = [
            ("a0", A0, 4),
            ("f0", FLAGS, 1),
            ("mask0", MASK0, 2),
            ("ms0", MS0, 8),
            ("msd0", MSD0, 1),
            ("sr0", SR0, 2),
            ("cr0", CR0, 3),
            ("n0", N0, 1),
            ("n1", N0 + 4, 1),
            ("ip", IP, 1),
        ]
        .map(|(name, at, count)| (name, read(at, count).collect()))
        .into();
        for (name, first) in [("acc0", 0), ("acc1", ACC_FILE / 2)] {
            let dwords = (0..8).map(|n| thread.acc.bits(first + 4 * n, 4) as u32).collect();
            registers.push((name, dwords));
        }
        registers
    }
}
