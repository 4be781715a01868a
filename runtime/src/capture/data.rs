//! The decompressed bytes of a capture.
//!
//! If they are at most 32 MiB, they are in memory. Otherwise they are in a temporary file without a
//! name, and each part is read when it is needed. So a large capture takes no more memory than a
//! small one. The system deletes the file when it is closed. If there is no room for the file, all
//! bytes are in memory.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Maximum number of bytes that need no temporary file.
const MOST_IN_MEMORY: u64 = 32 << 20;

/// The decompressed data file of a capture.
pub struct Data {
    size: u64,
    store: Store,
}

enum Store {
    Memory(Vec<u8>),
    File(Mutex<File>),
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Data")
            .field("size", &self.size)
            .field("is_in_memory", &self.is_in_memory())
            .finish()
    }
}

impl Data {
    /// An empty store, to which about `size` bytes will be added.
    fn new(size: u64) -> Data {
        let file = match size > MOST_IN_MEMORY {
            true => tempfile::tempfile().ok(),
            false => None,
        };
        let store = file.map_or(Store::Memory(Vec::new()), |file| Store::File(Mutex::new(file)));
        Data { size: 0, store }
    }

    /// Number of bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// True if the bytes are in memory, false if they are in a temporary file.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.store, Store::Memory(_))
    }

    /// `length` bytes from `position` on; copied if they are in a file.
    ///
    /// # Panics
    /// As [`read`](Self::read).
    pub fn bytes(&self, position: u64, length: u64) -> Cow<'_, [u8]> {
        match &self.store {
            Store::Memory(bytes) => Cow::Borrowed(&bytes[position as usize..][..length as usize]),
            Store::File(_) => {
                let mut bytes = vec![0; length as usize];
                self.read(position, &mut bytes);
                Cow::Owned(bytes)
            }
        }
    }

    /// Fills `out` with the bytes from `position` on.
    ///
    /// # Panics
    /// If the bytes reach beyond the end, or if the system cannot read the temporary file. No other
    /// program can access this file, so such an error means that the disk has failed.
    pub fn read(&self, position: u64, out: &mut [u8]) {
        match &self.store {
            Store::Memory(bytes) => {
                out.copy_from_slice(&bytes[position as usize..][..out.len()]);
            }
            Store::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let result =
                    file.seek(SeekFrom::Start(position)).and_then(|_| file.read_exact(out));
                if let Err(error) = result {
                    panic!(
                        "cannot read {} bytes from {position} on of {} bytes in the temporary \
                         file of a capture's data: {error}",
                        out.len(),
                        self.size
                    );
                }
            }
        }
    }

    /// Adds bytes at the end. If the file cannot grow, moves all bytes to memory.
    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Store::File(file) = &mut self.store {
            let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
            if file.write_all(bytes).is_err() {
                let mut before = vec![0; self.size as usize];
                file.rewind()?;
                file.read_exact(&mut before)?;
                self.store = Store::Memory(before);
            }
        }
        if let Store::Memory(before) = &mut self.store {
            before.extend_from_slice(bytes);
        }
        self.size += bytes.len() as u64;
        Ok(())
    }
}

/// Maximum number of parts that wait to be written.
const WAITING: usize = 4;

/// Stores bytes while the next ones are decompressed: another thread writes the file. For 500 MB,
/// this saves half a second.
pub(super) enum Filling {
    Here(Data),
    Thread(SyncSender<Vec<u8>>, JoinHandle<io::Result<Data>>),
}

impl Filling {
    /// An empty store, to which about `size` bytes will be added.
    pub(super) fn new(size: u64) -> Filling {
        let mut data = Data::new(size);
        if data.is_in_memory() {
            return Filling::Here(data);
        }
        let (sender, parts) = sync_channel::<Vec<u8>>(WAITING);
        let thread = thread::spawn(move || {
            parts.iter().try_for_each(|part| data.add(&part))?;
            Ok(data)
        });
        Filling::Thread(sender, thread)
    }

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// If the file cannot be written and its bytes cannot be read back into memory. If another
    /// thread writes the file, [`finish`](Self::finish) returns its error.
    pub(super) fn add(&mut self, part: Vec<u8>) -> io::Result<()> {
        match self {
            Filling::Here(data) => data.add(&part),
            Filling::Thread(sender, _) => {
                // The thread has ended: `finish` returns its error.
                let _ = sender.send(part);
                Ok(())
            }
        }
    }

    /// The store with all bytes that were added.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub(super) fn finish(self) -> io::Result<Data> {
        match self {
            Filling::Here(data) => Ok(data),
            Filling::Thread(sender, thread) => {
                drop(sender);
                thread.join().unwrap_or_else(|_| Err(io::Error::other("the writer has stopped")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the same bytes in a vector.
    #[test]
    fn bytes_are_the_same_in_memory_and_in_a_file() {
        let bytes: Vec<u8> = (0..10_000u32).map(|n| (n.pow(2) >> 7) as u8).collect();
        for (size, is_in_memory) in [(MOST_IN_MEMORY, true), (MOST_IN_MEMORY + 1, false)] {
            let mut data = Data::new(size);
            bytes.chunks(999).for_each(|part| data.add(part).unwrap());
            assert_eq!((data.size(), data.is_in_memory()), (10_000, is_in_memory));
            for position in [0, 5, 995, 9_993] {
                let expected = &bytes[position..position + 7];
                assert_eq!(*data.bytes(position as u64, 7), *expected, "{position}");
            }
        }
    }

    /// A file that cannot be written, for example because the disk is full, does no harm.
    #[test]
    fn without_room_for_a_file_the_bytes_are_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("read only");
        std::fs::write(&path, b"abc").unwrap();
        let file = File::open(&path).unwrap();
        let mut data = Data { size: 3, store: Store::File(Mutex::new(file)) };
        data.add(b"def").unwrap();
        assert!(data.is_in_memory());
        assert_eq!(*data.bytes(0, 6), *b"abcdef");
    }
}
