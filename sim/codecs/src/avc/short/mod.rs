//! The short format: the engine itself reads the headers of slices and makes the reference lists.
//!
//! [`Stream::slice`] is the entry: it turns the header of a slice into the same [`Slice`] that the
//! packets of the long format state.
//!
//! * `stream`: what headers depend on, and what is wrong with them.
//! * `header`: the syntax of the header (7.3.3).
//! * `lists`: the reference lists (8.2.4), with those in other views (H.8.2).

mod header;
mod lists;
mod stream;

use super::{Parameters, Slice};
use crate::emulation;
pub use stream::{HeaderError, Store, Stream};

impl Stream {
    /// Reads the header of a slice. `data` is the NAL unit from its header byte on; `escaped`: with
    /// emulation prevention bytes. `start` is the offset of the slice header in bytes, after the
    /// header of the NAL unit. The concealment of the slice is not part of the header.
    ///
    /// # Errors
    /// [`HeaderError`]
    pub fn slice(
        &self,
        parameters: &Parameters,
        data: &[u8],
        escaped: bool,
        start: usize,
    ) -> Result<Slice, HeaderError> {
        let unescaped;
        let data = match escaped {
            true => {
                unescaped = emulation::remove(data);
                unescaped.as_slice()
            }
            false => data,
        };
        let header = header::Header::read(self, parameters, data, start)?;
        let mut slice = Slice { unescaped: !escaped, ..header.slice.clone() };
        lists::fill(self, parameters, &header, &mut slice);
        Ok(slice)
    }
}
