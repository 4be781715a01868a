//! Vertices and indices of a draw as tables, in the formats of the vertex elements.

use super::draw_state::{Element, VertexBuffer, named};
use super::follow::Follower;
use super::format::{Component, components};
use super::issue::Issue;
use super::record::{Item, Kind, Origin, Record, Value};
use crate::memory::VA_MASK;
use genxml_core::bits;
use genxml_core::reflect::Container;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

/// Largest number of indices of a draw, or rows of a vertex buffer, that are emitted, even if the
/// options allow more.
const MAX_ROWS: u32 = 1 << 20;
/// Number of indices in a row.
const INDICES_PER_ROW: usize = 16;

/// The parameters of a 3DPRIMITIVE, from the packet or from registers.
#[derive(Debug, Clone, Copy, Hash)]
struct Parameters {
    indexed: bool,
    vertices: u64,
    start: u64,
    instances: u64,
    first_instance: u64,
    base: i64,
}

/// Elements of one vertex buffer that advance together.
#[derive(Debug)]
struct Columns {
    number: u32,
    buffer: VertexBuffer,
    /// Number of instances with the same data, 0 for all; `None` if the data belong to vertices.
    step: Option<u64>,
    elements: Vec<Element>,
}

/// The numbers of the rows that a draw reads.
enum Rows {
    Range { first: u64, count: u64 },
    Some(BTreeSet<u64>),
}

impl Rows {
    fn count(&self) -> u64 {
        match self {
            Rows::Range { count, .. } => *count,
            Rows::Some(rows) => rows.len() as u64,
        }
    }

    fn numbers(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            Rows::Range { first, count } => {
                Box::new((*first..).take(usize::try_from(*count).unwrap_or(usize::MAX)))
            }
            Rows::Some(rows) => Box::new(rows.iter().copied()),
        }
    }
}

impl Follower<'_> {
    /// Emits the index buffer and the vertex buffers of the draw in `record`.
    pub fn vertices(
        &mut self,
        record: &Record,
        container: &Container,
        depth: u32,
    ) -> io::Result<()> {
        if self.state.draw.elements.is_empty() && self.state.draw.index.is_none() {
            return Ok(());
        }
        let Some(drawn) = self.parameters(record, container, depth)? else { return Ok(()) };
        let again = !self.seen.new_vertices(self.fingerprint(&drawn));
        if drawn.vertices == 0 || drawn.instances == 0 || again {
            return Ok(());
        }
        let rows = if drawn.indexed {
            match self.indices(&drawn, depth)? {
                Some(rows) => rows,
                None => return Ok(()),
            }
        } else {
            Rows::Range { first: drawn.start, count: drawn.vertices }
        };
        for columns in self.columns() {
            match columns.step {
                None => self.rows(&columns, &rows, "vertex", "vertices", depth)?,
                Some(0) => {
                    let rows = Rows::Range { first: drawn.first_instance, count: 1 };
                    self.rows(&columns, &rows, "instance", "data of all instances", depth)?;
                }
                Some(step) => {
                    let rows = Rows::Range {
                        first: drawn.first_instance,
                        count: drawn.instances.div_ceil(step),
                    };
                    self.rows(&columns, &rows, "instance", "data of instances", depth)?;
                }
            }
        }
        Ok(())
    }

    /// A hash that is equal for draws that read the same data.
    fn fingerprint(&self, drawn: &Parameters) -> u64 {
        let draw = &self.state.draw;
        let mut hasher = DefaultHasher::new();
        drawn.hash(&mut hasher);
        if drawn.indexed {
            (draw.index, draw.cut).hash(&mut hasher);
        }
        for element in &draw.elements {
            let buffer = draw.buffers.get(element.buffer as usize);
            (element, buffer, draw.instancing.get(element.number as usize)).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The parameters of the draw; `None`, after a note, if they are unknown.
    fn parameters(
        &mut self,
        record: &Record,
        container: &Container,
        depth: u32,
    ) -> io::Result<Option<Parameters>> {
        let field = |name| record.stored(container, name).unwrap_or(0);
        let random = named(self.tables, container.name, "Vertex Access Type", "RANDOM");
        let indexed = random == record.stored(container, "Vertex Access Type");
        let drawn = Parameters {
            indexed,
            vertices: field("Vertex Count Per Instance"),
            start: field("Start Vertex Location"),
            instances: field("Instance Count"),
            first_instance: field("Start Instance Location"),
            base: bits::sign_extend(field("Base Vertex Location"), 32),
        };
        if field("Indirect Parameter Enable") == 1 {
            let register = |name| self.state.registers.named(self.tables, name);
            let (Some(vertices), Some(start), Some(instances)) = (
                register("3DPRIM_VERTEX_COUNT"),
                register("3DPRIM_START_VERTEX"),
                register("3DPRIM_INSTANCE_COUNT"),
            ) else {
                let text = "the parameters of this draw are in registers (3DPRIM_*), and what they hold is not known";
                self.note(depth, record.address, format_args!("{text}"))?;
                return Ok(None);
            };
            let rest = |name| register(name).unwrap_or(0);
            let (first_instance, base) =
                (rest("3DPRIM_START_INSTANCE"), rest("3DPRIM_BASE_VERTEX"));
            self.note(
                depth,
                record.address,
                format_args!(
                    "parameters from registers: {vertices} vertices from {start}, {instances} instances from {first_instance}"
                ),
            )?;
            return Ok(Some(Parameters {
                indexed,
                vertices: vertices.into(),
                start: start.into(),
                instances: instances.into(),
                first_instance: first_instance.into(),
                base: bits::sign_extend(base.into(), 32),
            }));
        }
        if field("End Offset Enable") == 1 {
            let text =
                "the number of vertices follows from 3DPRIM_END_OFFSET: the vertices are not shown";
            self.note(depth, record.address, format_args!("{text}"))?;
            return Ok(None);
        }
        Ok(Some(drawn))
    }

    /// The elements, grouped by buffer and by [`Columns::step`].
    fn columns(&self) -> Vec<Columns> {
        let draw = &self.state.draw;
        let mut found: Vec<Columns> = Vec::new();
        for element in &draw.elements {
            let Some(buffer) = draw.buffers.get(element.buffer as usize).copied().flatten() else {
                continue;
            };
            let instancing =
                draw.instancing.get(element.number as usize).copied().unwrap_or_default();
            let step = instancing.enable.then_some(instancing.step);
            let together =
                |columns: &&mut Columns| columns.number == element.buffer && columns.step == step;
            match found.iter_mut().find(together) {
                Some(columns) => columns.elements.push(*element),
                None => {
                    let elements = vec![*element];
                    found.push(Columns { number: element.buffer, buffer, step, elements });
                }
            }
        }
        found
    }

    /// Emits the indices and returns the numbers of the vertices that they select; `None`, after a
    /// note, if no index can be read.
    fn indices(&mut self, drawn: &Parameters, depth: u32) -> io::Result<Option<Rows>> {
        let Some(buffer) = self.state.draw.index else {
            self.note(
                depth,
                0,
                format_args!("indices: no 3DSTATE_INDEX_BUFFER came before this draw"),
            )?;
            return Ok(None);
        };
        let first = buffer.address.wrapping_add(drawn.start * buffer.bytes) & VA_MASK;
        let there = (buffer.size / buffer.bytes).saturating_sub(drawn.start);
        let taken = drawn.vertices.min(there);
        let shown = taken.min(self.options.max_vertices.min(MAX_ROWS).into());
        let mut bytes = vec![0; (shown * buffer.bytes) as usize];
        let read = self.memory.bytes(first, &mut bytes) / buffer.bytes as usize;
        self.out.spend((shown * buffer.bytes).div_ceil(4));
        if read == 0 && shown > 0 {
            self.note(
                depth,
                first,
                format_args!("indices at {first:#x}: nothing is mapped there"),
            )?;
            return Ok(None);
        }
        let values: Vec<u64> = bytes
            .chunks_exact(buffer.bytes as usize)
            .take(read)
            .map(|bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
            .collect();
        self.note(
            depth,
            first,
            format_args!("{} indices of {} bytes at {first:#x}", drawn.vertices, buffer.bytes),
        )?;
        let mut record = self.out.new_record(Kind::Row, depth + 1, 0, "");
        for (row, values) in values.chunks(INDICES_PER_ROW).enumerate() {
            let number = row * INDICES_PER_ROW;
            let at = first.wrapping_add(number as u64 * buffer.bytes) & VA_MASK;
            record.reset(Kind::Row, depth + 1, at, "index");
            record.index = Some((drawn.start as u32).wrapping_add(number as u32));
            let from = number * buffer.bytes as usize;
            record.dwords.extend(dwords(&bytes[from..from + values.len() * buffer.bytes as usize]));
            record.length = record.dwords.len() as u32;
            for (place, &stored) in values.iter().enumerate() {
                let start = 8 * (place as u32) * buffer.bytes as u32;
                let value = match self.state.draw.cut == Some(stored) {
                    true => Value::Enum { name: Some("cut") },
                    false => Value::Uint(stored),
                };
                let end = start + 8 * buffer.bytes as u32 - 1;
                record.items.push(item(0, "Index", None, (start, end), stored, value));
            }
            self.out.record(&record)?;
        }
        self.out.reuse(record);
        let counts = [drawn.vertices, taken, values.len() as u64];
        self.left_out(depth + 1, first, "indices", counts, false)?;
        let cut = self.state.draw.cut;
        let named = values.into_iter().filter(|index| cut != Some(*index));
        let vertices = named.map(|index| (index as i64).wrapping_add(drawn.base));
        Ok(Some(Rows::Some(vertices.filter_map(|vertex| u64::try_from(vertex).ok()).collect())))
    }

    /// Emits how many of the `wanted` rows are left out, and why. `there` of them are in the
    /// buffer, and `shown` were emitted or already reported. `limited` is true if the limit of
    /// decoded dwords ended the rows.
    fn left_out(
        &mut self,
        depth: u32,
        at: u64,
        what: &str,
        [wanted, there, shown]: [u64; 3],
        limited: bool,
    ) -> io::Result<()> {
        let limit = u64::from(self.options.max_vertices.min(MAX_ROWS));
        if limited && shown < there {
            let left = there - shown;
            let text =
                format_args!("{left} more {what} are left out: too many dwords were decoded");
            self.note(depth, at, text)?;
        } else if shown < there.min(limit) {
            self.note(depth, at, format_args!("{} more {what} are not mapped", there - shown))?;
        } else if shown < there {
            self.note(depth, at, format_args!("{} more {what} are left out", there - shown))?;
        }
        if there < wanted {
            let beyond = wanted - there;
            self.note(
                depth,
                at,
                format_args!("{beyond} more {what} are beyond the end of the buffer: they read 0"),
            )?;
        }
        Ok(())
    }

    fn rows(
        &mut self,
        columns: &Columns,
        rows: &Rows,
        name: &'static str,
        plural: &str,
        depth: u32,
    ) -> io::Result<()> {
        let Columns { number, buffer, elements, .. } = columns;
        let start = buffer.address & VA_MASK;
        if buffer.null {
            return self.note(
                depth,
                0,
                format_args!("vertex buffer {number}: null buffer, all reads return 0"),
            );
        }
        let mut text = format!("vertex buffer {number} at {start:#x}: ");
        _ = write!(text, "{} {plural} of {} bytes", rows.count(), buffer.pitch);
        for element in elements {
            let format = if element.format.is_empty() { "unknown format" } else { element.format };
            _ = write!(text, "; element {}: {format} at +{}", element.number, element.offset);
        }
        self.note(depth, start, format_args!("{text}"))?;

        let formats: Vec<_> = elements.iter().map(|element| components(element.format)).collect();
        let end =
            |element: &Element| u64::from(element.offset) + u64::from(element.bits.div_ceil(8));
        let length = elements.iter().map(end).max().unwrap_or(0);
        // With pitch 0, all vertices are the same.
        let wanted = if buffer.pitch == 0 { rows.count().min(1) } else { rows.count() };
        let limit = u64::from(self.options.max_vertices.min(MAX_ROWS));
        let inside =
            |row: &u64| row.saturating_mul(buffer.pitch).saturating_add(length) <= buffer.size;
        let mut record = self.out.new_record(Kind::Row, depth + 1, 0, "");
        let mut bytes = vec![0; length as usize];
        let (mut shown, mut beyond) = (0, 0);
        let (mut unmapped, mut limited) = (false, false);
        for row in rows.numbers().take(wanted.min(limit) as usize) {
            if !inside(&row) {
                beyond += 1;
                continue;
            }
            let at = start.wrapping_add(row * buffer.pitch) & VA_MASK;
            limited = self.out.budget() == 0;
            unmapped = !limited && self.memory.bytes(at, &mut bytes) < bytes.len();
            if limited || unmapped {
                break;
            }
            self.out.spend(length.div_ceil(4));
            record.reset(Kind::Row, depth + 1, at, name);
            record.index = u32::try_from(row).ok();
            record.dwords.extend(dwords(&bytes));
            record.length = record.dwords.len() as u32;
            for (element, format) in elements.iter().zip(&formats) {
                cells(&mut record, element, format.as_deref());
            }
            self.out.record(&record)?;
            shown += 1;
        }
        self.out.reuse(record);
        if unmapped && shown == 0 {
            return self.note(
                depth + 1,
                start,
                format_args!("vertex buffer at {start:#x}: nothing is mapped there"),
            );
        }
        if beyond > 0 {
            let text =
                format_args!("{beyond} of them are beyond the end of the buffer: they read 0");
            self.note(depth + 1, start, text)?;
        }
        self.left_out(depth + 1, start, plural, [wanted, wanted, shown + beyond], limited)
    }
}

/// Adds the items of an element to `record`: its components, read from the dwords of `record`, or
/// plain dwords if `format` is `None`.
fn cells(record: &mut Record, element: &Element, format: Option<&[Component]>) {
    let (first, width) = (8 * element.offset, element.bits.max(1));
    let Record { dwords, items, .. } = record;
    items.push(item(
        0,
        "Element",
        Some(element.number),
        (first, first + width - 1),
        0,
        Value::Nested,
    ));
    let mut start = first;
    for (place, component) in format.unwrap_or_default().iter().enumerate() {
        let end = start + component.bits - 1;
        // Padding and components that are not from the buffer are left out.
        if !component.name.is_empty() && element.components >> place.min(31) & 1 != 0 {
            let stored = bits::get(dwords, start, end);
            items.push(item(
                1,
                component.name,
                None,
                (start, end),
                stored,
                component.value(stored),
            ));
        }
        start = end + 1;
    }
    if format.is_none() {
        for start in (first..first + width).step_by(32) {
            let end = (start + 31).min(first + width - 1);
            let stored = bits::get(dwords, start, end);
            items.push(item(1, "", None, (start, end), stored, Value::Raw));
        }
    }
}

fn item(
    depth: u8,
    name: &'static str,
    index: Option<u32>,
    (start, end): (u32, u32),
    stored: u64,
    value: Value,
) -> Item {
    let issue: Option<Issue> = None;
    Item { depth, name, index, start, end, stored, value, unit: "", issue, origin: Origin::NONE }
}

/// Bytes as dwords, the last one padded with zeros.
fn dwords(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let dword =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |dword, byte| dword << 8 | u32::from(*byte));
    bytes.chunks(4).map(dword)
}
