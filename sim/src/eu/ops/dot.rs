//! Dot products, lines and planes: operations on tuples of four channels.

use super::family::prelude::*;
use crate::eu::general::illegal;
use crate::eu::operands::{Lanes, floats};
use crate::eu::regions::{REGISTER, wrap};
use crate::eu::uop::{Shape, Src};
use crate::machine::fault::Refusal;

family! {
    /// Dot product of four elements.
    Dp4 {
        const LEAST_CHANNELS: u8 = 4;
        float(f) { tuples(f, 4, false) }
    }
    /// Dot product of three elements, plus the fourth element of source 1.
    Dph {
        const LEAST_CHANNELS: u8 = 4;
        float(f) { tuples(f, 3, true) }
    }
    /// Dot product of three elements.
    Dp3 {
        const LEAST_CHANNELS: u8 = 4;
        float(f) { tuples(f, 3, false) }
    }
    /// Dot product of two elements.
    Dp2 {
        const LEAST_CHANNELS: u8 = 4;
        float(f) { tuples(f, 2, false) }
    }
    /// A line, p x + r.
    Line {
        const LEAST_CHANNELS: u8 = 4;
        float(f) {
            let (p, _, r) = coefficients::<T>(f.thread, f.u)?;
            let x = f.load(1);
            f.each(|m, c| m.add(m.mul(p, x[c]), r))
        }
        fast LineFloat Float(f) f.plane() => plane(true), Vector::Line;
    }
    /// A plane, p x + q y + r.
    Pln {
        const LEAST_CHANNELS: u8 = 4;
        float(f) {
            let (p, q, r) = coefficients::<T>(f.thread, f.u)?;
            let (x, y) = plane_operands::<T>(f.thread, f.u, f.size())?;
            f.each(|m, c| m.add(m.add(m.mul(p, x[c]), m.mul(q, y[c])), r))
        }
        fast PlaneFloat Float(f) f.plane() => plane(false), Vector::Plane;
    }
}

/// Computes one dot product for each tuple of four channels; all four channels get it.
fn tuples<T: Operand, A: Arithmetic<T>>(f: Floats<'_, T, A>, terms: usize, last: bool) -> Done {
    let (a, b) = (f.load(0), f.load(1));
    f.each(|m, c| {
        let (a, b): (&[T], &[T]) = (&a[c & !3..][..4], &b[c & !3..][..4]);
        dot(m, a, b, terms, last.then(|| b[3]))
    })
}

/// Dot product of the first `terms` elements, plus `last` if there is one (dph). Each step is
/// rounded: hardware may keep more bits (004:1346-1349).
#[inline(always)]
fn dot<T: Float, A: Arithmetic<T>>(m: &A, a: &[T], b: &[T], terms: usize, last: Option<T>) -> T {
    let mut sum = m.mul(a[0], b[0]);
    for n in 1..terms {
        sum = m.add(sum, m.mul(a[n], b[n]));
    }
    last.map_or(sum, |last| m.add(sum, last))
}

/// The first, second and fourth element of the tuple that source 0 of `line` and `pln` names.
fn coefficients<T: Operand>(thread: &Thread, u: &Uop) -> Result<(T, T, T), Refusal> {
    let src = &u.src[0];
    let Shape::Scalar(offset) = src.shape else {
        return Err(illegal(u, "with coefficients that are not a replicated scalar in a register"));
    };
    let tuple = offset & !15;
    let table = std::array::from_fn(|n| tuple + 4 * (n as u16 % 4));
    let src = Src { shape: Shape::Table(Box::new(table)), ..src.clone() };
    let values = floats::<T>(thread, &src, u.exec, 4, true);
    Ok((values[0], values[1], values[3]))
}

/// The coordinates x and y of `pln`. For each eight channels, source 1 has a register of x and then
/// a register of y (003:12669).
fn plane_operands<T: Operand>(
    thread: &Thread,
    u: &Uop,
    n: usize,
) -> Result<(Lanes<T>, Lanes<T>), Refusal> {
    let Shape::Contiguous(offset) = u.src[1].shape else {
        return Err(illegal(u, "with coordinates that are not whole registers"));
    };
    let registers = |first: usize| {
        let table = std::array::from_fn(|c| {
            let register = c / 8 * 2 + first;
            wrap(i32::from(offset) + (register * REGISTER + c % 8 * 4) as i32)
        });
        let src = Src { shape: Shape::Table(Box::new(table)), ..u.src[1].clone() };
        floats::<T>(thread, &src, u.exec, n, true)
    };
    Ok((registers(0), registers(1)))
}
