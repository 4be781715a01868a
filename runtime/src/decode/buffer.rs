//! Buffered output, and a memo of text that was written before.
//!
//! Without this module, most of the time of decoding goes to the formatting code of the standard
//! library and to calls that copy a few bytes. Pieces of text are copied in blocks of constant
//! size; the next piece overwrites the excess bytes.

use genxml_core::reflect::RegisterAt;
use std::io::{self, Write};

/// Number of bytes collected before they are written.
const FULL: usize = 64 << 10;

/// Bytes to be written.
#[derive(Debug)]
pub(super) struct Buffer {
    /// The allocated bytes; the contents end at `at`.
    bytes: Vec<u8>,
    at: usize,
}

impl Buffer {
    pub fn new() -> Buffer {
        Buffer { bytes: vec![0; FULL + 4096], at: 0 }
    }

    /// True if enough bytes are collected to write them.
    pub fn full(&self) -> bool {
        self.at >= FULL
    }

    /// Writes everything to `out`; the buffer is empty afterwards, also after an error.
    pub fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        let result = out.write_all(&self.bytes[..self.at]);
        self.at = 0;
        result
    }

    /// Number of bytes in the buffer.
    pub fn len(&self) -> usize {
        self.at
    }

    /// The contents from offset `start` on; empty if `start` is beyond their end.
    pub fn since(&self, start: usize) -> &[u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, room: usize) {
        self.bytes.resize(2 * self.bytes.len() + room, 0);
    }

    /// Returns the next `N` bytes for the caller to fill, and adds the first `length` of them, at
    /// most `N`, to the contents.
    #[inline(always)]
    pub fn room<const N: usize>(&mut self, length: usize) -> &mut [u8; N] {
        let (start, end) = (self.at, self.at + N);
        if self.bytes.len() < end {
            self.grow(N);
        }
        self.at += length.min(N);
        self.bytes[start..end].first_chunk_mut().expect("the range has N bytes")
    }

    /// Adds the first `length` bytes of a block, which has at least as many.
    #[inline(always)]
    pub fn block<const N: usize>(&mut self, block: &[u8; N], length: usize) {
        *self.room(length) = *block;
    }

    #[inline(always)]
    pub fn byte(&mut self, byte: u8) {
        self.block(&[byte], 1);
    }

    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        if bytes.len() >= 32 {
            return self.long(bytes);
        }
        if !(self.ends::<16>(bytes) || self.ends::<8>(bytes) || self.ends::<4>(bytes)) {
            bytes.iter().for_each(|byte| self.byte(*byte));
        }
    }

    /// Adds `N` to 2 `N` bytes, at most 32, as two blocks of `N` bytes: their start and their end,
    /// which may overlap. Returns false, and adds nothing, if `bytes` has fewer than `N`.
    #[inline(always)]
    fn ends<const N: usize>(&mut self, bytes: &[u8]) -> bool {
        let length = bytes.len();
        let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else {
            return false;
        };
        let out = self.room::<32>(length);
        out[..N].copy_from_slice(first);
        if let Some(out) = out[..length].last_chunk_mut() {
            *out = *last;
        }
        true
    }

    /// Copies all these blocks completely, but adds only their first `length` bytes.
    #[inline(always)]
    fn blocks(&mut self, blocks: &[Block], length: usize) {
        let room = size_of_val(blocks);
        if self.bytes.len() - self.at < room {
            self.grow(room);
        }
        let out = self.bytes[self.at..self.at + room].as_chunks_mut().0;
        match (blocks, &mut *out) {
            ([one], [first]) => *first = *one,
            ([one, two], [first, second]) => (*first, *second) = (*one, *two),
            _ => out.copy_from_slice(blocks),
        }
        self.at += length;
    }

    #[inline(never)]
    fn long(&mut self, bytes: &[u8]) {
        if self.bytes.len() - self.at < bytes.len() {
            self.grow(bytes.len());
        }
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    #[inline]
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Appends `count` spaces.
    #[inline]
    pub fn spaces(&mut self, count: usize) {
        if count <= 32 {
            self.block(&[b' '; 32], count);
        } else {
            self.many_spaces(count);
        }
    }

    #[cold]
    fn many_spaces(&mut self, count: usize) {
        let mut left = count;
        while left > 0 {
            let now = left.min(32);
            self.block(&[b' '; 32], now);
            left -= now;
        }
    }

    /// Appends `value` in decimal.
    #[inline]
    pub fn decimal(&mut self, value: u64) {
        if value < 100 {
            let value = value as usize;
            let digits = PAIRS[value];
            return if value < 10 { self.byte(digits[1]) } else { self.block(&digits, 2) };
        }
        self.long_decimal(value);
    }

    fn long_decimal(&mut self, value: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut left = value;
        while left >= 100 {
            at -= 2;
            digits[at..at + 2].copy_from_slice(&PAIRS[(left % 100) as usize]);
            left /= 100;
        }
        let pair = PAIRS[left as usize];
        at -= 1;
        digits[at] = pair[1];
        if left >= 10 {
            at -= 1;
            digits[at] = pair[0];
        }
        self.bytes(&digits[at..]);
    }

    /// Appends `value` in hexadecimal, with leading zeros up to `width` digits; 1 to 16 digits.
    #[inline(always)]
    pub fn hex(&mut self, value: u64, width: usize) {
        let digits = (64 - value.leading_zeros() as usize).div_ceil(4).max(width).clamp(1, 16);
        let aligned = value << (64 - 4 * digits);
        hex_digits::<16>(self.room(digits), aligned);
    }

    /// Appends `0x` and the digits that `hex` appends.
    #[inline]
    pub fn hex0x(&mut self, value: u64, width: usize) {
        self.block(b"0x", 2);
        self.hex(value, width);
    }

    /// Appends a register as its `Display` writes it.
    pub fn register(&mut self, at: &RegisterAt) {
        self.text(at.register.name);
        if let Some(index) = at.index {
            self.byte(b'[');
            self.decimal(index.into());
            self.byte(b']');
        }
        if let Some(engine) = at.engine {
            self.text(" of ");
            self.text(engine.name);
        }
        match at.dword {
            0 => {}
            1 => self.text(", upper dword"),
            dword => {
                self.text(", dword ");
                self.decimal(dword.into());
            }
        }
    }
}

/// `write!` and serializers use this implementation.
impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The two decimal digits of each number from 0 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut value = 0;
    while value < 100 {
        pairs[value] = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        value += 1;
    }
    pairs
};

/// The two hexadecimal digits of each byte.
const HEX: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut value = 0;
    while value < 256 {
        pairs[value] = [DIGITS[value >> 4], DIGITS[value & 15]];
        value += 1;
    }
    pairs
};

/// Writes the last `N` (an even number) of the sixteen hexadecimal digits of `value` directly to
/// the output. To collect them elsewhere and copy them is slow, because the load has to wait for
/// the short stores before it.
#[inline(always)]
pub(super) fn hex_digits<const N: usize>(out: &mut [u8; N], value: u64) {
    let bytes = value.to_be_bytes();
    for (pair, byte) in out.as_chunks_mut().0.iter_mut().zip(&bytes[8 - N / 2..]) {
        *pair = HEX[usize::from(*byte)];
    }
}

/// The inputs of a piece of text: the same key always means the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Key {
    /// Address of the static input: the field or the name. For a step or a group's element, the
    /// number of its `MemoKey`.
    pub what: usize,
    pub value: u64,
    /// The position: first bit, and index in an array (`record::place`). For a header line, the
    /// length of the packet.
    pub place: u64,
    /// The kind of text, and what else it depends on: nesting depth, indentation and the version
    /// of the base addresses.
    pub kind: u64,
}

impl Key {
    #[inline(always)]
    fn is(&self, other: &Key) -> bool {
        let what = (self.what ^ other.what) as u64;
        what | self.value ^ other.value | self.place ^ other.place | self.kind ^ other.kind == 0
    }

    /// Number of the key's chain: Fibonacci hashing, with multipliers whose bits have no pattern.
    fn chain(&self) -> usize {
        let mixed = (self.what as u64)
            .wrapping_add(self.value.wrapping_mul(0xd6e8_feb8_6659_fd93))
            .wrapping_add((self.place ^ self.kind << 16).wrapping_mul(0xa076_1d64_78bd_642f));
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - CHAINS)) as usize
    }
}

/// Pieces of text are stored in blocks of this size.
type Block = [u8; 32];

/// A cache of written pieces of text, by key.
///
/// Packets of one type repeat with most of their fields unchanged. So a piece is usually followed
/// by the same piece as the last time. The memo tries that piece first, and stores pieces in the
/// order in which they were first needed.
#[derive(Debug)]
pub(super) struct Memo {
    pieces: Vec<Piece>,
    /// The texts of all pieces, each with as many blocks as it needs.
    text: Vec<Block>,
    /// Number of the first piece of each chain, plus one; 0 if the chain is empty.
    chains: Vec<u16>,
    /// Numbers of the piece that was written last, and of the one that is tried next.
    last: u16,
    next: u16,
}

#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Piece {
    key: Key,
    /// The first block of the text, and its length in bytes.
    first: u32,
    length: u32,
    /// Number of problems in the text.
    problems: u32,
    /// Number of the piece that followed this one the last time.
    next: u16,
    /// Number of the next piece in the chain, plus one; 0 at the end.
    chained: u16,
}

/// Limits of the stored pieces and of their blocks. All pieces are dropped before one is stored
/// when there are `PIECES` pieces or more than `BLOCKS` blocks.
const PIECES: usize = 4096;
const BLOCKS: usize = (1 << 20) / size_of::<Block>();

/// Largest size in bytes of a stored piece.
const LONGEST: usize = 8192;

/// Number of chains of a memo, as the exponent of a power of two.
const CHAINS: u32 = 12;

impl Memo {
    pub fn new() -> Memo {
        Memo {
            pieces: Vec::new(),
            text: Vec::new(),
            chains: vec![0; 1 << CHAINS],
            last: 0,
            next: 0,
        }
    }

    /// Writes the stored piece with this key again and returns its number of problems; `None` if
    /// there is no such piece.
    #[inline(always)]
    pub fn again(&mut self, key: &Key, buffer: &mut Buffer) -> Option<u32> {
        let mut number = self.next;
        if self.pieces.get(usize::from(number)).is_none_or(|piece| !piece.key.is(key)) {
            number = self.find(key)?;
        }
        let piece = &self.pieces[usize::from(number)];
        (self.last, self.next) = (number, piece.next);
        let (first, length) = (piece.first as usize, piece.length as usize);
        buffer.blocks(&self.text[first..first + length.div_ceil(size_of::<Block>())], length);
        Some(piece.problems)
    }

    #[inline(never)]
    fn find(&mut self, key: &Key) -> Option<u16> {
        let mut at = self.chains[key.chain()];
        while let Some(number) = at.checked_sub(1) {
            let piece = &self.pieces[usize::from(number)];
            if piece.key.is(key) {
                self.follows(number);
                return Some(number);
            }
            at = piece.chained;
        }
        None
    }

    /// Records that the piece with this number follows the last one.
    fn follows(&mut self, number: u16) {
        if let Some(last) = self.pieces.get_mut(usize::from(self.last)) {
            last.next = number;
        }
        self.last = number;
    }

    /// Stores a new piece, unless it is longer than `LONGEST`.
    #[inline(never)]
    pub fn keep(&mut self, key: &Key, text: &[u8], problems: u32) {
        if text.len() > LONGEST {
            return;
        }
        if self.pieces.len() == PIECES || self.text.len() > BLOCKS {
            self.pieces.clear();
            self.text.clear();
            self.chains.fill(0);
            self.last = 0;
        }
        let number = self.pieces.len() as u16;
        let chain = &mut self.chains[key.chain()];
        let (first, length) = (self.text.len() as u32, text.len() as u32);
        self.pieces.push(Piece {
            key: *key,
            first,
            length,
            problems,
            next: number + 1,
            chained: *chain,
        });
        *chain = number + 1;
        let (blocks, rest) = text.as_chunks();
        self.text.extend_from_slice(blocks);
        if !rest.is_empty() {
            let mut block = Block::default();
            block[..rest.len()].copy_from_slice(rest);
            self.text.push(block);
        }
        self.follows(number);
        self.next = number + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Buffer)) -> String {
        let mut buffer = Buffer::new();
        write(&mut buffer);
        let mut out = Vec::new();
        buffer.flush(&mut out).expect("writing to a vector cannot fail");
        String::from_utf8(out).expect("text")
    }

    /// Oracle: the formatting of the standard library.
    #[test]
    fn numbers() {
        let powers = (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, !(1 << bit)]);
        let tens = (0..20).flat_map(|power| [10u64.pow(power), 10u64.pow(power) - 1]);
        for value in powers.chain(tens).chain(0..1100) {
            assert_eq!(written(|buffer| buffer.decimal(value)), value.to_string());
            assert_eq!(written(|buffer| buffer.hex(value, 0)), format!("{value:x}"));
            assert_eq!(written(|buffer| buffer.hex0x(value, 12)), format!("0x{value:012x}"));
        }
    }

    /// Oracle: the `Display` of registers.
    #[test]
    fn registers() {
        use genxml_core::reflect;
        for (_, at) in reflect::registers(crate::gen8::CONTAINERS, crate::gen8::ENGINES) {
            assert_eq!(written(|buffer| buffer.register(&at)), at.to_string());
        }
    }

    /// Texts of 0 to 199 bytes and spaces, one after the other, beyond the first allocation.
    #[test]
    fn pieces() {
        let long: String = ('!'..='~').cycle().take(200).collect();
        let mut whole = String::new();
        let mut buffer = Buffer::new();
        for length in (0..200).cycle().take(2000) {
            buffer.text(&long[..length]);
            buffer.spaces(length % 70);
            whole.push_str(&long[..length]);
            whole.extend(std::iter::repeat_n(' ', length % 70));
        }
        assert_eq!(buffer.since(0), whole.as_bytes());
    }

    /// The memo returns a piece only for its own key, and never one that is too long.
    #[test]
    fn memo() {
        let mut memo = Memo::new();
        let key = Key { what: 64, value: 3, place: 5, kind: 0 };
        memo.keep(&key, b"piece", 7);
        assert_eq!(memo.again(&key, &mut Buffer::new()), Some(7));
        let again = |memo: &mut Memo, key: &Key| written(|buffer| _ = memo.again(key, buffer));
        assert_eq!(again(&mut memo, &key), "piece");
        for other in [
            Key { what: 65, ..key },
            Key { value: 4, ..key },
            Key { place: 6, ..key },
            Key { kind: 1, ..key },
        ] {
            assert_eq!(again(&mut memo, &other), "");
            memo.keep(&other, &[b' '; LONGEST + 1], 0);
            assert_eq!(again(&mut memo, &other), "");
        }
        // Keys in mixed order, and more of them than the memo stores.
        let key = |value: u64| Key { what: 8, value: value * value % 7919, ..Key::default() };
        for value in (0..3 * PIECES as u64).flat_map(|value| [value, value / 2, value / 3]) {
            let (key, text) = (key(value), (value * value % 7919).to_string());
            let found = again(&mut memo, &key);
            assert!(found == text || found.is_empty(), "{found}, not {text}");
            if found.is_empty() {
                memo.keep(&key, text.as_bytes(), 0);
            }
            assert_eq!(again(&mut memo, &key), text);
        }
    }
}
