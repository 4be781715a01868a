//! Threads that wait for the host (`wait n1`), and the host's answer (003:2513-2580).
//!
//! A draw runs without a pause, so the host cannot write EU_ATT_CLR during the draw. It can write
//! the register before the draw: then the next `wait n1` of the thread does not wait. An observer
//! can also answer [`Event::Attention`]. Without an answer the draw ends with a fault, and EU_ATT
//! has the bit of the thread.

use super::state::Debug;
use crate::eu::Thread;
use crate::machine::events::{Answer, Event};
use crate::machine::exec::Exec;
use crate::machine::state::State;
use genxml::gen45::debug_shared::{EuAtt, EuAttData};
use genxml_core::{U, U64};

/// Slots of an execution unit that the attention registers have bits for (003:9290).
const SLOTS: u64 = 4;

/// The number of a thread, counted over all execution units: its bit in EU_ATT_CLR. `None` if the
/// registers have no bit for its slot.
fn number(thread: &Thread) -> Option<u32> {
    let identity = thread.identity();
    let (unit, slot) = (identity.execution_unit_identifier.get(), identity.thread_identifier.get());
    (slot < SLOTS).then_some((unit * SLOTS + slot) as u32)
}

/// Handles a thread that waits for the host. Returns true if the thread can continue.
pub fn answered(exec: &mut Exec<'_>, thread: &mut Thread, kernel: u64, ip: u32) -> bool {
    // An answer is for the first thread with this number that waits, so threads run in order.
    exec.vm.keep_order();
    let Some(number) = number(thread) else { return false };
    let waiting = &mut exec.state.slots.get_mut::<Debug>().answers;
    let mut answered = *waiting >> number & 1 == 1;
    *waiting &= !(1 << number);
    if !answered {
        show(exec.state, number, true, thread.attention_data());
        let answer = Answer::default();
        exec.emit(&Event::Attention {
            kernel,
            ip,
            thread: number,
            data: thread.attention_data(),
            registers: thread.regs.bytes(),
            answer: &answer,
        });
        answered = answer.is_given();
    }
    if answered {
        show(exec.state, number, false, false);
        thread.clear_attention();
    }
    answered
}

/// Sets the bits of a thread in EU_ATT and EU_ATT_DATA. Thread 0 has the highest bit.
fn show(state: &mut State, number: u32, attention: bool, data: bool) {
    let registers = &mut state.registers;
    let [one, other] = [EuAtt::OFFSET, EuAttData::OFFSET].map(|offset| registers.read_u64(offset));
    if let Some(bit) = 31u32.checked_sub(number) {
        let bits = one as u32 & !(1 << bit) | u32::from(attention) << bit;
        let [value, ..] = EuAtt { attention: U::from_bits(bits.into()) }.pack();
        registers.write(EuAtt::OFFSET, value);
    }
    if let Some(bit) = 63u32.checked_sub(number) {
        // The upper half of the value is in the second dword.
        let bits = other & !(1 << bit) | u64::from(data) << bit;
        let [low, high, ..] = EuAttData { attention_data: U64::from_bits(bits) }.pack();
        registers.write_u64(EuAttData::OFFSET, u64::from(low) | u64::from(high) << 32);
    }
}

/// Handles a write of dword `dword` of EU_ATT_CLR: clears the attention of threads, and stores an
/// answer for the next wait of each.
pub fn clear(state: &mut State, dword: u32, value: u32) {
    if dword > 2 {
        return;
    }
    for bit in (0..32).filter(|bit| value >> bit & 1 == 1) {
        show(state, 32 * dword + bit, false, false);
    }
    state.slots.get_mut::<Debug>().answers |= u128::from(value) << (32 * dword);
}
