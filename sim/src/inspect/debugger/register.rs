//! Names of registers and of element types.

use crate::eu::regions::{
    A0, CE0, CR0, DBG0, FLAGS, GRF_BYTES, IP, MRF, MRF_BYTES, N0, REGISTER, SP, SR0, TDR0, TM0,
};
use crate::eu::types::Type;

/// The types of elements, with the assembler's names.
pub const TYPES: [(&str, Type); 11] = [
    ("ub", Type::Ub),
    ("b", Type::B),
    ("uw", Type::Uw),
    ("w", Type::W),
    ("ud", Type::Ud),
    ("d", Type::D),
    ("uq", Type::Uq),
    ("q", Type::Q),
    ("hf", Type::Hf),
    ("f", Type::F),
    ("df", Type::Df),
];

/// The type with the assembler's name `name`.
///
/// # Errors
/// The names of all types, as text.
pub fn type_of(name: &str) -> Result<Type, String> {
    let found = TYPES.iter().find(|(known, _)| *known == name);
    found.map(|(_, ty)| *ty).ok_or_else(|| {
        format!("`{name}` is not a type; use one of {}", TYPES.map(|(name, _)| name).join(" "))
    })
}

/// The assembler's name of a type.
pub fn type_name(ty: Type) -> &'static str {
    TYPES.iter().find(|(_, known)| *known == ty).map_or("?", |(name, _)| name)
}

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Register {
    /// In the register file, at this byte offset (see [`crate::eu::regions`]).
    File(usize),
    /// In the accumulators, at this byte offset.
    Accumulator(usize),
}

/// The register with the name `word`: `r12`, `g12`, `m3`, `f0`, `a0`, `acc1`, `cr0`, `sr0`, `n0`,
/// `ip`, `tm0`, `ce0`, `tdr0`, `sp`, `dbg0`. `None` if the word is not a register.
///
/// # Errors
/// The highest number of the registers of this kind, as text.
pub fn register(word: &str) -> Option<Result<Register, String>> {
    let digits = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
    let (kind, number) = word.split_at(digits);
    if !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let of = |base: usize, bytes: usize, highest: usize| match number.parse::<usize>() {
        Ok(number) if number <= highest => Ok(Register::File(base + number * bytes)),
        _ => Err(format!("`{word}`: the last register of this kind is {kind}{highest}")),
    };
    let single = |base: usize| of(base, 0, 0);
    Some(match kind {
        "r" | "g" => of(0, REGISTER, GRF_BYTES / REGISTER - 1),
        "m" if cfg!(feature = "gen45") => of(MRF, REGISTER, MRF_BYTES / REGISTER - 1),
        "f" => of(FLAGS, 4, 1),
        "acc" => of(0, REGISTER, 1).map(|register| match register {
            Register::File(at) | Register::Accumulator(at) => Register::Accumulator(at),
        }),
        "a" => single(A0),
        "sr" => single(SR0),
        "cr" => single(CR0),
        "n" => single(N0),
        "tm" => single(TM0),
        "ce" => single(CE0),
        "tdr" => single(TDR0),
        "dbg" => single(DBG0),
        "ip" if number.is_empty() => Ok(Register::File(IP)),
        "sp" if number.is_empty() => Ok(Register::File(SP)),
        _ => return None,
    })
}

/// The value of an element as text: in hexadecimal if the type is unsigned or HF, otherwise in
/// decimal.
pub fn number(ty: Type, bits: u64) -> String {
    match ty {
        Type::F => format!("{:?}", f32::from_bits(bits as u32)),
        Type::Df => format!("{:?}", f64::from_bits(bits)),
        Type::B => (bits as i8).to_string(),
        Type::W => (bits as i16).to_string(),
        Type::D => (bits as i32).to_string(),
        Type::Q => (bits as i64).to_string(),
        Type::Hf | Type::Ub | Type::Uw | Type::Ud | Type::Uq => format!("{bits:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_registers() {
        assert_eq!(register("r12"), Some(Ok(Register::File(12 * 32))));
        assert_eq!(register("g127"), Some(Ok(Register::File(127 * 32))));
        assert_eq!(register("f1"), Some(Ok(Register::File(FLAGS + 4))));
        assert_eq!(register("acc1"), Some(Ok(Register::Accumulator(32))));
        assert_eq!(register("ip"), Some(Ok(Register::File(IP))));
        for word in ["r128", "f2", "a1", "r"] {
            assert!(matches!(register(word), Some(Err(_))), "{word}");
        }
        for word in ["mask", "rx", "r1x", "ip3", "q4", ""] {
            assert_eq!(register(word), None, "{word}");
        }
    }
}
