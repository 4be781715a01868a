//! The register file as a flat array of bytes: general registers first, architecture registers
//! after them. An operand is a byte offset.

use bytemuck::Pod;

/// Maximum number of channels of an instruction.
pub const MAX_CHANNELS: usize = 32;

/// Bytes of a register.
pub const REGISTER: usize = 32;
/// Bytes of the 128 general registers.
pub const GRF_BYTES: usize = 128 * REGISTER;
/// The null register as a source: two registers of zeros.
pub const NULL: usize = GRF_BYTES;
/// `a0`: 16 words.
pub const A0: usize = NULL + 2 * REGISTER;
/// `f0` and `f1`, 4 bytes each; the rest of the register is unused.
pub const FLAGS: usize = A0 + REGISTER;
/// `sr0`: state, dispatch mask, vector mask.
pub const SR0: usize = FLAGS + REGISTER;
/// `cr0`: control.
pub const CR0: usize = SR0 + REGISTER;
/// `n0`: notification counts.
pub const N0: usize = CR0 + REGISTER;
/// `ip`.
pub const IP: usize = N0 + REGISTER;
/// `tm0`: timestamp.
pub const TM0: usize = IP + REGISTER;
/// `ce0`: channel enables.
pub const CE0: usize = TM0 + REGISTER;
/// `tdr0`: thread dependencies.
pub const TDR0: usize = CE0 + REGISTER;
/// `sp`: 16 bytes without a meaning to hardware.
pub const SP: usize = TDR0 + REGISTER;
/// `dbg0`: 8 bytes without a meaning to hardware.
pub const DBG0: usize = SP + REGISTER;
/// Bytes of the registers that Gen8 has.
pub const GEN8_BYTES: usize = DBG0 + REGISTER;
/// `m0` to `m15`: the message registers of G45 (003:7511).
pub const MRF: usize = GEN8_BYTES;
/// Bytes of the message registers.
pub const MRF_BYTES: usize = 16 * REGISTER;
/// `mask0` of G45: the active, if, loop and continue masks.
pub const MASK0: usize = MRF + MRF_BYTES;
/// `ms0` of G45: the mask stacks.
pub const MS0: usize = MASK0 + REGISTER;
/// `msd0` of G45: the depths of the mask stacks.
pub const MSD0: usize = MS0 + REGISTER;
/// Bytes of the whole register file.
pub const FILE_BYTES: usize = if cfg!(feature = "gen45") { MSD0 + REGISTER } else { GEN8_BYTES };
/// Bytes of accumulator storage: `acc0` and `acc1`.
pub const ACC_FILE: usize = 2 * REGISTER;

/// A register-indirect region.
#[derive(Clone, PartialEq, Debug)]
pub struct Indirect {
    /// Index of the first subregister of `a0`, a word, that gives an address.
    pub address: u8,
    /// Number of bytes that is added to every address.
    pub immediate: i16,
    /// Channels that share one address register: 32 for 1x1, the width for Vx1, 1 for VxH.
    pub share: u8,
    /// For each channel, the byte offset of its element from the address that the channel uses.
    pub lanes: [u16; MAX_CHANNELS],
}

/// For more ranges of registers than this, one string store to all registers is faster than a store
/// to each range.
const FEW_RANGES: u32 = 24;

/// The registers of one thread, without the accumulators ([`super::acc`]).
#[derive(Clone)]
pub struct Registers(Box<[u8; FILE_BYTES]>);

impl Default for Registers {
    fn default() -> Self {
        Registers(Box::new([0; FILE_BYTES]))
    }
}

macro_rules! scalars {
    ($($get:ident $put:ident $ty:ident;)*) => {$(
        #[doc = concat!("The `", stringify!($ty), "` at byte `offset`.")]
        #[inline(always)]
        pub fn $get(&self, offset: usize) -> $ty {
            let bytes = self.0[offset..].first_chunk().expect("an element inside the file");
            <$ty>::from_ne_bytes(*bytes)
        }

        #[doc = concat!("Replaces the `", stringify!($ty), "` at byte `offset`.")]
        #[inline(always)]
        pub fn $put(&mut self, offset: usize, value: $ty) {
            let bytes = self.0[offset..].first_chunk_mut().expect("an element inside the file");
            *bytes = value.to_ne_bytes();
        }
    )*};
}

impl Registers {
    scalars! {
        u8 set_u8 u8;
        u16 set_u16 u16;
        u32 set_u32 u32;
        u64 set_u64 u64;
    }

    /// `N` consecutive dwords from byte `offset` on.
    #[inline(always)]
    pub fn dwords<const N: usize>(&self, offset: usize) -> [u32; N] {
        self.row(offset)
    }

    /// Replaces `N` consecutive dwords from byte `offset` on.
    #[inline(always)]
    pub fn set_dwords<const N: usize>(&mut self, offset: usize, values: [u32; N]) {
        self.set_row(offset, values);
    }

    /// `N` consecutive elements from byte `offset` on.
    #[inline(always)]
    pub fn row<T: Pod, const N: usize>(&self, offset: usize) -> [T; N] {
        let bytes = &self.0[offset..offset + N * size_of::<T>()];
        let mut row = [T::zeroed(); N];
        for (element, bytes) in row.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
            *element = bytemuck::pod_read_unaligned(bytes);
        }
        row
    }

    /// Replaces `N` consecutive elements from byte `offset` on.
    #[inline(always)]
    pub fn set_row<T: Pod, const N: usize>(&mut self, offset: usize, row: [T; N]) {
        let bytes = &mut self.0[offset..offset + N * size_of::<T>()];
        for (element, bytes) in row.iter().zip(bytes.chunks_exact_mut(size_of::<T>())) {
            bytes.copy_from_slice(bytemuck::bytes_of(element));
        }
    }

    /// The whole register file, as bytes.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8; FILE_BYTES] {
        &self.0
    }

    /// The whole register file, as bytes.
    #[inline(always)]
    pub fn bytes_mut(&mut self) -> &mut [u8; FILE_BYTES] {
        &mut self.0
    }

    /// Sets all registers to zero; those that only G45 has, if `gen45`.
    pub fn clear(&mut self, gen45: bool) {
        let bytes = if gen45 { FILE_BYTES } else { GEN8_BYTES };
        self.0[..bytes].fill(0);
    }

    /// Sets the general registers of `written` (a bit each) and all architecture registers to zero.
    /// Registers that only G45 has are left out.
    pub fn clear_written(&mut self, written: u128) {
        if (written & !(written << 1)).count_ones() > FEW_RANGES {
            return self.clear(false);
        }
        let (registers, _) = self.0[..GRF_BYTES].as_chunks_mut::<REGISTER>();
        // Halves, because the host shifts 64 bits faster than 128.
        let (low, high) = registers.split_at_mut(u64::BITS as usize);
        clear_ranges(low, written as u64);
        clear_ranges(high, (written >> u64::BITS) as u64);
        // Row by row, because the compiler turns a long `fill` into a call.
        let (rows, _) = self.0[GRF_BYTES..GEN8_BYTES].as_chunks_mut::<REGISTER>();
        rows.iter_mut().for_each(|row| *row = [0; REGISTER]);
    }

    /// The message registers of G45, as bytes.
    #[cfg(feature = "gen45")]
    pub fn mrf(&self) -> &[u8] {
        &self.0[MRF..MRF + MRF_BYTES]
    }

    /// The general registers, as bytes.
    pub fn grf(&self) -> &[u8] {
        &self.0[..GRF_BYTES]
    }

    /// The general registers, as bytes.
    pub fn grf_mut(&mut self) -> &mut [u8] {
        &mut self.0[..GRF_BYTES]
    }

    /// All 64 flag bits: f0.0 lowest, then f0.1, f1.0 and f1.1.
    #[inline(always)]
    pub fn flags(&self) -> u64 {
        self.u64(FLAGS)
    }

    /// Replaces the flag bits where `mask` is set.
    #[inline(always)]
    pub fn set_flags(&mut self, mask: u64, bits: u64) {
        let old = self.flags();
        self.set_u64(FLAGS, old & !mask | bits & mask);
    }

    /// Resolves a register-indirect region: returns the byte offset of the element of each of the
    /// first `channels` channels. Addresses beyond the general registers wrap.
    pub fn indirect(&self, region: &Indirect, channels: usize) -> [u16; MAX_CHANNELS] {
        let mut offsets = [0; MAX_CHANNELS];
        for (n, offset) in offsets.iter_mut().enumerate().take(channels) {
            let address = (usize::from(region.address) + n / usize::from(region.share)) % 16;
            let base = i32::from(self.u16(A0 + 2 * address)) + i32::from(region.immediate);
            *offset = wrap(base + i32::from(region.lanes[n]));
        }
        offsets
    }
}

/// Sets the registers of `written`, a bit each, to zero.
fn clear_ranges(registers: &mut [[u8; REGISTER]], written: u64) {
    let mut rest = written;
    while rest != 0 {
        let first = rest.trailing_zeros() as usize;
        let count = (rest >> first).trailing_ones() as usize;
        match &mut registers[first..first + count] {
            [one] => *one = [0; REGISTER],
            range => range.fill([0; REGISTER]),
        }
        // Adding the lowest bit clears the lowest range of ones, and sets the bit after it.
        rest &= rest.wrapping_add(rest & rest.wrapping_neg());
    }
}

/// Wraps a byte address into the general registers. The manual lets hardware wrap addresses outside
/// them; the model always wraps.
#[inline(always)]
pub fn wrap(address: i32) -> u16 {
    (address & (GRF_BYTES as i32 - 1)) as u16
}
