//! Registers on the command line: `r12.3:f`.

use genxml_sim::eu::access::Part;
use genxml_sim::eu::regions::{A0, FLAGS, GRF_BYTES, REGISTER};
use genxml_sim::eu::types::Type;
use genxml_sim::inspect::slice::Start;

/// An element of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    part: Part,
    ty: Type,
}

impl Register {
    /// The start of a slice: the value before the instruction at a byte offset of the kernel.
    pub fn start(self, offset: u32) -> Start {
        Start::Register { offset, part: self.part, ty: self.ty }
    }
}

/// Parses `r12.3:f`: general registers (`r` or `g`), `a0` and flags. Without a type, the element is
/// a `ud`; of flags and `a0`, a `uw`.
pub fn parse(text: &str) -> Result<Register, String> {
    let wrong = || format!("{text} is not a register; write r12.3:f, a0.0:uw or f0.1");
    let (name, ty) = text.split_once(':').map_or((text, None), |(name, ty)| (name, Some(ty)));
    let (register, element) = name.split_once('.').unwrap_or((name, "0"));
    let element: usize = element.parse().map_err(|_| wrong())?;
    let (file, number) = match register.split_at_checked(1) {
        Some((file, number)) => (file, number.parse::<usize>().map_err(|_| wrong())?),
        None => return Err(wrong()),
    };
    let ty = match ty {
        Some(ty) => type_of(ty).ok_or_else(wrong)?,
        None if file == "r" || file == "g" => Type::Ud,
        None => Type::Uw,
    };
    let size = ty.size();
    let (first, end) = match (file, number) {
        ("r" | "g", 0..128) => (number * REGISTER, GRF_BYTES),
        ("a", 0) => (A0, A0 + REGISTER),
        ("f", 0 | 1) => (FLAGS + 4 * number, FLAGS + 4 * number + 4),
        _ => return Err(wrong()),
    };
    let at = first.saturating_add(element.saturating_mul(size));
    if at.saturating_add(size) > end || element.saturating_mul(size) >= REGISTER {
        return Err(format!("{text}: the register has no element {element} of this type"));
    }
    Ok(Register { part: Part::File(at as u16, size as u8), ty })
}

fn type_of(name: &str) -> Option<Type> {
    Some(match name {
        "ub" => Type::Ub,
        "b" => Type::B,
        "uw" => Type::Uw,
        "w" => Type::W,
        "ud" => Type::Ud,
        "d" => Type::D,
        "uq" => Type::Uq,
        "q" => Type::Q,
        "hf" => Type::Hf,
        "f" => Type::F,
        "df" => Type::Df,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers() {
        let part = |text: &str| parse(text).unwrap().part;
        assert_eq!(part("r12.3:f"), Part::File(12 * 32 + 12, 4));
        assert_eq!(part("g127.15:uw"), Part::File(127 * 32 + 30, 2));
        assert_eq!(part("r3"), Part::File(96, 4));
        assert_eq!(part("a0.5"), Part::File(A0 as u16 + 10, 2));
        assert_eq!(part("f1.1"), Part::File(FLAGS as u16 + 6, 2));
        for text in ["r128.0", "r1.8:ud", "x1.0", "f2.0", "f0.2", "r1.0:xx", "r", "", "a1.0", "é"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
