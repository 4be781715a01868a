//! Every operation with every legal combination of types: random operands, regions, modifiers,
//! masks, predicates, flags and modes. The [oracle](crate::eu::oracle) gives the expected contents
//! of the general registers, flags and accumulators.

use crate::eu::case::{self, Case, DESTINATION};
use crate::eu::oracle::{
    self, Context, Modes, Outcome, Value, compute, convert, flush, from_int, holds, is_nan, order,
    to_int, wrap,
};
use crate::eu::support::run_with;
use DataType::{D, Df, F, Hf, Q, W};
use genxml_eu::instruction::{
    AccessMode, Arf, Condition, DataType, Immediate, Instruction, MathFunction, Operand,
    PredicateControl, Register, Source, Vertical,
};
use genxml_eu::ops::{Format, Opcode, Traits};
use genxml_eu::signature::{Combination, combinations};
use genxml_sim::assumptions::{
    CHANNEL_ENABLES_HOLD_WITH_NO_MASK, COMPARE_NAN_TRUE_FOR_TWO, SELECTION_FLUSHES_SUBNORMALS,
    VERTICAL_PREDICATE_COMBINES_REGISTERS,
};
use genxml_sim::eu::Thread;
use genxml_sim::eu::regions::A0;
use genxml_sim::eu::uop::Type;
use genxml_testkit::Random;
use std::collections::BTreeMap;

/// Seed of all cases.
const SEED: u64 = 0x6765_6e38;

/// Number of cases of a combination. Integers have many combinations, so each needs few cases.
fn cases(combination: &Combination) -> usize {
    let rows = combination.opcode.op().signatures;
    let many = rows.iter().map(|row| row.sources[0].iter().count()).max().unwrap_or(1);
    if combination.sources.iter().flatten().any(|ty| ty.is_float()) || many < 4 { 200 } else { 24 }
}

/// Error that a math function may have, in steps of the destination's format. The manual allows
/// more (003:6017-6183).
const MATH_TOLERANCE: u64 = 1;

/// True for operations that do arithmetic. Excludes smov, whose result is not a function of its
/// operands.
fn is_arithmetic(combination: &Combination) -> bool {
    let format = combination.opcode.op().format;
    let computes = matches!(format, Format::Basic | Format::ThreeSource | Format::Math);
    computes && combination.opcode != Opcode::Smov
}

/// True for the first steps of macros. macros.rs tests macros by their quotients, roots and special
/// values.
fn is_macro(combination: &Combination) -> bool {
    combination.math.is_some_and(MathFunction::is_macro)
}

#[test]
fn every_operation_with_every_type() {
    let mut random = Random::new(SEED);
    let mut covered: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wanted = 0;
    let mut channels = 0;
    for combination in combinations().filter(|c| is_arithmetic(c) && !is_macro(c)) {
        wanted += 1;
        let mut compared = 0;
        let count = cases(&combination);
        for _ in 0..count {
            let case = case::random(&combination, &mut random);
            compared += check(&combination, &case);
        }
        // Run more cases if masks and predicates have disabled all channels.
        for _ in 0..count {
            if compared > 0 {
                break;
            }
            compared += check(&combination, &case::random(&combination, &mut random));
        }
        assert!(compared > 0, "{combination}: no channel of {count} cases was enabled");
        channels += compared;
        *covered.entry(combination.opcode.name()).or_default() += 1;
    }
    let count: usize = covered.values().sum();
    let macros = combinations().filter(is_macro).count();
    println!(
        "{count} of {wanted} pairs of (operation, types) against the oracle, {channels} channels; \
         {macros} of the division macros in macros.rs; smov in machine.rs"
    );
    println!("{covered:?}");
    assert_eq!(count, wanted);
}

/// Runs a case and compares everything; returns the number of channels that were compared.
fn check(combination: &Combination, case: &Case) -> usize {
    let encoded = case.instruction.encode().unwrap_or_else(|error| panic!("{error}: {case:?}"));
    let instruction =
        genxml_eu::decode(&encoded).unwrap_or_else(|error| panic!("{error}: {case:?}"));
    let oracle = Oracle::new(combination, case);
    let thread =
        run_with(&[instruction], case.dispatch, case.control, |thread| oracle.prepare(thread))
            .unwrap_or_else(|fault| panic!("{combination}: {fault}\n{}", oracle.describe()));
    oracle.compare(&thread);
    oracle.enabled().count_ones() as usize
}

struct Oracle<'a> {
    combination: &'a Combination,
    case: &'a Case,
    i: &'a Instruction,
    types: Vec<DataType>,
    destination: DataType,
    exec: DataType,
    modes: Modes,
    n: usize,
}

impl<'a> Oracle<'a> {
    fn new(combination: &'a Combination, case: &'a Case) -> Self {
        let types: Vec<DataType> = combination.sources.iter().flatten().copied().collect();
        let destination = combination.destination.expect("a destination");
        Oracle {
            combination,
            case,
            i: &case.instruction,
            exec: case::execution(&types, destination),
            types,
            destination,
            modes: Modes::new(case.control),
            n: case.instruction.exec_size.into(),
        }
    }

    fn describe(&self) -> String {
        format!(
            "{} | {} | cr0 {:#x} flags {:#x} dispatch {:#x} a0 {:?} acc {:x?}\n{:?}",
            self.combination,
            self.i,
            self.case.control,
            self.case.flags,
            self.case.dispatch,
            self.case.addresses,
            self.case.accumulators,
            self.i
        )
    }

    /// Size in bytes and number of the accumulator elements, which have the execution type.
    fn elements(&self) -> (usize, usize) {
        let size = usize::from(self.exec.size());
        (size, 64 / size)
    }

    fn prepare(&self, thread: &mut Thread) {
        thread.regs.grf_mut().copy_from_slice(&self.case.registers);
        for (n, address) in self.case.addresses.iter().enumerate() {
            thread.regs.set_u16(A0 + 2 * n, *address);
        }
        thread.regs.set_flags(u64::MAX, self.case.flags);
        let (size, count) = self.elements();
        for (n, value) in self.case.accumulators.iter().enumerate().take(count) {
            if self.exec.is_float() {
                thread.acc.set_bits(n * size, size, *value);
            } else {
                thread.acc.set_integer(n * size, size, i128::from(*value as i64));
            }
        }
    }

    /// The accumulator element at byte `offset` before the instruction.
    fn accumulator(&self, offset: usize) -> Value {
        let (size, count) = self.elements();
        let value = self.case.accumulators[offset / size % count];
        match self.exec {
            ty if ty.is_float() => Value::Float(value),
            W => Value::Int(word(i128::from(value as i64))),
            _ => Value::Int(i128::from(value as i64)),
        }
    }

    /// Byte offset of the implicit accumulator element of a channel (004:2634-2819). The first
    /// element has the offset of the destination in its register, as in kernels of media drivers
    /// (`mac (1) r23.3` uses acc0.3).
    fn implicit(&self, c: usize) -> usize {
        let upper = match self.exec {
            F => self.n == 8 && self.i.channel_offset & 8 != 0,
            Hf => self.n == 16 && self.i.channel_offset & 16 != 0,
            _ => false,
        };
        let (size, count) = self.elements();
        let first = self.i.destination.map_or(0, |destination| match destination.register {
            Register::Grf { byte, .. } | Register::Arf { file: Arf::Accumulator, byte, .. } => {
                let element = destination.ty.size();
                usize::from(byte) / usize::from((element * destination.stride).max(element).max(2))
            }
            _ => 0,
        });
        ((first + c) * size + if upper { 32 } else { 0 }) % (size * count)
    }

    // ---- masks (eu.md 4.1, 4.2) ----

    /// First flag bit of the instruction in the 64 bits of both registers. Channels 16 to 31 have
    /// bits 16 to 31 of a register, whether the instruction names the upper subregister (000:583)
    /// or the lower one (compiled kernels).
    fn flag(&self) -> usize {
        let flag = self.i.flag;
        let group = if self.n == 32 { 0 } else { usize::from(self.i.channel_offset) };
        32 * usize::from(flag.register) + ((16 * usize::from(flag.subregister)) | group)
    }

    fn predicate(&self, c: usize) -> bool {
        let Some(predicate) = self.i.predicate else { return true };
        let bit = |n: usize| n < 64 && self.case.flags >> n & 1 == 1;
        let at = self.flag() + c;
        let register = self.flag() / 32 * 32;
        let group = |size: u8| {
            let first = register + (at - register) / usize::from(size) * usize::from(size);
            first..first + usize::from(size)
        };
        let other = if VERTICAL_PREDICATE_COMBINES_REGISTERS { 32 } else { 16 };
        let value = match predicate.control {
            PredicateControl::Sequential => bit(at),
            PredicateControl::AnyV => bit(at % 32) || bit(at % 32 + other),
            PredicateControl::AllV => bit(at % 32) && bit(at % 32 + other),
            PredicateControl::Any(size) => group(size).any(bit),
            PredicateControl::All(size) => group(size).all(bit),
            PredicateControl::Replicate(component) => bit(at / 4 * 4 + usize::from(component)),
        };
        value != predicate.inverse
    }

    fn enabled(&self) -> u32 {
        let mut mask = 0;
        for c in 0..self.n {
            let channel = usize::from(self.i.channel_offset) + c;
            let executes = self.i.no_mask || channel < 32 && self.case.dispatch >> channel & 1 == 1;
            let selects = self.i.opcode == Opcode::Sel;
            let enables = self.i.access_mode == AccessMode::Align1
                || self.i.no_mask && !CHANNEL_ENABLES_HOLD_WITH_NO_MASK
                || self.i.destination.is_some_and(|to| match to.ty.size() {
                    8 => to.write_mask >> (c % 2 * 2) & 3 != 0,
                    _ => to.write_mask >> (c % 4) & 1 == 1,
                });
            mask |= u32::from(executes && enables && (selects || self.predicate(c))) << c;
        }
        mask
    }

    // ---- sources ----

    fn read(&self, at: usize, size: usize) -> u64 {
        (0..size)
            .fold(0, |bits, n| bits | u64::from(self.case.registers[(at + n) % 4096]) << (8 * n))
    }

    /// Byte offset of a channel's element from the source's first element (004:4130-4160; Align16:
    /// 2b p.9, eu.md 4.6).
    fn offset(&self, source: &Source, c: usize) -> usize {
        let size = usize::from(source.ty.size());
        if source.replicate {
            return 0;
        }
        let Vertical::Stride(vertical) = source.region.vertical else {
            return c % usize::from(source.region.width)
                * usize::from(source.region.horizontal)
                * size;
        };
        let vertical = usize::from(vertical);
        if self.i.access_mode == AccessMode::Align16 {
            return if size == 8 {
                let row = if vertical == 0 { 0 } else { c / 2 };
                row * 16 + usize::from(source.swizzle[c % 2 * 2] / 2) * 8
            } else {
                (c / 4 * vertical + usize::from(source.swizzle[c % 4])) * size
            };
        }
        let width = usize::from(source.region.width);
        (c / width * vertical + c % width * usize::from(source.region.horizontal)) * size
    }

    /// The element of a source before any conversion.
    fn raw(&self, index: usize, c: usize) -> Value {
        let pattern = |ty: DataType, bits: u64| match ty {
            Hf | F | Df => Value::Float(bits),
            _ => Value::Int(wrap(ty, i128::from(bits))),
        };
        match &self.i.sources[index] {
            Operand::None => pattern(self.types[0], 0),
            Operand::Immediate(immediate) => {
                let size = |ty: DataType| usize::from(ty.size());
                let stride = self.i.destination.map_or(4, |destination| {
                    usize::from(destination.stride) * size(destination.ty)
                });
                constant(immediate, c, stride)
            }
            Operand::Register(source) => {
                let size = usize::from(source.ty.size());
                let offset = self.offset(source, c);
                match source.register {
                    Register::Grf { number, byte } => pattern(
                        source.ty,
                        self.read(32 * usize::from(number) + usize::from(byte) + offset, size),
                    ),
                    Register::Indirect { address, offset: immediate } => {
                        let at = self.indirect(source, address, immediate, c) + offset as i32;
                        pattern(source.ty, self.read((at & 4095) as usize, size))
                    }
                    Register::Mrf { .. } => panic!("Gen8 has no message registers"),
                    // The element of a qword has no extra bit for the sign.
                    Register::Arf { .. } => match self.accumulator(c * size) {
                        Value::Int(value) if source.ty == DataType::Uq => {
                            Value::Int(wrap(source.ty, value))
                        }
                        value => value,
                    },
                }
            }
        }
    }

    fn indirect(&self, source: &Source, address: u8, immediate: i16, c: usize) -> i32 {
        if self.i.opcode == Opcode::Movi {
            // 003:12242-12320: a0.0 gives the register, and each word of a0 gives an element of it.
            let size = usize::from(source.ty.size());
            let Some(Register::Grf { byte, .. }) = self.i.destination.map(|to| to.register) else {
                panic!()
            };
            let word = self.case.addresses[(usize::from(byte) / size + c) % 16];
            let register = (i32::from(self.case.addresses[0]) + i32::from(immediate)) / 32 * 32;
            return register + i32::from(word) % 32 / size as i32 * size as i32;
        }
        let row = match source.region.vertical {
            Vertical::Addresses => c / usize::from(source.region.width),
            Vertical::Stride(_) => 0,
        };
        i32::from(self.case.addresses[(usize::from(address) + row) % 16]) + i32::from(immediate)
    }

    /// True for a copy that keeps every bit (004:1331).
    fn is_raw(&self) -> bool {
        let plain = match &self.i.sources[0] {
            Operand::Register(source) => !source.negate && !source.absolute,
            _ => true,
        };
        self.is_move() && self.types[0] == self.destination && plain && !self.i.saturate
    }

    fn is_move(&self) -> bool {
        matches!(self.i.opcode, Opcode::Mov | Opcode::Movi)
    }

    fn is_selection(&self) -> bool {
        matches!(self.i.opcode, Opcode::Sel | Opcode::Csel)
    }

    /// False if the instruction keeps subnormal operands and results in every mode: copies that
    /// convert or keep all bits do (004:1323-1333), and so do selections if
    /// [`SELECTION_FLUSHES_SUBNORMALS`] is false.
    fn flushes(&self) -> bool {
        let copies = self.is_move() && (self.is_raw() || self.types[0] != self.destination);
        !copies && (!self.is_selection() || SELECTION_FLUSHES_SUBNORMALS)
    }

    /// A source with its modifiers applied, converted to the execution type. A float that is moved
    /// keeps its own type.
    fn load(&self, index: usize, c: usize) -> Value {
        let ty = *self.types.get(index).unwrap_or(&self.types[0]);
        let (negate, absolute) = match &self.i.sources[index] {
            Operand::Register(source) => (source.negate, source.absolute),
            _ => (false, false),
        };
        match self.raw(index, c) {
            Value::Int(mut value) => {
                if self.i.opcode.op().traits.contains(Traits::LOGIC) && self.i.opcode != Opcode::Asr
                {
                    return Value::Int(if negate && !absolute { !value } else { value });
                }
                if absolute {
                    value = value.abs();
                }
                Value::Int(if negate { -value } else { value })
            }
            Value::Float(bits) => {
                let exec = if self.is_move() { ty } else { self.exec };
                // Halves beside singles are converted first, and conversions keep subnormals
                // (004:1333).
                let flushes = self.flushes() && self.modes.flushes(ty) && (ty != Hf || exec == Hf);
                let bits = if flushes { flush(ty, bits) } else { bits };
                let bits =
                    if ty == exec { bits } else { convert(ty, exec, bits, self.modes.round).0 };
                let top = 1 << (8 * u32::from(exec.size()) - 1);
                let bits = if absolute { bits & !top } else { bits };
                Value::Float(if negate { bits ^ top } else { bits })
            }
        }
    }

    // ---- the operation ----

    fn outcome(&self, c: usize) -> Outcome {
        let context = Context {
            opcode: self.i.opcode,
            math: self.i.math,
            exec: self.exec,
            destination: self.destination,
            first: self.types[0],
            condition: self.i.condition,
            chosen: self.predicate(c),
            modes: self.modes,
            accumulator: match self.accumulator(self.implicit(c)) {
                Value::Float(bits) if self.modes.flushes(self.exec) => {
                    Value::Float(flush(self.exec, bits))
                }
                value => value,
            },
            from_accumulator: matches!(
                &self.i.sources[0],
                Operand::Register(Source { register: Register::Arf { .. }, .. })
            ),
            to_accumulator: matches!(
                self.i.destination.map(|to| to.register),
                Some(Register::Arf { file: Arf::Accumulator, .. })
            ),
        };
        let zero = if self.exec.is_float() { Value::Float(0) } else { Value::Int(0) };
        let operands = |c: usize| {
            let mut all = [zero; 3];
            for (index, value) in all.iter_mut().enumerate().take(self.types.len()) {
                *value = self.load(index, c);
            }
            all
        };
        let pairs = |first: usize, count: usize| -> Vec<[Value; 2]> {
            (first..first + count).map(|c| [operands(c)[0], operands(c)[1]]).collect()
        };
        match self.i.opcode {
            Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph => {
                compute(&context, [zero; 3], &pairs(c / 4 * 4, 4))
            }
            Opcode::Sad2 | Opcode::Sada2 => compute(&context, [zero; 3], &pairs(c / 2 * 2, 2)),
            Opcode::Line | Opcode::Pln => {
                // The coefficients are elements 0, 1 and 3 of the tuple. The coordinates of a plane
                // are in pairs of registers, one pair for each eight channels: x in the first
                // register of a pair, y in the second.
                let coefficients = [0, 1, 3].map(|n| self.near(0, 4 * n));
                let (x, y) = if self.i.opcode == Opcode::Pln {
                    let first = 4 * c + c / 8 * 32;
                    (self.near(1, first), self.near(1, first + 32))
                } else {
                    (self.load(1, c), zero)
                };
                compute(&context, coefficients, &[[x, y]])
            }
            _ => compute(&context, operands(c), &[]),
        }
    }

    /// The single float at a byte offset from the first element of a source, with the source's
    /// modifiers. For source 0, the offset counts from the 16-byte tuple that has the element.
    fn near(&self, index: usize, offset: usize) -> Value {
        let Operand::Register(source) = &self.i.sources[index] else { panic!("not a register") };
        let Register::Grf { number, byte } = source.register else { panic!("not in a register") };
        let first = 32 * usize::from(number) + usize::from(byte);
        let first = if index == 0 { first / 16 * 16 } else { first };
        let bits = self.read(first + offset, 4);
        let bits = if self.modes.flushes(F) { flush(F, bits) } else { bits };
        let bits = if source.absolute { bits & 0x7fff_ffff } else { bits };
        Value::Float(if source.negate { bits ^ 0x8000_0000 } else { bits })
    }

    // ---- results ----

    fn compare(&self, thread: &Thread) {
        let mask = self.enabled();
        let mut registers = self.case.registers.clone();
        let mut flags = self.case.flags;
        for c in (0..self.n).filter(|c| mask >> c & 1 == 1) {
            let result = self.finish(c);
            if self.is_undefined(c) {
                self.accept(thread, &mut registers, c);
                let bit = self.flag() + c;
                flags = flags & !(1 << bit) | thread.regs.flags() & 1 << bit;
                continue;
            }
            if matches!(self.i.opcode, Opcode::Cmp | Opcode::Cmpn) {
                self.store(
                    thread,
                    &mut registers,
                    c,
                    if result.flag { u64::MAX } else { 0 },
                    false,
                );
            } else {
                self.store(thread, &mut registers, c, result.bits, true);
                if self.i.math == Some(MathFunction::IntQuotientRemainder) {
                    self.remainder(&mut registers, c);
                }
            }
            if self.i.condition.is_some() && !self.is_selection() {
                let bit = self.flag() + c;
                flags = flags & !(1 << bit) | u64::from(result.flag) << bit;
            }
            self.accumulated(thread, c, &result);
        }
        for c in (0..self.n).filter(|c| mask >> c & 1 == 0 && self.i.opcode != Opcode::Mach) {
            let offset = self.implicit(c);
            assert_eq!(
                self.accumulator_of(thread, offset),
                self.accumulator(offset),
                "acc {c}: {}",
                self.describe()
            );
        }
        for (n, (actual, expected)) in thread.regs.grf().iter().zip(&registers).enumerate() {
            assert_eq!(
                actual,
                expected,
                "byte {} of r{}: {}\n{}",
                n % 32,
                n / 32,
                self.describe(),
                self.operands()
            );
        }
        assert_eq!(thread.regs.flags(), flags, "flags: {}\n{}", self.describe(), self.operands());
    }

    fn operands(&self) -> String {
        (0..self.n)
            .map(|c| {
                let all: Vec<_> = (0..self.types.len()).map(|index| self.raw(index, c)).collect();
                format!("  {c}: {all:x?} -> {:x?}\n", self.finish(c).bits)
            })
            .collect()
    }

    /// 003:13141: the results of sad2 and sada2 in odd channels are undefined.
    fn is_undefined(&self, c: usize) -> bool {
        matches!(self.i.opcode, Opcode::Sad2 | Opcode::Sada2) && c % 2 == 1
    }

    /// The result of a channel in the destination's type.
    fn finish(&self, c: usize) -> Made {
        let outcome = self.outcome_or_comparison(c);
        let (value, overflow, flag) = match outcome {
            Err(flag) => return Made { bits: 0, flag, whole: Value::Int(0) },
            Ok(Outcome { value, overflow }) => (value, overflow, self.i.condition),
        };
        match value {
            Value::Int(value) => self.finish_int(value, flag),
            Value::Float(bits) => self.finish_float(bits, overflow, flag),
        }
    }

    /// The flag of a comparison as `Err`, the result of any other operation as `Ok`.
    fn outcome_or_comparison(&self, c: usize) -> Result<Outcome, bool> {
        let (Opcode::Cmp | Opcode::Cmpn, Some(condition)) = (self.i.opcode, self.i.condition)
        else {
            return Ok(self.outcome(c));
        };
        Err(match (self.load(0, c), self.load(1, c)) {
            (Value::Int(a), Value::Int(b)) => holds(condition, Some(a.cmp(&b))),
            (Value::Float(a), Value::Float(b)) => {
                let nans = (is_nan(self.exec, a), is_nan(self.exec, b));
                match (self.i.opcode, nans) {
                    // Tables 10-9 to 10-14 of G45 vol 4.
                    (Opcode::Cmpn, (true, true)) => COMPARE_NAN_TRUE_FOR_TWO,
                    (Opcode::Cmpn, (false, true)) => true,
                    (Opcode::Cmpn, (true, false)) => false,
                    _ => holds(condition, order(self.exec, a, b)),
                }
            }
            _ => panic!("one operand is an integer, the other a float"),
        })
    }

    fn finish_int(&self, value: i128, condition: Option<Condition>) -> Made {
        let ty = self.destination;
        if ty.is_float() {
            let clamped = if self.i.saturate { value.clamp(0, 1) } else { value };
            let (bits, _) = from_int(ty, clamped, self.modes.round);
            let flag = condition.is_some_and(|condition| match condition {
                Condition::Overflow => from_int(ty, value, self.modes.round).1,
                Condition::Unordered => false,
                _ => holds(condition, order(ty, bits, 0)),
            });
            return Made { bits, flag, whole: Value::Int(value) };
        }
        let (least, most) = oracle::range(ty);
        let result = if self.i.saturate { value.clamp(least, most) } else { value };
        let to_accumulator = matches!(
            self.i.destination.map(|to| to.register),
            Some(Register::Arf { file: Arf::Accumulator, .. })
        );
        let flag = condition.is_some_and(|condition| match condition {
            Condition::Overflow => !(least..=most).contains(&value),
            Condition::Unordered => false,
            _ if to_accumulator => holds(condition, Some(result.cmp(&0))),
            _ => holds(condition, Some(wrap(ty, result).cmp(&0))),
        });
        Made { bits: result as u64, flag, whole: Value::Int(result) }
    }

    fn finish_float(&self, bits: u64, overflow: bool, condition: Option<Condition>) -> Made {
        let exec = if self.is_move() { self.types[0] } else { self.exec };
        let ty = self.destination;
        let sign = 1u64 << (8 * u32::from(exec.size()) - 1);
        let mut value = bits;
        let computed = !self.is_move() && !self.is_selection();
        if computed && self.modes.alternative && exec == F && value & 0x7fff_ffff == 0x7f80_0000 {
            value -= 1;
        }
        if self.flushes() && self.modes.flushes(exec) {
            value = flush(exec, value);
        }
        let one = from_int(exec, 1, self.modes.round).0;
        if self.i.saturate && ty.is_float() {
            if is_nan(exec, value) || value & sign != 0 {
                value = 0;
            } else if order(exec, value, one) == Some(std::cmp::Ordering::Greater) {
                value = one;
            }
        }
        let round = if self.i.math.is_some() {
            rustc_apfloat::Round::NearestTiesToEven
        } else {
            self.modes.round
        };
        let (result, left) = if ty.is_float() {
            if exec == ty { (value, false) } else { convert(exec, ty, value, round) }
        } else {
            let (value, left) = to_int(exec, ty, value);
            (value as u64, left)
        };
        let flag = condition.is_some_and(|condition| match condition {
            Condition::Overflow => overflow || left,
            Condition::Unordered => is_nan(exec, value),
            _ if !ty.is_float() => holds(condition, Some(wrap(ty, i128::from(result)).cmp(&0))),
            _ => {
                let tested = if self.modes.flushes(ty) { flush(ty, result) } else { result };
                holds(condition, order(ty, tested, 0))
            }
        });
        let whole =
            if exec == self.exec { value } else { convert(exec, self.exec, value, round).0 };
        Made { bits: result, flag, whole: Value::Float(whole) }
    }

    /// Byte offset where a channel's result is written, if the destination is in general registers.
    fn destination(&self, c: usize) -> Option<usize> {
        let to = self.i.destination?;
        let offset = c * usize::from(to.stride) * usize::from(to.ty.size());
        match to.register {
            Register::Grf { number, byte } => {
                Some(32 * usize::from(number) + usize::from(byte) + offset)
            }
            Register::Indirect { address, offset: immediate } => {
                let base =
                    i32::from(self.case.addresses[usize::from(address)]) + i32::from(immediate);
                Some(((base + offset as i32) & 4095) as usize)
            }
            Register::Arf { .. } | Register::Mrf { .. } => None,
        }
    }

    fn store(&self, thread: &Thread, registers: &mut [u8], c: usize, bits: u64, number: bool) {
        let (Some(at), size) = (self.destination(c), usize::from(self.destination.size())) else {
            return;
        };
        let mut bits = bits;
        let actual = (0..size)
            .fold(0, |bits, n| bits | u64::from(thread.regs.grf()[(at + n) % 4096]) << (8 * n));
        if number && self.destination.is_float() && is_nan(self.destination, bits) {
            // The pattern of a NaN is not defined, except for raw copies (004:1336).
            if !self.is_raw() && is_nan(self.destination, actual) {
                bits = actual;
            }
        }
        let approximate = self.i.math.is_some() && self.destination.is_float();
        if number && approximate && actual.abs_diff(bits) <= MATH_TOLERANCE {
            bits = actual;
        }
        for n in 0..size {
            registers[(at + n) % 4096] = (bits >> (8 * n)) as u8;
        }
    }

    fn accept(&self, thread: &Thread, registers: &mut [u8], c: usize) {
        if let Some(at) = self.destination(c) {
            let size = usize::from(self.destination.size());
            registers[at..at + size].copy_from_slice(&thread.regs.grf()[at..at + size]);
        }
    }

    fn remainder(&self, registers: &mut [u8], c: usize) {
        let (Value::Int(a), Value::Int(b)) = (self.load(0, c), self.load(1, c)) else { return };
        let at = 32 * usize::from(DESTINATION) + 4 * c + (self.n * 4).next_multiple_of(32);
        let remainder = if b == 0 { i128::from(self.finish(c).bits as i64) } else { a % b };
        let (least, most) = oracle::range(self.destination);
        let remainder = if self.i.saturate { remainder.clamp(least, most) } else { remainder };
        registers[at..at + 4].copy_from_slice(&(remainder as u32).to_le_bytes());
    }

    /// The accumulator element at byte `offset` after the instruction.
    fn accumulator_of(&self, thread: &Thread, offset: usize) -> Value {
        let (ty, size) = match self.exec {
            W => (Type::W, 2),
            D => (Type::D, 4),
            Q => (Type::Q, 8),
            ty => return Value::Float(thread.acc.bits(offset, ty.size().into())),
        };
        debug_assert_eq!(ty.size(), size);
        Value::Int(thread.acc.integer(offset, ty))
    }

    fn accumulated(&self, thread: &Thread, c: usize, result: &Made) {
        let explicit = matches!(
            self.i.destination.map(|to| to.register),
            Some(Register::Arf { file: Arf::Accumulator, .. })
        );
        let size = usize::from(self.destination.size());
        let offset = if explicit { c * size } else { self.implicit(c) };
        let expected = match self.i.opcode {
            Opcode::Addc | Opcode::Subb => {
                let (Value::Int(a), Value::Int(b)) = (self.load(0, c), self.load(1, c)) else {
                    panic!()
                };
                let sum = if self.i.opcode == Opcode::Addc { a + b } else { a - b };
                Value::Int(i128::from(!(0..=0xffff_ffff).contains(&sum)))
            }
            Opcode::Mach => {
                let (Value::Int(a), Value::Int(b)) = (self.load(0, c), self.load(1, c)) else {
                    panic!()
                };
                let Value::Int(old) = self.accumulator(offset) else { panic!() };
                Value::Int(wrap(Q, old + ((a * (b >> 16)) << 16)))
            }
            _ if !explicit && !self.i.acc_write => self.accumulator(offset),
            _ => match result.whole {
                Value::Int(value) if self.exec == W => Value::Int(word(value)),
                Value::Int(value) => Value::Int(wrap(Q, value)),
                other => other,
            },
        };
        let actual = self.accumulator_of(thread, offset);
        let same = match (actual, expected) {
            (Value::Float(a), Value::Float(b)) => {
                a == b || is_nan(self.exec, a) && is_nan(self.exec, b)
            }
            (a, b) => a == b,
        };
        assert!(
            same,
            "acc {c}: {actual:x?}, not {expected:x?}: {}\n{}",
            self.describe(),
            self.operands()
        );
    }
}

/// Wraps a value to two's complement of 33 bits.
fn word(value: i128) -> i128 {
    (value + (1 << 32)).rem_euclid(1 << 33) - (1 << 32)
}

/// The result of one channel of an instruction.
struct Made {
    /// The pattern that is stored.
    bits: u64,
    flag: bool,
    /// The value that is written to the accumulator.
    whole: Value,
}

/// The element of an immediate for a channel (004:1092-1222). Results are `stride` bytes apart. A
/// packed vector is expanded to 16 bytes, and each channel reads at the position of its result.
fn constant(immediate: &Immediate, c: usize, stride: usize) -> Value {
    let bits = immediate.bits;
    let c = match immediate.ty {
        DataType::V | DataType::Uv => c * stride / 2,
        DataType::Vf => c * stride / 4,
        _ => c,
    };
    match immediate.ty {
        DataType::V => Value::Int(wrap_nibble((bits >> (c % 8 * 4) & 15) as i128)),
        DataType::Uv => Value::Int((bits >> (c % 8 * 4) & 15) as i128),
        DataType::Vf => {
            let byte = bits >> (c % 4 * 8) & 255;
            let value = match byte & 0x7f {
                0 => 0.0,
                _ => (1.0 + (byte & 15) as f32 / 16.0) * 2f32.powi((byte >> 4 & 7) as i32 - 3),
            };
            Value::Float(u64::from((if byte & 128 == 0 { value } else { -value }).to_bits()))
        }
        Hf | F | Df => Value::Float(bits),
        ty => Value::Int(wrap(ty, i128::from(bits))),
    }
}

fn wrap_nibble(nibble: i128) -> i128 {
    if nibble > 7 { nibble - 16 } else { nibble }
}
