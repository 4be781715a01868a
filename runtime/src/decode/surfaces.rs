//! Surfaces whose description or address is in a packet: depth and stencil buffers, buffers of the
//! stream output, pictures of the video engines. Each is emitted with size, format and pitch, which
//! earlier packets may have set, and with a remark if its memory is missing.

use super::effects::SurfaceUse;
use super::follow::Follower;
use super::record::Record;
use super::surface_state::{STREAM_BUFFERS, StreamBuffer, name_of, number};
use crate::memory::VA_MASK;
use genxml_core::bits;
use genxml_core::reflect::{Container, Type};
use std::fmt;
use std::io;

/// For each picture: the field with its address, its name in the output, and its index in the
/// layouts that earlier packets have set.
const CODEC: [(&str, &str, usize); 3] = [
    ("Pre Deblocking Destination - Address", "picture before deblocking", DECODED),
    ("Post Deblocking Destination - Address", "picture after deblocking", DECODED),
    ("Original Uncompressed Picture Source - Address", "picture to encode", SOURCE),
];
const ENHANCEMENT: [(&str, &str, usize); 5] = [
    ("Current Frame Input Address", "frame", INPUT),
    ("Previous Frame Input Address", "previous frame", INPUT),
    ("Denoised Current Frame Output Address", "denoised frame", INPUT),
    ("Current Frame Output Address", "frame out", OUTPUT),
    ("Previous Frame Output Address", "previous frame out", OUTPUT),
];
/// Surface IDs of MFX_SURFACE_STATE.
pub(super) const DECODED: usize = 0;
const SOURCE: usize = 4;
/// Surface identifications of VEBOX_SURFACE_STATE.
const INPUT: usize = 0;
const OUTPUT: usize = 1;

impl Follower<'_> {
    /// Emits the surfaces that the packet uses.
    pub fn surfaces(
        &mut self,
        shown: SurfaceUse,
        record: &Record,
        container: &'static Container,
        depth: u32,
    ) -> io::Result<()> {
        let value = |name| number(record, container, name).unwrap_or(0);
        let base = record.address_of(container, "Surface Base Address").unwrap_or(0);
        match shown {
            SurfaceUse::Depth => {
                let kind = name_of(record, container, "Surface Type").unwrap_or("");
                if kind == "SURFTYPE_NULL" {
                    return Ok(());
                }
                let format =
                    name_of(record, container, "Surface Format").unwrap_or("unknown format");
                let (width, height) = (value("Width"), value("Height"));
                let slices = value("Depth");
                let pitch = value("Surface Pitch");
                let slices = if slices > 1 { format!(" x {slices}") } else { String::new() };
                let text = format_args!(
                    "depth buffer of {width} x {height}{slices} {format}, pitch {pitch} bytes"
                );
                self.surface(depth, base, text)
            }
            SurfaceUse::Hierarchical => {
                let pitch = value("Surface Pitch");
                self.surface(
                    depth,
                    base,
                    format_args!("hierarchical depth buffer, pitch {pitch} bytes"),
                )
            }
            SurfaceUse::Stencil if record.stored(container, "Stencil Buffer Enable") == Some(0) => {
                Ok(())
            }
            SurfaceUse::Stencil => {
                let pitch = value("Surface Pitch");
                let rows = pitch / 2;
                let text =
                    format_args!("stencil buffer, pitch {pitch} bytes for two rows of {rows}");
                self.surface(depth, base, text)
            }
            SurfaceUse::StreamOut => self.stream_out(record, container, depth),
            SurfaceUse::Codec => {
                self.pictures(&CODEC, record, container, depth)?;
                self.references(record, container, depth)
            }
            SurfaceUse::Enhancement => self.pictures(&ENHANCEMENT, record, container, depth),
        }
    }

    fn stream_out(&mut self, record: &Record, container: &Container, depth: u32) -> io::Result<()> {
        const PITCHES: [&str; STREAM_BUFFERS] = [
            "Buffer 0 Surface Pitch",
            "Buffer 1 Surface Pitch",
            "Buffer 2 Surface Pitch",
            "Buffer 3 Surface Pitch",
        ];
        if record.stored(container, "SO Function Enable") != Some(1) {
            return Ok(());
        }
        for (index, pitch) in PITCHES.into_iter().enumerate() {
            let Some(buffer) = self.state.draw.surfaces.stream[index] else { continue };
            let pitch = number(record, container, pitch).unwrap_or(0);
            let StreamBuffer { address, size } = buffer;
            match size.checked_div(pitch) {
                None => {
                    let text = format_args!("stream output buffer {index} of {size} bytes");
                    self.surface(depth, address, text)?;
                }
                Some(vertices) => {
                    let text = format_args!(
                        "stream output buffer {index} of {size} bytes, pitch {pitch} bytes, room for {vertices} vertices"
                    );
                    self.surface(depth, address, text)?;
                }
            }
        }
        Ok(())
    }

    fn pictures(
        &mut self,
        rows: &[(&str, &str, usize)],
        record: &Record,
        container: &Container,
        depth: u32,
    ) -> io::Result<()> {
        for &(field, name, id) in rows {
            let address = record.address_of(container, field).unwrap_or(0);
            if address != 0 {
                self.picture(depth, address, format_args!("{name}"), id)?;
            }
        }
        Ok(())
    }

    /// Emits the reference pictures. Adjacent entries with the same address are emitted once.
    fn references(&mut self, record: &Record, container: &Container, depth: u32) -> io::Result<()> {
        let Some(group) = container.groups.iter().find(|group| group.name == "Reference Picture")
        else {
            return Ok(());
        };
        let field = group.fields.iter().find(|field| matches!(field.ty, Type::Address { .. }));
        let Some(field) = field else { return Ok(()) };
        let address = |index: u32| {
            let base = group.start + index * group.bits;
            bits::get(&record.dwords, base + field.start, base + field.end) << (field.start % 32)
        };
        let mut first = 0;
        while first < group.count {
            let at = address(first);
            let same =
                (first + 1..group.count).take_while(|index| address(*index) == at).count() as u32;
            let last = first + same;
            match (at, same) {
                (0, _) => {}
                (_, 0) => {
                    self.picture(depth, at, format_args!("reference picture {first}"), DECODED)?;
                }
                _ => {
                    let text = format_args!("reference pictures {first} to {last}");
                    self.picture(depth, at, text, DECODED)?;
                }
            }
            first = last + 1;
        }
        Ok(())
    }

    fn picture(
        &mut self,
        depth: u32,
        at: u64,
        name: fmt::Arguments<'_>,
        id: usize,
    ) -> io::Result<()> {
        match self.state.draw.surfaces.pictures[id] {
            Some(picture) => self.surface(depth, at, format_args!("{name} of {picture}")),
            None => {
                self.surface(depth, at, format_args!("{name}, which no packet before describes"))
            }
        }
    }

    /// Emits the address of the surface, and whether its memory is in the dump.
    fn surface(&mut self, depth: u32, at: u64, text: fmt::Arguments<'_>) -> io::Result<()> {
        let at = at & VA_MASK;
        let there = match self.memory.tail(at).is_empty() {
            // Drivers set the address to 0 if there is no surface.
            true if at == 0 => return Ok(()),
            true => ": nothing is mapped there",
            false => "",
        };
        self.note(depth, at, format_args!("{text}, at {at:#x}{there}"))
    }
}
