//! Operations whose results differ from those of Gen8.

use crate::eu::execute;
use crate::eu::general::{Done, illegal};
use crate::eu::kernel::Kernel;
use crate::eu::operands::{
    Finish, bits, finish_floats, finish_ints, floats, ints, leaves, map, set_flag,
};
use crate::eu::ops;
use crate::eu::ops::number::{Float, Int};
use crate::eu::ops::rounding::{Arithmetic, TowardZero};
use crate::eu::soft::Rounding;
use crate::eu::stop::Interrupt;
use crate::eu::thread::Thread;
use crate::eu::uop::{Condition, Opcode, Uop};

impl Thread {
    /// Executes an instruction that differs on G45.
    pub(in crate::eu) fn instruction_gen45(
        &mut self,
        u: &Uop,
        opcode: Opcode,
        mask: u32,
        kernel: &Kernel,
    ) -> Result<(), Interrupt> {
        if ops::general(opcode).is_none() {
            return self.control_gen45(u, opcode, mask, kernel);
        }
        if mask != 0 {
            match opcode {
                Opcode::Mul => product(self, u, mask)?,
                Opcode::Dp4 => dot_product(self, u, mask)?,
                Opcode::Frc => fraction(self, u, mask)?,
                Opcode::Rndu | Opcode::Rnde | Opcode::Rndz => round(self, u, opcode, mask)?,
                _ => execute::alu(self, u, mask)?,
            }
        }
        self.flow.advance(u.next);
        Ok(())
    }
}

/// A product of dwords: only the low word of source 0 is used (003:12454).
fn product(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let n = usize::from(u.size);
    let a = ints::<i128>(thread, &u.src[0], n, false);
    let b = ints::<i128>(thread, &u.src[1], n, false);
    finish_ints(thread, u, mask, &map(n, |c| (a[c] & 0xffff).times(b[c])));
    Ok(())
}

/// `dp4` of integers (assumptions::DOT_PRODUCTS_OF_INTEGERS). All four channels of a tuple get the
/// sum.
fn dot_product(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let n = usize::from(u.size);
    let a = ints::<i128>(thread, &u.src[0], n, false);
    let b = ints::<i128>(thread, &u.src[1], n, false);
    let sum = |c: usize| (c & !3..).take(4).map(|c| a[c].times(b[c])).sum::<i128>();
    finish_ints(thread, u, mask, &map(n, sum));
    Ok(())
}

/// x - floor(x), in [0, 1) (003:11690).
fn fraction(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let n = usize::from(u.size);
    let a = floats::<f32>(thread, &u.src[0], u.exec, n, true);
    let results = map(n, |c| TowardZero.add(a[c], -a[c].down()));
    finish_floats(thread, u, mask, &results, Finish::COMPUTED);
    Ok(())
}

/// `rndu`, `rnde` and `rndz`: the destination gets floor(x). The condition `.r` sets the flag of a
/// channel whose rounded number is floor(x) + 1 (003:12897-13133).
fn round(thread: &mut Thread, u: &Uop, opcode: Opcode, mask: u32) -> Done {
    if !u.src[0].ty.is_float() {
        return Err(illegal(u, "of integers"));
    }
    let n = usize::from(u.size);
    let a = floats::<f32>(thread, &u.src[0], u.exec, n, true);
    let floor = map(n, |c| a[c].down());
    finish_floats(thread, u, mask, &floor, Finish::COMPUTED);
    if u.condition == Some(Condition::Round) {
        let (flush, ty) = (f32::flush, u.dst.ty);
        let more = |c: usize| {
            let x = flush(a[c]);
            let rest = x - floor[c];
            let odd = (floor[c] / 2.0).fract() != 0.0;
            let needed = match opcode {
                Opcode::Rndu => rest > 0.0,
                Opcode::Rnde => rest > 0.5 || rest == 0.5 && odd,
                _ => x.abs() < floor[c].abs(),
            };
            needed && x.is_finite() && !leaves(ty, floor[c], Rounding::Zero)
        };
        set_flag(thread, u, mask, bits(n, more));
    }
    Ok(())
}
