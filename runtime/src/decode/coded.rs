//! Coded pictures: what the packets of a picture of the video engine say together.

use super::effects::CODED_STATE;
use super::record::Record;
use super::surface_state::Picture as Layout;
use super::video_surface::{Chroma, VideoSurface};
use crate::memory::VA_MASK;
use genxml_core::bits;
use genxml_core::reflect::{Container, Type};
use std::fmt::Write as _;

/// Number of reference pictures in MFX_PIPE_BUF_ADDR_STATE.
const REFERENCES: usize = 16;

pub(super) const MODE: usize = 0;
pub(super) const BUFFERS: usize = 1;
const AVC: usize = 2;
const SLICE: usize = 3;
const LIST: usize = 4;
const MPEG2: usize = 5;
const VC1: usize = 6;
const VP8: usize = 7;
const JPEG: usize = 8;

/// Types of the first and of the second field, by Picture Type of a VC-1 field picture.
const FIELD_TYPES: [[&str; 2]; 8] = [
    ["I", "I"],
    ["I", "P"],
    ["P", "I"],
    ["P", "P"],
    ["B", "B"],
    ["B", "BI"],
    ["BI", "B"],
    ["BI", "BI"],
];

/// The newest packet of each kind in [`CODED_STATE`], and the picture that is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Coded {
    packets: [Option<Latched>; CODED_STATE.len()],
    pub picture: Option<Picture>,
}

#[derive(Debug, Clone)]
pub(super) struct Latched {
    container: &'static Container,
    dwords: Vec<u32>,
}

impl Latched {
    /// The decoded value of a field; 0 if there is no such field.
    fn value(&self, name: &str) -> u64 {
        let field = self.container.fields.iter().find(|field| field.name == name);
        field
            .map_or(0, |field| field.stored.decode(bits::get(&self.dwords, field.start, field.end)))
    }

    pub fn on(&self, name: &str) -> bool {
        self.value(name) == 1
    }

    /// The name of a field's value; `?` without a name.
    fn named(&self, name: &str) -> &'static str {
        let field = self.container.fields.iter().find(|field| field.name == name);
        match field.map(|field| (field, field.ty)) {
            Some((field, Type::Enum(list))) => {
                list.name_of(bits::get(&self.dwords, field.start, field.end)).unwrap_or("?")
            }
            _ => "?",
        }
    }

    /// The address in a field.
    pub fn address(&self, name: &str) -> u64 {
        let field = self.container.fields.iter().find(|field| field.name == name);
        field.map_or(0, |field| {
            bits::get(&self.dwords, field.start, field.end) << (field.start % 32) & VA_MASK
        })
    }

    /// The values of a field in all elements of its array. Empty if no array has such a field.
    pub fn elements(&self, name: &str) -> Vec<u64> {
        let found =
            self.container.groups.iter().find_map(|group| {
                Some((group, group.fields.iter().find(|field| field.name == name)?))
            });
        let Some((group, field)) = found else { return Vec::new() };
        let shift = if matches!(field.ty, Type::Address { .. }) { field.start % 32 } else { 0 };
        (0..group.count)
            .map(|index| group.start + index * group.bits)
            .map(|at| bits::get(&self.dwords, at + field.start, at + field.end) << shift)
            .collect()
    }
}

/// The picture whose BSD objects are being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Picture {
    /// Name of the BSD object.
    pub object: &'static str,
    /// Depth and address of the last BSD object.
    pub depth: u32,
    pub address: u64,
    pub slices: u64,
    pub bytes: u64,
    /// Number of slices of AVC by type: P, B, I.
    pub types: [u64; 3],
    /// Roles of the reference pictures; empty for those that are not used.
    pub roles: [&'static str; REFERENCES],
}

impl Coded {
    /// Stores a packet with state.
    pub fn set(&mut self, index: usize, record: &Record, container: &'static Container) {
        let latched = &mut self.packets[index];
        match latched {
            Some(latched) => {
                latched.container = container;
                latched.dwords.clone_from(&record.dwords);
            }
            None => *latched = Some(Latched { container, dwords: record.dwords.clone() }),
        }
        if index == LIST {
            self.list();
        }
    }

    /// Stores MFX_PIPE_BUF_ADDR_STATE.
    pub fn buffers(&mut self, record: &Record, container: &'static Container) {
        self.set(BUFFERS, record, container);
    }

    pub fn get(&self, index: usize) -> Option<&Latched> {
        self.packets[index].as_ref()
    }

    /// Adds the BSD object `record` to the picture.
    pub fn object(&mut self, record: &Record, container: &'static Container) {
        let lengths = container.fields.iter().filter(|field| field.name.ends_with("Data Length"));
        let bytes: u64 =
            lengths.map(|field| bits::get(&record.dwords, field.start, field.end)).sum();
        let slice_type = self.get(SLICE).map_or(3, |slice| slice.value("Slice Type") as usize);
        self.types_of_reference(record.name);
        let picture = self.picture.get_or_insert_default();
        picture.object = record.name;
        (picture.depth, picture.address) = (record.depth, record.address);
        // i965 sends a slice without data if the first slice is missing.
        if bytes > 0 {
            picture.slices += 1;
            picture.bytes += bytes;
            if let Some(count) = picture.types.get_mut(slice_type) {
                *count += 1;
            }
        }
    }

    /// Marks the references that a list of AVC names.
    fn list(&mut self) {
        let Some(list) = self.get(LIST) else { return };
        let second = list.on("Reference Picture List Select");
        let missing = list.elements("Non-Existing");
        let stores = list.elements("Frame Store Index");
        let roles = &mut self.picture.get_or_insert_default().roles;
        for (store, _) in stores.into_iter().zip(missing).filter(|(_, missing)| *missing == 0) {
            let Some(role) = roles.get_mut(store as usize) else { continue };
            *role = match (*role, second) {
                ("list 1" | "lists 0 and 1", false) => "lists 0 and 1",
                (_, false) => "list 0",
                ("list 0" | "lists 0 and 1", true) => "lists 0 and 1",
                (_, true) => "list 1",
            };
        }
    }

    /// Marks the references of the other standards, by the type of the picture.
    fn types_of_reference(&mut self, object: &str) {
        let predicted = match (object, self.kind(object)) {
            ("MFD_AVC_BSD_OBJECT", _) | (_, "I" | "BI") => return,
            (_, "B") => 2,
            _ => 1,
        };
        let vp8 = object == "MFD_VP8_BSD_OBJECT";
        let roles = &mut self.picture.get_or_insert_default().roles;
        match vp8 {
            true => roles[..3].copy_from_slice(&["last", "golden", "alternate"]),
            // References 2 and 3 are the bottom fields of 0 and 1.
            false => {
                for first in [0, 2] {
                    roles[first..first + predicted]
                        .copy_from_slice(&["forward", "backward"][..predicted]);
                }
            }
        }
    }

    /// The type of the picture.
    fn kind(&self, object: &str) -> &'static str {
        let value = |index, name| self.get(index).map_or(0, |packet: &Latched| packet.value(name));
        match object {
            "MFD_AVC_BSD_OBJECT" => {
                match self.picture.as_ref().map_or([0; 3], |picture| picture.types) {
                    [0, 0, 0] => "?",
                    [0, 0, _] => "I",
                    [_, 0, _] => "P",
                    _ => "B",
                }
            }
            "MFD_MPEG2_BSD_OBJECT" => match value(MPEG2, "Picture Coding Type") {
                1 => "I",
                2 => "P",
                3 => "B",
                _ => "?",
            },
            "MFD_VC1_BSD_OBJECT" => {
                let kind = value(VC1, "Picure Type") as usize;
                match value(VC1, "Frame Coding Mode") {
                    2.. => FIELD_TYPES[kind % 8][value(VC1, "Second Field") as usize & 1],
                    _ => ["I", "P", "B", "BI", "P"].get(kind).copied().unwrap_or("?"),
                }
            }
            "MFD_VP8_BSD_OBJECT" if value(VP8, "Key Frame") == 0 => "P",
            _ => "I",
        }
    }

    /// The picture in words: `AVC B, frame of 11 x 9 macroblocks`.
    pub fn title(&self, object: &str) -> String {
        let kind = self.kind(object);
        let standard = object.trim_start_matches("MFD_").trim_end_matches("_BSD_OBJECT");
        let index = match standard {
            "AVC" => AVC,
            "MPEG2" => MPEG2,
            "VC1" => VC1,
            "VP8" => VP8,
            _ => JPEG,
        };
        let Some(state) = self.get(index) else {
            return format!("{standard} {kind}, which no packet before describes");
        };
        let size = |width, height| format!("{} x {}", state.value(width), state.value(height));
        match index {
            AVC => {
                let rows = match (state.value("Image Structure"), state.on("MBAFF Mode")) {
                    (0, true) => "MBAFF frame",
                    (0, false) => "frame",
                    (1, _) => "top field of a frame",
                    _ => "bottom field of a frame",
                };
                let coding = if state.on("Entropy Coding Sync Enable") { "CABAC" } else { "CAVLC" };
                let size = size("Frame Width", "Frame Height");
                format!("AVC {kind}, {rows} of {size} macroblocks, {coding}")
            }
            MPEG2 => {
                let rows = match state.value("Picture Structure") {
                    1 => "top field of a frame",
                    2 => "bottom field of a frame",
                    _ => "frame",
                };
                let size = size("Frame Width In MBs", "Frame Height In MBs");
                format!("MPEG-2 {kind}, {rows} of {size} macroblocks")
            }
            VC1 => {
                let second = state.value("Second Field");
                let rows = match state.value("Frame Coding Mode") {
                    0 => "frame",
                    1 => "interlaced frame",
                    mode if mode & 1 == second => "top field",
                    _ => "bottom field",
                };
                let size = size("Picture Width In MBs", "Picture Height In MBs");
                format!("VC-1 {kind}, {rows} of {size} macroblocks")
            }
            VP8 => {
                let size = size("Frame Width", "Frame Height");
                format!("VP8 {kind}, frame of {size} macroblocks")
            }
            _ => {
                let (size, format) = (
                    size("Frame Width In Blocks", "Frame Height In Blocks"),
                    state.named("Input Format YUV"),
                );
                format!("JPEG, frame of {size} blocks, {format}")
            }
        }
    }

    /// Slices and bytes in words: `, 3 slices (2 P, 1 I) of 1234 bytes`.
    pub fn amount(&self, picture: &Picture) -> String {
        let Picture { object, slices, bytes, types: [p, b, i], .. } = picture;
        let mut text = String::new();
        let units = match *object {
            "MFD_VP8_BSD_OBJECT" => return format!(", {bytes} bytes"),
            "MFD_JPEG_BSD_OBJECT" => "scan",
            _ => "slice",
        };
        let plural = if *slices == 1 { "" } else { "s" };
        _ = write!(text, ", {slices} {units}{plural}");
        let types = [(i, "I"), (p, "P"), (b, "B")].into_iter().filter(|(count, _)| **count > 0);
        let types: Vec<String> = types.map(|(count, name)| format!("{count} {name}")).collect();
        if *object == "MFD_AVC_BSD_OBJECT" && types.len() > 1 {
            _ = write!(text, " ({})", types.join(", "));
        }
        _ = write!(text, " of {bytes} bytes");
        text
    }

    /// The samples at `address`, if they have an arrangement that can be read: as `layout`
    /// describes them, or as the state of a JPEG picture does.
    pub fn samples(&self, layout: &Layout, address: u64, object: &str) -> Option<VideoSurface> {
        let Layout { samples: surface, planes, .. } = *layout;
        let jpeg = self.get(JPEG).filter(|_| object == "MFD_JPEG_BSD_OBJECT");
        let Some(jpeg) = jpeg else { return Some(VideoSurface { address, ..surface }) };
        let ratio = [(0, 0), (2, 2), (2, 1), (1, 1), (4, 1), (1, 2), (2, 1), (1, 2)];
        let chroma = match (jpeg.value("Output Format YUV"), jpeg.value("Input Format YUV")) {
            (0, 0) => Chroma::None,
            (0, format) => {
                let (across, down) = ratio[format as usize & 7];
                Chroma::Planar { planes, across, down }
            }
            (1, _) => Chroma::Interleaved { row: planes[0].1 },
            _ => return None,
        };
        Some(VideoSurface { address, chroma, full_range: true, ..surface })
    }
}
