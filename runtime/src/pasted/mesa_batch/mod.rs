//! Batches as Mesa prints them with `INTEL_DEBUG=bat`.
//!
//! Mesa decodes every batch that it submits. It prints a line for each dword of each packet and
//! state: `0xADDRESS:  0xVALUE : Dword N`. The other lines are Mesa's decoding and are not read,
//! with two exceptions. The line before a batch names its engine (`render batch [1] flush with
//! ...`). The entries of binding tables have lines without an address (`pointer 0: 0xbffff080`):
//! `tables` finds their addresses.
//!
//! Source: Mesa `src/intel/common/intel_batch_decoder.c` (dump_binding_table),
//! `src/intel/common/intel_decoder.c` (intel_print_group), `src/gallium/drivers/iris/iris_batch.c`.

mod tables;

use super::batches::{Batch, Batches, Pieces};
use super::position::Problem;
use crate::engine::EngineId;
use crate::gen8::mi::MiBatchBufferEnd;
use crate::memory::VA_MASK;
use std::collections::BTreeMap;
use tables::{Tables, number};

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
    /// A line about a binding table.
    Table(tables::Line),
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
            Some(Line::Table(line)) => reader.tables.line(line, &mut reader.dwords),
            Some(Line::Dword(address, value)) => {
                reader.tables.dword(address);
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
    tables: Tables,
}

impl Reader {
    fn packet(&mut self, address: u64, header: u32) {
        self.tables.end(&mut self.dwords);
        // Some drivers print no line before a batch.
        if self.ended && self.dwords.contains_key(&address) {
            self.leave();
        }
        self.start.get_or_insert(address);
        self.ended |= header == END;
    }

    fn leave(&mut self) {
        self.tables.end(&mut self.dwords);
        self.ended = false;
        let dwords = std::mem::take(&mut self.dwords);
        let start = self.start.take();
        let before = if start.is_some() { self.next.take() } else { None };
        let Some(address) = start else { return };
        let number = self.batches.len();
        let named = before.is_some();
        let (name, engine) =
            before.unwrap_or_else(|| (format!("batch {number}"), EngineId::Render));
        let memory = Pieces::of_dwords(&dwords);
        // The batches of a name are those of one context.
        let same = self.batches.iter().find(|batch| batch.name == name);
        let next = || self.batches.iter().map(|batch| batch.context + 1).max().unwrap_or(0);
        let context = if named { same.map_or_else(next, |batch| batch.context) } else { 0 };
        self.batches.push(Batch { name, context, engine, address, length: 0, memory });
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
    if let Some(line) = tables::parse(line) {
        return Some(Line::Table(line));
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
    fn each_name_is_a_context() {
        let batch = |name: &str| {
            let line = format!("iris_fence.c:267: {name} batch [1] flush with  16b\n");
            line + "0x1000:  0x05000000:  MI_BATCH_BUFFER_END\n0x1000:  0x05000000 : Dword 0\n"
        };
        let text = [batch("render"), batch("compute"), batch("render")].concat();
        let Batches(batches) = read(&text).unwrap();
        let contexts: Vec<_> = batches.iter().map(|batch| batch.context).collect();
        assert_eq!(contexts, [0, 1, 0]);
    }

    /// Oracle: Mesa's text of a Skylake, whose surface states start at 0x1_3f7f_0000.
    #[test]
    fn entries_of_binding_tables_have_an_address() {
        let text = "0x1000:  0x782a0000:  3DSTATE_BINDING_TABLE_POINTERS_PS\n\
            0x1000:  0x782a0000 : Dword 0\n    DWord Length: 0\n\
            0x1004:  0x00000020 : Dword 1\n    Pointer to PS Binding Table: 0x00000020\n\
            pointer 0: 0xbffff080\n\
            0x1ff7ef080:  0x33a5403f : Dword 0\n    Surface Array: true\n\
            0x1ff7ef084:  0x020000c0 : Dword 1\n\
            pointer 2: 0x00000000 <not valid>\n\
            0x1008:  0x05000000:  MI_BATCH_BUFFER_END\n\
            0x1008:  0x05000000 : Dword 0\n";
        let table = |text: &str, at: u64| {
            let Batches(batches) = read(text).unwrap();
            batches[0].memory.tail(at).to_vec()
        };
        let wanted = [0x80, 0xf0, 0xff, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(table(text, 0x1_3f7f_0020), wanted);
        // From Gen11 on, binding tables have a base of their own.
        let pool = "    Binding Table Pool Base Address: 0x200000000\n    \
            Binding Table Pool Enable: true\n";
        assert_eq!(table(&format!("{pool}{text}"), 0x2_0000_0020), wanted);
        assert_eq!(table(&format!("{pool}{text}").replace("true", "false"), 0x1_3f7f_0020), wanted);
        let coarse = "    Binding Table Alignment: 1 (BTP_18_8)\n";
        assert_eq!(table(&format!("{coarse}{text}"), 0x1_3f7f_0100), wanted);
        let unknown: Vec<_> = text.lines().filter(|line| !line.starts_with("0x1ff7ef")).collect();
        assert!(table(&unknown.join("\n"), 0x1_3f7f_0020).is_empty());
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
