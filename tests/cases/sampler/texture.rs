//! A surface and the offsets of its texels, counted by hand.

use crate::sampler::SURFACE;
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateExtent,
    RenderSurfaceStateSurfaceHorizontalAlignment as Horizontal,
    RenderSurfaceStateSurfaceVerticalAlignment as Vertical, RenderSurfaceStateView,
    ShaderChannelSelect, SurfaceFormat, SurfaceType, TileMode,
};
use genxml_cases::paper::{Sheet, Tiling};
use genxml_cases::{Model, Random, at, u};
use genxml_core::{MinusOne, Shifted};

/// Bytes of memory for a surface.
pub const BYTES: u64 = 4 << 20;

/// Kinds of surfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    One,
    OneArray,
    Two,
    TwoArray,
    Three,
    Cube,
    CubeArray,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::One,
        Kind::OneArray,
        Kind::Two,
        Kind::TwoArray,
        Kind::Three,
        Kind::Cube,
        Kind::CubeArray,
    ];

    pub fn is_array(self) -> bool {
        matches!(self, Kind::OneArray | Kind::TwoArray | Kind::CubeArray)
    }

    pub fn is_cube(self) -> bool {
        matches!(self, Kind::Cube | Kind::CubeArray)
    }
}

#[derive(Clone, Debug)]
pub struct Texture {
    pub kind: Kind,
    pub format: SurfaceFormat,
    /// Bytes of an element.
    pub bytes: u32,
    pub tiling: Tiling,
    pub width: u32,
    pub height: u32,
    /// Slices of level 0 of a volume, or all slices in memory.
    pub depth: u32,
    pub align: [u32; 2],
    pub pitch: u32,
    pub qpitch: u32,
    pub min_lod: u32,
    /// Number of levels from `min_lod` on.
    pub levels: u32,
    pub min_slice: u32,
    /// Number of layers from `min_slice` on. A cube is one layer here.
    pub layers: u32,
    /// Memory from the surface's base address on.
    pub memory: Vec<u8>,
}

impl Texture {
    /// A surface of random size with random bytes, or with random floats if its format has 32-bit
    /// floats.
    pub fn random(random: &mut Random, kind: Kind, format: SurfaceFormat, bytes: u32) -> Texture {
        let tilings = [Tiling::Linear, Tiling::X, Tiling::Y];
        let tiling = tilings[random.below(3) as usize];
        let mut within = |end: u32| random.below(end.into()) as u32;
        let width = 1 + within(40);
        let height = match kind {
            Kind::One | Kind::OneArray => 1,
            Kind::Cube | Kind::CubeArray => width,
            _ => 1 + within(30),
        };
        let depth = match kind {
            Kind::One | Kind::Two => 1,
            Kind::Cube => 6,
            Kind::CubeArray => 6 * (1 + within(3)),
            _ => 1 + within(6),
        };
        let stored = 1 + within(5);
        let min_lod = within(stored);
        let levels = 1 + within(stored - min_lod);
        let (min_slice, layers) = match kind {
            Kind::OneArray | Kind::TwoArray => {
                let first = within(depth);
                (first, 1 + within(depth - first))
            }
            Kind::CubeArray => {
                let first = within(depth / 6);
                (6 * first, 1 + within(depth / 6 - first))
            }
            _ => (0, 1),
        };
        let align = [4 << within(3), 4 << within(3)];
        let texture = Texture {
            kind,
            format,
            bytes,
            tiling,
            width,
            height,
            depth,
            align,
            pitch: 0,
            qpitch: 0,
            min_lod,
            levels,
            min_slice,
            layers,
            memory: Vec::new(),
        };
        texture.placed(random, stored)
    }

    /// A two-dimensional surface with `levels` levels.
    pub fn plain(
        random: &mut Random,
        format: SurfaceFormat,
        bytes: u32,
        tiling: Tiling,
        [width, height]: [u32; 2],
        levels: u32,
    ) -> Texture {
        let texture = Texture {
            kind: Kind::Two,
            format,
            bytes,
            tiling,
            width,
            height,
            depth: 1,
            align: [4, 4],
            pitch: 0,
            qpitch: 0,
            min_lod: 0,
            levels,
            min_slice: 0,
            layers: 1,
            memory: Vec::new(),
        };
        texture.placed(random, levels)
    }

    /// Sets pitch, distance of slices, and memory.
    fn placed(mut self, random: &mut Random, stored: u32) -> Texture {
        let sheet = self.sheet();
        let all = match self.kind {
            Kind::Three => sheet.volume(stored).concat(),
            _ => sheet.levels(stored),
        };
        let right = all.iter().map(|rectangle| rectangle[0] + rectangle[2]).max().unwrap();
        let bottom = all.iter().map(|rectangle| rectangle[1] + rectangle[3]).max().unwrap();
        let (tile, rows, unit) = self.tiling.tile();
        self.pitch = match self.tiling {
            Tiling::Linear => (right + random.below(3) as u32) * self.bytes,
            _ => ((u64::from(right * self.bytes).div_ceil(tile) + random.below(2)) * unit) as u32,
        };
        self.qpitch =
            bottom.next_multiple_of(self.align[1]) + self.align[1] * random.below(2) as u32;
        let slices = if self.kind == Kind::Three { 1 } else { self.depth };
        let all_rows = u64::from(self.qpitch * slices).next_multiple_of(rows);
        self.memory = match self.format.name() {
            Some(name) if name.contains("32") && name.ends_with("FLOAT") => {
                (0..all_rows * u64::from(self.pitch) / 4 + 1)
                    .flat_map(|_| {
                        ((random.below(1 << 24) as f32 / (1 << 22) as f32) - 2.0).to_le_bytes()
                    })
                    .collect()
            }
            _ => random.bytes((all_rows * u64::from(self.pitch)) as usize),
        };
        assert!(self.memory.len() as u64 <= BYTES);
        self
    }

    /// Writes the surface to memory.
    pub fn put(&self, model: &mut Model) {
        model.write(SURFACE, &self.memory);
    }

    fn sheet(&self) -> Sheet {
        Sheet {
            width: self.width,
            height: self.height,
            depth: if self.kind == Kind::Three { self.depth } else { 1 },
            block: [1, 1],
            align: self.align,
        }
    }

    /// Width, height and depth of a level, counted from `min_lod`.
    pub fn size(&self, level: u32) -> [u32; 3] {
        let part = |extent: u32| (extent >> (self.min_lod + level)).max(1);
        let depth = if self.kind == Kind::Three { part(self.depth) } else { 1 };
        [part(self.width), part(self.height), depth]
    }

    /// Offset of an element from the surface's base address. `slice` is a slice of a volume, or a
    /// layer (six for each cube) counted from `min_slice`.
    pub fn offset(&self, level: u32, slice: u32, x: u32, y: u32) -> usize {
        let level = self.min_lod + level;
        let (left, top) = if self.kind == Kind::Three {
            let place = self.sheet().volume(level + 1)[level as usize][slice as usize];
            (place[0], place[1])
        } else {
            let place = self.sheet().levels(level + 1)[level as usize];
            (place[0], place[1] + (self.min_slice + slice) * self.qpitch)
        };
        let (x, y) = ((left + x) * self.bytes, top + y);
        self.tiling.offset(x.into(), y.into(), self.pitch.into()) as usize
    }

    /// The bytes of an element.
    pub fn element(&self, level: u32, slice: u32, x: u32, y: u32) -> &[u8] {
        let offset = self.offset(level, slice, x, y);
        &self.memory[offset..offset + self.bytes as usize]
    }

    /// A texel, for the formats of the filter tests.
    pub fn texel(&self, level: u32, slice: u32, x: u32, y: u32) -> [f64; 4] {
        let bytes = self.element(level, slice, x, y);
        let float =
            |n: usize| f64::from(f32::from_le_bytes(bytes[4 * n..4 * n + 4].try_into().unwrap()));
        let unorm = |n: usize| f64::from(bytes[n]) / 255.0;
        match self.format {
            SurfaceFormat::R32G32B32A32_FLOAT => [float(0), float(1), float(2), float(3)],
            SurfaceFormat::R32_FLOAT => [float(0), 0.0, 0.0, 1.0],
            SurfaceFormat::R8G8B8A8_UNORM => [unorm(0), unorm(1), unorm(2), unorm(3)],
            SurfaceFormat::B8G8R8A8_UNORM => [unorm(2), unorm(1), unorm(0), unorm(3)],
            SurfaceFormat::R8G8B8X8_UNORM => [unorm(0), unorm(1), unorm(2), 1.0],
            SurfaceFormat::B8G8R8X8_UNORM => [unorm(2), unorm(1), unorm(0), 1.0],
            SurfaceFormat::R8_UNORM => [unorm(0), 0.0, 0.0, 1.0],
            SurfaceFormat::R8G8_UNORM => [unorm(0), unorm(1), 0.0, 1.0],
            SurfaceFormat::A8_UNORM => [0.0, 0.0, 0.0, unorm(0)],
            SurfaceFormat::R16_UNORM => {
                [f64::from(u16::from_le_bytes([bytes[0], bytes[1]])) / 65535.0, 0.0, 0.0, 1.0]
            }
            other => panic!("{other:?}"),
        }
    }

    /// Fills a level of all slices with a colour. The format must be R32G32B32A32_FLOAT.
    pub fn fill(&mut self, level: u32, color: [f32; 4]) {
        let [width, height, depth] = self.size(level);
        let slices = if self.kind == Kind::Three { depth } else { self.depth - self.min_slice };
        for slice in 0..slices {
            for y in 0..height {
                for x in 0..width {
                    let offset = self.offset(level, slice, x, y);
                    let bytes: Vec<u8> =
                        color.iter().flat_map(|channel| channel.to_le_bytes()).collect();
                    self.memory[offset..offset + 16].copy_from_slice(&bytes);
                }
            }
        }
    }

    /// The surface state.
    pub fn state(&self) -> RenderSurfaceState {
        let RenderSurfaceStateView::Image {
            render_target_and_sample_unorm_rotation,
            render_target_view_extent,
            multisampled_surface_storage_format,
            number_of_multisamples,
            multisample_position_palette_index,
            ..
        } = RenderSurfaceState::new().view
        else {
            unreachable!("a new surface is an image")
        };
        RenderSurfaceState {
            surface_type: match self.kind {
                Kind::One | Kind::OneArray => SurfaceType::SURFTYPE_1D,
                Kind::Two | Kind::TwoArray => SurfaceType::SURFTYPE_2D,
                Kind::Three => SurfaceType::SURFTYPE_3D,
                Kind::Cube | Kind::CubeArray => SurfaceType::SURFTYPE_CUBE,
            },
            surface_array: self.kind.is_array(),
            surface_format: self.format,
            surface_horizontal_alignment: Horizontal::from_bits(
                u64::from(self.align[0].ilog2()) - 1,
            ),
            surface_vertical_alignment: Vertical::from_bits(u64::from(self.align[1].ilog2()) - 1),
            tile_mode: match self.tiling {
                Tiling::Linear => TileMode::LINEAR,
                Tiling::X => TileMode::XMAJOR,
                Tiling::Y => TileMode::YMAJOR,
                Tiling::W => TileMode::WMAJOR,
            },
            surface_qpitch: Shifted::new(self.qpitch.into()).unwrap(),
            extent: RenderSurfaceStateExtent::Image {
                width: MinusOne::new(self.width.into()).unwrap(),
                height: MinusOne::new(self.height.into()).unwrap(),
                depth: MinusOne::new(match self.kind {
                    Kind::Three => self.depth.into(),
                    _ => self.layers.into(),
                })
                .unwrap(),
            },
            surface_pitch: MinusOne::new(self.pitch.into()).unwrap(),
            view: RenderSurfaceStateView::Image {
                render_target_and_sample_unorm_rotation,
                minimum_array_element: u(self.min_slice.into()),
                render_target_view_extent,
                multisampled_surface_storage_format,
                number_of_multisamples,
                multisample_position_palette_index,
            },
            surface_min_lod: u(self.min_lod.into()),
            mip_count_lod: u(u64::from(self.levels) - 1),
            cube_face_enable_positive_x: self.kind.is_cube(),
            cube_face_enable_negative_x: self.kind.is_cube(),
            cube_face_enable_positive_y: self.kind.is_cube(),
            cube_face_enable_negative_y: self.kind.is_cube(),
            cube_face_enable_positive_z: self.kind.is_cube(),
            cube_face_enable_negative_z: self.kind.is_cube(),
            shader_channel_select_red: ShaderChannelSelect::RED,
            shader_channel_select_green: ShaderChannelSelect::GREEN,
            shader_channel_select_blue: ShaderChannelSelect::BLUE,
            shader_channel_select_alpha: ShaderChannelSelect::ALPHA,
            surface_base_address: at(SURFACE),
            ..RenderSurfaceState::new()
        }
    }
}
