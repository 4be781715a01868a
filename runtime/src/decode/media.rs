//! Data other than state that media and video commands read from memory: indirect data, constants,
//! coded data, scratch space.

use super::effects::located_data;
use super::follow::Follower;
use super::record::Record;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::{Container, Type};
use std::io;

impl Follower<'_> {
    /// Emits the data that the packet locates.
    pub fn located_data(
        &mut self,
        record: &Record,
        container: &'static Container,
        depth: u32,
    ) -> io::Result<()> {
        for (start, length, name) in located_data(container) {
            let Type::Address { space, .. } = start.ty else { continue };
            let length = record.stored(container, length.name);
            let at = record.address_of(container, start.name);
            let at = at.and_then(|value| self.state.bases.absolute(space, value));
            if at.is_none() && length.unwrap_or(0) != 0 {
                self.no_base(depth, space)?;
                continue;
            }
            self.data(data_name(name, space), None, at, length, depth)?;
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
        // Drivers set the pointer to 0 if there is no scratch space.
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

/// The name of the record for data that a field locates. `name` is that of the field.
fn data_name(name: &'static str, space: SpaceKind) -> &'static str {
    match (name, space) {
        ("CURBE Data", _) => "constants",
        (_, SpaceKind::MfxBitstream) => "coded data",
        ("Indirect Data", _) => "indirect data",
        (other, _) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{DATA_NAMES, Tables};

    /// Filters accept the names of [`DATA_NAMES`], so all data that a packet locates must have one.
    #[test]
    fn located_data_has_a_known_name() {
        let mut unknown = Vec::new();
        let mut count = 0;
        for container in Tables::gen8().containers() {
            for (start, _, name) in located_data(container) {
                let Type::Address { space, .. } = start.ty else { continue };
                let name = data_name(name, space);
                if !DATA_NAMES.contains(&name) {
                    unknown.push((name, container.name));
                }
                count += 1;
            }
        }
        assert!(unknown.is_empty() && count > 3, "{count}, {unknown:?}");
    }
}
