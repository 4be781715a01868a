//! Finds the instructions of a kernel and decodes them.
//!
//! Decoding follows the control flow from the first instruction, so the bytes after a kernel do not
//! matter. It continues after an illegal opcode, which is a `nop` while its exception is disabled.
//! The conversion of an instruction is in [`super::decode8`] for Gen8 and in `gen45::decode` for
//! G45.

use super::decode8;
#[cfg(feature = "gen45")]
use super::gen45;
use super::kernel::{Kernel, MAX_INSTRUCTIONS};
use super::uop::{NOWHERE, Op, Opcode, Uop};
use crate::machine::fault::Refusal;
use genxml_eu::Generation;
use genxml_eu::instruction::{self as isa, Instruction};
use std::collections::BTreeMap;

/// Maximum number of successive illegal opcodes that are decoded at once: a page of zeros. If a
/// thread executes all of them, the next ones are decoded like the target of a computed jump.
const MAX_PADDING: u32 = 256;

/// Result of an instruction fetch.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// An instruction.
    Instruction(Box<Instruction>),
    /// Bytes that are not an instruction, with the reason.
    Garbage(String),
}

/// Decodes the instructions of a Gen8 kernel that can be reached from offset 0. `fetch` reads the
/// instruction at a byte offset.
pub fn kernel(address: u64, ip_base: u32, fetch: impl FnMut(i32) -> Fetched) -> Kernel {
    kernel_on(Generation::Gen8, address, ip_base, fetch)
}

/// As [`kernel`], for instructions of `generation`.
pub fn kernel_on(
    generation: Generation,
    address: u64,
    ip_base: u32,
    fetch: impl FnMut(i32) -> Fetched,
) -> Kernel {
    let mut kernel = Kernel::new(generation, address, ip_base);
    extend(&mut kernel, 0, fetch);
    kernel
}

/// Adds the instructions that can be reached from offset `start`, the target of a computed jump.
pub fn extend(kernel: &mut Kernel, start: i32, fetch: impl FnMut(i32) -> Fetched) {
    let found = walk(kernel, start, fetch);
    let first = kernel.uops.len();
    kernel.append(found.uops);
    let mut uops = std::mem::take(&mut kernel.uops);
    let index = |offset: i32| kernel.index(offset as u32).unwrap_or(NOWHERE);
    for at in first..uops.len() {
        let offset = uops[at].offset;
        // Parts of one instruction have the same offset.
        let parts = uops.get(at + 1).is_some_and(|next| next.offset == offset);
        let u = &mut uops[at];
        u.next = match parts {
            true => at as u32 + 1,
            false => index((offset as i32).wrapping_add(i32::from(u.length))),
        };
        if let Some(branch) = found.distances.get(&(offset as i32)) {
            u.branch.jip = index((offset as i32).wrapping_add(branch.jip));
            u.branch.uip =
                branch.uip.map_or(u.branch.jip, |uip| index((offset as i32).wrapping_add(uip)));
        }
    }
    #[cfg(feature = "gen45")]
    if kernel.generation.has_message_registers() {
        gen45::accumulator::settle(&mut uops);
        kernel.compressed_at(found.compressed);
    }
    kernel.uops = uops;
    for offset in found.breakpoints {
        if let Some(index) = kernel.index(offset as u32) {
            kernel.set_breakpoint(index);
        }
    }
}

/// Instructions that a kernel does not have yet.
struct Found {
    /// The uops by byte offset, then by their order within an instruction.
    uops: BTreeMap<(i32, u8), Uop>,
    /// The targets of the branches.
    distances: BTreeMap<i32, isa::Branch>,
    /// The instructions with a breakpoint.
    breakpoints: Vec<i32>,
    /// The compressed instructions of G45.
    #[cfg(feature = "gen45")]
    compressed: Vec<i32>,
}

/// Finds the instructions that can be reached from offset `start`.
fn walk(kernel: &Kernel, start: i32, mut fetch: impl FnMut(i32) -> Fetched) -> Found {
    let mut found: BTreeMap<(i32, u8), Uop> = BTreeMap::new();
    let mut distances: BTreeMap<i32, isa::Branch> = BTreeMap::new();
    let mut breakpoints = Vec::new();
    #[cfg(feature = "gen45")]
    let mut compressed = Vec::new();
    let mut open = vec![start];
    while let Some(mut offset) = open.pop() {
        let mut padding = 0;
        loop {
            if found.contains_key(&(offset, 0)) || kernel.index(offset as u32).is_some() {
                break;
            }
            if kernel.uops.len() + found.len() >= MAX_INSTRUCTIONS {
                found.insert(
                    (offset, 0),
                    Uop::refused(
                        offset as u32,
                        Refusal::missing("a kernel of more than 131,072 instructions", "-"),
                    ),
                );
                break;
            }
            let instruction = match fetch(offset) {
                Fetched::Instruction(instruction) => instruction,
                Fetched::Garbage(why) => {
                    found.insert((offset, 0), Uop::refused(offset as u32, Refusal::illegal(why)));
                    break;
                }
            };
            let (decoded, more) = uops(kernel.generation, &instruction, offset as u32);
            padding = if decoded.op == Op::Isa(Opcode::Illegal) { padding + 1 } else { 0 };
            let illegal = matches!(decoded.note.as_deref(), Some(Refusal::Illegal { .. }));
            let ends = illegal || instruction.ends_thread() || padding == MAX_PADDING;
            found.insert((offset, 0), decoded);
            found.extend((1..).zip(more).map(|(part, uop)| ((offset, part), uop)));
            if instruction.breakpoint {
                breakpoints.push(offset);
            }
            #[cfg(feature = "gen45")]
            if instruction.gen4.compression != isa::Compression::None {
                compressed.push(offset);
            }
            if let Some(mut branch) = instruction.branch {
                if instruction.opcode == Opcode::Calla {
                    // An absolute address becomes a distance.
                    branch.jip =
                        branch.jip.wrapping_sub(kernel.ip_base as i32).wrapping_sub(offset);
                }
                open.push(offset.wrapping_add(branch.jip));
                open.extend(branch.uip.map(|uip| offset.wrapping_add(uip)));
                distances.insert(offset, branch);
            }
            if ends {
                break;
            }
            offset = offset.wrapping_add(instruction.length() as i32);
        }
    }
    Found {
        uops: found,
        distances,
        breakpoints,
        #[cfg(feature = "gen45")]
        compressed,
    }
}

/// The first uop of an instruction, and its other ones. Only instructions of G45 can have several.
fn uops(generation: Generation, instruction: &Instruction, offset: u32) -> (Uop, Vec<Uop>) {
    match generation {
        Generation::Gen8 => (decode8::uop(instruction, offset), Vec::new()),
        #[cfg(feature = "gen45")]
        Generation::Gen45 => {
            let mut uops = gen45::decode::uops(instruction, offset);
            (uops.remove(0), uops)
        }
        other => {
            let why = format!("instructions of {other:?} cannot be executed");
            (Uop::refused(offset, Refusal::illegal(why)), Vec::new())
        }
    }
}

/// The Gen8 instruction at byte `offset` of `bytes`, for [`kernel`] and [`extend`].
pub fn fetch_from(bytes: &[u8], offset: i32) -> Fetched {
    fetch_on(Generation::Gen8, bytes, offset)
}

/// As [`fetch_from`], for instructions of `generation`.
pub fn fetch_on(generation: Generation, bytes: &[u8], offset: i32) -> Fetched {
    let rest =
        usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
    let mut dwords = [0u32; 4];
    let mut count = 0;
    for (dword, chunk) in dwords.iter_mut().zip(rest.chunks_exact(4)) {
        *dword = bytemuck::pod_read_unaligned(chunk);
        count += 1;
    }
    match genxml_eu::decode_on(generation, &dwords[..count]) {
        _ if count == 0 => Fetched::Garbage("the code ends before this instruction".into()),
        Ok(instruction) => Fetched::Instruction(Box::new(instruction)),
        Err(error) => Fetched::Garbage(error.problem.to_string()),
    }
}
