//! Builds the batch of a [`Blit`] for each command of the blitter.

use super::oracle::{Blit, Packing, Pattern, Place, Side, Source, Tiling};
use genxml::core::{S, U};
use genxml::gen8::blitter::*;
use genxml::gen8::mi::{MiLoadRegisterImm, MiLoadRegisterImmRegister};
use genxml::gen8::registers::BcsSwctrl;
use genxml_cases::{at, packets, push, u};

/// Address of the test's memory.
pub const DATA: u64 = 0x50_0000;

/// Kind of source or pattern that a command accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    Nothing,
    /// One colour.
    Solid,
    /// A surface or a pattern in memory.
    Color,
    /// Monochrome bits: a pattern in the command, or a source in memory.
    Mono,
    /// Data in the command: pixels of a pattern, or bits of a source.
    Immediate,
    /// Glyphs in memory.
    Text,
    /// Glyphs in the command.
    TextImmediate,
}

/// A command.
pub struct Command {
    pub name: &'static str,
    pub source: Takes,
    pub pattern: Takes,
    /// True if the command has a colour range for transparency.
    pub key: bool,
    /// True if the command has coordinates and can use tiled surfaces (XY_ commands).
    pub xy: bool,
    pub packets: fn(&Blit) -> Vec<u32>,
}

pub fn s<const N: u32>(value: i64) -> S<N> {
    S::new(value).unwrap()
}

/// The value of the pitch field: dwords for tiled surfaces, bytes for linear ones.
fn pitch(side: &Side) -> S<16> {
    s(if side.tiling == Tiling::Linear { side.pitch } else { side.pitch / 4 })
}

fn address(offset: i64) -> u64 {
    DATA.wrapping_add_signed(offset)
}

/// Bytes of the command as dwords, padded to whole qwords.
pub fn dwords(place: &Place) -> Vec<U<32>> {
    let Place::Command(bytes) = place else { panic!("not in the command") };
    let mut bytes = bytes.clone();
    bytes.resize(bytes.len().next_multiple_of(8), 0xa5);
    bytes.chunks(4).map(|dword| u(u32::from_le_bytes(dword.try_into().unwrap()).into())).collect()
}

fn memory(place: &Place) -> u64 {
    let Place::Memory(at) = place else { panic!("not in memory") };
    address(*at as i64)
}

macro_rules! rectangle {
    ($packet:ident, $blit:ident) => {
        $packet.destination_x1_coordinate_left = s($blit.rectangle[0]);
        $packet.destination_y1_coordinate_top = s($blit.rectangle[1]);
        $packet.destination_x2_coordinate_right = s($blit.rectangle[2]);
        $packet.destination_y2_coordinate_bottom = s($blit.rectangle[3]);
    };
}

macro_rules! control {
    ($packet:ident, $blit:ident) => {
        $packet._32bpp_byte_mask = BlitByteMask::from_bits($blit.mask);
        $packet.color_depth = BlitColorDepth::from_bits($blit.depth);
        $packet.raster_operation = BlitRasterOperation::from_bits($blit.rop.into());
        $packet.clipping_enable = $blit.clip.is_some();
        $packet.destination_pitch = pitch(&$blit.to);
    };
}

macro_rules! destination {
    ($packet:ident, $blit:ident) => {
        control!($packet, $blit);
        $packet.dest_tiling_enable = $blit.to.tiling != Tiling::Linear;
        $packet.destination_base_address = at(address($blit.to.base));
    };
}

macro_rules! clip {
    ($packet:ident, $blit:ident) => {
        let [left, top, right, bottom] = $blit.clip.unwrap_or([0; 4]);
        $packet.clip_rect_x1_coordinate_left = s(left);
        $packet.clip_rect_y1_coordinate_top = s(top);
        $packet.clip_rect_x2_coordinate_right = s(right);
        $packet.clip_rect_y2_coordinate_bottom = s(bottom);
    };
}

macro_rules! source {
    (none, $packet:ident, $blit:ident) => {};
    (color, $packet:ident, $blit:ident) => {
        let Source::Color { side, x, y } = &$blit.source else { panic!("{:?}", $blit.source) };
        $packet.src_tiling_enable = side.tiling != Tiling::Linear;
        $packet.source_pitch = pitch(side);
        $packet.source_base_address = at(address(side.base));
        $packet.source_x1_coordinate_left = s(*x);
        $packet.source_y1_coordinate_top = s(*y);
    };
    (bits, $packet:ident, $blit:ident) => {
        let Source::Bits { start, colors, .. } = &$blit.source else {
            panic!("{:?}", $blit.source)
        };
        $packet.monochrome_source_start = u(*start as u64);
        $packet.monochrome_source_transparency_mode = colors.transparent;
        $packet.source_background_color = u(colors.background.into());
        $packet.source_foreground_color = u(colors.foreground.into());
    };
    (mono, $packet:ident, $blit:ident) => {
        source!(bits, $packet, $blit);
        let Source::Bits { place, .. } = &$blit.source else { unreachable!() };
        $packet.source_address_mono = at(memory(place));
    };
    (immediate, $packet:ident, $blit:ident) => {
        source!(bits, $packet, $blit);
        let Source::Bits { place, .. } = &$blit.source else { unreachable!() };
        let data = dwords(place);
        $packet.immediate_data = (&data[..]).into();
    };
}

macro_rules! seeds {
    ($packet:ident, $seeds:expr) => {
        $packet.pattern_horizontal_seed = u($seeds[0].into());
        $packet.pattern_vertical_seed = u($seeds[1].into());
    };
}

macro_rules! mono_pattern {
    ($packet:ident, $rows:ident, $solid:ident, $colors:ident) => {
        $packet.pattern_data_0 = u(u32::from_le_bytes($rows[..4].try_into().unwrap()).into());
        $packet.pattern_data_1 = u(u32::from_le_bytes($rows[4..].try_into().unwrap()).into());
        $packet.solid_pattern_select = *$solid;
        $packet.monochrome_pattern_transparency_mode = $colors.transparent;
        $packet.pattern_background_color = u($colors.background.into());
        $packet.pattern_foreground_color = u($colors.foreground.into());
    };
}

macro_rules! pattern {
    (none, $packet:ident, $blit:ident) => {};
    (solid, $packet:ident, $blit:ident) => {
        let Pattern::Solid(color) = $blit.pattern else { panic!("{:?}", $blit.pattern) };
        $packet.solid_pattern_color = u(color.into());
    };
    (color, $packet:ident, $blit:ident) => {
        let Pattern::Color { place, seeds } = &$blit.pattern else { panic!("{:?}", $blit.pattern) };
        $packet.pattern_base_address = at(memory(place));
        seeds!($packet, seeds);
    };
    (immediate, $packet:ident, $blit:ident) => {
        let Pattern::Color { place, seeds } = &$blit.pattern else { panic!("{:?}", $blit.pattern) };
        seeds!($packet, seeds);
        let pixels = dwords(place);
        $packet.immediate_pattern_data = (&pixels[..]).into();
    };
    (mono, $packet:ident, $blit:ident) => {
        let Pattern::Mono { rows, solid, colors, seeds } = &$blit.pattern else {
            panic!("{:?}", $blit.pattern)
        };
        mono_pattern!($packet, rows, solid, colors);
        seeds!($packet, seeds);
    };
}

macro_rules! key {
    (none, $packet:ident, $blit:ident) => {};
    (range, $packet:ident, $blit:ident) => {
        $packet.transparency_range_mode = BlitTransparencyMode::from_bits($blit.key.0);
        $packet.transparency_color_low = u($blit.key.1.into());
        $packet.transparency_color_high = u($blit.key.2.into());
    };
}

macro_rules! takes {
    (none) => {
        Takes::Nothing
    };
    (solid) => {
        Takes::Solid
    };
    (color) => {
        Takes::Color
    };
    (mono) => {
        Takes::Mono
    };
    (immediate) => {
        Takes::Immediate
    };
}

macro_rules! has_key {
    (none) => {
        false
    };
    (range) => {
        true
    };
}

macro_rules! command {
    ($packet:ident, $source:ident, $pattern:ident, $key:ident) => {
        Command {
            name: $packet::NAME,
            source: takes!($source),
            pattern: takes!($pattern),
            key: has_key!($key),
            xy: true,
            packets: |blit| {
                let mut packet = $packet::new();
                destination!(packet, blit);
                rectangle!(packet, blit);
                source!($source, packet, blit);
                pattern!($pattern, packet, blit);
                key!($key, packet, blit);
                let mut batch = swctrl(blit);
                batch.extend(clip(blit));
                push(&mut batch, &packet);
                batch
            },
        }
    };
}

/// Sets in BCS_SWCTRL whether the source and the destination have Y tiles.
pub fn swctrl(blit: &Blit) -> Vec<u32> {
    let source = matches!(&blit.source, Source::Color { side, .. } if side.tiling == Tiling::Y);
    let value = BcsSwctrl {
        tile_y_source: source,
        tile_y_destination: blit.to.tiling == Tiling::Y,
        mask: u(3),
    };
    let registers = [MiLoadRegisterImmRegister {
        register_offset: at(BcsSwctrl::OFFSET.into()),
        data_dword: u(value.pack()[0].into()),
    }];
    packets![MiLoadRegisterImm { register: (&registers).into(), ..MiLoadRegisterImm::new() }]
}

/// The packet that sets the clip rectangle, if the blit has one.
fn clip(blit: &Blit) -> Vec<u32> {
    if blit.clip.is_none() {
        return Vec::new();
    }
    let mut packet = XySetupClipBlt::new();
    clip!(packet, blit);
    packets![packet]
}

/// XY_SETUP_BLT with the colours of text or of a pixel, or with a colour pattern.
pub fn setup(blit: &Blit) -> Vec<u32> {
    let mut packet = XySetupBlt::new();
    destination!(packet, blit);
    clip!(packet, blit);
    match &blit.source {
        Source::Bits { colors, .. } => {
            packet.background_color = u(colors.background.into());
            packet.foreground_color = u(colors.foreground.into());
            packet.monochrome_source_transparency_mode = colors.transparent;
        }
        _ => packet.foreground_color = u(0x1234_5678),
    }
    match &blit.pattern {
        Pattern::Solid(color) => packet.background_color = u((*color).into()),
        Pattern::Color { place, .. } => packet.pattern_base_address = at(memory(place)),
        _ => {}
    }
    let mut batch = swctrl(blit);
    push(&mut batch, &packet);
    batch
}

fn pixel(blit: &Blit) -> Vec<u32> {
    let mut batch = setup(blit);
    let [left, top, right, bottom] = blit.rectangle;
    for (x, y) in (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y))) {
        let packet = XyPixelBlt {
            dest_tiling_enable: blit.to.tiling != Tiling::Linear,
            destination_x_coordinate: s(x),
            destination_y_coordinate: s(y),
            ..XyPixelBlt::new()
        };
        push(&mut batch, &packet);
    }
    batch
}

/// XY_SCANLINES_BLT, after one of the two setup packets.
fn scanlines(blit: &Blit) -> Vec<u32> {
    let mut packet = XyScanlinesBlt::new();
    rectangle!(packet, blit);
    packet.dest_tiling_enable = blit.to.tiling != Tiling::Linear;
    let mut batch = swctrl(blit);
    match &blit.pattern {
        Pattern::Mono { rows, solid, colors, seeds } => {
            seeds!(packet, seeds);
            let mut setup = XySetupMonoPatternSlBlt::new();
            destination!(setup, blit);
            clip!(setup, blit);
            mono_pattern!(setup, rows, solid, colors);
            push(&mut batch, &setup);
        }
        Pattern::Color { seeds, .. } => {
            seeds!(packet, seeds);
            batch = setup(blit);
        }
        other => panic!("{other:?}"),
    }
    push(&mut batch, &packet);
    batch
}

fn text(blit: &Blit) -> Vec<u32> {
    let Source::Bits { place, start, packing, .. } = &blit.source else {
        panic!("{:?}", blit.source)
    };
    let mut batch = setup(blit);
    let byte_packed = u64::from(*packing == Packing::Byte);
    let tiled = blit.to.tiling != Tiling::Linear;
    match place {
        Place::Memory(_) => {
            let mut packet = XyTextBlt::new();
            rectangle!(packet, blit);
            packet.dest_tiling_enable = tiled;
            packet.bit_byte_packed = XyTextBltBitBytePacked::from_bits(byte_packed);
            packet.monochrome_source_start = u(*start as u64);
            packet.source_address = at(memory(place));
            push(&mut batch, &packet);
        }
        Place::Command(_) => {
            let data = dwords(place);
            let mut packet = XyTextImmediateBlt::new();
            rectangle!(packet, blit);
            packet.dest_tiling_enable = tiled;
            packet.bit_byte_packed = XyTextImmediateBltBitBytePacked::from_bits(byte_packed);
            packet.monochrome_source_start = u(*start as u64);
            packet.immediate_data = (&data[..]).into();
            push(&mut batch, &packet);
        }
    }
    batch
}

/// Address of the first byte of pixel (`x`, `y`) of a linear surface.
fn first_byte(blit: &Blit, side: &Side, x: i64, y: i64) -> u64 {
    address(side.base + y * side.pitch + x * blit.size())
}

fn color_blt(blit: &Blit) -> Vec<u32> {
    let mut packet = ColorBlt::new();
    control!(packet, blit);
    pattern!(solid, packet, blit);
    packet.destination_byte_width = u((blit.width().max(0) * blit.size()) as u64);
    packet.destination_height = u(blit.height().max(0) as u64);
    packet.destination_address =
        at(first_byte(blit, &blit.to, blit.rectangle[0], blit.rectangle[1]));
    packets![packet]
}

fn src_copy_blt(blit: &Blit) -> Vec<u32> {
    let Source::Color { side, x, y } = &blit.source else { panic!("{:?}", blit.source) };
    let mut packet = SrcCopyBlt::new();
    control!(packet, blit);
    packet.destination_byte_width = u((blit.width().max(0) * blit.size()) as u64);
    packet.destination_height = u(blit.height().max(0) as u64);
    packet.destination_address =
        at(first_byte(blit, &blit.to, blit.rectangle[0], blit.rectangle[1]));
    packet.source_address = at(first_byte(blit, side, *x, *y));
    packet.source_pitch = s(side.pitch);
    packets![packet]
}

const fn short(
    name: &'static str,
    source: Takes,
    pattern: Takes,
    packets: fn(&Blit) -> Vec<u32>,
) -> Command {
    Command { name, source, pattern, key: false, xy: true, packets }
}

/// All commands except XY_PAT_BLT_FIXED, because no source describes its patterns.
pub const COMMANDS: &[Command] = &[
    command!(XyColorBlt, none, solid, none),
    command!(XyPatBlt, none, color, none),
    command!(XyPatBltImmediate, none, immediate, none),
    command!(XyPatChromaBlt, none, color, range),
    command!(XyPatChromaBltImmediate, none, immediate, range),
    command!(XyMonoPatBlt, none, mono, none),
    command!(XySrcCopyBlt, color, none, none),
    command!(XySrcCopyChromaBlt, color, none, range),
    command!(XyMonoSrcCopyBlt, mono, none, none),
    command!(XyMonoSrcCopyImmediateBlt, immediate, none, none),
    command!(XyFullBlt, color, color, none),
    command!(XyFullImmediatePatternBlt, color, immediate, none),
    command!(XyFullMonoSrcBlt, mono, color, none),
    command!(XyFullMonoSrcImmediatePatternBlt, mono, immediate, none),
    command!(XyFullMonoPatternBlt, color, mono, none),
    command!(XyFullMonoPatternMonoSrcBlt, mono, mono, none),
    short("XY_PIXEL_BLT", Takes::Nothing, Takes::Solid, pixel),
    short("XY_SCANLINES_BLT, colour", Takes::Nothing, Takes::Color, scanlines),
    short("XY_SCANLINES_BLT, monochrome", Takes::Nothing, Takes::Mono, scanlines),
    short("XY_TEXT_BLT", Takes::Text, Takes::Nothing, text),
    short("XY_TEXT_IMMEDIATE_BLT", Takes::TextImmediate, Takes::Nothing, text),
    Command { xy: false, ..short("COLOR_BLT", Takes::Nothing, Takes::Solid, color_blt) },
    Command { xy: false, ..short("SRC_COPY_BLT", Takes::Color, Takes::Nothing, src_copy_blt) },
];
