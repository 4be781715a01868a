//! Data other than state that media and video commands read from memory: indirect data, constants,
//! coded data, scratch space.

use super::follow::Follower;
use super::record::Record;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::{Container, Field, Type};
use std::io;

/// Data that a packet locates: the field with the start, the field with the length in bytes, and
/// the name of the data.
pub(super) fn located(
    container: &'static Container,
) -> impl Iterator<Item = (&'static Field, &'static Field, &'static str)> {
    const START: &str = "Data Start";
    container.fields.iter().filter_map(|start| {
        let Type::Address { .. } = start.ty else { return None };
        let prefix = &start.name[..start.name.find(START)?];
        let name = &start.name[..prefix.len() + "Data".len()];
        // "Indirect BSD Data Length", "CURBE Total Data Length".
        let is_length = |field: &&Field| {
            let rest = field.name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest == "Data Length" || rest == "Total Data Length")
        };
        container.fields.iter().find(is_length).map(|length| (start, length, name))
    })
}

impl Follower<'_> {
    /// Emits the data that the packet locates.
    pub fn located_data(
        &mut self,
        record: &Record,
        container: &'static Container,
        depth: u32,
    ) -> io::Result<()> {
        for (start, length, name) in located(container) {
            let Type::Address { space, .. } = start.ty else { continue };
            let length = record.stored(container, length.name);
            let at = record.address_of(container, start.name);
            let at = at.and_then(|value| self.state.bases.absolute(space, value));
            if at.is_none() && length.unwrap_or(0) != 0 {
                self.no_base(depth, space)?;
                continue;
            }
            let name = match (name, space) {
                ("CURBE Data", _) => "constants",
                (_, SpaceKind::MfxBitstream) => "coded data",
                ("Indirect Data", _) => "indirect data",
                (other, _) => other,
            };
            self.data(name, None, at, length, depth)?;
        }
        Ok(())
    }

    /// Emits the position of the scratch space that MEDIA_VFE_STATE gives to threads.
    pub fn scratch(
        &mut self,
        record: &Record,
        container: &Container,
        depth: u32,
    ) -> io::Result<()> {
        let pointer = record.address_of(container, "Scratch Space Base Pointer").unwrap_or(0);
        let size = record.stored(container, "Per Thread Scratch Space").unwrap_or(0);
        // Drivers use pointer 0 for no scratch space.
        if pointer == 0 {
            return Ok(());
        }
        let Some(at) = self.state.bases.absolute(SpaceKind::GeneralState, pointer) else {
            return self.no_base(depth, SpaceKind::GeneralState);
        };
        let there = if self.memory.tail(at).is_empty() { ": nothing is mapped there" } else { "" };
        let kib = 1u64 << size.min(11);
        self.note(depth, at, format_args!("scratch space of {kib} KiB a thread at {at:#x}{there}"))
    }
}
