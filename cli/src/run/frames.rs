//! `--observe frame`: each picture that the video engine decoded or reconstructed, with its counts
//! and as files.

use super::number::{bytes, counted};
use crate::output::{Error, bad_input, write_picture};
use genxml_sim::machine::coded::CodedPicture;
use genxml_sim::machine::events::Event;
use genxml_sim::mem::Va;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// The decoded pictures of a run, and those that the encoder has reconstructed.
#[derive(Default)]
pub struct Frames {
    /// A paragraph and an object for each picture.
    list: Vec<(String, Value)>,
    submissions: u64,
    directory: Option<PathBuf>,
    result: Option<Error>,
}

impl Frames {
    /// An empty list. Pictures are written to `directory`, if it is given.
    pub fn new(directory: Option<PathBuf>) -> Frames {
        Frames { directory, ..Frames::default() }
    }

    /// Records an event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submissions += 1,
            Event::Picture(picture) => {
                let files = self.write(picture);
                let number = self.list.len() + 1;
                let text = text(picture, number, self.submissions, files.as_ref());
                self.list.push((text, object(picture, number, self.submissions, files)));
            }
            _ => {}
        }
    }

    /// Writes the picture as files and returns their names.
    fn write(&mut self, picture: &CodedPicture<'_>) -> Option<Files> {
        let directory = self.directory.as_ref().filter(|_| self.result.is_none())?;
        let number = self.list.len() + 1;
        let files = Files {
            picture: format!("picture{number}.png"),
            samples: format!("picture{number}.yuv"),
        };
        let image = picture.image();
        let path = directory.join(&files.picture);
        let written = write_picture(&path, image.width, image.height, &image.rgba);
        let path = directory.join(&files.samples);
        let planes = picture.frame.planes.each_ref().map(|plane| plane.data.as_slice());
        let written = written.and_then(|()| {
            fs::write(&path, planes.concat())
                .map_err(|error| bad_input(format!("cannot write {}: {error}", path.display())))
        });
        match written {
            Ok(()) => Some(files),
            Err(error) => {
                self.result = Some(error);
                None
            }
        }
    }

    /// Returns the pictures.
    ///
    /// # Errors
    /// If a picture could not be written.
    pub fn finish(mut self) -> Result<Frames, Error> {
        match self.result.take() {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    /// Writes a paragraph for each picture.
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.list.iter().try_for_each(|(text, _)| out.write_all(text.as_bytes()))
    }

    /// An array with an object for each picture.
    pub fn json(&self) -> Value {
        self.list.iter().map(|(_, object)| object.clone()).collect()
    }
}

/// Names of the files of a picture.
struct Files {
    /// In colours.
    picture: String,
    /// The samples of the planes in turn: Y, Cb, Cr.
    samples: String,
}

/// The paragraph of a picture.
fn text(
    picture: &CodedPicture<'_>,
    number: usize,
    submission: u64,
    files: Option<&Files>,
) -> String {
    let CodedPicture { at, codec, kind, slices, report, .. } = picture;
    let (packet, address) = (at.packet, Va(at.address));
    let mut text = format!("frame {number}: submission {submission}, {packet} at {address}\n");
    let mut line = |name: &str, words: String| text += &format!("  {name:<13} {words}\n");
    let [width, height] = picture.size();
    let (codec, kind, rows) = (codec.name(), kind.name(), picture.rows());
    line("picture", format!("{codec} {kind} {rows}, {width}x{height} macroblocks"));
    let plural = if *slices == 1 { "" } else { "s" };
    let slices = counted((*slices).into());
    line("data", format!("{slices} slice{plural} of {}", bytes(picture.bytes)));
    let mut references: Vec<String> = Vec::new();
    for (index, address) in picture.references {
        references.push(format!("{index} at {}", Va(*address)));
    }
    if !references.is_empty() {
        line("references", references.join(", "));
    }
    for (name, address) in [("before", picture.before), ("after", picture.after)] {
        if let Some(address) = address {
            line("output", format!("{name} deblocking at {}", Va(address)));
        }
    }
    let concealed = match report.concealed {
        0 => String::new(),
        concealed => format!(", {} concealed", counted(concealed.into())),
    };
    line("did", format!("macroblocks {}{concealed}", counted(report.macroblocks.into())));
    if let Some(Files { picture, samples }) = files {
        line("pictures", format!("{picture}, {samples}"));
    }
    text
}

/// The object of a picture.
fn object(
    picture: &CodedPicture<'_>,
    number: usize,
    submission: u64,
    files: Option<Files>,
) -> Value {
    let hex = |address: u64| format!("{address:#x}");
    let references: Vec<Value> = picture
        .references
        .iter()
        .map(|(index, address)| json!({ "index": index, "address": hex(*address) }))
        .collect();
    let [width, height] = picture.size();
    let (file, samples) = files.map(|files| (files.picture, files.samples)).unzip();
    json!({
        "frame": number,
        "submission": submission,
        "address": hex(picture.at.address),
        "packet": picture.at.packet,
        "codec": picture.codec.name(),
        "type": picture.kind.name(),
        "rows": picture.rows(),
        "width": width,
        "height": height,
        "slices": picture.slices,
        "bytes": picture.bytes,
        "references": references,
        "before": picture.before.map(hex),
        "after": picture.after.map(hex),
        "macroblocks": picture.report.macroblocks,
        "concealed": picture.report.concealed,
        "picture": file,
        "samples": samples,
    })
}
