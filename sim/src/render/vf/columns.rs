//! Vertex fetch of many vertices, one element after the other.
//!
//! Decisions that are the same for all vertices are made once for each element. A page of the
//! vertex buffer is looked up once for all successive vertices in it. The result is that of
//! [`Fetch::vertex`] for each vertex.

use super::{Buffer, Element, Fetch, MAX_BYTES, SLOT};
use crate::assumptions::VERTICES_BEHIND_THE_BUFFER_ARE_ZERO;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::lines::LINE;
use crate::mem::{PAGE, Page, PageFault, Vm};
use crate::render::vue::Vertices;
use genxml::gen8::enums::ThreeDVertexComponentControl as Control;

impl Fetch {
    /// Replaces the vertices in `out` by the vertices `numbers` of instance `instance`. The numbers
    /// are those that [`index`](Self::index) returned.
    ///
    /// # Errors
    /// A page fault. Then `out` ends with the vertex that has the fault.
    pub fn vertices(
        &self,
        exec: &mut Exec<'_>,
        numbers: &[u32],
        instance: u32,
        out: &mut Vertices,
    ) -> Result<(), Fault> {
        let bytes_read = exec.stats.bytes_read;
        // An observer gets the accesses vertex by vertex.
        let unrecorded = exec.vm.unrecorded();
        let fetched = self.columns(exec, numbers, instance, out).is_ok();
        drop(unrecorded);
        if fetched {
            if exec.vm.log().is_some() {
                self.record(&exec.vm, numbers, instance);
            }
            return Ok(());
        }
        exec.stats.bytes_read = bytes_read;
        out.clear();
        out.dwords = self.dwords;
        for &number in numbers {
            self.vertex(exec, number, instance, out.push())?;
        }
        Ok(())
    }

    /// Records the reads of vertices that have been fetched, in the order in which
    /// [`Fetch::vertex`] makes them.
    #[cold]
    fn record(&self, vm: &Vm<'_>, numbers: &[u32], instance: u32) {
        // For each element, the page of its newest read, with the lines that need no record.
        let mut pages = vec![(u64::MAX, 0); self.elements.len()];
        for number in numbers {
            for (element, (page, harmless)) in self.elements.iter().zip(&mut pages) {
                let location = self.location(element, self.entry(*number), instance);
                let Some((address, length)) = location else { continue };
                let [first, last] = [address, address.wrapping_add(length as u64 - 1)];
                if last / PAGE == *page && first / PAGE == *page {
                    let lines = [first, last].map(|at| 1 << (at % PAGE / LINE));
                    if lines.iter().all(|line: &u64| *harmless & line != 0) {
                        continue;
                    }
                }
                let mut bytes = [0; MAX_BYTES];
                // The fetch has read the same bytes, so this does not fail.
                let _ = vm.read(address, &mut bytes[..length.min(MAX_BYTES)]);
                (*page, *harmless) = (last / PAGE, vm.harmless_lines(last));
            }
        }
    }

    /// Does what [`vertices`](Self::vertices) does, element by element.
    ///
    /// # Errors
    /// A page fault. It may be a later one than the first fault in the order of the vertices.
    fn columns(
        &self,
        exec: &mut Exec<'_>,
        numbers: &[u32],
        instance: u32,
        out: &mut Vertices,
    ) -> Result<(), Fault> {
        let rows = out.replace_with_any(self.dwords, numbers.len());
        if rows.is_empty() {
            return Ok(());
        }
        if self.elements.iter().map(Element::dwords).sum::<usize>() < self.dwords {
            rows.fill(0);
        }
        let mut at = 0;
        for element in &self.elements {
            let first = at;
            at += element.dwords();
            if let (Some(buffer), None, Some(channels)) =
                (element.buffer, element.step, element.dword_channels)
            {
                let slots = Slots { rows: &mut *rows, dwords: self.dwords, first };
                let read = self.copy(&exec.vm, element, buffer, channels, numbers, slots);
                exec.stats.bytes_read += read.map_err(|fault| exec.page(fault, "vertex buffer"))?;
                continue;
            }
            let column = rows.chunks_exact_mut(self.dwords).map(|row| &mut row[first..]);
            match (element.buffer, element.step) {
                (Some(_), None) => {
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
            if let Some(dword) = self.vertex_id {
                row[dword] = number;
            }
            if let Some(dword) = self.instance_id {
                row[dword] = instance;
            }
        }
        Ok(())
    }

    /// Copies the dwords of an element to its slot in each vertex. Returns the number of bytes that
    /// were read.
    fn copy(
        &self,
        vm: &Vm<'_>,
        element: &Element,
        buffer: Buffer,
        channels: usize,
        numbers: &[u32],
        slots: Slots<'_>,
    ) -> Result<u64, PageFault> {
        // The entry of a vertex is the sum of its number and a constant.
        let copy = Copy::new(element, buffer, channels, self.entry(0));
        match channels {
            1 => copy.run::<4>(vm, numbers, slots),
            2 => copy.run::<8>(vm, numbers, slots),
            3 => copy.run::<12>(vm, numbers, slots),
            _ => copy.run::<16>(vm, numbers, slots),
        }
    }
}

/// The slot of an element in each vertex.
struct Slots<'r> {
    rows: &'r mut [u32],
    /// Dwords of a vertex.
    dwords: usize,
    /// The first dword of the slot in a vertex.
    first: usize,
}

impl Slots<'_> {
    /// The slots of the vertices from `start` up to `end`.
    #[inline(always)]
    fn of(&mut self, start: usize, end: usize) -> impl Iterator<Item = &mut [u32; SLOT]> {
        let Slots { rows, dwords, first } = self;
        let rows = &mut rows[start * *dwords..end * *dwords];
        rows.chunks_exact_mut(*dwords).filter_map(|row| row[*first..].first_chunk_mut())
    }
}

/// A copy of the dwords of an element from the buffer to its slot in the vertices.
struct Copy {
    buffer: Buffer,
    /// The entry of the vertex with number 0.
    zero: u32,
    offset: u64,
    /// All bits are set in dwords that come from the buffer. Other dwords are 0.
    mask: [u32; SLOT],
    /// The values of the other dwords. Dwords that come from the buffer are 0.
    rest: [u32; SLOT],
    /// The whole slot of a vertex whose element is not completely inside of the buffer.
    outside: [u32; SLOT],
}

impl Copy {
    fn new(element: &Element, buffer: Buffer, channels: usize, zero: u32) -> Copy {
        let [a, b, c, d] = element.missing;
        let (mut rest, mut outside) = ([0; SLOT], [0; SLOT]);
        element.store(&[a, b, c, d, 0, 0, 0, 0], &mut rest);
        element.store(&[0; 2 * SLOT], &mut outside);
        let mask = std::array::from_fn(|n| {
            let copied = n < channels && element.components[n] == Control::VFCOMP_STORE_SRC;
            if copied { u32::MAX } else { 0 }
        });
        Copy { buffer, zero, offset: element.offset, mask, rest, outside }
    }

    /// Copies `BYTES` bytes to the slot of each vertex.
    fn run<const BYTES: usize>(
        &self,
        vm: &Vm<'_>,
        numbers: &[u32],
        mut slots: Slots<'_>,
    ) -> Result<u64, PageFault> {
        let Copy { buffer, zero, offset, mask, rest, outside } = *self;
        let value = |bytes: [u8; BYTES]| {
            let dwords = bytes.as_chunks().0;
            std::array::from_fn(|n| {
                let dword = dwords.get(n).map_or(0, |dword| u32::from_le_bytes(*dword));
                dword & mask[n] | rest[n]
            })
        };
        let consecutive = are_consecutive(numbers);
        let mut read = 0;
        let mut latest: Option<(u64, &Page)> = None;
        let mut n = 0;
        while n < numbers.len() {
            let entry = numbers[n].wrapping_add(zero);
            let start = u64::from(entry) * buffer.pitch + offset;
            if start + BYTES as u64 > buffer.size && VERTICES_BEHIND_THE_BUFFER_ARE_ZERO {
                slots.of(n, n + 1).for_each(|slot| *slot = outside);
                n += 1;
                continue;
            }
            let address = buffer.address.wrapping_add(start);
            let page = match latest {
                Some((number, page)) if number == address / PAGE => page,
                _ => {
                    let page = page(vm, address)?;
                    latest = Some((address / PAGE, page));
                    page
                }
            };
            let at = address % PAGE;
            if at + BYTES as u64 > PAGE {
                let bytes = vm.read_array(address)?;
                slots.of(n, n + 1).for_each(|slot| *slot = value(bytes));
                (read, n) = (read + BYTES as u64, n + 1);
                continue;
            }
            let end = match consecutive {
                true => n + self.run_length::<BYTES>(numbers.len() - n, start, at),
                false => n + 1,
            };
            let mut at = at as usize;
            for slot in slots.of(n, end) {
                *slot = page.load(at).map_or(outside, value);
                at += buffer.pitch as usize;
            }
            (read, n) = (read + BYTES as u64 * (end - n) as u64, end);
        }
        Ok(read)
    }

    /// The number of vertices with consecutive numbers that are inside of the buffer and of a page,
    /// at least 1 and at most `count`. The first one is inside of both: `start` is its offset in
    /// the buffer, and `at` its offset in the page.
    #[inline(always)]
    fn run_length<const BYTES: usize>(&self, count: usize, start: u64, at: u64) -> usize {
        let left = |from: u64, end: u64| end.saturating_sub(from + BYTES as u64);
        let left = left(at, PAGE).min(left(start, self.buffer.size));
        left.checked_div(self.buffer.pitch).map_or(1, |more| count.min(more as usize + 1))
    }
}

/// True if each number is one more than the number before it.
fn are_consecutive(numbers: &[u32]) -> bool {
    let Some((first, last)) = numbers.first().zip(numbers.last()) else { return true };
    let differs = |n: usize, number: u32| number ^ first.wrapping_add(n as u32);
    // Without an early exit, so that the compiler can test several numbers at once.
    let bits = numbers.iter().enumerate().fold(0, |bits, (n, number)| bits | differs(n, *number));
    bits == 0 && first <= last
}

/// The page of an address. Not inlined, so that the loop over vertices stays small.
#[inline(never)]
fn page<'m>(vm: &'m Vm<'_>, address: u64) -> Result<&'m Page, PageFault> {
    vm.page(address)
}
