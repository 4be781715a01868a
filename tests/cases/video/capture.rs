//! Captures of the video engine: the submissions of a driver, the memory that it wrote, and the
//! frames that an independent decoder has for them.
//!
//! The folder `captures` has one file for each. Lines that begin with `#` say what it is. The other
//! lines are steps:
//!
//! * `map ADDRESS BYTES` maps memory, all zeros;
//! * `put ADDRESS BASE64` writes bytes, as the driver did;
//! * `run ADDRESS` submits the batch at this address to the video engine;
//! * `frame ADDRESS PITCH PLANES md5 HEX` expects a picture in Y tiles. A plane is
//!   `ROWxWIDTHxHEIGHT`: rows before it, and its bytes and rows. The sum is that of the bytes of
//!   all planes in turn;
//! * `frame ADDRESS PITCH PLANES near MOST BASE64` is the same with the bytes themselves, and the
//!   largest difference: the standard leaves the last bit of the inverse transform open, and errors
//!   add up from picture to picture.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use genxml::engine::EngineId;
use genxml_cases::Model;
use genxml_sim::{Fault, Gpu};
use md5::{Digest, Md5};
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/video/captures");

/// A capture.
#[derive(Clone)]
pub struct Capture {
    pub steps: Vec<Step>,
}

/// A line of a capture.
#[derive(Clone)]
pub enum Step {
    Map(u64, u64),
    Put(u64, Vec<u8>),
    Run(u64),
    Frame(Picture, Want),
}

/// Where a picture in Y tiles is.
#[derive(Clone)]
pub struct Picture {
    pub address: u64,
    pub pitch: usize,
    /// Rows before the plane, bytes of its rows, and rows.
    pub planes: Vec<(usize, usize, usize)>,
}

/// What a picture must be.
#[derive(Clone)]
pub enum Want {
    Md5(String),
    Near(u8, Vec<u8>),
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

fn bytes(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).unwrap()
}

impl Step {
    fn parse(line: &str) -> Step {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["map", address, length] => Step::Map(number(address), number(length)),
            ["put", address, text] => Step::Put(number(address), bytes(text)),
            ["run", address] => Step::Run(number(address)),
            ["frame", address, pitch, planes, ref want @ ..] => {
                let plane = |text: &str| {
                    let numbers: Vec<usize> =
                        text.split('x').map(|number| number.parse().unwrap()).collect();
                    (numbers[0], numbers[1], numbers[2])
                };
                let planes = planes.split(',').map(plane).collect();
                let picture =
                    Picture { address: number(address), pitch: number(pitch) as usize, planes };
                let want = match *want {
                    ["md5", hex] => Want::Md5(hex.to_owned()),
                    ["near", most, text] => Want::Near(number(most) as u8, bytes(text)),
                    _ => panic!("neither md5 nor near: {line}"),
                };
                Step::Frame(picture, want)
            }
            _ => panic!("not a step: {line}"),
        }
    }
}

impl Capture {
    /// Reads a file of the folder.
    pub fn open(name: &str) -> Capture {
        let text = std::fs::read_to_string(Path::new(FOLDER).join(name).with_extension("txt"));
        let text = text.unwrap_or_else(|error| panic!("{name}: {error}"));
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Capture { steps: lines.map(Step::parse).collect() }
    }

    /// Names of all captures.
    pub fn names() -> Vec<String> {
        let files = std::fs::read_dir(FOLDER).unwrap();
        let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut names: Vec<String> = files.map(|file| name(&file.unwrap().path())).collect();
        names.sort();
        names
    }

    /// A model with the mapped memory.
    pub fn model(&self) -> Model {
        let mut gpu = Gpu::new();
        gpu.set_work_limit(1 << 24);
        let context = gpu.create_context().unwrap();
        let mut model = Model::over(gpu, context);
        for step in &self.steps {
            if let Step::Map(address, length) = step {
                model.map(*address, *length);
            }
        }
        model
    }

    /// The memory that is mapped.
    pub fn memory(&self, model: &mut Model) -> Vec<u8> {
        let mut all = Vec::new();
        for step in &self.steps {
            if let Step::Map(address, length) = step {
                all.extend(model.read(*address, *length as usize));
            }
        }
        all
    }

    /// Plays all steps on a model.
    pub fn play(&self, model: &mut Model) -> Result<(), Fault> {
        let mut frame = 0;
        for step in &self.steps {
            match step {
                Step::Map(..) => {}
                Step::Put(address, bytes) => model.write(*address, bytes),
                Step::Run(address) => {
                    model.submit_at(EngineId::Video, *address)?;
                }
                Step::Frame(picture, want) => {
                    if let Err(why) = want.check(&picture.read(model)) {
                        panic!("frame {frame}, counted in the order of decoding: {why}");
                    }
                    frame += 1;
                }
            }
        }
        Ok(())
    }

    /// The steps up to the first frame, and the frame.
    pub fn first_frame(&self) -> (Capture, Picture, Want) {
        let is_frame = |step: &Step| matches!(step, Step::Frame(..));
        let at = self.steps.iter().position(is_frame).expect("a frame");
        let Step::Frame(picture, want) = &self.steps[at] else { unreachable!() };
        (Capture { steps: self.steps[..at].to_vec() }, picture.clone(), want.clone())
    }

    /// Submits all batches, whatever the results of the earlier ones are. Returns the number of
    /// faults. The field list does not see these batches.
    pub fn submit(&self, model: &mut Model) -> usize {
        let mut faults = 0;
        for step in &self.steps {
            match step {
                Step::Put(address, bytes) => model.write(*address, bytes),
                Step::Run(address) => {
                    let result = model.gpu.submit(model.context, EngineId::Video, *address, 0);
                    faults += usize::from(result.is_err());
                }
                Step::Map(..) | Step::Frame(..) => {}
            }
        }
        faults
    }

    /// Writes what the driver wrote before the first batch, and returns the batch's address.
    pub fn prepare(&self, model: &mut Model) -> u64 {
        for step in &self.steps {
            match step {
                Step::Put(address, bytes) => model.write(*address, bytes),
                Step::Run(address) => return *address,
                _ => {}
            }
        }
        unreachable!("a capture has a batch");
    }
}

impl Picture {
    /// The bytes of the planes in turn.
    pub fn read(&self, model: &mut Model) -> Vec<u8> {
        let rows = self.planes.iter().map(|(row, _, height)| row + height).max().unwrap_or(0);
        let surface = model.read(self.address, rows.next_multiple_of(32) * self.pitch);
        let mut bytes = Vec::new();
        for &(first, width, height) in &self.planes {
            for y in first..first + height {
                bytes.extend((0..width).map(|x| surface[y_tiled(x, y, self.pitch)]));
            }
        }
        bytes
    }
}

/// Offset of a byte in Y tiles: 4 KiB for 32 rows of 128 bytes, in columns of 16 bytes (Memory
/// Views, Tile-Y).
pub fn y_tiled(x: usize, y: usize, pitch: usize) -> usize {
    let tile = y / 32 * (pitch / 128) + x / 128;
    4096 * tile + x % 128 / 16 * 512 + y % 32 * 16 + x % 16
}

/// The sum as text.
pub fn md5(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Want {
    /// Compares a picture.
    pub fn check(&self, got: &[u8]) -> Result<(), String> {
        match self {
            Want::Md5(want) if md5(got) == *want => Ok(()),
            Want::Md5(want) => Err(format!("the sum is {} instead of {want}", md5(got))),
            Want::Near(limit, want) => {
                assert_eq!(got.len(), want.len());
                let differences = got.iter().zip(want).map(|(a, b)| a.abs_diff(*b));
                match differences.max().unwrap_or(0) {
                    most if most <= *limit => Ok(()),
                    most => Err(format!("a sample differs by {most}")),
                }
            }
        }
    }
}
