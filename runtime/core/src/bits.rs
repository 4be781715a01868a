//! Reading and writing bit ranges of little-endian dword arrays.
//!
//! Bit `n` of a container is bit `n % 32` of dword `n / 32`. Ranges are inclusive, at most 64 bits
//! wide, and may cross dwords. With constant positions every call folds to a shift and a mask.

/// The value of bits `start..=end`. Dwords beyond the slice read as zero (a packet cut short by its
/// length field).
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

/// Reads a bit range of one dword, `value`; `mask` applies after the shift. Generated code uses it
/// for constant positions: the compiler has less to fold than in [`get`], so thousands of fields
/// compile quickly.
#[inline(always)]
pub const fn bits_of(value: u32, shift: u32, mask: u32) -> u64 {
    (value >> shift & mask) as u64
}

/// Moves four flags to the bits of a dword by one multiplication. If the flags are adjacent in
/// memory, one load reads all of them. The code generator chooses `factor`, `shift` and `mask` so
/// that no two partial products have the same position.
#[inline(always)]
pub const fn flags4(flags: [bool; 4], factor: u64, shift: u32, mask: u32) -> u32 {
    let [a, b, c, d] = flags;
    let bytes = u32::from_le_bytes([a as u8, b as u8, c as u8, d as u8]);
    ((bytes as u64).wrapping_mul(factor) >> shift) as u32 & mask
}

/// Moves eight flags to the bits of a dword, like [`flags4`].
#[inline(always)]
pub const fn flags8(flags: [bool; 8], factor: u64, shift: u32, mask: u32) -> u32 {
    let [a, b, c, d, e, f, g, h] = flags;
    let bytes = u64::from_le_bytes([
        a as u8, b as u8, c as u8, d as u8, e as u8, f as u8, g as u8, h as u8,
    ]);
    (bytes.wrapping_mul(factor) >> shift) as u32 & mask
}

/// True if two packets have the same dwords; `==` of packets uses it.
#[inline]
pub fn alike<const N: usize>(one: &[u32; N], other: &[u32; N]) -> bool {
    one == other
}

/// Sets bits `start..=end` to `value`. The caller guarantees that these bits are zero and that
/// `value` fits them; the bounded types of this crate do. Dwords beyond the slice are not written.
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

/// Bits `start..start + bits` as an array of dwords, for a structure nested in a container. Bit
/// `start` becomes bit 0 of the first dword.
#[inline(always)]
pub const fn get_array<const N: usize>(dwords: &[u32], start: u32, bits: u32) -> [u32; N] {
    let mut out = [0; N];
    let mut done = 0;
    if start.is_multiple_of(32) && bits.is_multiple_of(32) {
        while done < bits {
            let dword = ((start + done) / 32) as usize;
            if dword < dwords.len() {
                out[(done / 32) as usize] = dwords[dword];
            }
            done += 32;
        }
        return out;
    }
    while done < bits {
        let last = if bits - done > 32 { done + 31 } else { bits - 1 };
        out[(done / 32) as usize] = get(dwords, start + done, start + last) as u32;
        done += 32;
    }
    out
}

/// Writes the low `bits` bits of `value` at `start`. The bits there must be zero.
#[inline(always)]
pub const fn put_array(dwords: &mut [u32], start: u32, bits: u32, value: &[u32]) {
    let mut done = 0;
    while done < bits {
        let (at, dword) = (start + done, value[(done / 32) as usize]);
        if at.is_multiple_of(32) && bits - done >= 32 {
            // A whole dword is stored without reading the old one.
            if ((at / 32) as usize) < dwords.len() {
                dwords[(at / 32) as usize] = dword;
            }
        } else {
            let last = if bits - done > 32 { done + 31 } else { bits - 1 };
            put(dwords, at, start + last, dword as u64);
        }
        done += 32;
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

/// Returns `value` if it fits a field of `width` bits. `value` is from an enumeration that wider
/// fields also use.
///
/// # Panics
/// If `value` does not fit. Such a value can only come from a wider field that was read.
#[inline(always)]
pub const fn narrow(value: u64, width: u32) -> u64 {
    assert!(
        value <= ones(width),
        "a value of an enumeration that wider fields share does not fit this field"
    );
    value
}
