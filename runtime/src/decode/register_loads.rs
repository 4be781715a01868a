//! Emits the registers that commands load, copy and store, by name, and with their fields if the
//! value is known.

use super::fields::Fields;
use super::follow::Follower;
use super::record::{Kind, Record};
use crate::memory::VA_MASK;
use genxml_core::reflect;
use std::io;

/// Remark on a register that a command reads.
const STORED: &str = "as it was loaded before";

/// Names of the fields that hold the offset of the loaded or stored register.
const LOADED: [&str; 2] = ["Register Address", "Destination Register Address"];

impl Follower<'_> {
    /// Emits the registers that MI_LOAD_REGISTER_IMM writes, as far as they are described.
    pub fn load_immediate(
        &mut self,
        packet: &Record,
        container: &reflect::Container,
        depth: u32,
    ) -> io::Result<()> {
        let pairs = packet.dwords.get(1..).unwrap_or_default().as_chunks::<2>().0;
        let offsets = packet.items.iter().filter_map(|item| item.register_offset());
        // A register that is written in part becomes unknown.
        let whole = packet.stored(container, "Byte Write Disables").unwrap_or(0) == 0;
        for (offset, pair) in offsets.zip(pairs) {
            match whole {
                true => self.state.registers.write(self.tables, offset, pair[1]),
                false => self.state.registers.forget(offset),
            }
            self.register(offset, pair[1], "", depth)?;
        }
        Ok(())
    }

    /// Records the value that MI_LOAD_REGISTER_MEM or MI_LOAD_REGISTER_REG loads. Emits the loaded
    /// register, or the one that MI_STORE_REGISTER_MEM stores, with its fields, if its value is
    /// known and option `data` is set.
    pub fn move_register(
        &mut self,
        packet: &Record,
        container: &reflect::Container,
        depth: u32,
    ) -> io::Result<()> {
        let offset =
            |name| packet.address_of(container, name).and_then(|offset| u32::try_from(offset).ok());
        let Some(register) = LOADED.iter().find_map(|name| offset(name)) else { return Ok(()) };
        let from_memory = container.name == "MI_LOAD_REGISTER_MEM";
        if container.name == "MI_STORE_REGISTER_MEM" {
            let known = self.state.registers.value(register);
            return match known.filter(|_| self.options.data) {
                Some(value) => self.register(register, value, STORED, depth),
                None => Ok(()),
            };
        }
        let value = if from_memory {
            let global = packet.stored(container, "Use Global GTT") == Some(1);
            let memory = self.space(global);
            let mut bytes = [0; 4];
            packet
                .address_of(container, "Memory Address")
                .filter(|at| memory.bytes(*at & VA_MASK, &mut bytes) == 4)
                .map(|_| u32::from_le_bytes(bytes))
        } else {
            offset("Source Register Address").and_then(|source| self.state.registers.value(source))
        };
        match value {
            Some(value) => self.state.registers.write(self.tables, register, value),
            None => self.state.registers.forget(register),
        }
        let note = if from_memory {
            "as memory is before the batch"
        } else {
            "as the source register was loaded before"
        };
        match value.filter(|_| self.options.data) {
            Some(value) => self.register(register, value, note, depth),
            None => Ok(()),
        }
    }

    /// Emits a register with a value, if it is described.
    fn register(&mut self, offset: u32, value: u32, note: &str, depth: u32) -> io::Result<()> {
        let tables = self.tables;
        let Some((at, id)) = tables.register_plan(offset) else { return Ok(()) };
        let plan = tables.plan(id);
        let mut record =
            self.out.new_record(Kind::Register, depth, offset.into(), plan.container.name);
        record.register = Some(at);
        record.plan = Some(id);
        record.dwords.push(value);
        record.length = 1;
        record.note.push_str(note);
        record.read = note == STORED;
        let Record { dwords, items, .. } = &mut record;
        let mut fields = Fields { tables, bases: &self.state.bases, dwords, items };
        match at.dword {
            0 => fields.all(plan),
            dword => fields.raw(plan, dword),
        }
        self.out.count_items(&record);
        self.out.record(&record)?;
        self.out.reuse(record);
        Ok(())
    }
}
