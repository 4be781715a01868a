//! The decision about a snapshot (003:1191-1206, 1736-1762).

use super::value;
use crate::machine::registers::Registers;
use genxml::gen45::debug_fixed::{ClCtl, GsCtl, SfCtl, VfCtl, VsCtl, WizCtl};

/// The bits of a control register that fixed functions have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Control {
    /// Snapshots are taken.
    pub enabled: bool,
    /// The snapshot flag is passed to the thread.
    pub to_thread: bool,
    /// Every thread, primitive or subspan gets the snapshot flag.
    pub all: bool,
    /// A snapshot was taken.
    pub complete: bool,
}

/// A control register with these bits.
pub trait ControlRegister {
    /// Reads the bits.
    fn control(registers: &Registers) -> Control;

    /// Sets Snapshot Complete.
    fn complete(registers: &mut Registers);
}

macro_rules! control_register {
    ($($register:ident)*) => {$(
        impl ControlRegister for $register {
            fn control(registers: &Registers) -> Control {
                let it = value!(registers, $register);
                Control {
                    enabled: it.snapshot_enable,
                    to_thread: it.thread_snapshot_enable,
                    all: it.snapshot_all_threads,
                    complete: it.snapshot_complete,
                }
            }

            fn complete(registers: &mut Registers) {
                let it = $register { snapshot_complete: true, ..value!(registers, $register) };
                registers.write($register::OFFSET, it.pack()[0]);
            }
        }
    )*};
}

control_register!(VsCtl GsCtl ClCtl SfCtl WizCtl);

/// Sets Snapshot Complete of vertex fetch, which has no threads.
pub fn complete_fetch(registers: &mut Registers) {
    let it = VfCtl { snapshot_complete: true, ..value!(registers, VfCtl) };
    registers.write(VfCtl::OFFSET, it.pack()[0]);
}

/// What happens to a thread, primitive or subspan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Decision {
    /// Its snapshot flag.
    pub flag: bool,
    /// The flag that its thread gets.
    pub to_thread: bool,
    /// Its words are captured.
    pub captures: bool,
}

impl Control {
    /// Decides about a thread, primitive or subspan. `matches` is true if it has the compare value.
    /// With Snapshot All Threads, each one is captured, and replaces the one before. Otherwise only
    /// the first that matches is captured, until software clears Snapshot Complete.
    fn decide(self, matches: bool, allowed: bool) -> Decision {
        let taken = self.enabled && matches;
        let flag = allowed && (self.all || taken);
        Decision {
            flag,
            to_thread: flag && self.to_thread,
            captures: flag && (self.all || !self.complete),
        }
    }
}

/// Decides about a thread, primitive or subspan of the unit with the control register `C`. If it
/// has the compare value (`matches`), sets Snapshot Complete. `allowed` is false if the unit needs
/// the snapshot flag of the unit before it, and that flag is not set.
pub fn decide<C: ControlRegister>(
    registers: &mut Registers,
    matches: bool,
    allowed: bool,
) -> Decision {
    let control = C::control(registers);
    let decision = control.decide(matches, allowed);
    if control.enabled && matches && allowed {
        C::complete(registers);
    }
    decision
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the pseudocode of the windower (003:1736-1762), statement by statement.
    #[test]
    fn flags_are_those_of_the_pseudocode() {
        for bits in 0..64 {
            let bit = |n: u32| bits >> n & 1 == 1;
            let (all, enable, compare, thread) = (bit(0), bit(1), bit(2), bit(3));
            let (use_upstream, upstream) = (bit(4), bit(5));
            let mut local = false;
            if all {
                local = true;
            } else if enable {
                local = compare;
            }
            let last = if use_upstream { upstream && local } else { local };
            let payload = thread && last;
            let control = Control { enabled: enable, to_thread: thread, all, complete: false };
            let decision = control.decide(compare, !use_upstream || upstream);
            assert_eq!((decision.flag, decision.to_thread), (last, payload), "{bits:#b}");
        }
    }
}
