//! Gathered constants: dwords of constant buffers, packed into the gather pool, where
//! 3DSTATE_CONSTANT_* finds them.

use super::chip::{ResourceStreamer, running, switched_off};
use super::pool::Pool;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::State;
use crate::surface::{Surface, SurfaceKind};
use crate::unit::stage::Stage;
use genxml::gen8::render3d_constants::ThreeDStateGatherPoolAlloc;
use genxml::gen8::state::RenderSurfaceState;
use genxml::gen8::structures::GatherConstantEntry;

/// Binding table entries of a block (2a p.109).
const BLOCK: u64 = 16;
/// Bytes of the vector that an entry reads (2d p.194).
const VECTOR: u64 = 16;
/// Bytes from the first half of a DX9 constant buffer to the second (2a p.110).
const HALF: u64 = 4096;

/// The fields of 3DSTATE_GATHER_CONSTANT_*.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    /// The stage whose binding table has the constant buffers.
    pub stage: Stage,
    /// One bit for each of 16 constant buffers, set if the buffer is used. 0: nothing is gathered.
    pub valid: u64,
    /// The block of 16 binding table entries of the constant buffers.
    pub block: u64,
    /// Byte offset in the gather pool.
    pub offset: u64,
    /// The constant buffer is one of DX9, with two halves of 4 KiB.
    pub dx9: bool,
}

/// A constant buffer that is read.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    base: u64,
    /// Bytes that can be read; `None` means no limit.
    bytes: Option<u64>,
}

impl Gather {
    /// Gathers the dwords that `entries` select, in the order of the entries and of the channels,
    /// and writes them to the pool without gaps. No effect if no buffer is valid (2a p.109) or the
    /// pool is disabled (2a p.112). Waiting for the generator of DX9 constants has no effect: the
    /// model is never ahead of it.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if the streamer does not follow the batch or has no pool for binding
    /// tables; for an entry whose buffer is not valid, or that selects half 2 or more of a DX9
    /// buffer; for an invalid surface state; and for more dwords than the rest of the pool has.
    /// [`Fault::Unimplemented`] for a buffer that is an image. [`Fault::Page`] at the surface
    /// state, the buffer or the pool.
    pub fn execute(
        &self,
        exec: &mut Exec<'_>,
        entries: impl Iterator<Item = GatherConstantEntry>,
    ) -> Result<(), Fault> {
        if self.valid == 0 {
            return Ok(());
        }
        running(exec)?;
        let chip = ResourceStreamer::chip(exec);
        let Some(pool) = chip.gather_pool else {
            switched_off(exec);
            return Ok(());
        };
        if chip.table_pool.is_none() {
            return Err(exec.bad_field(
                "Binding Table Pool Enable",
                0,
                "constants are gathered through the streamer's binding table: enable it with \
                 3DSTATE_BINDING_TABLE_POOL_ALLOC first",
            ));
        }
        let mut buffers = [None; BLOCK as usize];
        let mut dwords: Vec<u32> = Vec::new();
        for entry in entries.filter(|entry| entry.channel_mask.get() != 0) {
            self.take(exec, &mut buffers, &entry, &mut dwords)?;
        }
        let bytes = 4 * dwords.len() as u64;
        if bytes > pool.after(self.offset) {
            let why = format!(
                "the {bytes} gathered bytes do not fit into the pool, which has {} bytes",
                pool.bytes
            );
            return Err(exec.bad_field("Gather Buffer Offset", self.offset, why));
        }
        exec.vm
            .write(pool.address(self.offset), bytemuck::cast_slice(&dwords))
            .map_err(|fault| exec.page(fault, "gather pool"))?;
        exec.stats.bytes_written += bytes;
        Ok(())
    }

    /// Appends the dwords that an entry selects.
    fn take(
        &self,
        exec: &mut Exec<'_>,
        buffers: &mut [Option<Buffer>; BLOCK as usize],
        entry: &GatherConstantEntry,
        dwords: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        let index = entry.binding_table_index_offset.get();
        let (index, half) = match (self.dx9, index) {
            (true, 0 | 1) => (0, index),
            (true, _) => {
                let why = "a DX9 constant buffer has two halves of 4 KiB: use 0 or 1";
                return Err(exec.bad_field("Binding Table Index Offset", index, why));
            }
            (false, _) => (index, 0),
        };
        if self.valid >> index & 1 == 0 {
            let why = format!("bit {index} of Constant Buffer Valid is 0: the buffer is not used");
            return Err(exec.bad_field("Binding Table Index Offset", index, why));
        }
        let buffer = match buffers[index as usize] {
            Some(buffer) => buffer,
            None => *buffers[index as usize].insert(self.buffer(exec, index)?),
        };
        let vector = HALF * half + VECTOR * entry.constant_buffer_offset.get();
        for channel in (0..4).filter(|channel| entry.channel_mask.get() >> channel & 1 != 0) {
            let offset = vector + 4 * channel;
            // A dword after the end of the buffer is 0 (assumptions::GATHER_AFTER_THE_END_IS_ZERO).
            let inside = buffer.bytes.is_none_or(|bytes| offset + 4 <= bytes);
            dwords.push(match inside {
                true => exec.vm.read_u32(buffer.base.wrapping_add(offset)).map_err(|fault| {
                    exec.page(fault, format!("gathered constant buffer {index}"))
                })?,
                false => 0,
            });
            exec.stats.bytes_read += 4 * u64::from(inside);
        }
        Ok(())
    }

    /// The constant buffer of entry `index` of the block, from the binding table inside the
    /// streamer. A null surface has no limit (2a p.108).
    fn buffer(&self, exec: &mut Exec<'_>, index: u64) -> Result<Buffer, Fault> {
        let entry = BLOCK * self.block + index;
        let base = exec.state.base.surface;
        let chip = ResourceStreamer::chip(exec);
        let pointer = chip.tables[self.stage as usize][entry as usize].surface_state_pointer.get();
        let mut dwords = [0; RenderSurfaceState::DWORDS];
        exec.vm
            .read(base.wrapping_add(pointer), bytemuck::must_cast_slice_mut(&mut dwords))
            .map_err(|fault| {
                exec.page(fault, format!("surface state of binding table entry {entry}"))
            })?;
        let state = RenderSurfaceState::unpack_lossy(&dwords);
        let surface = Surface::resolve(&state).map_err(|bad| {
            exec.bad_field(
                bad.field,
                bad.value,
                format!("binding table entry {entry}: {}", bad.why),
            )
        })?;
        let bytes = match surface.kind {
            SurfaceKind::Null => None,
            SurfaceKind::Buffer | SurfaceKind::Structured => {
                Some(u64::from(surface.width) * u64::from(surface.pitch))
            }
            SurfaceKind::Image => {
                let what =
                    format!("constants gathered from an image (binding table entry {entry})");
                return Err(exec.unimplemented(what, "2a p.108"));
            }
        };
        Ok(Buffer { base: surface.base, bytes })
    }
}

/// Constant buffer 1 of a 3DSTATE_CONSTANT_*.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer1 {
    /// Memory at a graphics address.
    Memory(u64),
    /// Memory in the gather pool, at a byte offset.
    Gathered(Pool, u64),
}

impl Buffer1 {
    /// The buffer at `pointer`. The newest 3DSTATE_GATHER_POOL_ALLOC decides whether the pointer is
    /// an address or an offset in the pool (2d p.2).
    pub fn of(state: &State, pointer: u64) -> Buffer1 {
        match Pool::of_constants(&state.latched.read::<ThreeDStateGatherPoolAlloc>(0)) {
            Some(pool) => Buffer1::Gathered(pool, pointer),
            None => Buffer1::Memory(pointer),
        }
    }

    /// Graphics address of the first byte.
    pub fn address(self) -> u64 {
        match self {
            Buffer1::Memory(address) => address,
            Buffer1::Gathered(pool, offset) => pool.address(offset),
        }
    }

    /// How many of `bytes` bytes lie before the end of the pool. The others read as 0
    /// (assumptions::GATHER_AFTER_THE_END_IS_ZERO).
    pub fn readable(self, bytes: usize) -> usize {
        match self {
            Buffer1::Memory(_) => bytes,
            Buffer1::Gathered(pool, offset) => {
                bytes.min(usize::try_from(pool.after(offset)).unwrap_or(usize::MAX))
            }
        }
    }
}
