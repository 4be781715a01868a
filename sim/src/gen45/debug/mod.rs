//! Debug functions of the G45 (003 chapter 3): snapshots, breakpoints and external halts of
//! threads, attention, and registers that reduce a draw to the part of interest.
//!
//! * [`effects`]: what each field of the debug registers does in the model; [`registers`]: reads
//!   and writes of them;
//! * [`state`]: counters, captured words, and other state that no register shows; [`snapshot`]: the
//!   decision about a snapshot;
//! * [`fixed`]: what the fixed functions do for each command, vertex, primitive and thread;
//! * [`dispatch`]: what the thread dispatcher adds to a thread; [`kernel`]: kernels with the
//!   breakpoints of the instruction cache; [`attention`]: threads that wait for the host;
//! * [`messages`]: messages that are captured, and the words about bad messages.
//!
//! Nothing of this has an effect unless Global Debug Enable of INSTPM is set
//! (assumptions::G45_DEBUG_NEEDS_THE_GLOBAL_ENABLE), except attention and the words about bad
//! messages. A draw with it runs its primitives one after the other on one host thread.

pub mod attention;
pub mod dispatch;
pub mod effects;
pub mod fixed;
pub mod kernel;
pub mod messages;
pub mod registers;
pub mod snapshot;
pub mod state;

pub use state::Debug;

use crate::machine::exec::Exec;
use crate::machine::registers::Registers;
use genxml::gen45::registers::Instpm;

/// The value of a debug register, from [`Registers`].
macro_rules! value {
    ($registers:expr, $register:ident) => {
        $register::unpack_lossy(&[$registers.read($register::OFFSET)])
    };
}
pub(crate) use value;

/// True if Global Debug Enable of INSTPM is set.
pub fn enabled(registers: &Registers) -> bool {
    value!(registers, Instpm).global_debug_enable
}

/// MI_FLUSH with Global Snapshot Count Reset: sets all counters of the fixed functions to 0.
pub fn reset_counters(exec: &mut Exec<'_>) {
    if exec.state.slots.get::<Debug>().is_some() {
        exec.state.slots.get_mut::<Debug>().counters = state::Counters::default();
    }
}
