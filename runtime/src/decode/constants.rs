//! Constants that 3DSTATE_CONSTANT_* pushes into the registers of shaders, and the buffers that
//! 3DSTATE_GATHER_CONSTANT_* gathers constants into.

use super::effects::constants;
use super::follow::Follower;
use super::record::Record;
use genxml_core::address::SpaceKind;
use genxml_core::bits;
use genxml_core::reflect::Container;
use std::io;

/// Bytes of a register, the unit of the length fields (2d p.1).
const REGISTER_BYTES: u64 = 32;

impl Follower<'_> {
    /// Emits the pushed part of each buffer of a 3DSTATE_CONSTANT_*.
    pub fn push_constants(
        &mut self,
        record: &Record,
        container: &Container,
        depth: u32,
    ) -> io::Result<()> {
        let Some(buffers) = constants(container) else { return Ok(()) };
        for (number, [length, pointer]) in buffers.into_iter().enumerate() {
            let stored = |(start, end)| bits::get(&record.dwords, start, end);
            let (length, pointer) = (stored(length), stored(pointer) << (pointer.0 % 32));
            let relative = number == 0 && !self.constant_buffer_is_absolute();
            let space = if relative { SpaceKind::DynamicState } else { SpaceKind::Graphics };
            let at = match (number, self.state.draw.gather_pool) {
                // An offset in the pool (2d p.2).
                (1, Some(pool)) => Some(pool.wrapping_add(pointer)),
                _ => self.state.bases.absolute(space, pointer),
            };
            if at.is_none() && length != 0 {
                self.no_base(depth, space)?;
                continue;
            }
            let length = Some(length * REGISTER_BYTES);
            self.data("push constants", Some(number as u32), at, length, depth)?;
        }
        Ok(())
    }

    /// True if the pointer of constant buffer 0 is an address. Otherwise (the initial state of
    /// hardware) it is an offset from Dynamic State Base Address (2d p.1; facts: INSTPM).
    fn constant_buffer_is_absolute(&self) -> bool {
        let field = "CONSTANT_BUFFER Address Offset Disable";
        self.state.registers.field(self.tables, "INSTPM", field) == Some(1)
    }

    /// Emits the address to which a 3DSTATE_GATHER_CONSTANT_* writes the constants.
    pub fn gathered(
        &mut self,
        record: &Record,
        container: &Container,
        depth: u32,
    ) -> io::Result<()> {
        if record.stored(container, "Constant Buffer Valid").unwrap_or(0) == 0 {
            return Ok(());
        }
        let Some(field) =
            container.fields.iter().find(|field| field.name == "Gather Buffer Offset")
        else {
            return Ok(());
        };
        let offset = field.stored.decode(bits::get(&record.dwords, field.start, field.end));
        match self.state.draw.gather_pool {
            Some(pool) => {
                let at = pool.wrapping_add(offset);
                self.note(depth, at, format_args!("gather buffer at {at:#x}"))
            }
            None => {
                let text = "gather buffer: no 3DSTATE_GATHER_POOL_ALLOC has switched the pool on";
                self.note(depth, record.address, format_args!("{text}"))
            }
        }
    }
}
