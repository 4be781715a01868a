//! Blits that the model refuses. Each fault names the packet, the field or the address.

use super::command::{DATA, s, setup, swctrl};
use super::oracle::{Blit, Colors, Packing, Pattern, Place, Side, Source, Tiling};
use super::{Bench, SIZE, command};
use genxml::gen8::blitter::*;
use genxml_cases::{Model, Random, at, packets, u};
use genxml_sim::Fault;

const LINEAR: Side = Side { tiling: Tiling::Linear, base: 0, pitch: 256 };
const WHITE: Colors = Colors { background: 0, foreground: !0, transparent: false };

fn plain() -> Blit {
    Blit {
        depth: 3,
        rop: 0xcc,
        mask: 3,
        to: Side { base: 0x8000, ..LINEAR },
        rectangle: [0, 0, 8, 8],
        clip: None,
        source: Source::Color { side: LINEAR, x: 0, y: 0 },
        pattern: Pattern::None,
        key: (0, 0, 0),
    }
}

fn run(name: &str, blit: &Blit) -> Result<(), Fault> {
    let mut model = Model::new();
    model.map(DATA, SIZE as u64);
    model.blit(&(command(name).packets)(blit)).map(|_| ())
}

/// Runs a blit that the model must refuse. Returns the field that the fault names.
fn field(name: &str, blit: &Blit) -> &'static str {
    match run(name, blit) {
        Err(Fault::BadPacket { field, at, .. }) => {
            assert_eq!(at.packet, name);
            field
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn operations_without_their_operand() {
    assert_eq!(field("XY_SRC_COPY_BLT", &Blit { rop: 0xf0, ..plain() }), "Raster Operation");
    assert_eq!(field("SRC_COPY_BLT", &Blit { rop: 0x5a, ..plain() }), "Raster Operation");
    let solid = Blit { source: Source::None, pattern: Pattern::Solid(0), ..plain() };
    for name in ["XY_COLOR_BLT", "COLOR_BLT", "XY_PIXEL_BLT"] {
        assert_eq!(field(name, &solid), "Raster Operation");
        run(name, &Blit { rop: 0xf0, ..solid.clone() }).unwrap();
    }
    let text =
        Source::Bits { place: Place::Memory(0), start: 0, packing: Packing::Bit, colors: WHITE };
    assert_eq!(
        field("XY_TEXT_BLT", &Blit { rop: 0xf0, source: text, ..plain() }),
        "Raster Operation"
    );
}

#[test]
fn tiled_surfaces() {
    let x = |base, pitch| Side { tiling: Tiling::X, base, pitch };
    let y = |base, pitch| Side { tiling: Tiling::Y, base, pitch };
    let to = |to| Blit { to, ..plain() };
    let from = |side| Blit { source: Source::Color { side, x: 0, y: 0 }, ..plain() };
    assert_eq!(field("XY_SRC_COPY_BLT", &to(x(64, 512))), "Destination Base Address");
    assert_eq!(field("XY_SRC_COPY_BLT", &to(x(0, 256))), "Destination Pitch");
    assert_eq!(field("XY_SRC_COPY_BLT", &to(y(0, 64))), "Destination Pitch");
    assert_eq!(field("XY_SRC_COPY_BLT", &to(y(0, 0))), "Destination Pitch");
    assert_eq!(field("XY_SRC_COPY_BLT", &from(x(64, 512))), "Source Base Address");
    assert_eq!(field("XY_SRC_COPY_BLT", &from(x(0, -512))), "Source Pitch");
    run("XY_SRC_COPY_BLT", &to(y(0, 128))).unwrap();
}

#[test]
fn bitmaps_and_patterns() {
    let bits = |place| Source::Bits { place, start: 0, packing: Packing::Word, colors: WHITE };
    let mono = Blit { source: bits(Place::Memory(0x1_0020)), ..plain() };
    assert_eq!(field("XY_MONO_SRC_COPY_BLT", &mono), "Source Address (mono)");
    // Eight rows of one word are two qwords.
    for (bytes, fits) in [(8, false), (16, true), (24, false)] {
        let blit = Blit { source: bits(Place::Command(vec![0; bytes])), ..plain() };
        match fits {
            true => run("XY_MONO_SRC_COPY_IMMEDIATE_BLT", &blit).unwrap(),
            false => assert_eq!(field("XY_MONO_SRC_COPY_IMMEDIATE_BLT", &blit), "Immediate Data"),
        }
    }
    let pattern = |place| Blit {
        rop: 0xf0,
        source: Source::None,
        pattern: Pattern::Color { place, seeds: [0; 2] },
        ..plain()
    };
    // A pattern of 8 x 8 pixels of 4 bytes must be aligned to 256 bytes.
    assert_eq!(field("XY_PAT_BLT", &pattern(Place::Memory(0x1_0080))), "Pattern Base Address");
    let short = pattern(Place::Command(vec![0; 128]));
    assert_eq!(field("XY_PAT_BLT_IMMEDIATE", &short), "Immediate Pattern Data");
}

#[test]
fn commands_without_coordinates() {
    let odd = ColorBlt {
        color_depth: BlitColorDepth::_32BPP,
        raster_operation: BlitRasterOperation::PATTERN_COPY,
        destination_byte_width: u(10),
        destination_height: u(1),
        destination_address: at(DATA),
        ..ColorBlt::new()
    };
    let mut model = Model::new();
    model.map(DATA, SIZE as u64);
    let field = |fault| match fault {
        Fault::BadPacket { field, .. } => field,
        other => panic!("{other}"),
    };
    assert_eq!(field(model.blit(&packets![odd]).unwrap_err()), "Destination Byte Width");
    let clipped = ColorBlt { destination_byte_width: u(8), clipping_enable: true, ..odd };
    assert_eq!(field(model.blit(&packets![clipped]).unwrap_err()), "Clipping Enable");
    let unset = XyColorBlt { clipping_enable: true, ..XyColorBlt::new() };
    assert_eq!(field(model.blit(&packets![unset]).unwrap_err()), "Clipping Enable");
}

#[test]
fn short_commands_need_a_setup() {
    let mut model = Model::new();
    for batch in [
        packets![XyPixelBlt::new()],
        packets![XyScanlinesBlt::new()],
        packets![XyTextBlt::new()],
        packets![XyTextImmediateBlt::new()],
    ] {
        let fault = model.blit(&batch).unwrap_err();
        assert!(matches!(fault, Fault::Malformed { .. }), "{fault}");
        assert!(fault.to_string().contains("XY_SETUP_BLT"), "{fault}");
    }
}

#[test]
fn fixed_patterns_are_unknown() {
    let fault = Model::new().blit(&packets![XyMonoPatFixedBlt::new()]).unwrap_err();
    assert!(matches!(fault, Fault::Unimplemented { .. }), "{fault}");
    assert!(fault.to_string().contains("fixed patterns"), "{fault}");
}

/// Runs a blit that must cause a page fault. Returns the fault's offset from [`DATA`], what the
/// access was for, and true for a write.
fn page(name: &str, blit: &Blit) -> (u64, String, bool) {
    match run(name, blit) {
        Err(Fault::Page { fault, what, at, .. }) => {
            assert_eq!(at.packet, name);
            (fault.address - DATA, what.to_string(), fault.write)
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn memory_ends_where_it_ends() {
    let end = SIZE as i64;
    let last_rows = Side { base: end - 1024, ..LINEAR };
    let at_end = |what: &str, write| (SIZE as u64, what.to_owned(), write);
    let to = Blit { to: last_rows, ..plain() };
    assert_eq!(page("XY_SRC_COPY_BLT", &to), at_end("destination", true));
    // An operation that uses the destination reads it first.
    assert_eq!(page("XY_SRC_COPY_BLT", &Blit { rop: 0x66, ..to }), at_end("destination", false));
    let from = Blit { source: Source::Color { side: last_rows, x: 0, y: 0 }, ..plain() };
    assert_eq!(page("XY_SRC_COPY_BLT", &from), at_end("source", false));
    let bits = |place| Source::Bits { place, start: 0, packing: Packing::Word, colors: WHITE };
    let mono = Blit { source: bits(Place::Memory(SIZE - 64)), rectangle: [0, 0, 8, 40], ..plain() };
    assert_eq!(page("XY_MONO_SRC_COPY_BLT", &mono), at_end("monochrome source", false));
    let place = Place::Memory(SIZE);
    let pattern = Pattern::Color { place, seeds: [0; 2] };
    let blit = Blit { rop: 0xf0, source: Source::None, pattern, ..plain() };
    assert_eq!(page("XY_PAT_BLT", &blit), at_end("pattern", false));
    // A negative row lies before the first byte of memory.
    let above = Blit { to: LINEAR, rectangle: [0, -1, 8, 8], ..plain() };
    match run("XY_SRC_COPY_BLT", &above) {
        Err(Fault::Page { fault, .. }) => assert_eq!(fault.address, DATA - 256),
        other => panic!("{other:?}"),
    }
}

/// The rows before the fault are written, the others are not.
#[test]
fn a_fault_stops_between_rows() {
    let mut bench = Bench::new(&mut Random::new(7));
    let blit = Blit { to: Side { base: SIZE as i64 - 1024, ..LINEAR }, ..plain() };
    bench.model.write(DATA, &bench.before.clone());
    bench.model.blit(&(command("XY_SRC_COPY_BLT").packets)(&blit)).unwrap_err();
    let four_rows = Blit { rectangle: [0, 0, 8, 4], ..blit };
    assert_eq!(bench.model.read(DATA, SIZE), four_rows.run(&bench.before));
}

/// An empty rectangle accesses no memory, wherever it lies.
#[test]
fn nothing_to_draw() {
    let far = Side { base: 1 << 40, ..LINEAR };
    let empty = Blit { to: far, rectangle: [5, 0, 5, 9], ..plain() };
    run("XY_SRC_COPY_BLT", &empty).unwrap();
    let pattern = Pattern::Color { place: Place::Memory(1 << 40), seeds: [0; 2] };
    let clipped = Blit { clip: Some([9, 9, 9, 9]), pattern, to: far, ..plain() };
    run("XY_FULL_BLT", &clipped).unwrap();
}

/// A blit of four billion pixels onto one row.
#[test]
fn an_endless_rectangle() {
    let mut model = Model::new();
    model.map(DATA, SIZE as u64);
    let pitch = Side { pitch: 0, base: 0x1_8000, ..LINEAR };
    let huge = Blit { depth: 0, to: pitch, rectangle: [-32768, -32768, 32767, 32767], ..plain() };
    let blit = Blit { rop: 0, source: Source::None, pattern: Pattern::Solid(0), ..huge };
    let fault = model.blit(&(command("XY_COLOR_BLT").packets)(&blit)).unwrap_err();
    assert!(matches!(fault, Fault::Hang { .. }), "{fault}");
    assert_eq!(fault.place().unwrap().packet, "XY_COLOR_BLT");
}

/// The byte mask for 32 bits per pixel comes from the setup packet; tiling comes from the short
/// packet.
#[test]
fn what_short_packets_bring_along() {
    let mut bench = Bench::new(&mut Random::new(8));
    let tiled = Side { tiling: Tiling::X, base: 0, pitch: 512 };
    let solid = Pattern::Solid(0x1234_5678);
    let blit = Blit {
        mask: 1,
        to: tiled,
        source: Source::None,
        pattern: solid,
        rop: 0xf0,
        rectangle: [3, 9, 4, 10],
        ..plain()
    };
    let mut batch = swctrl(&blit);
    // The setup packet says linear, pitch 128. The short packet says tiled, so the pitch counts
    // dwords.
    let linear = Blit { to: Side { pitch: 128, ..LINEAR }, ..blit.clone() };
    batch.extend(setup(&linear));
    batch.extend(packets![XyPixelBlt {
        dest_tiling_enable: true,
        _32bpp_byte_mask: BlitByteMask::NONE,
        destination_x_coordinate: s(3),
        destination_y_coordinate: s(9),
    }]);
    bench.model.write(DATA, &bench.before.clone());
    bench.model.blit(&batch).unwrap();
    assert_eq!(bench.model.read(DATA, SIZE), blit.run(&bench.before));
}
