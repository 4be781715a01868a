//! Which parts of the register file the host's registers hold.

use genxml_jit::{Assembler, LANES, Lanes, Memory, Op3, ROW, Reg};
use std::ops::Range;

/// The pattern of a NaN that arithmetic computes.
const NAN: u32 = crate::assumptions::ARITHMETIC_NAN;

/// Number of registers that hold values; the last two are for intermediate results.
const HELD: usize = 14;
/// Registers for intermediate results.
const SPARE: [Reg; 2] = [Reg::new(14), Reg::new(15)];

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    /// Eight dwords of the register file, from this byte on.
    Row(usize),
    /// The dword at this byte, in every lane.
    Dword(usize),
    /// A constant, in every lane.
    Constant(u32),
    /// A value without an address in the register file: an intermediate value, or a result before
    /// it is stored.
    Result,
}

impl Content {
    fn bytes(self) -> Range<usize> {
        match self {
            Content::Row(at) => at..at + ROW,
            Content::Dword(at) => at..at + 4,
            Content::Constant(_) | Content::Result => 0..0,
        }
    }

    fn overlaps(self, other: &Range<usize>) -> bool {
        let own = self.bytes();
        own.start < other.end && other.start < own.end
    }
}

#[derive(Clone, Copy, Debug)]
struct Held {
    content: Content,
    /// True if the register file does not have the value yet.
    dirty: bool,
    /// True for a float result of the host whose NaNs and subnormal numbers are not adjusted yet
    /// ([`Cache::settle_float`]).
    raw: bool,
    /// Time of the last use.
    used: u32,
    /// True while the instruction that is being translated needs the register.
    locked: bool,
}

/// The registers of the host while a block is translated.
pub struct Cache<'a> {
    /// The routine.
    pub code: &'a mut Assembler,
    /// True if subnormal floats are flushed.
    pub flush: bool,
    held: [Option<Held>; HELD],
    time: u32,
}

impl<'a> Cache<'a> {
    /// A cache that holds nothing.
    pub fn new(code: &'a mut Assembler, flush: bool) -> Cache<'a> {
        Cache { code, flush, held: [None; HELD], time: 0 }
    }

    fn held(&mut self, reg: Reg) -> &mut Held {
        self.held[reg.number()].as_mut().expect("the register was taken before")
    }

    /// A register for a new result. It stays locked until [`release`](Self::release).
    pub fn take(&mut self) -> Reg {
        // Prefer free registers, then those that need no store, then those unused for longest.
        let order = |held: &Option<Held>| match held {
            None => Some((0, 0)),
            Some(held) if held.locked => None,
            Some(held) => Some((1 + u32::from(held.dirty), held.used)),
        };
        let slots = (0..HELD).filter_map(|n| Some((order(&self.held[n])?, n)));
        let (_, number) = slots.min().expect("one instruction does not lock all registers");
        let reg = Reg::new(number as u8);
        if self.held[number].is_some() {
            self.write_back(reg);
        }
        self.time += 1;
        let content = Content::Result;
        let used = self.time;
        self.held[number] = Some(Held { content, dirty: false, raw: false, used, locked: true });
        reg
    }

    /// Unlocks all registers but `results`, and frees those that hold an intermediate value.
    pub fn release(&mut self, results: &[Reg]) {
        for (number, slot) in self.held.iter_mut().enumerate() {
            if let Some(held) = slot
                && results.iter().all(|result| result.number() != number)
            {
                held.locked = false;
                if held.content == Content::Result {
                    *slot = None;
                }
            }
        }
    }

    /// Unlocks a register that the instruction does not need any more.
    pub fn unlock(&mut self, reg: Reg) {
        self.held(reg).locked = false;
    }

    fn find(&mut self, content: Content) -> Option<Reg> {
        let number = self.held.iter().position(|h| h.is_some_and(|h| h.content == content))?;
        self.time += 1;
        let time = self.time;
        let reg = Reg::new(number as u8);
        let held = self.held(reg);
        (held.used, held.locked) = (time, true);
        Some(reg)
    }

    /// The register that holds `content`. `lanes` says how it is loaded.
    fn get(&mut self, content: Content, lanes: Lanes) -> Reg {
        if let Some(reg) = self.find(content) {
            return reg;
        }
        self.settle(&content.bytes());
        let reg = self.take();
        self.code.load(reg, Memory::Block(content.bytes().start), lanes);
        self.held(reg).content = content;
        reg
    }

    /// Eight dwords from byte `at` on.
    pub fn row(&mut self, at: usize) -> Reg {
        self.get(Content::Row(at), Lanes::Dwords)
    }

    /// The dword at byte `at`, in every lane.
    pub fn dword(&mut self, at: usize) -> Reg {
        self.get(Content::Dword(at), Lanes::Dword)
    }

    /// Loads elements from byte `at` on. The cache does not keep them: every call emits a load.
    pub fn loaded(&mut self, at: usize, lanes: Lanes) -> Reg {
        let bytes = match lanes {
            Lanes::Byte => 1,
            Lanes::Word => 2,
            Lanes::Bytes | Lanes::SignedBytes | Lanes::Qword => ROW / 4,
            _ => ROW / 2,
        };
        self.settle(&(at..at + bytes));
        let reg = self.take();
        self.code.load(reg, Memory::Block(at), lanes);
        reg
    }

    /// A constant, in every lane.
    pub fn constant(&mut self, value: u32) -> Reg {
        if let Some(reg) = self.find(Content::Constant(value)) {
            return reg;
        }
        let reg = self.take();
        self.code.constant(reg, [value; LANES]);
        self.held(reg).content = Content::Constant(value);
        reg
    }

    /// An instruction with two sources, `a` and a constant.
    pub fn with(&mut self, op: Op3, to: Reg, a: Reg, value: u32) {
        self.code.op3_constant(op, to, a, [value; LANES]);
    }

    /// 1 / sqrt(x), computed with doubles and rounded to floats.
    pub fn inverse_root(&mut self, to: Reg, from: Reg) {
        let [high, one] = SPARE;
        self.code.inverse_root(to, from, high, one);
    }

    /// Marks `reg` as a float result of the host: its NaNs and subnormal numbers must be adjusted
    /// before its bits are used.
    pub fn set_raw(&mut self, reg: Reg) {
        self.held(reg).raw = true;
    }

    /// Gives NaNs in `reg` the pattern that arithmetic computes, and flushes subnormal numbers.
    pub fn settle_float(&mut self, reg: Reg) {
        if !std::mem::take(&mut self.held(reg).raw) {
            return;
        }
        let [found, nan] = SPARE;
        if self.flush {
            // Because of DAZ, a subnormal number times one is a zero. Other numbers do not change.
            self.with(Op3::Vmulps, reg, reg, 1.0f32.to_bits());
        }
        self.code.op3(Op3::Unordered, found, reg, reg);
        self.code.constant(nan, [NAN; LANES]);
        self.code.blend(reg, reg, nan, found);
    }

    fn write_back(&mut self, reg: Reg) {
        let held = *self.held(reg);
        if let (Content::Row(at), true) = (held.content, held.dirty) {
            self.settle_float(reg);
            self.code.store(reg, at, Lanes::Dwords, SPARE[0]);
            self.held(reg).dirty = false;
        }
    }

    /// Stores every value that overlaps `bytes` and that the register file does not have yet.
    fn settle(&mut self, bytes: &Range<usize>) {
        for number in 0..HELD {
            if self.held[number].is_some_and(|held| held.content.overlaps(bytes)) {
                self.write_back(Reg::new(number as u8));
            }
        }
    }

    /// Removes values that overlap `bytes` from the cache, because the instruction writes there. If
    /// it writes `bytes` as a `whole`, values inside need no store.
    fn forget(&mut self, bytes: &Range<usize>, whole: bool) {
        for number in 0..HELD {
            let Some(held) = self.held[number] else { continue };
            if held.content.overlaps(bytes) {
                let own = held.content.bytes();
                let covered = whole && bytes.start <= own.start && own.end <= bytes.end;
                if !covered {
                    self.write_back(Reg::new(number as u8));
                }
                // Sources of this instruction keep their registers.
                let held = self.held(Reg::new(number as u8));
                (held.content, held.dirty) = (Content::Result, false);
            }
        }
    }

    /// `reg`, a result, becomes the eight dwords from byte `at` on.
    pub fn put_row(&mut self, reg: Reg, at: usize) {
        self.forget(&(at..at + ROW), true);
        let held = self.held(reg);
        (held.content, held.dirty) = (Content::Row(at), true);
    }

    /// Stores lane 0 of `reg`, a result with the same value in all lanes, at byte `at`.
    pub fn put_dword(&mut self, reg: Reg, at: usize) {
        self.settle_float(reg);
        self.forget(&(at..at + 4), true);
        self.code.store(reg, at, Lanes::Dword, SPARE[0]);
        self.held(reg).content = Content::Dword(at);
    }

    /// Stores `reg`, a result, at byte `at`: the lowest `bytes` bytes of `lanes`.
    pub fn put(&mut self, reg: Reg, at: usize, lanes: Lanes, bytes: usize) {
        self.forget(&(at..at + bytes), true);
        self.code.store(reg, at, lanes, SPARE[0]);
    }

    /// Stores the highest bits of the lanes of `reg` as the byte at `at`, where `mask` is set.
    pub fn put_bits(&mut self, reg: Reg, at: usize, mask: Option<Reg>) {
        self.settle(&(at..at + 1));
        self.forget(&(at..at + 1), false);
        self.code.store_bits(reg, at, mask);
    }

    /// Stores all rows that the register file does not have yet.
    pub fn finish(&mut self) {
        self.settle(&(0..usize::MAX));
    }
}
