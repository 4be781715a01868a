//! Media blocks, transposed reads, properties of surfaces, and fences.
//!
//! Oracle: G45 vol 4, 5.10.4 (blocks, accesses outside the surface, fields of interlaced frames)
//! and the table of 5.6.1; 2d p.69-71, p.252-254, p.263-265, p.295-297 (masks, merged reads), p.500
//! (transposed), p.320-321 (properties). Byte offsets are computed by counting tiles (gen8_facts
//! 10.1).

use crate::dataport::probe::{DATA, Message, Probe, Register, Unit, World, null};
use genxml::gen8::message_payloads::{MacdLod, Map32bRsi};
use genxml::gen8::messages::{
    MdcVlso, MediaBlockMessageMode, MhMb, MhT, MhcBdim, MhcMbControl, Msd1rMb, Msd1rTt, Msd1wMb,
    MsdMemfence, MtDpRo, ReadOnlyDataPortMessageDescriptor,
};
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateExtent,
    RenderSurfaceStateMediaBoundaryPixelMode as Boundary, SurfaceFormat, SurfaceType, TileMode,
};
use genxml_cases::{Random, at, raw_buffer, u};
use genxml_core::{MinusOne, PowerOfTwo, S, Shifted};

/// A surface for media blocks. `dwords` is the Width of its surface state, which media block
/// messages count in dwords, whatever the format. `rows` is its Height.
#[derive(Clone, Copy, Debug)]
struct Picture {
    dwords: u64,
    rows: u64,
    pitch: u64,
    tiles: TileMode,
    format: SurfaceFormat,
    /// Bytes of the group that is repeated outside the left and right edges.
    element: i64,
    boundary: Boundary,
    /// Vertical Line Stride Offset if Vertical Line Stride is 1; `None` if it is 0.
    field: Option<u64>,
    /// X Offset and Y Offset.
    origin: (u64, u64),
}

impl Picture {
    fn state(&self) -> RenderSurfaceState {
        RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: self.format,
            tile_mode: self.tiles,
            surface_pitch: MinusOne::new(self.pitch).expect("a pitch"),
            surface_base_address: at(DATA),
            media_boundary_pixel_mode: self.boundary,
            vertical_line_stride: u(self.field.is_some().into()),
            vertical_line_stride_offset: u(self.field.unwrap_or(0)),
            x_offset: Shifted::new(self.origin.0).expect("a multiple of 4"),
            y_offset: Shifted::new(self.origin.1).expect("a multiple of 4"),
            extent: RenderSurfaceStateExtent::Image {
                height: MinusOne::new(self.rows).expect("rows"),
                width: MinusOne::new(self.dwords).expect("dwords"),
                depth: MinusOne::ONE,
            },
            ..RenderSurfaceState::new()
        }
    }

    /// Offset of byte `x` of line `y` of the surface. X Offset counts pixels of 32 bits, whatever
    /// the format (2d p.340).
    fn place(&self, x: i64, y: i64) -> usize {
        let (x, y, pitch) = (x as usize, y as usize, self.pitch as usize);
        let (x, y) = (x + 4 * self.origin.0 as usize, y + self.origin.1 as usize);
        match self.tiles {
            TileMode::LINEAR => y * pitch + x,
            TileMode::XMAJOR => (y / 8 * (pitch / 512) + x / 512) * 4096 + y % 8 * 512 + x % 512,
            _ => {
                (y / 32 * (pitch / 128) + x / 128) * 4096
                    + x % 128 / 16 * 512
                    + y % 32 * 16
                    + x % 16
            }
        }
    }

    /// The byte of a row that a read of byte `x` returns. Outside, the nearest element is repeated.
    fn column(&self, x: i64) -> i64 {
        let width = 4 * self.dwords as i64;
        if (0..width).contains(&x) {
            return x;
        }
        let (inside, left) = (x.rem_euclid(self.element), x < 0);
        match self.format {
            // Y0U0Y1V0 becomes Y0U0Y0V0 on the left, Y1U0Y1V0 on the right.
            SurfaceFormat::YCRCB_NORMAL => {
                let byte =
                    [[0, 1, 0, 3], [2, 1, 2, 3]][usize::from(!left)][x.rem_euclid(4) as usize];
                if left { byte } else { width - 4 + byte }
            }
            SurfaceFormat::YCRCB_SWAPY => {
                let byte =
                    [[0, 1, 2, 1], [0, 3, 2, 3]][usize::from(!left)][x.rem_euclid(4) as usize];
                if left { byte } else { width - 4 + byte }
            }
            _ if left => inside,
            _ => width - self.element + inside,
        }
    }
}

const ORDINARY: Picture = Picture {
    dwords: 20,
    rows: 24,
    pitch: 512,
    tiles: TileMode::YMAJOR,
    format: SurfaceFormat::R8_UINT,
    element: 1,
    boundary: Boundary::NORMAL_MODE,
    field: None,
    origin: (0, 0),
};

fn control(width: u64, height: u64, mode: MediaBlockMessageMode) -> MhcMbControl {
    MhcMbControl {
        block_width: MinusOne::new(width).expect("1 to 64"),
        block_height: MinusOne::new(height).expect("1 to 64"),
        message_mode: mode,
        ..MhcMbControl::new()
    }
}

fn block_header(x: i64, y: i64, control: MhcMbControl, mask: u32) -> Register {
    MhMb {
        x_offset: S::new(x).expect("32 bits"),
        y_offset: S::new(y).expect("32 bits"),
        normal_media_block_message_control: control,
        mask: u(mask.into()),
        ..MhMb::new()
    }
    .pack()
}

/// Byte `at` of consecutive registers.
fn byte(registers: &[Register], at: usize) -> u8 {
    registers[at / 32][at % 32 / 4].to_le_bytes()[at % 4]
}

fn set_byte(registers: &mut [Register], at: usize, value: u8) {
    let dword = &mut registers[at / 32][at % 32 / 4];
    let mut bytes = dword.to_le_bytes();
    bytes[at % 4] = value;
    *dword = u32::from_le_bytes(bytes);
}

/// Distance in bytes between rows of `width` bytes in the registers: the smallest power of two that
/// is at least `width`, and at least 4.
fn row_pitch(width: u64) -> usize {
    [4, 8, 16, 32, 64].into_iter().find(|pitch| *pitch >= width).expect("at most 64") as usize
}

/// Random size of a block: 1 to `widest` bytes and 1 to 16 rows, together at most 64 dwords.
fn size(random: &mut Random, widest: u64) -> (u64, u64) {
    let width = 1 + random.below(widest);
    let most = (64 / width.div_ceil(4)).min(16);
    (width, 1 + random.below(most))
}

fn read_message(block: Register, override_: MdcVlso, registers: usize) -> Message {
    let descriptor = Msd1rMb {
        vertical_line_stride_override: override_,
        header_present: true,
        response_length: u(registers as u64),
        message_length: u(1),
        ..Msd1rMb::new()
    };
    // Channels do not matter, but at least one must be enabled.
    Message {
        unit: Unit::Port1,
        channels: 8,
        mask: 0x10,
        descriptor: descriptor.pack()[0],
        payload: vec![block],
    }
}

/// Compares a block read with the surface lines that `line` returns for its rows.
fn read_once(
    random: &mut Random,
    probe: &mut Probe,
    picture: &Picture,
    override_: MdcVlso,
    line: impl Fn(i64) -> i64,
) {
    let world = World::random(random);
    let (width, height) = size(random, 32);
    let (x, y) = (random.below(180) as i64 - 50, random.below(60) as i64 - 18);
    // Blocks start and end at whole elements.
    let (x, width) = match picture.element {
        1 => (x, width),
        element => {
            (x.div_euclid(element) * element, width.next_multiple_of(element as u64).min(32))
        }
    };
    let height = height.min(64 / width.div_ceil(4));
    let pitch = row_pitch(width);
    let registers = (pitch * height as usize).div_ceil(32);
    let mut expected = world.clone();
    for row in 0..height as usize {
        for column in 0..pitch {
            let value = match column < width as usize {
                true => {
                    world.data
                        [picture.place(picture.column(x + column as i64), line(y + row as i64))]
                }
                // Gaps read as zero: the model's choice (assumptions::MEDIA_BLOCK_GAPS_READ_ZERO).
                false => 0,
            };
            set_byte(&mut expected.answer, row * pitch + column, value);
        }
    }
    let header = block_header(x, y, control(width, height, MediaBlockMessageMode::NORMAL), 0);
    let message = read_message(header, override_, registers);
    probe.check(&message, &world, &expected, false);
    // Send the same read through the sampler cache.
    let descriptor = ReadOnlyDataPortMessageDescriptor {
        message_control: u(override_.pack()[0].into()),
        message_type: MtDpRo::MT_SC_MB,
        header_present: true,
        response_length: u(registers as u64),
        message_length: u(1),
        ..ReadOnlyDataPortMessageDescriptor::new()
    };
    let message = Message { unit: Unit::Sampler, descriptor: descriptor.pack()[0], ..message };
    probe.check(&message, &world, &expected, false);
}

/// Oracle: the descriptor of a media block read in i965's kernel intra_frame_gen8.
#[test]
fn drivers_read_media_blocks_with_type_4() {
    let descriptor = ReadOnlyDataPortMessageDescriptor::unpack_lossy(&[0x0219_0004]);
    assert_eq!(descriptor.message_type, MtDpRo::MT_SC_MB);
}

#[test]
fn reads() {
    let mut random = Random::new(41);
    let formats = [
        (SurfaceFormat::R8_UINT, 1),
        (SurfaceFormat::R16_UINT, 2),
        (SurfaceFormat::R32_UINT, 4),
        (SurfaceFormat::YCRCB_NORMAL, 4),
        (SurfaceFormat::YCRCB_SWAPY, 4),
    ];
    for (format, element) in formats {
        for tiles in [TileMode::LINEAR, TileMode::XMAJOR, TileMode::YMAJOR] {
            let rows = 16;
            // Linear surfaces begin where their memory begins.
            let origin = match tiles {
                TileMode::LINEAR => (0, 0),
                TileMode::XMAJOR => (16, 0),
                _ => (16, 8),
            };
            let picture = Picture { tiles, format, element, rows, origin, ..ORDINARY };
            let mut probe = Probe::new(vec![picture.state()], vec![]);
            for _ in 0..25 {
                read_once(&mut random, &mut probe, &picture, MdcVlso::new(), |y| {
                    y.clamp(0, rows as i64 - 1)
                });
            }
        }
    }
}

/// The surface rows that reads of rows -4 to 7 return, for a surface of four lines (G45 vol 4,
/// 5.6.1).
const BOUNDARIES: [(Boundary, u64, u64, [i64; 12]); 9] = [
    (Boundary::NORMAL_MODE, 0, 0, [0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3]),
    (Boundary::NORMAL_MODE, 1, 0, [0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2]),
    (Boundary::NORMAL_MODE, 1, 1, [1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3]),
    (Boundary::PROGRESSIVE_FRAME, 0, 0, [0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3]),
    (Boundary::PROGRESSIVE_FRAME, 1, 0, [0, 0, 0, 0, 0, 2, 3, 3, 3, 3, 3, 3]),
    (Boundary::PROGRESSIVE_FRAME, 1, 1, [0, 0, 0, 0, 1, 3, 3, 3, 3, 3, 3, 3]),
    (Boundary::INTERLACED_FRAME, 0, 0, [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
    (Boundary::INTERLACED_FRAME, 1, 0, [0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2]),
    (Boundary::INTERLACED_FRAME, 1, 1, [1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3]),
];

#[test]
fn boundaries_of_frames_and_fields() {
    let mut random = Random::new(42);
    for (boundary, stride, offset, lines) in BOUNDARIES {
        // The field comes from the surface or from the message. The message can also select the
        // frame of a field surface.
        let field = (stride == 1).then_some(offset);
        let rows = if stride == 1 { 2 } else { 4 };
        let other = if stride == 1 { (None, 4) } else { (Some(1), 2) };
        for ((field, rows), overridden) in [((field, rows), false), (other, true)] {
            let picture = Picture { boundary, field, rows, tiles: TileMode::LINEAR, ..ORDINARY };
            let mut probe = Probe::new(vec![picture.state()], vec![]);
            let vlso = MdcVlso {
                vertical_line_stride_override: overridden,
                vertical_line_stride: u(stride),
                vertical_line_stride_offset: u(offset),
            };
            let vlso = if overridden { vlso } else { MdcVlso::new() };
            for y in -4i64..8 {
                let world = World::random(&mut random);
                let line = lines[(y + 4) as usize];
                let mut expected = world.clone();
                for column in 0..8 {
                    let value = world.data[picture.place(8 + column as i64, line)];
                    set_byte(&mut expected.answer, column, value);
                }
                let header = block_header(8, y, control(8, 1, MediaBlockMessageMode::NORMAL), 0);
                probe.check(&read_message(header, vlso, 1), &world, &expected, false);
            }
        }
    }
}

/// Messages may have more registers than the block needs, as gem_gpgpu_fill sends them. The
/// additional registers are neither written nor returned.
#[test]
fn registers_to_spare() {
    let mut random = Random::new(48);
    let picture = Picture { tiles: TileMode::LINEAR, ..ORDINARY };
    let mut probe = Probe::new(vec![picture.state()], vec![]);
    let header = block_header(4, 3, control(16, 1, MediaBlockMessageMode::NORMAL), 0);
    for spare in 0..4 {
        let world = World::random(&mut random);
        let mut expected = world.clone();
        for column in 0..16 {
            set_byte(&mut expected.answer, column, world.data[picture.place(4 + column as i64, 3)]);
        }
        probe.check(&read_message(header, MdcVlso::new(), 1 + spare), &world, &expected, false);
        let mut payload = vec![header];
        payload.extend(
            (0..=spare).map(|_| -> Register { std::array::from_fn(|_| random.bits() as u32) }),
        );
        let mut expected = world.clone();
        for column in 0..16 {
            expected.data[picture.place(4 + column as i64, 3)] = byte(&payload[1..], column);
        }
        let descriptor = Msd1wMb {
            header_present: true,
            message_length: u(payload.len() as u64),
            ..Msd1wMb::new()
        };
        let descriptor = descriptor.pack()[0];
        let message = Message { unit: Unit::Port1, channels: 8, mask: 1, descriptor, payload };
        probe.check(&message, &world, &expected, false);
    }
}

/// Merged reads leave the other bytes of the registers unchanged.
#[test]
fn merged_reads() {
    let mut random = Random::new(43);
    let picture = Picture { rows: 16, ..ORDINARY };
    let mut probe = Probe::new(vec![picture.state()], vec![]);
    for _ in 0..60 {
        let world = World::random(&mut random);
        let (width, height) = (1 + random.below(16), 1 + random.below(4));
        let base = row_pitch(width);
        // `base` is the smallest pitch for rows of this width. The pitch is `base` times a power of
        // two, at most 32 bytes. The block starts at a multiple of `base` below the pitch.
        let doublings = random.below(u64::from((32 / base).ilog2()) + 1);
        let pitch = base << doublings;
        let start = base * random.below((pitch / base) as u64) as usize;
        let (x, y) = (random.below(90) as i64 - 8, random.below(20) as i64 - 2);
        let registers = (start + pitch * (height as usize - 1) + base).div_ceil(32);
        let control = MhcMbControl {
            sub_register_offset: u(start as u64),
            register_pitch_control: u(doublings),
            ..control(width, height, MediaBlockMessageMode::NORMAL)
        };
        if doublings == 0 {
            continue;
        }
        let mut expected = world.clone();
        for row in 0..height as usize {
            for column in 0..width as usize {
                let line = (y + row as i64).clamp(0, 15);
                let value = world.data[picture.place(picture.column(x + column as i64), line)];
                set_byte(&mut expected.answer, start + row * pitch + column, value);
            }
        }
        let message = read_message(block_header(x, y, control, 0), MdcVlso::new(), registers);
        probe.check(&message, &world, &expected, false);
    }
}

#[test]
fn writes() {
    let mut random = Random::new(44);
    let modes = [
        MediaBlockMessageMode::NORMAL,
        MediaBlockMessageMode::BYTE_MASK,
        MediaBlockMessageMode::PIXEL_MASK,
    ];
    for tiles in [TileMode::LINEAR, TileMode::XMAJOR, TileMode::YMAJOR] {
        let origin = if tiles == TileMode::YMAJOR { (16, 4) } else { (0, 0) };
        let picture = Picture { tiles, rows: 14, origin, ..ORDINARY };
        let mut probe = Probe::new(vec![picture.state(), null()], vec![]);
        for mode in modes {
            for n in 0..40 {
                let world = World::random(&mut random);
                let mask = random.bits() as u32;
                let (mut width, mut height) = size(&mut random, 32);
                width = width.next_multiple_of(4);
                height = height.min(64 / (width / 4));
                let (mut x, mut y) =
                    (random.below(35) as i64 * 4 - 32, random.below(24) as i64 - 5);
                // In pixel mask mode the size is fixed, whatever the header says.
                if mode == MediaBlockMessageMode::PIXEL_MASK {
                    (x, y) = (x.div_euclid(32) * 32, y.div_euclid(4) * 4);
                }
                let control = control(width, height, mode);
                if mode == MediaBlockMessageMode::PIXEL_MASK {
                    (width, height) = (32, 4);
                }
                let pitch = row_pitch(width);
                let registers = (pitch * height as usize).div_ceil(32);
                let mut payload = vec![block_header(x, y, control, mask)];
                payload
                    .extend((0..registers).map(|_| std::array::from_fn(|_| random.bits() as u32)));
                // The message selects a field of the frame.
                let field = (n % 4 == 0).then(|| random.below(2));
                let rows = if field.is_some() { 7 } else { 14 };
                let surface = u64::from(n % 10 == 9);
                let mut expected = world.clone();
                for row in 0..height as i64 {
                    for column in 0..width as i64 {
                        let (bx, by) = (x + column, y + row);
                        let chosen = match mode {
                            MediaBlockMessageMode::NORMAL => true,
                            MediaBlockMessageMode::BYTE_MASK => mask >> column & 1 == 1,
                            _ => {
                                // The pixel mask has two halves of four squares. A square has 2 x 2
                                // pixels.
                                let pixel = column / 4;
                                let square = pixel % 4 / 2 + row / 2 * 2;
                                let inner = pixel % 2 + row % 2 * 2;
                                mask >> (pixel / 4 * 16 + square * 4 + inner) & 1 == 1
                            }
                        };
                        if chosen
                            && surface == 0
                            && (0..80).contains(&bx)
                            && (0..rows).contains(&by)
                        {
                            let line = field.map_or(by, |offset| 2 * by + offset as i64);
                            expected.data[picture.place(bx, line)] =
                                byte(&payload[1..], row as usize * pitch + column as usize);
                        }
                    }
                }
                let descriptor = Msd1wMb {
                    binding_table_index: u(surface),
                    vertical_line_stride_override: MdcVlso {
                        vertical_line_stride_override: field.is_some(),
                        vertical_line_stride: u(1),
                        vertical_line_stride_offset: u(field.unwrap_or(0)),
                    },
                    header_present: true,
                    message_length: u(payload.len() as u64),
                    ..Msd1wMb::new()
                };
                let descriptor = descriptor.pack()[0];
                let message =
                    Message { unit: Unit::Port1, channels: 8, mask: 1, descriptor, payload };
                probe.check(&message, &world, &expected, false);
            }
        }
    }
}

#[test]
fn transposed_reads() {
    let mut random = Random::new(45);
    let picture = Picture { format: SurfaceFormat::R32_UINT, element: 4, rows: 16, ..ORDINARY };
    let mut probe = Probe::new(vec![picture.state()], vec![]);
    for width in [1usize, 2, 4, 8] {
        for height in [1usize, 2, 4, 8] {
            for _ in 0..4 {
                let world = World::random(&mut random);
                let x = (random.below(7) as i64 - 2) * 4 * width as i64;
                let y = (random.below(5) as i64 - 1) * height as i64;
                let header = MhT {
                    x_offset: S::new(x).expect("32 bits"),
                    y_offset: S::new(y).expect("32 bits"),
                    block_dimensions: MhcBdim {
                        block_width: PowerOfTwo::new(width as u64).expect("1 to 8"),
                        block_height: PowerOfTwo::new(height as u64).expect("1 to 8"),
                    },
                };
                let registers = (4 * width * height).div_ceil(32);
                let mut expected = world.clone();
                for row in 0..height {
                    for column in 0..4 * width {
                        let line = (y + row as i64).clamp(0, 15);
                        let value =
                            world.data[picture.place(picture.column(x + column as i64), line)];
                        // Rows and columns of dwords are exchanged.
                        let at = 4 * (column / 4 * height + row) + column % 4;
                        set_byte(&mut expected.answer, at, value);
                    }
                }
                let descriptor = Msd1rTt {
                    header_present: true,
                    response_length: u(registers as u64),
                    message_length: u(1),
                    ..Msd1rTt::new()
                };
                let descriptor = descriptor.pack()[0];
                let payload = vec![header.pack()];
                let message =
                    Message { unit: Unit::Port1, channels: 8, mask: 255, descriptor, payload };
                probe.check(&message, &world, &expected, false);
            }
        }
    }
}

/// Width, height and depth are those of the level. Buffers have no height (2d p.321).
#[test]
fn properties_of_surfaces() {
    let mut random = Random::new(46);
    let image = |surface_type, array, depth| RenderSurfaceState {
        surface_type,
        surface_array: array,
        surface_format: SurfaceFormat::R8G8B8A8_UNORM,
        tile_mode: TileMode::YMAJOR,
        surface_pitch: MinusOne::new(512).expect("a pitch"),
        mip_count_lod: u(5),
        surface_base_address: at(DATA),
        extent: RenderSurfaceStateExtent::Image {
            height: MinusOne::new(60).expect("rows"),
            width: MinusOne::new(100).expect("columns"),
            depth: MinusOne::new(depth).expect("slices"),
        },
        ..RenderSurfaceState::new()
    };
    let cases = [
        (image(SurfaceType::SURFTYPE_1D, false, 1), [100, 0, 0]),
        (image(SurfaceType::SURFTYPE_1D, true, 9), [100, 9, 0]),
        (image(SurfaceType::SURFTYPE_2D, false, 1), [100, 60, 0]),
        (image(SurfaceType::SURFTYPE_2D, true, 9), [100, 60, 9]),
        (image(SurfaceType::SURFTYPE_3D, false, 9), [100, 60, 9]),
        (image(SurfaceType::SURFTYPE_CUBE, true, 9), [100, 60, 9]),
        (raw_buffer(DATA, 100), [100, 0, 0]),
        (image(SurfaceType::SURFTYPE_NULL, false, 1), [0, 0, 0]),
    ];
    for (state, [width, height, depth]) in cases {
        for lod in 0..3 {
            // Address bits 63:48 repeat bit 47 (2d p.320).
            let base = if lod == 2 { 0x9000_0011_0000 } else { genxml_cases::KERNELS };
            let above = if lod == 2 { 0xffff_0000 } else { 0 };
            let mut probe = Probe::new(vec![state], vec![]).with_base(base);
            let world = World::random(&mut random);
            let payload = Map32bRsi { lod: MacdLod { lod: u(lod) }, ..Map32bRsi::new() }.pack();
            let descriptor = ReadOnlyDataPortMessageDescriptor {
                message_type: MtDpRo::MT_RSI,
                response_length: u(2),
                message_length: u(1),
                ..ReadOnlyDataPortMessageDescriptor::new()
            };
            let unit = if lod == 1 { Unit::Constant } else { Unit::Sampler };
            let descriptor = descriptor.pack()[0];
            let message =
                Message { unit, channels: 8, mask: 255, descriptor, payload: vec![payload] };
            let found = probe.send(&message, &world, false).unwrap();
            // The number of layers does not shrink with the level; the number of slices of a volume
            // does.
            let volume = state.surface_type == SurfaceType::SURFTYPE_3D;
            let line = state.surface_type == SurfaceType::SURFTYPE_1D;
            assert_eq!(found.answer[0][6..], [base as u32, (base >> 32) as u32 | above]);
            let expected = [
                width >> lod,
                if line { height } else { height >> lod },
                if volume { depth >> lod } else { depth },
                state.mip_count_lod.get() as u32,
                state.surface_type.bits() as u32,
                state.surface_format.bits() as u32,
            ];
            assert_eq!(found.answer[1][..6], expected, "{:?}, level {lod}", state.surface_type);
            assert_eq!(
                (found.answer[2..].to_vec(), found.data),
                (world.answer[2..].to_vec(), world.data)
            );
        }
    }
}

/// A fence changes no memory. With commit it returns one register, whose contents are undefined.
#[test]
fn fences() {
    let mut random = Random::new(47);
    let mut probe = Probe::new(vec![], vec![]);
    for commit in [false, true] {
        for header in [false, true] {
            let world = World::random(&mut random);
            let descriptor = MsdMemfence {
                commit,
                header_present: header,
                response_length: u(commit.into()),
                message_length: u(1),
                ..MsdMemfence::new()
            };
            let descriptor = descriptor.pack()[0];
            let message = Message {
                unit: Unit::Port0,
                channels: 8,
                mask: 255,
                descriptor,
                payload: vec![[0; 8]],
            };
            let found = probe.send(&message, &world, false).unwrap();
            assert_eq!(found.data, world.data);
            assert_eq!(found.answer[1..], world.answer[1..]);
            assert!(commit || found.answer[0] == world.answer[0]);
        }
    }
}
