//! What can be read at a stop.

use super::kernel::Code;
use super::moment::{Moment, ThreadId};
use super::position::{Packet, Position};
use super::register::Register;
use crate::eu::regions::FILE_BYTES;
use crate::eu::types::Type;
use crate::machine::drawing::{Drawing, Primitive};
use crate::machine::view::View;
use crate::machine::watched::WatchedPixel;
use crate::unit::urb::Urb;
use genxml::eu::Generation;
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use genxml_core::packet::Fixed;

/// Why the debugger stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Before the first packet.
    Start,
    /// A breakpoint with this number.
    Breakpoint(u32),
    /// A watchpoint with this number: memory changed.
    Watchpoint {
        /// Number of the watchpoint.
        number: u32,
        /// The bytes before; `None` if they could not be read before.
        old: Option<Vec<u8>>,
        /// The bytes now; `None` if they cannot be read now.
        new: Option<Vec<u8>>,
    },
    /// The condition of a breakpoint cannot be evaluated.
    BadCondition {
        /// Number of the breakpoint.
        number: u32,
        /// What is wrong.
        problem: String,
    },
    /// A step is done.
    Step,
    /// The controller asked for a pause.
    Pause,
    /// A run backward reached the first packet.
    Beginning,
    /// The packet or instruction that comes next causes this fault.
    Fault(String),
    /// The run is over.
    End,
    /// The run ended with this fault.
    Broken(String),
}

impl Reason {
    /// The number of the breakpoint or watchpoint.
    pub fn breakpoint(&self) -> Option<u32> {
        match self {
            Reason::Breakpoint(number)
            | Reason::Watchpoint { number, .. }
            | Reason::BadCondition { number, .. } => Some(*number),
            _ => None,
        }
    }
}

/// A thread at a stop, before an instruction.
#[derive(Clone, Copy, Debug)]
pub struct StoppedThread<'a> {
    /// The thread.
    pub id: ThreadId,
    /// Number of the model's thread slot.
    pub slot: u32,
    /// Address of the kernel's first instruction.
    pub kernel: u64,
    /// Byte offset of the next instruction from the start of the kernel.
    pub ip: u32,
    /// Enabled channels of the next instruction. Bit 0 is its first channel.
    pub mask: u32,
    /// The register file (see [`crate::eu::regions`]).
    pub registers: &'a [u8],
    /// The pixel of a breakpoint that the thread shades, and its channel.
    pub pixel: Option<(WatchedPixel, u8)>,
    /// Position of the thread group, if the thread belongs to one.
    pub group: Option<[u32; 3]>,
}

/// A stop.
#[derive(Clone, Debug)]
pub struct Stop<'a> {
    /// Why; several breakpoints can be hit at once.
    pub reasons: Vec<Reason>,
    /// The moment.
    pub moment: Moment,
    /// Submission, batch, packet and draw.
    pub position: &'a Position,
    /// The thread, if the stop is before an instruction.
    pub thread: Option<StoppedThread<'a>>,
    /// Memory and state; `None` at the end.
    pub view: Option<&'a dyn View>,
    /// Generation of the GPU.
    pub generation: Generation,
}

/// The error for something that only a thread has.
pub const NO_THREAD: &str =
    "there is no thread here; stop before an instruction (step, break pixel, break kernel)";

/// The error for something that needs the machine.
pub const NO_MACHINE: &str = "the run has ended; go back first (reverse-packet)";

impl Stop<'_> {
    /// Memory and state.
    ///
    /// # Errors
    /// At the end of the run, as text.
    pub fn machine(&self) -> Result<&dyn View, String> {
        self.view.ok_or_else(|| NO_MACHINE.to_owned())
    }

    /// The thread.
    ///
    /// # Errors
    /// If the stop is not before an instruction, as text.
    pub fn stopped_thread(&self) -> Result<&StoppedThread<'_>, String> {
        self.thread.as_ref().ok_or_else(|| NO_THREAD.to_owned())
    }

    /// The channel whose values are shown: that of the pixel, or else the lowest enabled one.
    pub fn channel(&self) -> u32 {
        self.thread.map_or(0, |thread| match thread.pixel {
            Some((_, channel)) => channel.into(),
            None if thread.mask == 0 => 0,
            None => thread.mask.trailing_zeros(),
        })
    }

    /// The instructions of the thread's kernel.
    ///
    /// # Errors
    /// Without a thread, as text.
    pub fn code(&self) -> Result<Code, String> {
        let thread = self.stopped_thread()?;
        Ok(Code::read(self.machine()?, self.generation, thread.kernel))
    }

    /// Memory from a graphics address on.
    ///
    /// # Errors
    /// If some of it is not mapped, as text.
    pub fn memory(&self, address: u64, length: usize) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; length];
        match self.machine()?.read(address, &mut bytes) {
            true => Ok(bytes),
            false => Err(format!(
                "the {length} bytes at {address:#x} are not all mapped in this context"
            )),
        }
    }

    /// The bit pattern of the element of type `ty` at byte `offset` of a register.
    ///
    /// # Errors
    /// Without a thread, or beyond the registers, as text.
    pub fn element(&self, register: Register, offset: usize, ty: Type) -> Result<u64, String> {
        let thread = self.stopped_thread()?;
        let accumulators;
        let (bytes, at) = match register {
            Register::File(base) => (thread.registers, base + offset),
            Register::Accumulator(base) => {
                accumulators = self.machine()?.accumulators().ok_or(NO_THREAD)?;
                (&accumulators[..], base + offset)
            }
        };
        let element = bytes.get(at..at + ty.size()).ok_or_else(|| {
            format!("the element ends beyond the last register ({FILE_BYTES} bytes)")
        })?;
        Ok(element.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    /// Bytes of the unified return buffer, up to the last one that was written.
    ///
    /// # Errors
    /// If the run has ended, or for a G45, as text.
    pub fn urb(&self) -> Result<&[u8], String> {
        if self.generation != Generation::Gen8 {
            return Err("the URB of a G45 cannot be read here".to_owned());
        }
        let view = self.machine()?;
        Ok(view.state().slots.get::<Urb>().map_or(&[][..], Urb::bytes))
    }

    /// Shared local memory of the thread group.
    ///
    /// # Errors
    /// Without a thread, as text.
    pub fn local(&self) -> Result<&[u8], String> {
        self.machine()?.local().ok_or_else(|| NO_THREAD.to_owned())
    }

    /// Passes the newest draw, with the state that is latched now, to `inspect`.
    ///
    /// # Errors
    /// If there was no draw, or the run has ended, as text.
    pub fn draw<R>(&self, inspect: impl FnOnce(&Drawing<'_>, u64) -> R) -> Result<R, String> {
        let view = self.machine()?;
        let newest = self.position.draw.as_ref();
        let Packet { at, dwords, .. } = newest.ok_or("nothing was drawn up to here")?;
        let number = self.position.draws;
        match self.generation {
            #[cfg(feature = "gen45")]
            Generation::Gen45 => {
                use genxml::gen45::commands_3d::ThreeDPrimitive as Older;
                let packet = unpacked::<Older>(dwords);
                let inspect = |drawing: &Drawing<'_>| inspect(drawing, number);
                Ok(Drawing::seen_from(view, *at, Primitive::Gen45(&packet), inspect))
            }
            _ => {
                let packet = unpacked::<ThreeDPrimitive>(dwords);
                let inspect = |drawing: &Drawing<'_>| inspect(drawing, number);
                Ok(Drawing::seen_from(view, *at, Primitive::Gen8(&packet), inspect))
            }
        }
    }
}

/// The packet that `dwords` encode; missing dwords are zero.
fn unpacked<T: Fixed>(dwords: &[u32]) -> T {
    use genxml_core::packet::Dwords;
    T::from_dwords_lossy(&T::Dwords::padded(dwords))
}
