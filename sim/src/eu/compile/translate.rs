//! Translates a run of instructions to one routine.

use super::cache::Cache;
use crate::assumptions::LOCAL_MEMORY_OFFSET_BITS;
use crate::eu::fast::plan::{Clamp, DIRECT, Form, Operand, Place};
use crate::eu::fast::vector::{self, Vector};
use crate::eu::regions::{FILE_BYTES, FLAGS, NULL, REGISTER};
use crate::eu::transfer::{Space, Transfer};
use crate::eu::uop::{Condition, PredicateControl, Type, Uop};
use genxml_jit::{Address, Assembler, LANES, Lanes, MASK_LANES, Memory, Op2, Op3, ROW, Reg};

/// Bytes of a dword.
const DWORD: usize = 4;

/// True if a routine can contain the instruction.
pub fn can(u: &Uop) -> bool {
    let Some(vector) = u.plan.vector else { return false };
    if vector.lanes() == vector::Lanes::Longs {
        return can_long(u, vector);
    }
    let compares = vector.lanes() == vector::Lanes::Comparison;
    let scalar = u.size == 1;
    let all = u32::MAX >> (32 - u32::from(u.size));
    // Masks and flags of several channels begin at a byte.
    let aligned = scalar || (u.first.is_multiple_of(8) && u.flag.is_multiple_of(8));
    let predicate = matches!(u.predicate, None | Some(PredicateControl::Sequential));
    let channels = usize::from(u.first) + LANES * usize::from(u.size).div_ceil(LANES);
    let fits = u.size <= 16 && (scalar || channels <= MASK_LANES);
    if u.lanes != all || !aligned || !predicate || !fits {
        return false;
    }
    // Results of comparisons are not saturated and not compared with zero.
    if !compares && u.plan.more && vector == Vector::ToFloat {
        return false;
    }
    let destination = &u.plan.dst;
    let written = destination.form == Form::Nothing
        || reaches(destination, u)
            && matches!(element(destination.form), Some((_, 1)) | Some((2, 2)) | Some((1, 4)));
    let planes = matches!(vector, Vector::Line | Vector::Plane);
    written
        && !(planes && u.size < 8)
        && u.plan.src[..count(vector)].iter().all(|source| {
            let place = &source.place;
            let at = usize::from(place.offset as u16);
            // The flags of the first half are stored before the second half reads its sources. One
            // dword at the null register is a constant.
            let bytes = if place.form == Form::Dword { 4 } else { 4 * ROW };
            let flags = at < FLAGS + REGISTER && FLAGS < at + bytes;
            !flags && (planes || reaches(place, u))
        })
}

/// As [`can`], for integers of 64 bits: four or eight channels, whose results have 64 bits.
fn can_long(u: &Uop, vector: Vector) -> bool {
    let all = u32::MAX >> (32 - u32::from(u.size));
    let channels = usize::from(u.first) + usize::from(u.size);
    let fits = matches!(u.size, 4 | 8) && u.first.is_multiple_of(4) && channels <= MASK_LANES;
    let inside = |place: &Place| {
        place.address == DIRECT
            && usize::from(place.offset as u16) + usize::from(place.extent) <= FILE_BYTES
    };
    let source = |n: usize| {
        let Operand { place, flip, second, .. } = u.plan.src[n];
        match place.form {
            Form::Dword => constant(&place) && second == 0,
            Form::Dwords | Form::Qword | Form::Qwords => {
                (flip, second) == (0, 0) && inside(&place) && !at_flags(&place)
            }
            _ => false,
        }
    };
    let shift = vector != Vector::ShlLong || constant(&u.plan.src[1].place);
    fits && shift
        && u.lanes == all
        && u.predicate.is_none()
        && u.plan.dst.form == Form::Qwords
        && inside(&u.plan.dst)
        && (0..count(vector)).all(source)
}

/// True if the source is a constant: one dword at the null register.
fn constant(place: &Place) -> bool {
    place.form == Form::Dword && usize::from(place.offset as u16) == NULL
}

/// True if the operand is at the flags.
fn at_flags(place: &Place) -> bool {
    let at = usize::from(place.offset as u16);
    at < FLAGS + REGISTER && FLAGS < at + usize::from(place.extent)
}

/// Bytes of an element, and elements from one channel's element to the next: 0 if all channels have
/// the same. `None` for forms without a fixed distance.
fn element(form: Form) -> Option<(usize, usize)> {
    use Form::*;
    Some(match form {
        Dword => (4, 0),
        Word | SignedWord => (2, 0),
        Byte | SignedByte => (1, 0),
        Dwords => (4, 1),
        Words | SignedWords => (2, 1),
        Bytes | SignedBytes => (1, 1),
        DwordsBy2 => (4, 2),
        WordsBy2 | SignedWordsBy2 => (2, 2),
        BytesBy2 | SignedBytesBy2 => (1, 2),
        WordsBy4 | SignedWordsBy4 => (2, 4),
        BytesBy4 | SignedBytesBy4 => (1, 4),
        _ => return None,
    })
}

/// True if the form is of signed bytes or words.
fn signed(form: Form) -> bool {
    use Form::*;
    matches!(
        form,
        SignedWord
            | SignedByte
            | SignedWords
            | SignedBytes
            | SignedWordsBy2
            | SignedBytesBy2
            | SignedWordsBy4
            | SignedBytesBy4
    )
}

/// True if the operand has a fixed place, where code for eight channels stays inside the register
/// file.
fn reaches(place: &Place, u: &Uop) -> bool {
    let Some((size, step)) = element(place.form) else { return false };
    let bytes = match step {
        0 => size,
        _ if u.size == 1 => size,
        step => size * step * LANES * usize::from(u.size).div_ceil(LANES),
    };
    place.address == DIRECT && usize::from(place.offset as u16) + bytes <= FILE_BYTES
}

/// Number of sources.
fn count(vector: Vector) -> usize {
    match vector {
        Vector::Copy | Vector::Not | Vector::ToInt | Vector::ToFloat | Vector::CopyLong => 1,
        Vector::RoundDown | Vector::RoundUp | Vector::RoundEven | Vector::RoundZero => 1,
        Vector::Fraction | Vector::Inverse | Vector::Root | Vector::InverseRoot => 1,
        Vector::FloatMulAdd => 3,
        _ => 2,
    }
}

/// Makes the routine for `uops`. If `masked`, the routine reads the mask of active channels. If
/// not, all channels that the instructions use must be active. Before the n-th message that the
/// routine cannot execute, it stops and returns n.
pub fn routine(code: &mut Assembler, uops: &[Uop], flush: bool, masked: bool) -> usize {
    let number = code.begin(flush);
    let mut cache = Cache::new(code, flush);
    let mut exits = 0;
    for u in uops {
        if let Some(transfer) = u.send.and_then(|send| send.transfer) {
            exits += 1;
            message(&mut cache, &transfer, exits);
        } else if let Some(vector) = u.plan.vector {
            Translation { cache: &mut cache, u, lanes: vector.lanes(), masked }.instruction(vector);
            cache.release(&[]);
        }
    }
    cache.finish();
    code.end();
    number
}

/// True if a routine can contain the message: any read, or a write of one dword for each slot.
pub fn can_transfer(transfer: &Transfer) -> bool {
    !transfer.write || transfer.elements == 1
}

/// A message whose slots access adjacent dwords, or read the same dwords. Before another message
/// the routine stops and returns `exit`; its results are then in the register file.
fn message(cache: &mut Cache<'_>, transfer: &Transfer, exit: u32) {
    let Transfer { space, write, offsets, data, .. } = *transfer;
    let (rows, elements) = (usize::from(transfer.rows), usize::from(transfer.elements));
    let (offsets, data) = (usize::from(offsets), usize::from(data));
    cache.finish();
    // All registers are taken before the code parts: both ways use the same ones.
    let long = space == Space::Addresses;
    let first = if long { cache.loaded(offsets, Lanes::Qword) } else { cache.dword(offsets) };
    let registers = if long { 2 * rows } else { rows };
    let own: Vec<Reg> = (0..registers).map(|row| cache.row(offsets + row * ROW)).collect();
    let found = [cache.take(), cache.take()];
    let values: Vec<Reg> = match write {
        true => (0..rows).map(|row| cache.row(data + row * ROW)).collect(),
        false => (0..elements).map(|_| cache.take()).collect(),
    };
    if write {
        for &value in &values {
            cache.settle_float(value);
        }
        let found = are_apart(cache, long, DWORD, first, &own, found);
        cache.code.leave_unless(found, exit);
        let at = seek(cache, transfer, first, rows * ROW, exit);
        for (row, value) in values.into_iter().enumerate() {
            cache.code.store_row(value, at(row * ROW));
        }
        cache.release(&[]);
        return;
    }
    let mut results = values;
    if elements == 1 {
        results.extend((1..rows).map(|_| cache.take()));
    }
    let adjacent = (elements == 1).then(|| {
        let found = are_apart(cache, long, DWORD, first, &own, found);
        let differ = cache.code.skip_unless(found);
        let at = seek(cache, transfer, first, rows * ROW, exit);
        for (row, &result) in results.iter().enumerate() {
            cache.code.load(result, at(row * ROW), Lanes::Dwords);
        }
        let done = cache.code.skip();
        cache.code.target(differ);
        done
    });
    let found = are_apart(cache, long, 0, first, &own, found);
    cache.code.leave_unless(found, exit);
    let at = seek(cache, transfer, first, elements * DWORD, exit);
    for (n, &result) in results.iter().enumerate() {
        let element = if elements == 1 { 0 } else { n };
        cache.code.load(result, at(element * DWORD), Lanes::Dword);
    }
    if let Some(done) = adjacent {
        cache.code.target(done);
    }
    cache.release(&results);
    for (n, &result) in results.iter().enumerate() {
        if elements == 1 {
            cache.put_row(result, data + n * ROW);
            continue;
        }
        for row in 0..rows {
            let result = if row == 0 { result } else { copy(cache, result) };
            cache.put_row(result, data + (n * rows + row) * ROW);
        }
    }
    cache.release(&[]);
}

/// Sets the position to the offset or address in `first`. The routine stops before the message and
/// returns `exit` if it cannot access `bytes` bytes there. Returns a function that makes a memory
/// operand from a distance to the position.
fn seek(
    cache: &mut Cache<'_>,
    transfer: &Transfer,
    first: Reg,
    bytes: usize,
    exit: u32,
) -> fn(usize) -> Memory {
    // The bits below the alignment are ignored (assumptions::LOW_OFFSET_BITS_ARE_DROPPED).
    let address = match transfer.space {
        Space::Local => {
            let mask = LOCAL_MEMORY_OFFSET_BITS as u32 & !(DWORD as u32 - 1);
            cache.code.seek(first, mask, bytes, exit);
            return Memory::Window;
        }
        Space::Addresses => Address::Absolute,
        Space::Surface(index) => Address::Within(index),
    };
    cache.code.seek_page(first, address, bytes, transfer.write, exit);
    Memory::Page
}

/// A copy of a register.
fn copy(cache: &mut Cache<'_>, from: Reg) -> Reg {
    let to = cache.take();
    cache.code.copy(to, from);
    to
}

/// Checks that the offsets of neighbouring slots differ by `distance`. `own` has the offsets of all
/// slots. `first` has the offset of the first slot in all lanes. Offsets have 64 bits if `long`,
/// else 32. If all slots agree, all bits of the result are set. The result is the first of the two
/// registers that the last parameter gives.
fn are_apart(
    cache: &mut Cache<'_>,
    long: bool,
    distance: usize,
    first: Reg,
    own: &[Reg],
    [found, next]: [Reg; 2],
) -> Reg {
    for (row, &own) in own.iter().enumerate() {
        let to = if row == 0 { found } else { next };
        let lane = |n: usize| match (long, n % 2) {
            (false, _) => ((row * LANES + n) * distance) as u32,
            (true, 0) => ((row * LANES / 2 + n / 2) * distance) as u32,
            (true, _) => 0,
        };
        let add = if long { Op3::Vpaddq } else { Op3::Vpaddd };
        cache.code.op3_constant(add, to, first, std::array::from_fn(lane));
        cache.code.op3(Op3::Vpcmpeqd, to, to, own);
        if row > 0 {
            cache.code.op3(Op3::Vpand, found, found, next);
        }
    }
    found
}

/// The translation of one instruction.
struct Translation<'t, 'a> {
    cache: &'t mut Cache<'a>,
    u: &'t Uop,
    lanes: vector::Lanes,
    masked: bool,
}

impl Translation<'_, '_> {
    fn scalar(&self) -> bool {
        self.u.size == 1
    }

    fn instruction(&mut self, vector: Vector) {
        if self.lanes == vector::Lanes::Longs {
            return self.longs(vector);
        }
        let u = self.u;
        let halves = usize::from(u.size).div_ceil(LANES);
        let mut results = Vec::with_capacity(halves);
        // Compute both halves before storing either, because the destination may overlap a source.
        // Flags are stored at once, see `can`.
        for half in 0..halves {
            let result = self.compute(vector, half);
            // The sources are not needed any more.
            self.cache.release(&[&results[..], &[result]].concat());
            if let Some(result) = self.merge(result, half) {
                results.push(result);
            }
            self.cache.release(&results);
        }
        let at = usize::from(u.plan.dst.offset as u16);
        for (half, &result) in results.iter().enumerate() {
            match (element(u.plan.dst.form), self.scalar()) {
                (Some((1, _)), true) => self.cache.put(result, at, Lanes::Byte, 1),
                (Some((2, _)), true) => self.cache.put(result, at, Lanes::Word, 2),
                (_, true) => self.cache.put_dword(result, at),
                (Some((1, 1)), _) => {
                    self.cache.put(result, at + half * ROW / 4, Lanes::Bytes, ROW / 4)
                }
                (Some((2, 1)), _) => {
                    self.cache.put(result, at + half * ROW / 2, Lanes::Words, ROW / 2)
                }
                _ => self.cache.put_row(result, at + half * ROW),
            }
        }
    }

    /// An instruction with integers of 64 bits, four in each register.
    fn longs(&mut self, vector: Vector) {
        let u = self.u;
        let at = usize::from(u.plan.dst.offset as u16);
        let mut results = Vec::with_capacity(2);
        for part in 0..usize::from(u.size) / 4 {
            let a = self.long(0, part);
            let result = self.cache.take();
            let op = match vector {
                Vector::LongAdd => Some(Op3::Vpaddq),
                Vector::AndLong => Some(Op3::Vpand),
                Vector::OrLong => Some(Op3::Vpor),
                _ => None,
            };
            match (op, vector) {
                (Some(op), _) => {
                    let b = self.long(1, part);
                    self.cache.code.op3(op, result, a, b);
                }
                (None, Vector::ShlLong) => {
                    let mut count = [0; LANES];
                    count[0] = self.u.plan.src[1].flip & 63;
                    self.cache.code.op3_constant(Op3::Vpsllq, result, a, count);
                }
                (None, _) => self.cache.code.copy(result, a),
            }
            if self.masked && !u.no_mask {
                let first = usize::from(u.first) + 4 * part;
                let mask = self.cache.take();
                self.cache.code.load(mask, Memory::Mask(first), Lanes::FourSignedDwords);
                let old = self.cache.row(at + part * ROW);
                self.cache.settle_float(old);
                self.cache.code.blend(result, old, result, mask);
            }
            results.push(result);
            self.cache.release(&results);
        }
        for (part, &result) in results.iter().enumerate() {
            self.cache.put_row(result, at + part * ROW);
        }
    }

    /// Four channels of a source as integers of 64 bits.
    fn long(&mut self, n: usize, part: usize) -> Reg {
        let Operand { place, source, flip, .. } = self.u.plan.src[n];
        let at = usize::from(place.offset as u16);
        match place.form {
            Form::Qwords => {
                let row = self.cache.row(at + part * ROW);
                self.cache.settle_float(row);
                row
            }
            Form::Qword => self.cache.loaded(at, Lanes::Qword),
            Form::Dwords => {
                let signed = self.u.src[usize::from(source)].ty == Type::D;
                let lanes = if signed { Lanes::FourSignedDwords } else { Lanes::FourDwords };
                self.cache.loaded(at + part * ROW / 2, lanes)
            }
            _ => {
                let reg = self.cache.take();
                let high = (flip as i32 >> 31) as u32;
                let lanes = std::array::from_fn(|n| if n % 2 == 0 { flip } else { high });
                self.cache.code.constant(reg, lanes);
                reg
            }
        }
    }

    /// Applies the condition of a comparison, the saturation, and the mask to the result of one
    /// half. Returns the register to store, or `None` if the destination is null.
    fn merge(&mut self, result: Reg, half: usize) -> Option<Reg> {
        let u = self.u;
        let mask = self.mask(half);
        if self.lanes == vector::Lanes::Comparison {
            if u.plan.opposite {
                self.invert(result);
            }
            self.put_flags(result, half, mask);
        }
        if u.saturate && self.lanes == vector::Lanes::Floats {
            // If the first source is a NaN, VMAXPS returns the second source, which is zero.
            self.cache.with(Op3::Vmaxps, result, result, 0);
            self.cache.with(Op3::Vminps, result, result, 1.0f32.to_bits());
        }
        if u.plan.more && self.lanes != vector::Lanes::Comparison {
            self.clamp(result);
            if let Some(condition) = u.condition {
                let found = self.compared(result, condition);
                self.put_flags(found, half, mask);
            }
        }
        let (size, step) = element(u.plan.dst.form)?;
        // With gaps between the elements, the bytes in the gaps are kept.
        if mask.is_none() && (self.scalar() || step == 1) {
            return Some(result);
        }
        let at = usize::from(u.plan.dst.offset as u16) + half * size * step * LANES;
        let old = match (size, self.scalar()) {
            (1, true) => self.cache.loaded(at, Lanes::Byte),
            (2, true) => self.cache.loaded(at, Lanes::Word),
            (_, true) => self.cache.dword(at),
            (1, _) if step == 1 => self.cache.loaded(at, Lanes::Bytes),
            (2, _) if step == 1 => self.cache.loaded(at, Lanes::Words),
            _ => self.cache.row(at),
        };
        self.cache.settle_float(old);
        self.cache.settle_float(result);
        match (size, step) {
            _ if self.scalar() => {}
            (2, 2) => self.cache.code.blend_words(result, old, result),
            (1, 4) => {
                // The lowest byte is that of the result.
                self.cache.code.op3(Op3::Vpxor, result, result, old);
                self.cache.with(Op3::Vpand, result, result, 0xff);
                self.cache.code.op3(Op3::Vpxor, result, result, old);
            }
            _ => {}
        }
        if let Some(mask) = mask {
            self.cache.code.blend(result, old, result, mask);
        }
        Some(result)
    }

    /// Clamps integers to the range of the destination, as the plan asks.
    fn clamp(&mut self, result: Reg) {
        let (least, most) = self.u.dst.ty.range();
        match self.u.plan.clamp {
            Clamp::None => {}
            Clamp::Signed => {
                let most = most.min(i32::MAX.into()) as u32;
                self.cache.with(Op3::Vpmaxsd, result, result, least as u32);
                self.cache.with(Op3::Vpminsd, result, result, most);
            }
            Clamp::Unsigned => self.cache.with(Op3::Vpminud, result, result, most as u32),
        }
    }

    /// Stores the highest bits of the lanes of one half as flags, for the channels of `mask`.
    fn put_flags(&mut self, found: Reg, half: usize, mask: Option<Reg>) {
        let flag = usize::from(self.u.flag);
        let mut mask = mask;
        if self.scalar() {
            // All lanes are alike: the one with the number of the flag's bit is stored.
            let one = self.cache.take();
            let lane = |n: usize| if n == flag % 8 { u32::MAX } else { 0 };
            self.cache.code.constant(one, std::array::from_fn(lane));
            if let Some(mask) = mask {
                self.cache.code.op3(Op3::Vpand, one, one, mask);
            }
            mask = Some(one);
        }
        self.cache.put_bits(found, FLAGS + flag / 8 + half, mask);
    }

    /// Compares the result with zero. The highest bit of each lane says if `condition` is met; the
    /// other bits have no meaning.
    fn compared(&mut self, result: Reg, condition: Condition) -> Reg {
        self.cache.settle_float(result);
        let found = self.cache.take();
        if self.lanes == vector::Lanes::Floats {
            let (op, opposite) = match condition {
                Condition::NotEqual => (Op3::Equal, true),
                Condition::Greater => (Op3::Greater, false),
                Condition::GreaterEqual => (Op3::AtLeast, false),
                Condition::Less => (Op3::Less, false),
                Condition::LessEqual => (Op3::AtMost, false),
                _ => (Op3::Equal, false),
            };
            self.cache.with(op, found, result, 0);
            if opposite {
                self.invert(found);
            }
            return found;
        }
        // The number of the destination's type is in the highest bits.
        let seen = self.u.plan.seen;
        let signed = matches!(seen, Type::D | Type::W | Type::B);
        let mut result = result;
        if seen.size() < 4 {
            let high = self.cache.take();
            self.cache.with(Op3::Vpsllvd, high, result, 32 - 8 * seen.size() as u32);
            result = high;
        }
        self.cache.with(Op3::Vpcmpeqd, found, result, 0);
        match condition {
            Condition::NotEqual => self.invert(found),
            Condition::Less if signed => self.cache.code.copy(found, result),
            Condition::Less => self.cache.with(Op3::Vpand, found, found, 0),
            Condition::LessEqual if signed => {
                self.cache.code.op3(Op3::Vpor, found, found, result);
            }
            Condition::Greater => {
                if signed {
                    self.cache.code.op3(Op3::Vpor, found, found, result);
                }
                self.invert(found);
            }
            Condition::GreaterEqual if signed => {
                self.cache.code.copy(found, result);
                self.invert(found);
            }
            Condition::GreaterEqual => self.cache.with(Op3::Vpor, found, found, u32::MAX),
            _ => {}
        }
        found
    }

    fn invert(&mut self, reg: Reg) {
        self.cache.with(Op3::Vpxor, reg, reg, u32::MAX);
    }

    /// The mask of the channels of one half that are written; `None` if all are.
    fn mask(&mut self, half: usize) -> Option<Reg> {
        let u = self.u;
        let enabled = (self.masked && !u.no_mask).then(|| {
            let reg = self.cache.take();
            let lanes = if self.scalar() { Lanes::Dword } else { Lanes::Dwords };
            let first = usize::from(u.first) + half * LANES;
            self.cache.code.load(reg, Memory::Mask(first), lanes);
            reg
        });
        let predicate = match u.predicate.is_none() || self.selects() {
            true => None,
            false => Some(self.predicate(half)),
        };
        // Code for two or four channels computes eight.
        let first = (u.size == 2 || u.size == 4).then(|| {
            let reg = self.cache.take();
            let lane = |n: usize| if n < usize::from(u.size) { u32::MAX } else { 0 };
            self.cache.code.constant(reg, std::array::from_fn(lane));
            reg
        });
        let masks = [enabled, predicate, first].into_iter().flatten();
        masks.reduce(|a, b| {
            self.cache.code.op3(Op3::Vpand, a, a, b);
            a
        })
    }

    fn selects(&self) -> bool {
        matches!(self.u.plan.vector, Some(Vector::SelectInt | Vector::SelectFloat))
    }

    /// The predicate of one half: all ones in the lanes where it is true.
    fn predicate(&mut self, half: usize) -> Reg {
        let flag = usize::from(self.u.flag);
        let bits = match self.scalar() {
            true => [1 << (flag % 8); LANES],
            false => std::array::from_fn(|n| 1 << n),
        };
        let found = self.cache.loaded(FLAGS + flag / 8 + half, Lanes::Byte);
        self.cache.code.op3_constant(Op3::Vpand, found, found, bits);
        self.cache.code.op3_constant(Op3::Vpcmpeqd, found, found, bits);
        if self.u.invert {
            self.invert(found);
        }
        found
    }

    /// Bits of a source, without modifiers.
    fn bits(&mut self, n: usize, half: usize) -> Reg {
        let form = self.u.plan.src[n].place.form;
        let first = usize::from(self.u.plan.src[n].place.offset as u16);
        let (size, step) = element(form).unwrap_or((4, 0));
        let step = if self.scalar() { 0 } else { step };
        let at = first + half * size * step * LANES;
        let signed = signed(form);
        match (size, step) {
            (4, 0) => self.cache.dword(at),
            (4, 1) => self.cache.row(at),
            (1, 1) => {
                let lanes = if signed { Lanes::SignedBytes } else { Lanes::Bytes };
                self.cache.loaded(at, lanes)
            }
            (2, 1) => {
                let lanes = if signed { Lanes::SignedWords } else { Lanes::Words };
                self.cache.loaded(at, lanes)
            }
            (1, 0) | (2, 0) | (1, 2) => {
                let lanes = match (size, step) {
                    (1, 0) => Lanes::Byte,
                    (2, 0) => Lanes::Word,
                    _ => Lanes::Words,
                };
                let reg = self.cache.loaded(at, lanes);
                self.extend(reg, reg, size, signed);
                reg
            }
            (4, _) | (2, 4) => {
                let [low, high] = [at, at + ROW].map(|at| self.cache.row(at));
                self.cache.settle_float(low);
                self.cache.settle_float(high);
                let reg = self.cache.take();
                self.cache.code.even(reg, low, high);
                if size == 2 {
                    self.extend(reg, reg, size, signed);
                }
                reg
            }
            _ => {
                let row = self.cache.row(at);
                self.cache.settle_float(row);
                let reg = self.cache.take();
                self.extend(reg, row, size, signed);
                reg
            }
        }
    }

    /// Extends the low `size` bytes of each lane to 32 bits.
    fn extend(&mut self, to: Reg, from: Reg, size: usize, signed: bool) {
        let shift = 32 - 8 * size as u32;
        self.cache.with(Op3::Vpsllvd, to, from, shift);
        self.cache.with(if signed { Op3::Vpsravd } else { Op3::Vpsrlvd }, to, to, shift);
    }

    /// True if the source is a constant.
    fn is_constant(&self, n: usize) -> bool {
        constant(&self.u.plan.src[n].place)
    }

    /// A source as integers.
    fn int(&mut self, n: usize, half: usize) -> Reg {
        let Operand { flip, second, .. } = self.u.plan.src[n];
        if self.is_constant(n) {
            return self.cache.constant(flip.wrapping_add(second));
        }
        let bits = self.bits(n, half);
        self.cache.settle_float(bits);
        match (flip, second) {
            (0, 0) => bits,
            (flip, second) => {
                let result = self.cache.take();
                self.cache.with(Op3::Vpxor, result, bits, flip);
                if second != 0 {
                    self.cache.with(Op3::Vpaddd, result, result, second);
                }
                result
            }
        }
    }

    /// A source for float instructions of the host. With DAZ they take subnormal sources as zeros,
    /// so this code does not flush them.
    fn float(&mut self, n: usize, half: usize) -> Reg {
        let Operand { flip, second: keep, .. } = self.u.plan.src[n];
        if self.is_constant(n) {
            return self.cache.constant(flip);
        }
        let bits = self.bits(n, half);
        self.modified(bits, false, flip, keep)
    }

    /// Applies the modifiers of a float source. Changes `bits` itself if the caller `owns` it.
    fn modified(&mut self, bits: Reg, owns: bool, flip: u32, keep: u32) -> Reg {
        let mut from = bits;
        for (op, value, neutral) in [(Op3::Vpand, keep, u32::MAX), (Op3::Vpxor, flip, 0)] {
            if value != neutral {
                let result = if from == bits && !owns { self.cache.take() } else { from };
                self.cache.with(op, result, from, value);
                from = result;
            }
        }
        from
    }

    /// A source whose bits are copied to the result. DAZ has no effect on a copy, so this code
    /// flushes subnormal numbers if the mode asks for it.
    fn exact_float(&mut self, n: usize, half: usize) -> Reg {
        if self.is_constant(n) {
            return self.cache.constant(self.u.plan.src[n].flip);
        }
        let bits = self.bits(n, half);
        self.exact(n, bits)
    }

    /// Source `n` from `bits`: flushes subnormal numbers if the mode asks for it, then applies the
    /// source's modifiers. Unlocks `bits` if it flushes.
    fn exact(&mut self, n: usize, bits: Reg) -> Reg {
        let Operand { flip, second: keep, .. } = self.u.plan.src[n];
        self.cache.settle_float(bits);
        if !self.cache.flush {
            return self.modified(bits, false, flip, keep);
        }
        let small = self.cache.take();
        self.cache.with(Op3::Vpand, small, bits, 0x7f80_0000);
        self.cache.with(Op3::Vpcmpeqd, small, small, 0);
        self.cache.with(Op3::Vpand, small, small, 0x7fff_ffff);
        self.cache.code.op3(Op3::Vpandn, small, small, bits);
        self.cache.unlock(bits);
        self.modified(small, true, flip, keep)
    }

    /// The same as [`exact`](Self::exact). Call it only if the instruction does not use `bits`
    /// again.
    fn exact_only(&mut self, n: usize, bits: Reg) -> Reg {
        let exact = self.exact(n, bits);
        if exact != bits {
            self.cache.unlock(bits);
        }
        exact
    }

    /// A line, p x + r, or a plane, p x + q y + r. Every product and sum is rounded, and subnormal
    /// intermediate results are kept.
    fn plane(&mut self, is_line: bool, half: usize) -> Reg {
        let [tuple, at] = [0, 1].map(|n| usize::from(self.u.plan.src[n].place.offset as u16));
        let coefficient = |this: &mut Self, n: usize| {
            let bits = this.cache.dword((tuple & !15) + 4 * n);
            this.exact_only(0, bits)
        };
        let p = coefficient(self, 0);
        let q = (!is_line).then(|| coefficient(self, 1));
        let r = coefficient(self, 3);
        // Source 1 of a line: x of eight channels in each register. Of a plane: a register with x,
        // then one with y, for each eight channels.
        let rows = if is_line { 1 } else { 2 };
        let bits = self.cache.row(at + half * rows * ROW);
        let x = self.exact_only(1, bits);
        let y = q.map(|q| {
            let bits = self.cache.row(at + half * rows * ROW + ROW);
            (q, self.exact_only(1, bits))
        });
        let (result, product) = (self.cache.take(), self.cache.take());
        let flush = self.cache.flush;
        let code = &mut *self.cache.code;
        if flush {
            code.set_daz(false);
        }
        code.op3(Op3::Vmulps, result, p, x);
        if let Some((q, y)) = y {
            code.op3(Op3::Vmulps, product, q, y);
            code.op3(Op3::Vaddps, result, result, product);
        }
        code.op3(Op3::Vaddps, result, result, r);
        if flush {
            code.set_daz(true);
        }
        self.cache.set_raw(result);
        result
    }

    /// The result of one half, in a register of its own.
    fn compute(&mut self, vector: Vector, half: usize) -> Reg {
        use Vector::*;
        match vector {
            Copy | Not | And | Or | Xor | Shl | Shr | Asr | IntAdd | IntMul | MinSigned
            | MinUnsigned | MaxSigned | MaxUnsigned | SelectInt | EqualInt | LessSigned
            | LessUnsigned | ToFloat => self.of_ints(vector, half),
            _ => self.of_floats(vector, half),
        }
    }

    fn of_ints(&mut self, vector: Vector, half: usize) -> Reg {
        let a = self.int(0, half);
        let b = if count(vector) > 1 { self.int(1, half) } else { a };
        let chosen = (vector == Vector::SelectInt).then(|| self.predicate(half));
        let result = self.cache.take();
        let op = match vector {
            Vector::Not => {
                self.cache.code.copy(result, a);
                self.invert(result);
                return result;
            }
            Vector::ToFloat => {
                self.cache.code.op2(Op2::ToFloat, result, a);
                return result;
            }
            Vector::Shl | Vector::Shr | Vector::Asr => {
                self.cache.with(Op3::Vpand, result, b, 31);
                let op = match vector {
                    Vector::Shl => Op3::Vpsllvd,
                    Vector::Shr => Op3::Vpsrlvd,
                    _ => Op3::Vpsravd,
                };
                self.cache.code.op3(op, result, a, result);
                return result;
            }
            Vector::SelectInt => {
                self.cache.code.blend(result, b, a, chosen.unwrap_or(a));
                return result;
            }
            Vector::LessSigned => {
                self.cache.code.op3(Op3::Vpcmpgtd, result, b, a);
                return result;
            }
            Vector::LessUnsigned => {
                // AVX2 has no unsigned comparison. If the greater of both is a, then a >= b.
                self.cache.code.op3(Op3::Vpmaxud, result, a, b);
                self.cache.code.op3(Op3::Vpcmpeqd, result, result, a);
                self.invert(result);
                return result;
            }
            Vector::And => Op3::Vpand,
            Vector::Or => Op3::Vpor,
            Vector::Xor => Op3::Vpxor,
            Vector::IntAdd => Op3::Vpaddd,
            Vector::IntMul => Op3::Vpmulld,
            Vector::MinSigned => Op3::Vpminsd,
            Vector::MinUnsigned => Op3::Vpminud,
            Vector::MaxSigned => Op3::Vpmaxsd,
            Vector::MaxUnsigned => Op3::Vpmaxud,
            Vector::EqualInt => Op3::Vpcmpeqd,
            _ => {
                self.cache.code.copy(result, a);
                return result;
            }
        };
        self.cache.code.op3(op, result, a, b);
        result
    }

    fn of_floats(&mut self, vector: Vector, half: usize) -> Reg {
        match vector {
            Vector::MinFloat | Vector::MaxFloat | Vector::SelectFloat => {
                return self.choice(vector, half);
            }
            Vector::ToInt => return self.truncated(half),
            Vector::Line => return self.plane(true, half),
            Vector::Plane => return self.plane(false, half),
            _ => {}
        }
        let a = self.float(0, half);
        let b = if count(vector) > 1 { self.float(1, half) } else { a };
        let c = (count(vector) > 2).then(|| self.float(2, half));
        // The constant of the operation, if it has one.
        let constant = match vector {
            Vector::Inverse => Some(1.0f32),
            // The greatest result. For small negative numbers, the difference rounds to 1.
            Vector::Fraction => Some(1.0 - f32::EPSILON / 2.0),
            _ => None,
        };
        let constant = constant.map(|value| self.cache.constant(value.to_bits()));
        let result = self.cache.take();
        if vector == Vector::InverseRoot {
            self.cache.inverse_root(result, a);
            self.cache.set_raw(result);
            return result;
        }
        let code = &mut *self.cache.code;
        let raw = match (vector, c) {
            (Vector::FloatMulAdd, Some(c)) => {
                code.copy(result, a);
                code.fused(result, b, c);
                true
            }
            (Vector::FloatAdd, _) => {
                code.op3(Op3::Vaddps, result, a, b);
                true
            }
            (Vector::FloatMul, _) => {
                code.op3(Op3::Vmulps, result, a, b);
                true
            }
            (Vector::Divide, _) => {
                code.op3(Op3::Vdivps, result, a, b);
                true
            }
            (Vector::Inverse, _) => {
                code.op3(Op3::Vdivps, result, constant.unwrap_or(a), a);
                true
            }
            (Vector::Root, _) => {
                code.op2(Op2::Root, result, a);
                true
            }
            (Vector::Fraction, _) => {
                code.op2(Op2::RoundDown, result, a);
                code.op3(Op3::Vsubps, result, a, result);
                // VMINPS returns the second source if a source is a NaN, so a NaN is not changed.
                code.op3(Op3::Vminps, result, constant.unwrap_or(a), result);
                true
            }
            (Vector::EqualFloat, _) => {
                code.op3(Op3::Equal, result, a, b);
                false
            }
            (Vector::LessFloat, _) => {
                code.op3(Op3::Less, result, a, b);
                false
            }
            (Vector::AtMostFloat, _) => {
                code.op3(Op3::AtMost, result, a, b);
                false
            }
            (rounding, _) => {
                let op = match rounding {
                    Vector::RoundDown => Op2::RoundDown,
                    Vector::RoundUp => Op2::RoundUp,
                    Vector::RoundEven => Op2::RoundEven,
                    _ => Op2::RoundZero,
                };
                code.op2(op, result, a);
                true
            }
        };
        if raw {
            self.cache.set_raw(result);
        }
        result
    }

    /// Copies one of two floats to the result: that of the predicate, the lesser or the greater. A
    /// NaN keeps its pattern. Row `Sel` of [`crate::eu::ops::moves`].
    fn choice(&mut self, vector: Vector, half: usize) -> Reg {
        let (a, b) = (self.exact_float(0, half), self.exact_float(1, half));
        let chosen = match vector {
            Vector::SelectFloat => self.predicate(half),
            _ => {
                let (chosen, single) = (self.cache.take(), self.cache.take());
                let code = &mut *self.cache.code;
                // The lanes where only b is a NaN: there a is chosen.
                code.op3(Op3::Unordered, chosen, a, a);
                code.op3(Op3::Unordered, single, b, b);
                code.op3(Op3::Vpandn, single, chosen, single);
                match vector {
                    Vector::MinFloat => code.op3(Op3::Less, chosen, a, b),
                    _ => code.op3(Op3::AtMost, chosen, b, a),
                }
                code.op3(Op3::Vpor, chosen, chosen, single);
                chosen
            }
        };
        let result = self.cache.take();
        self.cache.code.blend(result, b, a, chosen);
        result
    }

    /// Floats to signed integers: truncated, clamped, zero for NaNs.
    fn truncated(&mut self, half: usize) -> Reg {
        let a = self.float(0, half);
        let (result, found) = (self.cache.take(), self.cache.take());
        self.cache.code.op2(Op2::Truncate, result, a);
        // The host's result is 0x8000_0000 if the number is too large.
        self.cache.with(Op3::AtLeast, found, a, 2_147_483_648.0f32.to_bits());
        let code = &mut *self.cache.code;
        code.op3(Op3::Vpxor, result, result, found);
        code.op3(Op3::Unordered, found, a, a);
        code.op3(Op3::Vpandn, result, found, result);
        result
    }
}
