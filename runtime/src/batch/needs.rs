//! The state that kernels need: an end of thread, tables that are long enough, scratch space, and
//! room in the URB entry.

use super::error::{BatchError, Room};
use alloc::format;
use alloc::string::String;
use core::fmt;
use genxml_core::bits;
use genxml_core::reflect::Container;
use genxml_eu::needs::{Need, Needs};

/// The stages of the 3D pipeline that run kernels, as their packets end.
const STAGES: [&str; 5] = ["VS", "HS", "DS", "GS", "PS"];

/// State of one stage, or of an interface descriptor; `None` where it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Stage {
    /// GPU addresses of the kernels. A pixel shader has up to three.
    pub kernels: [Option<u64>; 3],
    /// Number of entries of the binding table.
    pub surfaces: Option<u32>,
    /// Number of entries of the sampler table.
    pub samplers: Option<u32>,
    /// Bytes of scratch space of a thread.
    pub scratch: Option<u32>,
    /// Bytes of a URB entry that the kernel writes.
    pub urb: Option<u32>,
}

/// State of all stages of the 3D pipeline, and the scratch space of media and GPGPU threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Stages {
    stages: [Stage; STAGES.len()],
    /// Bytes of scratch space of a thread, from MEDIA_VFE_STATE.
    pub media_scratch: Option<u32>,
}

/// What an offset of a packet or structure leads to, in the submission.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// A kernel at this GPU address, in a heap.
    Kernel(u64),
    /// A binding table with this number of entries.
    Surfaces(u32),
    /// A table of this number of samplers.
    Samplers(u32),
}

/// Names for errors, made only if there is one.
pub(super) trait Names {
    /// The packet or structure, and its position.
    fn position(&self) -> String;
    /// The kernel at a GPU address, and its position.
    fn kernel(&self, address: u64) -> String;
}

impl Stages {
    /// Records what a packet sets; `targets` are those of its offsets.
    pub fn latch(&mut self, container: &Container, packet: &[u32], targets: &[Target]) {
        if container.name == "MEDIA_VFE_STATE" {
            self.media_scratch = scratch(container, packet, "Per Thread Scratch Space");
            return;
        }
        let Some(name) = container.name.strip_prefix("3DSTATE_") else { return };
        let Some((at, of)) = STAGES
            .iter()
            .enumerate()
            .find_map(|(at, stage)| Some((at, name.strip_suffix(stage)?.trim_end_matches('_'))))
        else {
            return;
        };
        let stage = &mut self.stages[at];
        match of {
            "" => {
                let off = ["Function Enable", "Enable"]
                    .iter()
                    .any(|name| value(container, packet, name) == Some(0));
                stage.kernels = [None; 3];
                let kernels = targets.iter().filter_map(|target| match target {
                    Target::Kernel(address) if !off => Some(*address),
                    _ => None,
                });
                stage.kernels.iter_mut().zip(kernels).for_each(|(to, from)| *to = Some(from));
                stage.scratch = scratch(container, packet, "Per-Thread Scratch Space")
                    .or_else(|| scratch(container, packet, "Per Thread Scratch Space"));
            }
            "BINDING_TABLE_POINTERS" => stage.surfaces = entries(targets),
            "SAMPLER_STATE_POINTERS" => stage.samplers = entries(targets),
            // Kernels of the other stages do not write entries of a fixed layout.
            "URB" if matches!(STAGES[at], "VS" | "DS") => {
                let field = format!("{} URB Entry Allocation Size", STAGES[at]);
                stage.urb = value(container, packet, &field).map(|rows| 64 * rows as u32);
            }
            _ => {}
        }
    }

    /// Checks the kernels of all stages, as a draw runs them.
    pub fn draw(
        &self,
        needs: &mut dyn FnMut(u64) -> Option<Needs>,
        names: &dyn Names,
    ) -> Result<(), BatchError> {
        self.stages.iter().try_for_each(|stage| stage.check(needs, names))
    }
}

impl Stage {
    /// The state of an interface descriptor.
    pub fn of_descriptor(targets: &[Target], scratch: Option<u32>) -> Stage {
        let mut stage = Stage { scratch, ..Stage::default() };
        for target in targets {
            match *target {
                Target::Kernel(address) => stage.kernels[0] = Some(address),
                Target::Surfaces(count) => stage.surfaces = Some(count),
                Target::Samplers(count) => stage.samplers = Some(count),
            }
        }
        stage
    }

    /// Compares the state with what its kernels need. `needs` returns the needs of the kernel at an
    /// address.
    pub fn check(
        &self,
        needs: &mut dyn FnMut(u64) -> Option<Needs>,
        names: &dyn Names,
    ) -> Result<(), BatchError> {
        for address in self.kernels.into_iter().flatten() {
            let Some(needs) = needs(address) else { continue };
            for (room, has, need) in [
                (Room::BindingTable, self.surfaces, needs.surfaces),
                (Room::SamplerTable, self.samplers, needs.samplers),
                (Room::Scratch, self.scratch, needs.scratch),
                (Room::UrbEntry, self.urb, needs.urb),
            ] {
                let (Some(has), Some(Need { amount, position })) = (has, need) else { continue };
                if amount > has {
                    return Err(BatchError::TooSmall {
                        at: names.position().into(),
                        room,
                        has,
                        needed: amount,
                        kernel: names.kernel(address).into(),
                        position,
                    });
                }
            }
        }
        Ok(())
    }
}

fn entries(targets: &[Target]) -> Option<u32> {
    targets.iter().find_map(|target| match target {
        Target::Surfaces(count) | Target::Samplers(count) => Some(*count),
        Target::Kernel(_) => None,
    })
}

/// The value of the field with this name.
fn value(container: &Container, packet: &[u32], name: &str) -> Option<u64> {
    let field = container.fields.iter().find(|field| field.name == name)?;
    let there = field.end < 32 * packet.len() as u32;
    there.then(|| field.stored.decode(bits::get(packet, field.start, field.end)))
}

/// Bytes of scratch space: the field is the logarithm of a number of KiB. Without an address the
/// size is 0.
fn scratch(container: &Container, packet: &[u32], field: &str) -> Option<u32> {
    let log = value(container, packet, field)?;
    let address = value(container, packet, "Scratch Space Base Pointer")?;
    Some(if address == 0 { 0 } else { 1024 << log.min(11) })
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Room::BindingTable => "binding table",
            Room::SamplerTable => "sampler table",
            Room::Scratch => "scratch space of a thread",
            Room::UrbEntry => "URB entry",
        })
    }
}

impl Room {
    /// The unit in which it is counted, for this count.
    pub(super) const fn unit(self, count: u32) -> &'static str {
        match self {
            Room::BindingTable | Room::SamplerTable if count == 1 => "entry",
            Room::BindingTable | Room::SamplerTable => "entries",
            Room::Scratch | Room::UrbEntry => "bytes",
        }
    }

    /// What makes it larger.
    pub(super) const fn hint(self) -> &'static str {
        match self {
            Room::BindingTable => "put the surface into the table",
            Room::SamplerTable => "put the sampler into the table",
            Room::Scratch => "set Scratch Space Base Pointer and a larger Per Thread Scratch Space",
            Room::UrbEntry => "set a larger URB Entry Allocation Size",
        }
    }
}
