//! Block messages: contiguous owords or hwords of a buffer, two such blocks side by side, and
//! scratch space of threads (G45 vol 4, 5.10.2 and 5.10.3; 2a p.317-330, p.397-399; 2d p.114).
//!
//! Each dword has a channel that enables it: even registers of a block have channels 7:0, odd
//! registers have channels 15:8. With two blocks side by side, each register has channels 7:0. A
//! read returns a whole oword if one of its four channels is enabled. A write stores only the
//! dwords whose channels are enabled (assumptions::CHANNELS_GUARD_BLOCKS). Scratch blocks and A64
//! hword blocks select one of these two rules in the message instead.

use super::outside;
use super::slots::{sum, whole_dwords};
use super::target::{self, Allowed, Header};
use super::window::{Target, Window};
use crate::assumptions::{BLOCKS_TAKE_MISSING_CHANNELS_FOR_ENABLED, CHANNELS_GUARD_BLOCKS};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::mem::outside::Beyond;
use crate::mem::{ADDRESS_MASK, PageFault};
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::gen8::message_headers::{MhA64Hwb, MhA64Owb, MhA64Owdb};
use genxml_eu::gen8::descriptors::{
    MdcA64DbHw, MdcA64DbOwd, MdcCmode, MdcDbOwd, Msd1rA64Hwb, Msd1rA64Owdb,
};
use genxml_eu::gen8::eu_messages::{A64BlockSubtype, Msd0Owdb, Msd0Scratch, Msd1A64B};
use genxml_eu::gen8::messages::{MdcDbOw, Msd0rOwb, MtDp1};

/// Bytes of an oword.
const OWORD: usize = 16;

/// Number of channels that enable the dwords of a block: one for each dword of two registers. Each
/// further pair of registers uses the same channels again.
const CHANNELS: usize = 16;

/// Like [`CHANNELS`], for two blocks side by side: one channel for each dword of one register (G45
/// vol 4, 5.10.3).
const CHANNELS_OF_DUAL: usize = 8;

/// The channels that enable a dword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Guard {
    /// The dword's own channel.
    Dword,
    /// Any of the four channels of the dword's oword.
    Oword,
}

/// Contiguous bytes in memory, and their position in the registers.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Offset of the first byte in the window.
    offset: u64,
    /// Number of bytes.
    length: usize,
    /// Byte offset from the start of the block's first register.
    place: usize,
}

/// A block message.
struct Blocks<'r> {
    write: bool,
    target: Target,
    guard: Guard,
    /// Number of channels. Dword `n` in the registers has channel `n % channels`.
    channels: usize,
    runs: &'r [Run],
    /// Number of address registers.
    addresses: usize,
    /// Number of data registers.
    data: usize,
}

impl Blocks<'_> {
    fn run(
        &self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
        payload: &Payload<'_>,
    ) -> Result<(), Fault> {
        let Some(at) = payload.data(port, self.write, self.addresses, self.data)? else {
            return Ok(());
        };
        let target = whole_dwords(self.target);
        let end = target.bytes(port.local.slm.len());
        let enabled = channels(payload.message);
        let mut window = Window::new(target, &mut port.exec.vm, &mut port.local.slm);
        let mut moves = self
            .runs
            .iter()
            .map(|run| self.transfer(&mut window, registers, at, run, end, enabled));
        let bytes = moves.try_fold(0, |sum, bytes| Ok(sum + bytes?));
        let cut = window.cut();
        port.exec.stats.cut_off += cut;
        if cut > 0 && port.exec.vm.log().is_some() {
            for run in self.runs {
                let (offset, bytes) = (run.offset & self.target.reach(), run.length as u64);
                let beyond = Beyond::Bytes { offset, bytes, end };
                outside::bytes_at(port, target, 0, beyond, self.write);
            }
        }
        target::observe(port, self.target == Target::Local, self.write);
        payload.moved(port, self.write, bytes)
    }

    /// Copies a run: in one copy if all channels are enabled, otherwise only its enabled parts.
    /// Returns the number of bytes copied.
    fn transfer(
        &self,
        window: &mut Window<'_, '_>,
        registers: &mut Registers,
        at: usize,
        run: &Run,
        end: u64,
        enabled: u32,
    ) -> Result<u64, PageFault> {
        let mut copy = |first: usize, length: usize| {
            let place = at + run.place + first;
            let offset = (run.offset & self.target.reach()) + first as u64;
            match self.write {
                true => window.write(offset, end, &registers.bytes()[place..place + length]),
                false => {
                    window.read(offset, end, &mut registers.bytes_mut()[place..place + length])
                }
            }
        };
        if enabled.trailing_ones() as usize >= self.channels {
            copy(0, run.length)?;
            return Ok(run.length as u64);
        }
        let step = match self.guard {
            Guard::Dword => 4,
            Guard::Oword => OWORD,
        };
        let mut bytes = 0;
        for first in (0..run.length).step_by(step) {
            let channel = (run.place + first) / 4 % self.channels;
            let mine = enabled >> channel & ((1 << (step / 4)) - 1);
            if mine != 0 {
                copy(first, step)?;
                bytes += step as u64;
            }
        }
        Ok(bytes)
    }
}

/// Mask of the enabled channels of a block message. Channels that the `send` does not have count as
/// enabled (assumptions::BLOCKS_TAKE_MISSING_CHANNELS_FOR_ENABLED).
fn channels(message: &Message) -> u32 {
    if !CHANNELS_GUARD_BLOCKS {
        return u32::MAX;
    }
    let missing = match u32::MAX.checked_shl(message.channels.into()) {
        Some(missing) if BLOCKS_TAKE_MISSING_CHANNELS_FOR_ENABLED => missing,
        _ => 0,
    };
    message.mask | missing
}

/// Byte offset in the first register, and length in bytes, of a block of owords.
fn owords(
    port: &Port<'_, '_>,
    payload: &Payload<'_>,
    blocks: MdcDbOw,
) -> Result<(usize, usize), Fault> {
    match blocks {
        MdcDbOw::OW1L => Ok((0, OWORD)),
        MdcDbOw::OW1U => Ok((OWORD, OWORD)),
        MdcDbOw::OW2 => Ok((0, 2 * OWORD)),
        MdcDbOw::OW4 => Ok((0, 4 * OWORD)),
        MdcDbOw::OW8 => Ok((0, 8 * OWORD)),
        other => Err(payload.reserved(port, "Data Blocks", other.bits())),
    }
}

/// Oword Block Read and Write. The Global Offset counts units of `unit` bytes: 16 or 1.
pub(super) fn oword(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    write: bool,
    unit: u64,
    allowed: Allowed,
) -> Result<(), Fault> {
    let descriptor = Msd0rOwb::unpack_lossy(&[message.descriptor]);
    let payload =
        Payload::open(message, if write { "an oword block write" } else { "an oword block read" });
    let (place, length) = owords(port, &payload, descriptor.data_blocks)?;
    let header = Header::read(registers, Some(payload.required(port)?));
    let index = descriptor.binding_table_index.get();
    let target = target::bytes(port, &payload, index, allowed, header)?;
    // Unaligned blocks start at a dword (2d p.42).
    let offset = (u64::from(header.global) * unit) & !3;
    let blocks = Blocks {
        write,
        target,
        guard: if write { Guard::Dword } else { Guard::Oword },
        channels: CHANNELS,
        runs: &[Run { offset, length, place }],
        addresses: 0,
        data: (place + length).div_ceil(REGISTER),
    };
    blocks.run(port, registers, &payload)
}

/// Runs of two blocks side by side: owords of block 0 in the low halves of `count` registers, and
/// owords of block 1 in the high halves (MDP_OWD4, 2d p.280). Only the first `2 * count` runs are
/// valid.
fn side_by_side(offsets: [u64; 2], count: usize) -> [Run; 8] {
    std::array::from_fn(|n| {
        let (register, half) = (n / 2 % count, n % 2);
        Run {
            offset: offsets[half] + (register * OWORD) as u64,
            length: OWORD,
            place: register * REGISTER + half * OWORD,
        }
    })
}

/// Oword Dual Block Read and Write. Channels 7:0 enable the dwords of each register.
pub(super) fn dual(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    write: bool,
    allowed: Allowed,
) -> Result<(), Fault> {
    let descriptor = Msd0Owdb::unpack_lossy(&[message.descriptor]);
    let name = if write { "an oword dual block write" } else { "an oword dual block read" };
    let payload = Payload::open(message, name);
    let count = match descriptor.data_blocks {
        MdcDbOwd::OWD1 => 1,
        MdcDbOwd::OWD4 => 4,
        other => return Err(payload.reserved(port, "Data Blocks", other.bits())),
    };
    let header = Header::read(registers, payload.header);
    let target =
        target::buffer(port, &payload, descriptor.binding_table_index.get(), allowed, header)?;
    // The layout is MAP32B_SIMD4X2 (2d p.424): each half of the register has an offset in owords.
    let offset = |half: usize| {
        let own = registers.u32(payload.body + half * OWORD);
        sum(header.global, own) * OWORD as u64
    };
    let runs = side_by_side([offset(0), offset(1)], count);
    let guard = if write { Guard::Dword } else { Guard::Oword };
    let channels = CHANNELS_OF_DUAL;
    let runs = &runs[..2 * count];
    Blocks { write, target, guard, channels, runs, addresses: 1, data: count }
        .run(port, registers, &payload)
}

/// Scratch Block Read and Write: whole registers of the thread's scratch space. Invalidation after
/// a read has no effect (2d p.236).
pub(super) fn scratch(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd0Scratch::unpack_lossy(&[message.descriptor]);
    let write = descriptor.write;
    let payload = Payload::open(
        message,
        if write { "a scratch block write" } else { "a scratch block read" },
    );
    let header = payload.required(port)?;
    let count = descriptor.block_size.get() as usize;
    let blocks = Blocks {
        write,
        target: target::scratch(port, registers, header),
        guard: if descriptor.dword_channel_mode { Guard::Dword } else { Guard::Oword },
        channels: CHANNELS,
        runs: &[Run {
            offset: descriptor.offset.get() * REGISTER as u64,
            length: count * REGISTER,
            place: 0,
        }],
        addresses: 0,
        data: count,
    };
    blocks.run(port, registers, &payload)
}

/// A64 Block Read and Write at 64-bit addresses in the header: one block of owords, two blocks of
/// owords, or one block of hwords. Only reads have blocks of unaligned owords.
pub(super) fn long(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1A64B::unpack_lossy(&[message.descriptor]);
    let write = descriptor.message_type == MtDp1::MT1W_A64_B;
    let payload =
        Payload::open(message, if write { "an A64 block write" } else { "an A64 block read" });
    let header = payload.required(port)?;
    let mut guard = if write { Guard::Dword } else { Guard::Oword };
    let (subtype, addresses, channels) = (descriptor.subtype, 0, CHANNELS);
    match subtype {
        A64BlockSubtype::OWORD | A64BlockSubtype::UNALIGNED_OWORD => {
            let aligned = subtype == A64BlockSubtype::OWORD;
            if write && !aligned {
                return Err(payload.reserved(port, "A64 Block Message Subtype", subtype.bits()));
            }
            // MDC_A64_DB_OW has the codes of MDC_DB_OW (2d p.10).
            let size = Msd0rOwb::unpack_lossy(&[message.descriptor]).data_blocks;
            let (place, length) = owords(port, &payload, size)?;
            let address = MhA64Owb::unpack_lossy(&registers.dwords(header)).block_offset.get();
            let (target, offset) = address_of(address, if aligned { OWORD as u64 } else { 4 });
            let data = (place + length).div_ceil(REGISTER);
            let runs = &[Run { offset, length, place }];
            Blocks { write, target, guard, channels, runs, addresses, data }
                .run(port, registers, &payload)
        }
        A64BlockSubtype::OWORD_DUAL => {
            let count = match Msd1rA64Owdb::unpack_lossy(&[message.descriptor]).data_elements {
                MdcA64DbOwd::OWD1 => 1,
                MdcA64DbOwd::OWD4 => 4,
                other => return Err(payload.reserved(port, "Data Elements", other.bits())),
            };
            let header = MhA64Owdb::unpack_lossy(&registers.dwords(header));
            let begins = [header.block_offset0.get(), header.block_offset1.get()];
            let places = begins.map(|address| address_of(address, OWORD as u64));
            let runs = side_by_side(places.map(|(_, offset)| offset), count);
            let channels = CHANNELS_OF_DUAL;
            // Execute each block separately, because only one of the addresses may be canonical.
            for (half, (target, _)) in places.into_iter().enumerate() {
                let mut mine = [runs[half]; 4];
                for (register, run) in mine.iter_mut().enumerate().take(count) {
                    *run = runs[2 * register + half];
                }
                let runs = &mine[..count];
                let blocks =
                    Blocks { write, target, guard, channels, runs, addresses, data: count };
                blocks.run(port, registers, &payload)?;
            }
            Ok(())
        }
        A64BlockSubtype::HWORD => {
            let count = match Msd1rA64Hwb::unpack_lossy(&[message.descriptor]).data_elements {
                MdcA64DbHw::HW1 => 1,
                MdcA64DbHw::HW2 => 2,
                MdcA64DbHw::HW4 => 4,
                MdcA64DbHw::HW8 => 8,
                other => return Err(payload.reserved(port, "Data Elements", other.bits())),
            };
            let header = MhA64Hwb::unpack_lossy(&registers.dwords(header));
            guard = match header.hword_channel_mode.channel_mode {
                MdcCmode::DWORD => Guard::Dword,
                _ => Guard::Oword,
            };
            let (target, offset) = address_of(header.block_offset.get(), REGISTER as u64);
            let runs = &[Run { offset, length: count * REGISTER, place: 0 }];
            Blocks { write, target, guard, channels, runs, addresses, data: count }
                .run(port, registers, &payload)
        }
        other => Err(payload.reserved(port, "A64 Block Message Subtype", other.bits())),
    }
}

/// Target of a block at a 64-bit address, and the address rounded down to a multiple of `align`. If
/// the address is not canonical, the target has no memory (2d p.6-9).
fn address_of(address: u64, align: u64) -> (Target, u64) {
    let unused = u64::BITS - ADDRESS_MASK.count_ones();
    let canonical = (address << unused) as i64 >> unused == address as i64;
    let target = if canonical { Target::EVERYTHING } else { Target::NOTHING };
    (target, address & ADDRESS_MASK & !(align - 1))
}
