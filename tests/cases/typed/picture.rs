//! A surface and the offsets of its elements, counted by hand.

use crate::typed::SURFACE;
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateExtent,
    RenderSurfaceStateSurfaceHorizontalAlignment as Horizontal,
    RenderSurfaceStateSurfaceVerticalAlignment as Vertical, RenderSurfaceStateView,
    ShaderChannelSelect, SurfaceFormat, SurfaceType, TileMode,
};
use genxml_cases::paper::{Sheet, Tiling};
use genxml_cases::{Random, at, u};
use genxml_core::{MinusOne, Shifted};

/// Bytes of memory for a surface.
pub const BYTES: u64 = 1 << 20;

/// Kinds of surfaces that typed messages take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Buffer,
    One,
    OneArray,
    Two,
    TwoArray,
    Three,
    Cube,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Buffer,
        Kind::One,
        Kind::OneArray,
        Kind::Two,
        Kind::TwoArray,
        Kind::Three,
        Kind::Cube,
    ];
}

#[derive(Clone, Debug)]
pub struct Picture {
    pub kind: Kind,
    pub bytes: u32,
    pub tiling: Tiling,
    pub width: u32,
    pub height: u32,
    /// Number of slices of level 0, of an array or a volume.
    pub depth: u32,
    pub align: [u32; 2],
    pub pitch: u32,
    pub qpitch: u32,
    /// X Offset and Y Offset.
    pub start: [u32; 2],
    pub min_lod: u32,
    pub levels: u32,
    pub min_slice: u32,
    /// Number of slices from the first accessible one on.
    pub slices: u32,
}

impl Picture {
    /// A surface of random sizes for elements of `bytes` bytes.
    pub fn random(random: &mut Random, kind: Kind, bytes: u32) -> Picture {
        let mut within = |end: u64| random.below(end) as u32;
        let one = matches!(kind, Kind::Buffer | Kind::One | Kind::OneArray);
        let tiling = match kind {
            Kind::Buffer => Tiling::Linear,
            // W tiling is for elements of one byte (2d p.327).
            _ if bytes == 1 => {
                [Tiling::Linear, Tiling::X, Tiling::Y, Tiling::W][within(4) as usize]
            }
            _ => [Tiling::Linear, Tiling::X, Tiling::Y][within(3) as usize],
        };
        let width = 1 + within(60);
        let height = match kind {
            _ if one => 1,
            Kind::Cube => width,
            _ => 1 + within(40),
        };
        let depth = match kind {
            Kind::OneArray | Kind::TwoArray | Kind::Three => 1 + within(6),
            Kind::Cube => 6,
            _ => 1,
        };
        let align = [4 << within(3), 4 << within(3)];
        let stored = if kind == Kind::Buffer { 1 } else { 1 + within(4) };
        let min_lod = within(stored.into());
        let levels = 1 + within((stored - min_lod).into());
        let simple = kind == Kind::Two && stored == 1 && tiling != Tiling::Linear && bytes <= 16;
        let start = match simple && within(2) == 0 {
            true => [4 * within(8) * 4, 4 * within(8)],
            false => [0, 0],
        };
        let (min_slice, slices) = match kind {
            Kind::OneArray | Kind::TwoArray => {
                let first = within(depth.into());
                (first, 1 + within((depth - first).into()))
            }
            Kind::Three => {
                let first = within(2).min(depth - 1);
                (first, 1 + within((depth - first).into()))
            }
            _ => (0, depth),
        };
        let mut picture = Picture {
            kind,
            bytes,
            tiling,
            width,
            height,
            depth,
            align,
            pitch: 0,
            qpitch: 0,
            start,
            min_lod,
            levels,
            min_slice,
            slices,
        };
        let sheet = picture.sheet();
        let all = match kind {
            Kind::Three => sheet.volume(stored).concat(),
            _ => sheet.levels(stored),
        };
        let right =
            all.iter().map(|rectangle| rectangle[0] + rectangle[2]).max().unwrap() + start[0];
        let bottom = all.iter().map(|rectangle| rectangle[1] + rectangle[3]).max().unwrap();
        let (tile, _, unit) = tiling.tile();
        picture.pitch = match kind {
            Kind::Buffer => bytes * (1 + within(3)),
            _ if tiling == Tiling::Linear => right * bytes + bytes * within(3),
            _ => ((u64::from(right * bytes).div_ceil(tile) + u64::from(within(2))) * unit) as u32,
        };
        picture.qpitch = bottom.next_multiple_of(align[1].max(4)) + 4 * align[1] * within(2);
        picture
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

    /// Offset of the element at U, V, R and LOD from the surface's base address; `None` outside.
    pub fn find(&self, [u, v, r, lod]: [u32; 4]) -> Option<u64> {
        if self.kind == Kind::Buffer {
            return (u < self.width).then(|| u64::from(u) * u64::from(self.pitch));
        }
        if lod >= self.levels {
            return None;
        }
        let level = self.min_lod + lod;
        let (y, slice) = match self.kind {
            Kind::One => (0, 0),
            Kind::OneArray => (0, v),
            Kind::Two => (v, 0),
            _ => (v, r),
        };
        if u >= (self.width >> level).max(1)
            || y >= (self.height >> level).max(1)
            || slice >= self.slices
        {
            return None;
        }
        let slice = self.min_slice + slice;
        let (left, top) = if self.kind == Kind::Three {
            let place = *self.sheet().volume(level + 1)[level as usize].get(slice as usize)?;
            (place[0], place[1])
        } else {
            let place = self.sheet().levels(level + 1)[level as usize];
            (place[0], place[1] + slice * self.qpitch)
        };
        let (x, y) = ((left + self.start[0] + u) * self.bytes, top + self.start[1] + y);
        Some(self.tiling.offset(x.into(), y.into(), self.pitch.into()))
    }

    /// Random coordinates, mostly inside.
    pub fn place(&self, random: &mut Random) -> [u32; 4] {
        let [width, height, slices, levels] = [self.width, self.height, self.slices, self.levels];
        let mut within = |extent: u32| match random.below(40) {
            0 => extent + random.below(3) as u32,
            1 => random.bits() as u32,
            _ => random.below(extent.into()) as u32,
        };
        let lod = if self.kind == Kind::Buffer { 0 } else { within(levels) };
        let level = (self.min_lod + lod).min(31);
        let (u, y) = (within((width >> level).max(1)), within((height >> level).max(1)));
        match self.kind {
            Kind::OneArray => [u, within(slices), 0, lod],
            Kind::Buffer | Kind::One => [u, 0, 0, lod],
            Kind::Two => [u, y, 0, lod],
            _ => [u, y, within(slices), lod],
        }
    }

    /// Number of coordinates that a message needs. It needs the LOD only if there are several
    /// levels.
    pub fn coordinates(&self) -> usize {
        match self.kind {
            Kind::Buffer => 1,
            _ if self.levels > 1 => 4,
            Kind::One => 1,
            Kind::OneArray | Kind::Two => 2,
            _ => 3,
        }
    }

    /// The surface state.
    pub fn state(
        &self,
        format: SurfaceFormat,
        select: [ShaderChannelSelect; 4],
    ) -> RenderSurfaceState {
        let extent = match self.kind {
            Kind::Buffer => RenderSurfaceStateExtent::Buffer {
                width: u((self.width as u64 - 1) & 0x7f),
                height: u((self.width as u64 - 1) >> 7),
                depth: u(0),
            },
            _ => RenderSurfaceStateExtent::Image {
                width: MinusOne::new(self.width.into()).unwrap(),
                height: MinusOne::new(self.height.into()).unwrap(),
                // For a cube the number of cubes; for an array the slices from the first one on (2d
                // p.336).
                depth: MinusOne::new(match self.kind {
                    Kind::Three => self.depth.into(),
                    Kind::Cube => 1,
                    _ => self.slices.into(),
                })
                .unwrap(),
            },
        };
        let RenderSurfaceStateView::Image {
            render_target_and_sample_unorm_rotation,
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
                Kind::Buffer => SurfaceType::SURFTYPE_BUFFER,
                Kind::One | Kind::OneArray => SurfaceType::SURFTYPE_1D,
                Kind::Two | Kind::TwoArray => SurfaceType::SURFTYPE_2D,
                Kind::Three => SurfaceType::SURFTYPE_3D,
                Kind::Cube => SurfaceType::SURFTYPE_CUBE,
            },
            surface_array: matches!(self.kind, Kind::OneArray | Kind::TwoArray),
            surface_format: format,
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
            extent,
            surface_pitch: MinusOne::new(self.pitch.into()).unwrap(),
            view: RenderSurfaceStateView::Image {
                render_target_and_sample_unorm_rotation,
                minimum_array_element: u(self.min_slice.into()),
                render_target_view_extent: MinusOne::new(self.slices.into()).unwrap(),
                multisampled_surface_storage_format,
                number_of_multisamples,
                multisample_position_palette_index,
            },
            x_offset: Shifted::new(self.start[0].into()).unwrap(),
            y_offset: Shifted::new(self.start[1].into()).unwrap(),
            surface_min_lod: u(self.min_lod.into()),
            mip_count_lod: u(u64::from(self.levels) - 1),
            shader_channel_select_red: select[0],
            shader_channel_select_green: select[1],
            shader_channel_select_blue: select[2],
            shader_channel_select_alpha: select[3],
            surface_base_address: at(SURFACE),
            ..RenderSurfaceState::new()
        }
    }
}
