//! Batches as Mesa prints them with `INTEL_DEBUG=bat`.
//!
//! Mesa decodes every batch that it submits. It prints a line for each dword of each packet and
//! state: `0xADDRESS:  0xVALUE : Dword N`. The other lines are Mesa's decoding and are not read,
//! except the line before a batch, which names its engine (`render batch [1] flush with ...`).
//!
//! Source: Mesa `src/intel/common/intel_batch_decoder.c`, `src/intel/common/intel_decoder.c`
//! (intel_print_group), `src/gallium/drivers/iris/iris_batch.c`.

use super::batches::{Batch, Batches, Pieces};
use super::position::Problem;
use crate::engine::EngineId;
use crate::gen8::mi::MiBatchBufferEnd;
use crate::memory::VA_MASK;
use std::collections::BTreeMap;

/// Header of MI_BATCH_BUFFER_END, which all generations share.
const END: u32 = MiBatchBufferEnd::new().pack()[0];

/// What a line says.
enum Line<'a> {
    /// The first line of a packet: its address and header.
    Packet(u64, u32),
    /// A dword of a packet or state.
    Dword(u64, u32),
    /// The line before a batch, with its name and engine.
    Batch(&'a str, EngineId),
}

/// True if a text has lines of such batches.
pub(super) fn is_like(text: &str) -> bool {
    let dwords = text.lines().filter(|line| matches!(parse(line), Some(Line::Dword(..))));
    dwords.take(3).count() == 3
}

/// Reads the batches of a text.
///
/// # Errors
/// If an address or value is not a number, or if two lines contradict each other.
pub(super) fn read(text: &str) -> Result<Batches, Problem> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        match parse(line) {
            Some(Line::Batch(name, engine)) => {
                reader.leave();
                reader.next = Some((name.to_owned(), engine));
            }
            Some(Line::Packet(address, header)) => reader.packet(address, header),
            Some(Line::Dword(address, value)) => {
                if let Some(other) = reader.dwords.insert(address, value)
                    && other != value
                {
                    let text = format!(
                        "the dword at {address:#x} is {value:#010x}, an earlier line of the same \
                         batch says {other:#010x}"
                    );
                    return Err(Problem::new(index as u64 + 1, 1, text));
                }
            }
            None => {
                if let Some(column) = broken(line) {
                    let text = "this looks like a dword of a batch, but its address or value is \
                                not a number";
                    return Err(Problem::new(index as u64 + 1, column, text.to_owned()));
                }
            }
        }
    }
    reader.leave();
    Ok(Batches(reader.batches))
}

#[derive(Default)]
struct Reader {
    batches: Vec<Batch>,
    dwords: BTreeMap<u64, u32>,
    /// Address of the first packet of the batch.
    start: Option<u64>,
    /// True after the end of the batch.
    ended: bool,
    /// Name and engine of the batch that is read.
    next: Option<(String, EngineId)>,
}

impl Reader {
    fn packet(&mut self, address: u64, header: u32) {
        // Some drivers print no line before a batch.
        if self.ended && self.dwords.contains_key(&address) {
            self.leave();
        }
        self.start.get_or_insert(address);
        self.ended |= header == END;
    }

    fn leave(&mut self) {
        self.ended = false;
        let dwords = std::mem::take(&mut self.dwords);
        let start = self.start.take();
        let named = if start.is_some() { self.next.take() } else { None };
        let Some(address) = start else { return };
        let number = self.batches.len();
        let (name, engine) = named.unwrap_or_else(|| (format!("batch {number}"), EngineId::Render));
        let memory = Pieces::of_dwords(&dwords);
        self.batches.push(Batch { name, engine, address, length: 0, memory });
    }
}

fn parse(line: &str) -> Option<Line<'_>> {
    let line = line.trim();
    if line.starts_with("0x") {
        let (address, rest) = number(line)?;
        let (value, rest) = number(rest.trim_start().strip_prefix(':')?.trim_start())?;
        let value = u32::try_from(value).ok()?;
        let rest = rest.trim_start().strip_prefix(':')?.trim();
        return match rest.strip_prefix("Dword ") {
            Some(index) if index.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(Line::Dword(address & VA_MASK, value))
            }
            _ if rest.is_empty() => None,
            _ => Some(Line::Packet(address & VA_MASK, value)),
        };
    }
    let (before, _) = line.split_once(" flush with ")?;
    let name = before.rsplit_once(": ").map_or(before, |(_, name)| name);
    let engine = match name.split(' ').next()? {
        "blitter" | "blit" => EngineId::Blitter,
        "video" => EngineId::Video,
        _ => EngineId::Render,
    };
    Some(Line::Batch(name, engine))
}

/// A number with `0x` at the start of a text.
fn number(text: &str) -> Option<(u64, &str)> {
    let text = text.strip_prefix("0x")?;
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    (end <= 16).then_some(())?;
    Some((u64::from_str_radix(&text[..end], 16).ok()?, &text[end..]))
}

/// The column of the broken number in a line that ends as a line of a dword.
fn broken(line: &str) -> Option<u64> {
    let (_, index) = line.rsplit_once(": Dword ")?;
    index.trim().parse::<u32>().ok()?;
    let start = line.len() - line.trim_start().len();
    let first = number(line.trim_start());
    let column = match first {
        None => start,
        Some((_, rest)) => {
            let value = rest.trim_start_matches([':', ' ']);
            line.len() - value.len()
        }
    };
    Some(column as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    const TEXT: &str = "       iris_fence.c:267: blitter batch [1] flush with  16b\n\
        0xfffffffefffee000:  0x00000000:  MI_NOOP    \n\
        0xfffffffefffee000:  0x00000000 : Dword 0\n    Identification Number: 0\n\
        0xfffffffefffee004:  0x05000000:  MI_BATCH_BUFFER_END\n\
        0xfffffffefffee004:  0x05000000 : Dword 0\n\
        0xfffffffefffee000:  0x05000000:  MI_BATCH_BUFFER_END\n\
        0xfffffffefffee000:  0x05000000 : Dword 0\n";

    #[test]
    fn batches_are_separated() {
        assert!(is_like(TEXT));
        let Batches(batches) = read(TEXT).unwrap();
        assert_eq!(batches.len(), 2);
        assert_eq!(batches[0].engine, EngineId::Blitter);
        assert_eq!(batches[0].name, "blitter batch [1]");
        assert_eq!(batches[0].address, 0xfffe_fffe_e000);
        assert_eq!(batches[0].memory.tail(0xfffe_fffe_e000), [0, 0, 0, 0, 0, 0, 0, 5]);
        assert_eq!(batches[1].memory.tail(0xfffe_fffe_e000), [0, 0, 0, 5]);
    }

    #[test]
    fn broken_lines_are_named() {
        let text = TEXT.replace("0x00000000 : Dword 0", "0x0000000g : Dword 0");
        let problem = read(&text).unwrap_err();
        assert_eq!((problem.line, problem.column), (3, 22));
        let text = format!("{TEXT}0xfffffffefffee000:  0x05000001 : Dword 0\n");
        assert!(read(&text).unwrap_err().text.contains("an earlier line"));
    }
}
