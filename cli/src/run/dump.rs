//! `--dump`: memory and pictures as files.

use crate::output::{Error, bad_input, write_picture};
use genxml::capture::{Expectation, Frame};
use genxml_sim::inspect::picture;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of `--dump`.
pub struct Dump {
    directory: PathBuf,
    names: BTreeSet<String>,
}

impl Dump {
    /// Creates the directory if it does not exist.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(|error| {
            bad_input(format!("cannot create {}: {error}", directory.display()))
        })?;
        Ok(Dump { directory: directory.to_owned(), names: BTreeSet::new() })
    }

    /// Writes the expected range of an object. If the name was used before, the submission's number
    /// is added to it.
    pub fn expectation(&mut self, expectation: &Expectation, object: &[u8]) -> Result<(), Error> {
        let Expectation { name, after_exec, offset, size, .. } = expectation;
        let mut file = format!("{name}.bin");
        if !self.names.insert(file.clone()) {
            file = format!("{name}.{after_exec}.bin");
            self.names.insert(file.clone());
        }
        let end = (offset + size).min(object.len() as u64) as usize;
        let bytes = object.get(*offset as usize..end).unwrap_or(&[]);
        let path = self.directory.join(file);
        fs::write(&path, bytes)
            .map_err(|error| bad_input(format!("cannot write {}: {error}", path.display())))
    }

    /// Writes a frame as a picture.
    pub fn frame(&self, frame: &Frame, object: &[u8]) -> Result<(), Error> {
        let rgba = picture::frame_rgba(frame, object)
            .map_err(|error| bad_input(format!("frame {}: {error}", frame.index)))?;
        let path = self.directory.join(format!("frame{}.png", frame.index));
        write_picture(&path, frame.width, frame.height, &rgba)
    }
}
