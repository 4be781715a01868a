//! The collected packets of a picture.

use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::machine::slots::UnitState;
use crate::video::slices::Kept;
use genxml::gen8::mfx_common::MfxPakInsertObject;

/// Largest number of macroblocks that are collected: those of the largest frame.
const MOST: usize = 256 * 256;

/// Bytes of MFX_PAK_INSERT_OBJECT.
#[derive(Clone, Debug)]
pub struct Insertion {
    pub data: Vec<u8>,
    /// Bits of the last byte that count, 1 to 8.
    pub last_bits: u32,
    /// Emulation prevention bytes are inserted.
    pub protect: bool,
    /// Leading bytes without emulation prevention bytes.
    pub unprotected: usize,
}

/// A part of the coded data. `S` is the state of a slice, `M` a macroblock.
#[derive(Clone, Debug)]
pub enum Item<S, M> {
    /// What follows goes to this offset of the coded data.
    Offset(u64),
    /// Headers or tails.
    Insertion(Insertion),
    /// A slice with its macroblocks.
    Slice(Box<S>, Vec<M>),
}

/// The collected packets of a picture.
#[derive(Clone, Debug)]
pub struct Items<S, M> {
    /// The newest packet.
    pub at: Place,
    pub items: Vec<Item<S, M>>,
    /// The last item is a slice, and macroblocks may follow.
    pub open: bool,
    /// Number of macroblocks.
    count: usize,
}

/// The picture whose packets are being collected, if there is one.
#[derive(Clone, Debug)]
struct Open<S, M>(Option<Box<Items<S, M>>>);

impl<S, M> Default for Open<S, M> {
    fn default() -> Self {
        Open(None)
    }
}

impl<S: Kept, M: Kept> UnitState for Open<S, M> {}

impl<S, M> Items<S, M> {
    /// Adds bytes. They end a slice.
    pub fn insert(&mut self, insertion: Insertion) {
        self.open = false;
        self.items.push(Item::Insertion(insertion));
    }

    /// Adds a macroblock to the open slice; `last`: it ends the slice.
    pub fn macroblock(&mut self, macroblock: M, last: bool) {
        if let Some(Item::Slice(_, macroblocks)) = self.items.last_mut() {
            macroblocks.push(macroblock);
            self.count += 1;
        }
        self.open = !last;
    }
}

/// The collected packets of the open picture. Opens a picture if none is open.
///
/// # Errors
/// [`Fault::BadPacket`] if there are more macroblocks than in the largest frame.
pub fn get<'a, S: Kept, M: Kept>(exec: &'a mut Exec<'_>) -> Result<&'a mut Items<S, M>, Fault> {
    let at = exec.at;
    let Open::<S, M>(open) = exec.state.slots.get_mut();
    if open.as_ref().is_some_and(|items| items.count >= MOST) {
        let why = "the number of macroblocks of the picture; the largest frame has 65536";
        return Err(exec.bad_field("macroblocks", MOST as u64 + 1, why));
    }
    let Open::<S, M>(open) = exec.state.slots.get_mut();
    let items = open
        .get_or_insert_with(|| Box::new(Items { at, items: Vec::new(), open: false, count: 0 }));
    items.at = at;
    Ok(items)
}

/// Calls `encode` with the collected packets of the open picture, if there is one. A fault names the
/// newest packet.
///
/// # Errors
/// Those of `encode`.
pub fn finish<S: Kept, M: Kept>(
    exec: &mut Exec<'_>,
    encode: impl FnOnce(&mut Exec<'_>, &Items<S, M>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Open::<S, M>(open) = exec.state.slots.get_mut();
    let Some(items) = open.take() else { return Ok(()) };
    let at = std::mem::replace(&mut exec.at, items.at);
    encode(exec, &items)?;
    exec.at = at;
    Ok(())
}

/// The bytes of MFX_PAK_INSERT_OBJECT.
///
/// # Errors
/// [`Fault::BadPacket`] for a number of bits that the last dword does not have;
/// [`Fault::Unimplemented`] for output that starts anew; [`Fault::Hang`] if the budget is used up.
pub fn insertion(exec: &mut Exec<'_>, packet: &MfxPakInsertObject<'_>) -> Result<Insertion, Fault> {
    if packet.bitstream_start_reset {
        let what = "output that starts anew within a picture (Bitstream Start Reset)";
        return Err(exec.unimplemented(what, "MFX_PAK_INSERT_OBJECT dw1 0"));
    }
    // Drivers write 32 or 0 for a whole dword (digests/video.md 8.6).
    let bits = match packet.data_bits_in_last_dw.get() as usize {
        0 => 32,
        bits @ 1..=32 => bits,
        bits => {
            return Err(exec.bad_field("Data Bits In Last DW", bits as u64, "a dword has 32 bits"));
        }
    };
    let mut data: Vec<u8> = Vec::new();
    for dword in packet.insert_data_pay_load.iter() {
        data.extend((dword.get() as u32).to_le_bytes());
    }
    exec.spend(data.len() as u64)?;
    if !data.is_empty() {
        data.truncate(data.len() - 4 + bits.div_ceil(8));
    }
    let skipped = (packet.data_byte_offset.get() as usize).min(data.len());
    data.drain(..skipped);
    Ok(Insertion {
        data,
        last_bits: (bits as u32 + 7) % 8 + 1,
        protect: packet.emulation_byte_bits_insert_enable,
        unprotected: packet.skip_emulation_byte_count.get() as usize,
    })
}
