//! Kernels: their length, the surfaces and samplers that they use, and their disassembly.

use super::message::message;
use super::record::{Record, Uses};
use crate::memory::Memory;
use genxml_core::rule::{Role, Roles};
use genxml_eu::instruction::{Descriptor, SharedFunction};
use genxml_eu::kernel::Instructions;
use genxml_eu::native::natives_on;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, Opcode, surface};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Number of samplers that a message can address without a pointer in its header (4 bits).
pub(super) const MAX_SAMPLERS: u32 = 16;

/// Largest size in bytes of a kernel.
pub(super) const MAX_BYTES: u64 = 1 << 20;

/// Size in bytes of the first read. It is doubled until the read contains the kernel's end.
const FIRST_BYTES: usize = 4096;

/// Number of invalid instructions after which the memory is not treated as a kernel any more.
const MAX_NONSENSE: u32 = 8;

/// Binding table entries and samplers that a kernel's messages use.
#[derive(Debug, Clone, Default)]
pub(super) struct Used {
    /// The roles of each binding table index that a message uses.
    pub surfaces: Vec<Option<Roles>>,
    /// The samplers that messages use: one bit for each index.
    pub samplers: u16,
    /// Pairs of binding table index and sampler that one message uses.
    pub meetings: BTreeSet<(u8, u8)>,
    /// True if the kernel was read to its end and every message has its descriptor in the
    /// instruction.
    pub complete: bool,
}

impl Used {
    /// True if a message uses this binding table index.
    pub fn surface(&self, index: u32) -> bool {
        self.surfaces.get(index as usize).is_some_and(Option::is_some)
    }

    /// The roles of this binding table index in messages.
    pub fn uses(&self, index: u32) -> Uses {
        let roles = self.surfaces.get(index as usize).copied().flatten().unwrap_or_default();
        Uses { roles, complete: self.complete }
    }

    /// True if one message uses both the binding table index and the sampler.
    pub fn meet(&self, surface: u32, sampler: u32) -> bool {
        let pair = u8::try_from(surface).ok().zip(u8::try_from(sampler).ok());
        pair.is_some_and(|pair| self.meetings.contains(&pair))
    }

    /// One more than the largest index used, 0 if none is used.
    pub fn surfaces_end(&self) -> u32 {
        self.surfaces.len() as u32
    }

    /// Binding table indices that are written as render targets.
    pub fn render_targets(&self) -> impl Iterator<Item = u32> {
        let written = |roles: &Option<Roles>| {
            roles.is_some_and(|roles| {
                roles.contains(Role::RenderTarget) && roles.contains(Role::Written)
            })
        };
        self.surfaces
            .iter()
            .enumerate()
            .filter(move |(_, roles)| written(roles))
            .map(|(index, _)| index as u32)
    }

    /// The samplers that messages use, one bit each. If some messages are unknown, also the first
    /// `count` samplers, which hardware prefetches.
    pub fn samplers_or(&self, count: u32) -> u16 {
        match self.complete {
            true => self.samplers,
            false => self.samplers | ((1u32 << count.min(MAX_SAMPLERS)) - 1) as u16,
        }
    }

    /// Adds what the other kernel uses.
    pub fn add(&mut self, other: &Used) {
        for (index, roles) in other.surfaces.iter().enumerate() {
            if let Some(roles) = roles {
                self.name(index, *roles);
            }
        }
        self.samplers |= other.samplers;
        self.meetings.extend(&other.meetings);
        self.complete &= other.complete;
    }

    fn name(&mut self, index: usize, roles: Roles) {
        if self.surfaces.len() <= index {
            self.surfaces.resize(index + 1, None);
        }
        let before = self.surfaces[index].unwrap_or_default();
        self.surfaces[index] = Some(before.and(roles));
    }
}

/// Reads the kernel of `generation` at `at` into `record`: its dwords, and if `show` a line for
/// each instruction.
///
/// The kernel ends with the first end of thread that no earlier jump passes. It ends earlier at an
/// `illegal` instruction that no jump passes, at the last of [`MAX_NONSENSE`] invalid
/// instructions, after `limit` bytes, or at the end of memory.
pub(super) fn read(
    generation: Generation,
    memory: &dyn Memory,
    at: u64,
    limit: u64,
    record: &mut Record,
    show: bool,
) -> Used {
    let limit = limit.min(MAX_BYTES) as usize;
    let mut bytes = Vec::new();
    let mut size = FIRST_BYTES;
    let (used, length) = loop {
        let want = size.min(limit);
        bytes.resize(want, 0);
        let there = memory.bytes(at, &mut bytes);
        bytes.truncate(there);
        let (used, length, ended) = scan(generation, &bytes);
        if ended || there < want || want == limit {
            record.whole = ended;
            if !ended {
                record.note.push_str("no end of thread");
            }
            break (used, length);
        }
        size *= 2;
    };
    bytes.truncate(length);
    record.dwords.extend(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
    record.length = record.dwords.len() as u32;
    let mut natives = natives_on(generation, &bytes).peekable();
    let instructions = show.then(|| Instructions::of(&bytes[..]).on(generation));
    for instruction in instructions.into_iter().flatten() {
        let send = instruction.ok().and_then(|located| located.instruction.send);
        let mut text = String::new();
        let position = match instruction {
            // Intel's language has no instructions of these generations.
            Ok(located) if generation.has_message_registers() => {
                let words = located.display(Syntax::Mesa).to_string();
                text.extend(words.split_whitespace().flat_map(|word| [word, " "]));
                text.truncate(text.trim_end().len());
                located.position
            }
            Ok(located) => {
                _ = write!(text, "{located}");
                located.position
            }
            Err(error) => {
                _ = write!(text, "{error}");
                error.position
            }
        };
        record.lines.push((position as u32, text));
        while natives.next_if(|native| native.position < position).is_some() {}
        if let Some(text) = natives
            .next_if(|native| native.position == position)
            .and_then(|it| message(generation, &it, send))
        {
            record.lines.push((position as u32, text));
        }
    }
    used
}

/// Returns what the kernel at the start of `bytes` uses, its length in bytes, and true if its end
/// is in `bytes`.
fn scan(generation: Generation, bytes: &[u8]) -> (Used, usize, bool) {
    let mut used = Used { complete: true, ..Used::default() };
    let (mut furthest, mut nonsense) = (0, 0);
    for instruction in Instructions::of(bytes).on(generation) {
        let located = match instruction {
            Ok(located) => located,
            Err(error) => {
                used.complete = false;
                nonsense += 1;
                if nonsense == MAX_NONSENSE || error.position + 16 > bytes.len() as u64 {
                    return (used, error.position as usize, false);
                }
                continue;
            }
        };
        let instruction = &located.instruction;
        let end = located.position + u64::from(instruction.length());
        furthest = located.targets().fold(furthest, u64::max);
        if instruction.opcode == Opcode::Illegal && located.position >= furthest {
            used.complete = false;
            return (used, located.position as usize, false);
        }
        if let Some(send) = instruction.send {
            match send.descriptor {
                Descriptor::Immediate(descriptor) => used.message(send.function, descriptor),
                Descriptor::Address(_) => used.complete = false,
            }
            if send.end_of_thread && end > furthest {
                return (used, end as usize, true);
            }
        }
    }
    used.complete = false;
    (used, bytes.len(), false)
}

impl Used {
    /// Records the surface and the sampler that a message uses.
    fn message(&mut self, function: SharedFunction, descriptor: u32) {
        let surface = surface::binding_table_index(function, descriptor);
        if let Some(index) = surface {
            self.name(index.into(), surface::roles(function, descriptor));
        }
        if let Some(sampler) = surface::sampler_index(function, descriptor) {
            self.samplers |= 1 << sampler;
            if let Some(index) = surface {
                self.meetings.insert((index, sampler));
            }
        }
    }
}
