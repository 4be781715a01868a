//! Vertex fetch of many vertices, one element after the other.
//!
//! What is the same for all vertices is decided once for each element, and a page of the vertex
//! buffer is looked up once for all vertices that follow each other in it. The result is that of
//! [`Fetch::vertex`] for each vertex.

use super::{Buffer, Element, Fetch, SLOT};
use crate::assumptions::VERTICES_BEHIND_THE_BUFFER_ARE_ZERO;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::{PAGE, Page, PageFault, Vm};
use crate::render::vue::Vertices;
use genxml::gen8::enums::ThreeDVertexComponentControl as Control;

impl Fetch {
    /// Fetches the vertices `numbers` of instance `instance`, and appends them to `out`. The
    /// numbers are those that [`index`](Self::index) returned.
    ///
    /// # Errors
    /// A page fault. The vertices before the one with the fault have been appended.
    pub fn vertices(
        &self,
        exec: &mut Exec<'_>,
        numbers: &[u32],
        instance: u32,
        out: &mut Vertices,
    ) -> Result<(), Fault> {
        // An observer gets the accesses in the order of the vertices.
        if exec.vm.log().is_none() && self.columns(exec, numbers, instance, out) {
            return Ok(());
        }
        for &number in numbers {
            self.vertex(exec, number, instance, out.push())?;
        }
        Ok(())
    }

    /// Does what [`vertices`](Self::vertices) does, element by element. Returns false and changes
    /// nothing if a page cannot be read.
    fn columns(
        &self,
        exec: &mut Exec<'_>,
        numbers: &[u32],
        instance: u32,
        out: &mut Vertices,
    ) -> bool {
        let (count, bytes_read) = (out.count(), exec.stats.bytes_read);
        let done = self.try_columns(exec, numbers, instance, out);
        if done.is_err() {
            out.truncate(count);
            exec.stats.bytes_read = bytes_read;
        }
        done.is_ok()
    }

    fn try_columns(
        &self,
        exec: &mut Exec<'_>,
        numbers: &[u32],
        instance: u32,
        out: &mut Vertices,
    ) -> Result<(), Fault> {
        let rows = out.extend(numbers.len());
        if self.dwords == 0 || numbers.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        for element in &self.elements {
            let first = at;
            let column = rows.chunks_exact_mut(self.dwords).map(|row| &mut row[first..]);
            at += element.dwords();
            match (element.buffer, element.step, element.dword_channels) {
                (Some(buffer), None, Some(channels)) => {
                    let read = self.copy(&exec.vm, element, buffer, channels, numbers, column);
                    exec.stats.bytes_read +=
                        read.map_err(|fault| exec.page(fault, "vertex buffer"))?;
                }
                (Some(_), None, None) => {
                    for (&number, row) in numbers.iter().zip(column) {
                        let value = self.fetch(exec, element, self.entry(number), instance)?;
                        element.store(&value, &mut row[..element.dwords()]);
                    }
                }
                // All vertices have the same value. Each of them reads it.
                _ => {
                    let before = exec.stats.bytes_read;
                    let value = self.fetch(exec, element, 0, instance)?;
                    let read = exec.stats.bytes_read - before;
                    exec.stats.bytes_read = before + read * numbers.len() as u64;
                    let mut slots = [0; 2 * SLOT];
                    let slots = &mut slots[..element.dwords()];
                    element.store(&value, slots);
                    column.for_each(|row| row[..slots.len()].copy_from_slice(slots));
                }
            }
        }
        let rows = rows.chunks_exact_mut(self.dwords).zip(numbers);
        for (row, &number) in rows {
            if let Some(place) = self.vertex_id {
                row[place] = number;
            }
            if let Some(place) = self.instance_id {
                row[place] = instance;
            }
        }
        Ok(())
    }

    /// Copies the dwords of an element to the start of each row, one for each vertex. Returns the
    /// number of bytes that were read.
    fn copy<'r>(
        &self,
        vm: &Vm<'_>,
        element: &Element,
        buffer: Buffer,
        channels: usize,
        numbers: &[u32],
        rows: impl Iterator<Item = &'r mut [u32]>,
    ) -> Result<u64, PageFault> {
        let rows = numbers.iter().map(|number| self.entry(*number)).zip(rows);
        let copy = Copy::new(element, buffer, channels);
        match channels {
            1 => copy.run::<4>(vm, rows),
            2 => copy.run::<8>(vm, rows),
            3 => copy.run::<12>(vm, rows),
            _ => copy.run::<16>(vm, rows),
        }
    }
}

/// How the dwords of an element get from the buffer to the vertices.
struct Copy {
    buffer: Buffer,
    offset: u64,
    /// All bits of the dwords that come from the buffer.
    mask: [u32; SLOT],
    /// The other dwords of a vertex inside the buffer.
    rest: [u32; SLOT],
    /// The dwords of a vertex that is not wholly inside the buffer.
    outside: [u32; SLOT],
}

impl Copy {
    fn new(element: &Element, buffer: Buffer, channels: usize) -> Copy {
        let [a, b, c, d] = element.missing;
        let (mut rest, mut outside) = ([0; SLOT], [0; SLOT]);
        element.store(&[a, b, c, d, 0, 0, 0, 0], &mut rest);
        element.store(&[0; 2 * SLOT], &mut outside);
        let mask = std::array::from_fn(|n| {
            let copied = n < channels && element.components[n] == Control::VFCOMP_STORE_SRC;
            if copied { u32::MAX } else { 0 }
        });
        Copy { buffer, offset: element.offset, mask, rest, outside }
    }

    /// Copies `BYTES` bytes to each row. Each row comes with its position in the buffer, in units
    /// of the pitch.
    fn run<'r, const BYTES: usize>(
        &self,
        vm: &Vm<'_>,
        rows: impl Iterator<Item = (u32, &'r mut [u32])>,
    ) -> Result<u64, PageFault> {
        let Copy { buffer, offset, mask, rest, outside } = *self;
        let mut read = 0;
        let mut latest: Option<(u64, &Page)> = None;
        for (entry, row) in rows {
            let Some(slot) = row.first_chunk_mut::<SLOT>() else { break };
            let place = u64::from(entry) * buffer.pitch + offset;
            if place + BYTES as u64 > buffer.size && VERTICES_BEHIND_THE_BUFFER_ARE_ZERO {
                *slot = outside;
                continue;
            }
            let address = buffer.address.wrapping_add(place);
            let page = match latest {
                Some((number, page)) if number == address / PAGE => page,
                _ => {
                    let page = vm.page(address)?;
                    latest = Some((address / PAGE, page));
                    page
                }
            };
            let bytes = match page.load::<BYTES>((address % PAGE) as usize) {
                Some(bytes) => bytes,
                None => vm.read_array(address)?,
            };
            read += BYTES as u64;
            let dwords = bytes.as_chunks().0;
            *slot = std::array::from_fn(|n| {
                let dword = dwords.get(n).map_or(0, |dword| u32::from_le_bytes(*dword));
                dword & mask[n] | rest[n]
            });
        }
        Ok(read)
    }
}
