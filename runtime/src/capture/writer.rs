//! Writes the capture format.

use super::manifest::{self, FORMAT, Name, Number};
use super::{CaptureError, Compare, Tiling};
use crate::engine::EngineId;
use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Names of the data file. Each write uses the one that the previous write did not use.
const DATA_FILES: [&str; 2] = ["data.bin.zst", "data-2.bin.zst"];

/// Collects events and writes them as a capture directory. The bytes of equal writes are stored
/// once.
///
/// The writer does not check its input; [`Capture::open`](super::Capture::open) does.
#[derive(Debug)]
pub struct CaptureWriter {
    name: String,
    pci_id: u32,
    generation: u32,
    events: Vec<manifest::Event>,
    data: Vec<u8>,
    known: HashMap<Vec<u8>, u64>,
    /// Names of the objects of the submissions so far that are not freed.
    objects: HashSet<String>,
    next_seq: u64,
    /// Number of successful calls of `write`.
    writes: usize,
}

impl std::fmt::Debug for manifest::Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// An object for [`CaptureWriter::exec`].
#[derive(Debug, Clone)]
pub struct WriteObject<'a> {
    /// Name of the object; the same in all submissions.
    pub object: &'a str,
    /// GPU address of the object.
    pub address: u64,
    /// Size of the object in bytes.
    pub size: u64,
    /// Layout of the object; information only.
    pub tiling: Tiling,
    /// Bytes from one row to the next if tiled; information only.
    pub stride: u32,
    /// Bytes that are written before the submission, each piece with its offset in the object.
    pub writes: Vec<(u64, &'a [u8])>,
}

impl<'a> WriteObject<'a> {
    /// A linear object with these contents at its start. Lines of zeros (see `nonzero_ranges`)
    /// are not written, so the object must be new.
    pub fn new(object: &'a str, address: u64, size: u64, contents: &'a [u8]) -> Self {
        let writes = nonzero_ranges(contents);
        WriteObject { object, address, size, tiling: Tiling::Linear, stride: 0, writes }
    }

    /// As [`new`](Self::new) for an object that may have other contents from earlier submissions:
    /// all bytes are written, zeros too.
    pub fn whole(object: &'a str, address: u64, size: u64, contents: &'a [u8]) -> Self {
        let writes = if contents.is_empty() { Vec::new() } else { vec![(0, contents)] };
        WriteObject { object, address, size, tiling: Tiling::Linear, stride: 0, writes }
    }
}

/// The parts of `bytes` that are not zero, as offset and bytes. Only whole lines are left out: 64
/// zero bytes at a multiple of 64. The last line may be shorter.
pub fn nonzero_ranges(bytes: &[u8]) -> Vec<(u64, &[u8])> {
    const LINE: usize = 64;
    let mut ranges = Vec::new();
    let mut start = None;
    for (index, line) in bytes.chunks(LINE).enumerate() {
        let zero = line.iter().all(|&byte| byte == 0);
        match start {
            None if !zero => start = Some(index * LINE),
            Some(begin) if zero => {
                ranges.push((begin as u64, &bytes[begin..index * LINE]));
                start = None;
            }
            _ => {}
        }
    }
    if let Some(begin) = start {
        ranges.push((begin as u64, &bytes[begin..]));
    }
    ranges
}

impl CaptureWriter {
    /// An empty capture for a Broadwell GT2 (PCI id 0x1616).
    pub fn new(name: impl Into<String>) -> Self {
        CaptureWriter {
            name: name.into(),
            pci_id: 0x1616,
            generation: 8,
            events: Vec::new(),
            data: Vec::new(),
            known: HashMap::new(),
            objects: HashSet::new(),
            next_seq: 0,
            writes: 0,
        }
    }

    /// Sets the device.
    pub fn device(mut self, pci_id: u32, generation: u32) -> Self {
        (self.pci_id, self.generation) = (pci_id, generation);
        self
    }

    fn store(&mut self, writes: &[(u64, &[u8])]) -> Vec<(u64, u64, u64)> {
        writes
            .iter()
            .map(|&(offset, bytes)| {
                let at = match self.known.get(bytes) {
                    Some(&at) => at,
                    None => {
                        let at = self.data.len() as u64;
                        self.data.extend_from_slice(bytes);
                        self.known.insert(bytes.to_vec(), at);
                        at
                    }
                };
                (offset, bytes.len() as u64, at)
            })
            .collect()
    }

    /// True if an earlier submission has an object with this name, and it was not freed.
    pub fn has_object(&self, object: &str) -> bool {
        self.objects.contains(object)
    }

    /// Adds a submission and returns its sequence number.
    pub fn exec(
        &mut self,
        context: u32,
        engine: EngineId,
        batch_address: u64,
        batch_length: u64,
        objects: &[WriteObject<'_>],
    ) -> u64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.objects.extend(objects.iter().map(|object| object.object.to_owned()));
        let objects = objects
            .iter()
            .map(|object| manifest::Object {
                object: Name::Text(object.object.to_owned()),
                address: Number::hex(object.address),
                size: object.size,
                tiling: object.tiling as u32,
                stride: object.stride,
                writes: self.store(&object.writes),
            })
            .collect();
        self.events.push(manifest::Event {
            r#type: Some("exec".to_owned()),
            seq: Some(seq),
            context: Some(context),
            engine: Some(engine.capture_name().to_owned()),
            batch_address: Some(Number::hex(batch_address)),
            batch_length: Some(Number::Value(batch_length)),
            objects: Some(objects),
            ..Default::default()
        });
        seq
    }

    /// Expects `bytes` in `object` from `offset` on after the newest submission, except the
    /// `ignore`d ranges (offset from `offset`, length).
    pub fn expect(
        &mut self,
        name: &str,
        object: &str,
        offset: u64,
        bytes: &[u8],
        ignore: &[(u64, u64)],
        compare: Compare,
    ) {
        let writes = self.store(&nonzero_ranges(bytes));
        let compare = match compare {
            Compare::Exact => manifest::Compare {
                kind: "exact".to_owned(),
                max_abs_diff: None,
                outlier_fraction: None,
            },
            Compare::Rgba8 { max_abs_diff, outlier_fraction } => manifest::Compare {
                kind: "rgba8".to_owned(),
                max_abs_diff: Some(max_abs_diff.into()),
                outlier_fraction: Some(outlier_fraction),
            },
        };
        self.events.push(manifest::Event {
            r#type: Some("expect".to_owned()),
            name: Some(name.to_owned()),
            after_exec: Some(self.next_seq.saturating_sub(1)),
            object: Some(Name::Text(object.to_owned())),
            offset: Some(offset),
            size: Some(bytes.len() as u64),
            ignore: Some(ignore.to_vec()),
            compare: Some(compare),
            writes: Some(writes),
            ..Default::default()
        });
    }

    /// Records that an image in `object` was displayed after the newest submission. `frame.object`
    /// and `frame.after_exec` are ignored.
    pub fn frame(&mut self, object: &str, frame: &super::Frame) {
        self.events.push(manifest::Event {
            r#type: Some("frame".to_owned()),
            index: Some(frame.index),
            after_exec: Some(self.next_seq.saturating_sub(1)),
            object: Some(Name::Text(object.to_owned())),
            offset: Some(frame.offset),
            width: Some(frame.width),
            height: Some(frame.height),
            pitch: Some(frame.pitch),
            fourcc: Some(frame.fourcc.clone()),
            tiling: Some(frame.tiling as u32),
            ..Default::default()
        });
    }

    /// Records that an object was freed.
    pub fn free(&mut self, object: &str) {
        self.objects.remove(object);
        self.events.push(manifest::Event {
            r#type: Some("free".to_owned()),
            object: Some(Name::Text(object.to_owned())),
            ..Default::default()
        });
    }

    /// Writes the capture into `directory`, which is created if it does not exist.
    ///
    /// # Errors
    /// [`CaptureError::Io`] if a file cannot be written.
    pub fn finish(mut self, directory: impl AsRef<Path>) -> Result<(), CaptureError> {
        self.write(directory)
    }

    /// Writes the capture so far, as [`finish`](Self::finish). More events may follow. At any
    /// time, also if the process ends during the call, `directory` has the previous capture of
    /// this writer or the new one.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn write(&mut self, directory: impl AsRef<Path>) -> Result<(), CaptureError> {
        let directory = directory.as_ref();
        let io = |path: &PathBuf| {
            let path = path.clone();
            move |source| CaptureError::Io { path, source }
        };
        let owned = directory.to_owned();
        std::fs::create_dir_all(directory).map_err(io(&owned))?;
        let data = DATA_FILES[self.writes % 2];
        let path = directory.join(data);
        let packed = ruzstd::encoding::compress_to_vec(
            &self.data[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        std::fs::write(&path, packed).map_err(io(&path))?;

        let path = directory.join("manifest.json.new");
        let written = manifest::Written {
            format: FORMAT,
            name: &self.name,
            device: manifest::Device {
                pci_id: Number::hex(self.pci_id.into()),
                r#gen: self.generation,
            },
            data,
            data_size: self.data.len() as u64,
            events: &self.events,
        };
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).map_err(io(&path))?);
        serde_json::to_writer_pretty(&mut file, &written)
            .map_err(|error| io(&path)(error.into()))?;
        file.write_all(b"\n").and_then(|()| file.flush()).map_err(io(&path))?;

        let manifest = directory.join("manifest.json");
        std::fs::rename(&path, &manifest).map_err(io(&manifest))?;
        self.writes += 1;
        if self.writes > 1 {
            // The manifest does not name this file any more, so it does no harm if it stays.
            let _ = std::fs::remove_file(directory.join(DATA_FILES[self.writes % 2]));
        }
        Ok(())
    }
}
