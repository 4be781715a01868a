//! Layouts of surfaces that packets set for later packets.

use super::record::{Item, Origin, Record};
use super::video_surface::{Chroma, Tiles, VideoSurface};
use genxml_core::bits;
use genxml_core::reflect::{Container, Type};
use std::fmt;

/// Number of buffers of the stream output (2a p.216).
pub(super) const STREAM_BUFFERS: usize = 4;
/// Number of pictures that MFX_SURFACE_STATE and VEBOX_SURFACE_STATE distinguish.
pub(super) const PICTURES: usize = 6;

/// The layout of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Picture {
    /// Name of the format; empty if the manual has none for the value.
    format: &'static str,
    /// The samples, without an address.
    pub samples: VideoSurface,
    /// Column and row of the first sample of Cb and of Cr.
    pub planes: [(u32, u32); 2],
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Picture { format, samples: VideoSurface { width, height, pitch, tiles, .. }, .. } =
            self;
        let format = if format.is_empty() { "unknown format" } else { format };
        write!(f, "{width} x {height} {format}, pitch {pitch} bytes, {tiles}")
    }
}

/// A buffer of the stream output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamBuffer {
    pub address: u64,
    /// Size of the buffer in bytes.
    pub size: u64,
}

/// The surfaces that earlier packets have set.
#[derive(Debug, Clone, Default)]
pub(super) struct Surfaces {
    pub stream: [Option<StreamBuffer>; STREAM_BUFFERS],
    pub pictures: [Option<Picture>; PICTURES],
}

/// The decoded value of a field, for example one more than stored.
pub(super) fn number(record: &Record, container: &Container, name: &str) -> Option<u64> {
    let field = container.fields.iter().find(|field| field.name == name)?;
    Some(field.stored.decode(bits::get(&record.dwords, field.start, field.end)))
}

/// The name of a field's value.
pub(super) fn name_of(record: &Record, container: &Container, name: &str) -> Option<&'static str> {
    let field = container.fields.iter().find(|field| field.name == name)?;
    match field.ty {
        Type::Enum(list) => list.name_of(bits::get(&record.dwords, field.start, field.end)),
        _ => None,
    }
}

impl Surfaces {
    /// Stores the stream output buffer that 3DSTATE_SO_BUFFER sets.
    pub fn stream_buffer(&mut self, record: &Record, container: &Container) {
        let index = record.stored(container, "SO Buffer Index").unwrap_or(0) as usize;
        let Some(buffer) = self.stream.get_mut(index) else { return };
        let dwords = number(record, container, "Surface Size").unwrap_or(0);
        let address = record.address_of(container, "Surface Base Address").unwrap_or(0);
        let on = record.stored(container, "SO Buffer Enable") == Some(1);
        *buffer = on.then_some(StreamBuffer { address, size: 4 * dwords });
    }

    /// Stores the layout that MFX_SURFACE_STATE or VEBOX_SURFACE_STATE sets.
    pub fn picture(&mut self, record: &Record, container: &Container) {
        let id = record.stored(container, "Surface ID");
        let id =
            id.or_else(|| record.stored(container, "Surface Identification")).unwrap_or(0) as usize;
        let Some(picture) = self.pictures.get_mut(id) else { return };
        let value = |name| number(record, container, name).unwrap_or(0);
        let format = name_of(record, container, "Surface Format").unwrap_or("");
        let short = |name| value(name) as u32;
        let planes = [
            (short("X Offset for U(Cb)"), short("Y Offset for U(Cb)")),
            (short("X Offset for V(Cr)"), short("Y Offset for V(Cr)")),
        ];
        let samples = VideoSurface {
            address: 0,
            width: short("Width"),
            height: short("Height"),
            pitch: short("Surface Pitch"),
            tiles: match (value("Tiled Surface"), value("Tile Walk")) {
                (0, _) => Tiles::Linear,
                (_, 0) => Tiles::X,
                (_, _) => Tiles::Y,
            },
            chroma: match (format, value("Interleave Chroma")) {
                ("PLANAR_420_8", 1) => Chroma::Interleaved { row: planes[0].1 },
                ("PLANAR_420_8", _) => Chroma::Planar { planes, across: 2, down: 2 },
                _ => Chroma::None,
            },
            full_range: false,
        };
        *picture = Some(Picture { format, samples, planes });
    }
}

/// Corrects the unit of the blitter's pitches of tiled surfaces: they count dwords (2d p.49, p.54).
pub(super) fn pitches_of_tiled(record: &mut Record, container: &Container) {
    for (pitch, tiled) in
        [("Destination Pitch", "Dest Tiling Enable"), ("Source Pitch", "Src Tiling Enable")]
    {
        if record.stored(container, tiled) != Some(1) {
            continue;
        }
        for item in record.items.iter_mut().filter(|item| item.name == pitch) {
            // The item differs from its field now, so it has no origin.
            *item = Item { unit: "dwords", origin: Origin::NONE, ..*item };
        }
    }
}
