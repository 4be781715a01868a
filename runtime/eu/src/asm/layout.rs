//! Computes instruction positions, jump distances and the final bytes.

use super::assembly::{Compaction, Line, MAX_ERRORS, Options};
use super::error::Fault;
use super::parse::{Item, OperandSpans, Span, SpannedTarget, Target};
use crate::decode_on;
use crate::generation::Generation;
use crate::instruction::{Arf, Branch, Instruction, Operand, Register};
use crate::kernel::Located;
use crate::ops::Opcode;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Labels by name: the index of the instruction after the label, and the label's position in the
/// source.
pub type Labels = BTreeMap<String, (usize, Span)>;

/// The bytes and lines of a kernel.
pub struct LaidOut {
    pub bytes: Vec<u8>,
    pub lines: Vec<Line>,
    pub positions: Vec<u64>,
}

/// Assigns positions to `items` and encodes them.
pub fn lay_out(items: &[Item], labels: &Labels, options: &Options) -> Result<LaidOut, Vec<Fault>> {
    let written = positions(items, |item| item.compacted.is_some());
    let mut faults = Vec::new();
    let short: Vec<bool> = items
        .iter()
        .map(|item| match options.compaction {
            Compaction::AsWritten => item.compacted.is_some(),
            Compaction::None => false,
            Compaction::All => is_compactable(item),
        })
        .collect();
    let mut lengths = short.iter();
    let mut positions = positions(items, |_| lengths.next().copied().unwrap_or_default());
    let mut filled = vec![false; items.len()];
    if options.compaction == Compaction::All && options.generation == Generation::Gen45 {
        faults.extend(items.iter().filter_map(moves));
        (positions, filled) = fill(items, &short, labels, &written);
    }
    let layout = Layout { labels, written: &written, positions: &positions };
    let mut output = LaidOut { bytes: Vec::new(), lines: Vec::new(), positions: Vec::new() };
    for (index, (item, short)) in items.iter().zip(&short).enumerate() {
        // The hint for an unknown label compares all labels, so the number of errors is limited.
        if faults.len() == MAX_ERRORS {
            break;
        }
        if filled[index] {
            // The second 8 bytes of the compact instruction before.
            let instruction = Instruction {
                generation: options.generation,
                ..Instruction::new(Opcode::Nenop, 1)
            };
            let form = instruction.compact().unwrap_or_default();
            let position = output.bytes.len() as u64;
            output.bytes.extend(form.iter().flat_map(|dword| dword.to_le_bytes()));
            output.lines.push(Line {
                located: Located {
                    position,
                    instruction: Instruction { compacted: true, ..instruction },
                },
                line: 0,
                span: item.span.clone(),
                spans: OperandSpans::default(),
                jip: Span::default(),
                uip: Span::default(),
            });
        }
        match layout.encode(item, index, *short) {
            Ok(dwords) => {
                let position = output.bytes.len() as u64;
                output.bytes.extend(dwords.iter().flat_map(|dword| dword.to_le_bytes()));
                match decode_on(options.generation, &dwords) {
                    Ok(instruction) => {
                        let located = Located { position, instruction };
                        let target = |place: &Option<SpannedTarget>| {
                            place.as_ref().map(|place| place.1.clone())
                        };
                        output.lines.push(Line {
                            located,
                            line: 0,
                            span: item.span.clone(),
                            spans: item.spans.clone(),
                            jip: target(&item.jip).unwrap_or_default(),
                            uip: target(&item.uip).unwrap_or_default(),
                        });
                    }
                    Err(error) => {
                        faults.push(Fault::new(item.span.clone(), format!("{}", error.problem)))
                    }
                }
            }
            Err(fault) => faults.push(fault),
        }
    }
    output.positions = positions;
    if faults.is_empty() { Ok(output) } else { Err(faults) }
}

/// The error for an instruction that computes with the instruction pointer, if instructions move.
fn moves(item: &Item) -> Option<Fault> {
    let pointer = |register: &Register| {
        matches!(register, Register::Arf { file: Arf::InstructionPointer, .. })
    };
    let i = &item.instruction;
    let reads = i
        .operands()
        .any(|operand| matches!(operand, Operand::Register(source) if pointer(&source.register)));
    let writes = i.destination.is_some_and(|place| pointer(&place.register));
    let found = item.jip.is_none() && (reads || writes);
    found.then(|| {
        let message =
            format!("`{}` computes with `ip`, and compaction moves instructions", i.opcode);
        Fault::new(item.span.clone(), message).hint("mark instructions with `compacted` instead")
    })
}

/// Byte offsets of the instructions of G45, and of the end, and the instructions before which a
/// `nenop` fills up 16 bytes: instructions of 16 bytes and targets of jumps have offsets that are
/// multiples of 16 (003:8901, 12511).
fn fill(items: &[Item], short: &[bool], labels: &Labels, written: &[u64]) -> (Vec<u64>, Vec<bool>) {
    let mut targets = vec![false; items.len() + 1];
    for (at, _) in labels.values() {
        targets[*at] = true;
    }
    for (item, here) in items.iter().zip(written) {
        for place in item.jip.iter().chain(&item.uip) {
            let Target::Distance(distance) = place.0 else { continue };
            let target = (*here as i64).wrapping_add(distance + item.distance_base()) as u64;
            if let Ok(at) = written.binary_search(&target) {
                targets[at] = true;
            }
        }
    }
    let mut position = 0;
    let mut positions = Vec::with_capacity(items.len() + 1);
    let mut filled = Vec::with_capacity(items.len());
    for (short, target) in short.iter().zip(&targets) {
        filled.push(position % 16 != 0 && (!short || *target));
        position += if filled.last() == Some(&true) { 8 } else { 0 };
        positions.push(position);
        position += if *short { 8 } else { 16 };
    }
    positions.push(position);
    (positions, filled)
}

/// Byte offsets of the instructions, and of the end.
fn positions(items: &[Item], mut short: impl FnMut(&Item) -> bool) -> Vec<u64> {
    let mut position = 0;
    let mut positions = Vec::with_capacity(items.len() + 1);
    positions.push(0);
    for item in items {
        position += if short(item) { 8 } else { 16 };
        positions.push(position);
    }
    positions
}

/// True if the instruction has an 8-byte form. A branch with a label or a distance keeps 16 bytes:
/// its distance depends on the lengths of other instructions.
fn is_compactable(item: &Item) -> bool {
    if item.jip.is_some() {
        return false;
    }
    item.instruction.compact().is_some()
}

struct Layout<'a> {
    labels: &'a Labels,
    /// Byte offsets if only instructions with the option `{Compacted}` have 8 bytes. Numeric
    /// distances in the text refer to these.
    written: &'a [u64],
    positions: &'a [u64],
}

impl Layout<'_> {
    fn position(&self, index: usize) -> i64 {
        self.positions.get(index).copied().unwrap_or_default() as i64
    }

    fn encode(&self, item: &Item, index: usize, short: bool) -> Result<Vec<u32>, Fault> {
        let mut instruction = item.instruction;
        if let Some(jip) = &item.jip {
            let jip = self.distance(item, index, jip)?;
            let uip = item.uip.as_ref().map(|uip| self.distance(item, index, uip)).transpose()?;
            instruction.branch = Some(Branch { jip, uip });
        }
        if !short {
            let dwords = instruction.encode();
            return dwords
                .map(|dwords| dwords.to_vec())
                .map_err(|error| Fault::new(item.span.clone(), format!("{error}")));
        }
        let asked = item.compacted.clone();
        let compact =
            if asked.is_some() { instruction.compact_exactly() } else { instruction.compact() };
        compact.map(|dwords| dwords.to_vec()).ok_or_else(|| {
            let message = format!("this `{}` has no 8-byte form", instruction.opcode);
            Fault::new(asked.unwrap_or(item.span.clone()), message).hint("leave the option out")
        })
    }

    /// Bytes from the branch to its target; for `calla` the absolute position.
    fn distance(
        &self,
        item: &Item,
        index: usize,
        (target, span): &SpannedTarget,
    ) -> Result<i32, Fault> {
        let here = self.position(index);
        let absolute = item.instruction.opcode == Opcode::Calla;
        let distance = match target {
            Target::Label(name) => {
                let Some((at, _)) = self.labels.get(name) else {
                    let fault = Fault::new(span.clone(), format!("there is no label `{name}`"));
                    return Err(fault.like(name, self.labels.keys().map(String::as_str)));
                };
                self.position(*at) - if absolute { 0 } else { here }
            }
            Target::Distance(distance) if absolute => *distance,
            Target::Distance(distance) => self.final_distance(index, *distance, item, span)?,
        };
        i32::try_from(distance).map_err(|_| {
            Fault::new(span.clone(), format!("the distance {distance} does not fit 32 bits"))
        })
    }

    /// Converts a numeric distance to the final positions, if lengths of instructions have changed.
    fn final_distance(
        &self,
        index: usize,
        distance: i64,
        item: &Item,
        span: &Span,
    ) -> Result<i64, Fault> {
        // In Mesa's syntax the distance of `jmpi` is relative to the next instruction; the parser
        // does not convert it.
        let distance = distance + item.distance_base();
        if self.written == self.positions {
            return Ok(distance);
        }
        let here = self.written.get(index).copied().unwrap_or_default() as i64;
        let target = u64::try_from(here + distance).ok();
        let at = target.and_then(|target| self.written.binary_search(&target).ok()).ok_or_else(
            || {
                Fault::new(
                    span.clone(),
                    format!("no instruction starts {distance} bytes from here"),
                )
                .hint("compaction moves instructions, name the target with a label")
            },
        )?;
        Ok(self.position(at) - self.position(index))
    }
}

impl Item {
    /// The base of a numeric distance, in bytes from the branch.
    fn distance_base(&self) -> i64 {
        let pairs = self.instruction.generation.has_message_registers();
        match (self.from_next, &self.compacted) {
            (false, _) => 0,
            (true, Some(_)) if !pairs => 8,
            (true, _) => 16,
        }
    }
}
