//! GPU memory of a dump, as readers provide it and decoders read it.

use std::borrow::Cow;

/// GPU memory as a decoder sees it. Addresses have 48 bits.
pub trait Memory {
    /// The mapped bytes from `address` on, as far as the reader stores them contiguously; empty if
    /// nothing is mapped at `address`.
    fn tail(&self, address: u64) -> &[u8];

    /// Memory through the global page table; `None` if the dump has only one address space.
    fn global(&self) -> Option<&dyn Memory> {
        None
    }

    /// Appends up to `count` dwords from `address` on to `out`, and returns their number. Stops
    /// before the first dword that is not completely mapped.
    fn dwords(&self, address: u64, count: usize, out: &mut Vec<u32>) -> usize {
        let mut done = 0;
        while done < count {
            let at = (address + 4 * done as u64) & VA_MASK;
            let tail = self.tail(at);
            let here = (tail.len() / 4).min(count - done);
            if here > 0 {
                out.extend(
                    tail[..4 * here].as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)),
                );
                done += here;
            } else if tail.is_empty() {
                break;
            } else {
                // Fewer than four bytes: the dword continues in another contiguous range.
                let mut bytes = [0; 4];
                if self.bytes(at, &mut bytes) < 4 {
                    break;
                }
                out.push(u32::from_le_bytes(bytes));
                done += 1;
            }
        }
        done
    }

    /// Copies the memory from `address` on into `out`, up to the first byte that is not mapped.
    /// Returns the number of copied bytes.
    fn bytes(&self, address: u64, out: &mut [u8]) -> usize {
        let mut done = 0;
        while done < out.len() {
            let tail = self.tail((address + done as u64) & VA_MASK);
            let here = tail.len().min(out.len() - done);
            if here == 0 {
                break;
            }
            out[done..done + here].copy_from_slice(&tail[..here]);
            done += here;
        }
        done
    }
}

/// Dwords as little-endian bytes, as in GPU memory; not copied on a little-endian machine.
pub(crate) fn bytes_of(dwords: &[u32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::must_cast_slice(dwords))
    } else {
        dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
    }
}

/// Bits of an address that hardware uses.
pub(crate) const VA_MASK: u64 = (1 << 48) - 1;

/// One buffer at an address.
impl Memory for (u64, &[u8]) {
    fn tail(&self, address: u64) -> &[u8] {
        let offset = address.checked_sub(self.0).and_then(|offset| usize::try_from(offset).ok());
        offset.and_then(|offset| self.1.get(offset..)).unwrap_or_default()
    }
}
