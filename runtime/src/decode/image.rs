//! Context images of execlists: the status page of the context, then the commands that load its
//! registers.

use super::record::Kind;
use super::walk::{Next, Walker};
use crate::memory::VA_MASK;
use std::io;

/// Bytes of the status page, which comes first (2d p.305).
const STATUS_PAGE: u64 = 4096;

/// Bytes decoded after the status page if the length of the image is not given: the page of
/// registers (facts: context_image).
const REGISTER_PAGE: u64 = 4096;

impl Walker<'_> {
    /// Decodes the image at `address`, of `length` bytes with the status page; 0 if the length is
    /// unknown. Stops at a dword that is not a command, and after a command that ends or starts a
    /// batch.
    pub fn image(&mut self, address: u64, length: u64) -> io::Result<()> {
        if let Some(id) = self.follower.tables.named("PPHWSP_LAYOUT") {
            self.follower.structure(id, address, None, 0, 0)?;
        }
        let mut at = (address + STATUS_PAGE) & VA_MASK;
        let length = if length == 0 { STATUS_PAGE + REGISTER_PAGE } else { length };
        let mut left = length.saturating_sub(STATUS_PAGE) / 4;
        let mut record = self.follower.out.new_record(Kind::Packet, 0, at, "");
        let code = self.follower.memory;
        while left > 0 && self.follower.out.budget() > 0 {
            let mut header = [0; 4];
            if code.bytes(at, &mut header) < 4 {
                self.note(0, at, format_args!("registers at {at:#x}: nothing is mapped there"))?;
                break;
            }
            let header = u32::from_le_bytes(header);
            // MI_NOOPs fill the space between the commands.
            let dwords = if header == 0 {
                self.follower.out.spend(1);
                1
            } else if self.follower.tables.find(self.engine, header).is_none() {
                self.note(
                    0,
                    at,
                    format_args!(
                        "{header:#010x} is not a command: the rest of the image is not described"
                    ),
                )?;
                break;
            } else {
                match self.packet(&mut record, at, code.tail(at), left, 0, code)? {
                    (dwords, Next::On) => dwords,
                    _ => break,
                }
            };
            left = left.saturating_sub(dwords);
            at = (at + 4 * dwords) & VA_MASK;
        }
        self.follower.out.reuse(record);
        Ok(())
    }
}
