//! Reading and writing bit ranges of little-endian dword arrays.
//!
//! Bit `n` of a container is bit `n % 32` of dword `n / 32`; ranges are inclusive, at most 64 bits wide and may
//! cross dwords. With constant positions every call folds to a shift and a mask.

/// The value of bits `start..=end`. Dwords beyond the slice read as zero (a packet cut short by its length field).
#[inline(always)]
pub const fn get(dwords: &[u32], start: u32, end: u32) -> u64 {
    let width = end - start + 1;
    let mut dword = (start / 32) as usize;
    let mut shift = start % 32;
    let mut have = 0;
    let mut value = 0u64;
    while have < width && dword < dwords.len() {
        value |= ((dwords[dword] >> shift) as u64) << have;
        have += 32 - shift;
        shift = 0;
        dword += 1;
    }
    value & ones(width)
}

/// Sets bits `start..=end`, which are zero so far, to `value`, which fits them: both are the caller's duty and hold
/// for the bounded types of this crate. Dwords beyond the slice are left out.
#[inline(always)]
pub const fn put(dwords: &mut [u32], start: u32, end: u32, value: u64) {
    let width = end - start + 1;
    let mut dword = (start / 32) as usize;
    let mut shift = start % 32;
    let mut done = 0;
    while done < width && dword < dwords.len() {
        dwords[dword] |= ((value >> done) as u32) << shift;
        done += 32 - shift;
        shift = 0;
        dword += 1;
    }
}

/// A mask of the low `width` bits; `width` is 1..=64.
#[inline(always)]
pub const fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// Sign-extends the low `width` bits of `value`; `width` is 1..=64.
#[inline(always)]
pub const fn sign_extend(value: u64, width: u32) -> i64 {
    ((value << (64 - width)) as i64) >> (64 - width)
}
