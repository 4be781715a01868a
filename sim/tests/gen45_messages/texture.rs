//! A texture whose texels contain their own position: column, row, slice and level, as floats. The
//! position in memory is computed here, from the text of digests/gen45_facts 3 alone.

use crate::rig::{BASE, DATA, Rig, SAMPLERS, u};
use genxml::core::{Address, MinusOne};
use genxml::gen45::enums::{MipMapLayoutMode, SurfaceType, TextureCoordinateMode, TileWalk};
use genxml::gen45::state_formats::SurfaceFormat;
use genxml::gen45::state_surface::{
    SamplerState, SamplerStateMagModeFilter as Mag, SamplerStateMinModeFilter as Min,
    SamplerStateMipModeFilter as Mip, SurfaceState, SurfaceStateExtent,
};

/// Index of the surface in the binding table.
pub const INDEX: u64 = 3;

#[derive(Clone, Copy, Debug)]
pub struct Texture {
    pub kind: SurfaceType,
    pub width: usize,
    pub height: usize,
    /// Slices of a volume, or elements of an array.
    pub depth: usize,
    pub levels: usize,
    /// Columns of a row of memory.
    pub columns: usize,
    pub right: bool,
    pub tiling: Option<TileWalk>,
    /// True for R8G8B8A8_UNORM, false for R32G32B32A32_FLOAT.
    pub bytes: bool,
}

impl Texture {
    pub fn new(kind: SurfaceType, size: [usize; 3], levels: usize) -> Texture {
        let [width, height, depth] = size;
        Texture {
            kind,
            width,
            height,
            depth,
            levels,
            columns: 64,
            right: false,
            tiling: None,
            bytes: false,
        }
    }

    /// Bytes of a texel.
    fn texel(&self) -> usize {
        if self.bytes { 4 } else { 16 }
    }

    /// The value of a channel that contains `n`.
    pub fn value(&self, n: usize) -> f32 {
        if self.bytes { n as f32 / 255.0 } else { n as f32 }
    }

    /// Width, height and number of slices of a level.
    pub fn size(&self, level: usize) -> [usize; 3] {
        let half = |n: usize| (0..level).fold(n, |n, _| (n / 2).max(1));
        let slices = match self.kind {
            SurfaceType::SURFTYPE_3D => half(self.depth),
            SurfaceType::SURFTYPE_CUBE => 6,
            _ => self.depth,
        };
        [half(self.width), half(self.height), slices]
    }

    fn aligned(&self, level: usize) -> [usize; 2] {
        let [width, height, _] = self.size(level);
        [width.div_ceil(4) * 4, height.div_ceil(2) * 2]
    }

    /// First column and row of a slice of a level.
    pub fn place(&self, level: usize, slice: usize) -> [usize; 2] {
        if matches!(self.kind, SurfaceType::SURFTYPE_3D | SurfaceType::SURFTYPE_CUBE) {
            let mut top = 0;
            for above in 0..level {
                let rows_of_slices = self.size(above)[2].div_ceil(2usize.pow(above as u32));
                top += rows_of_slices * self.aligned(above)[1];
            }
            let beside = 2usize.pow(level as u32);
            let [width, height] = self.aligned(level);
            return [slice % beside * width, top + slice / beside * height];
        }
        let array = slice * (self.aligned(0)[1] + self.aligned(1)[1] + 22);
        let below = |first: usize| -> usize { (first..level).map(|n| self.aligned(n)[1]).sum() };
        let [x, y] = match (level, self.right) {
            (0, _) => [0, 0],
            (_, true) => [self.aligned(0)[0], below(1)],
            (1, false) => [0, self.aligned(0)[1]],
            (_, false) => [self.aligned(1)[0], self.aligned(0)[1] + below(2)],
        };
        [x, y + array]
    }

    /// Byte offset of a texel in memory.
    fn offset(&self, column: usize, row: usize) -> usize {
        let (x, pitch) = (column * self.texel(), self.columns * self.texel());
        match self.tiling {
            None => row * pitch + x,
            Some(TileWalk::TILEWALK_YMAJOR) => {
                (row / 32 * (pitch / 128) + x / 128) * 4096
                    + x % 128 / 16 * 512
                    + row % 32 * 16
                    + x % 16
            }
            Some(_) => (row / 8 * (pitch / 512) + x / 512) * 4096 + row % 8 * 512 + x % 512,
        }
    }

    pub fn state(&self) -> SurfaceState {
        SurfaceState {
            surface_type: self.kind,
            surface_format: match self.bytes {
                true => SurfaceFormat::R8G8B8A8_UNORM,
                false => SurfaceFormat::R32G32B32A32_FLOAT,
            },
            surface_base_address: Address::new(DATA).unwrap(),
            mip_map_layout_mode: if self.right {
                MipMapLayoutMode::MIPLAYOUT_RIGHT
            } else {
                MipMapLayoutMode::MIPLAYOUT_BELOW
            },
            mip_count_lod: u(self.levels as u64 - 1),
            extent: SurfaceStateExtent::Image {
                width: MinusOne::new(self.width as u64).unwrap(),
                height: MinusOne::new(self.height as u64).unwrap(),
                depth: MinusOne::new(self.depth as u64).unwrap(),
            },
            tiled_surface: self.tiling.is_some(),
            tile_walk: self.tiling.unwrap_or(TileWalk::TILEWALK_XMAJOR),
            surface_pitch: MinusOne::new((self.columns * self.texel()) as u64).unwrap(),
            cube_face_enable_positive_x: true,
            cube_face_enable_negative_x: true,
            cube_face_enable_positive_y: true,
            cube_face_enable_negative_y: true,
            cube_face_enable_positive_z: true,
            cube_face_enable_negative_z: true,
            ..SurfaceState::new()
        }
    }

    /// Writes all texels, and -1 elsewhere, and binds the surface.
    pub fn load(&self, rig: &mut Rig) {
        let mut bytes = (-1f32).to_le_bytes().repeat(0x8_0000 / 4);
        for level in 0..self.levels {
            let [width, height, slices] = self.size(level);
            for slice in 0..slices {
                let [left, top] = self.place(level, slice);
                for y in 0..height {
                    for x in 0..width {
                        let at = self.offset(left + x, top + y);
                        for (n, value) in [x, y, slice, level].into_iter().enumerate() {
                            if self.bytes {
                                bytes[at + n] = value as u8;
                            } else {
                                let to = &mut bytes[at + 4 * n..at + 4 * n + 4];
                                to.copy_from_slice(&(value as f32).to_le_bytes());
                            }
                        }
                    }
                }
            }
        }
        rig.put_bytes(DATA, &bytes);
        rig.bind(INDEX, &self.state().pack());
    }
}

/// A sampler state with these filters, clamped coordinates and all levels.
pub fn sampler(linear: bool, mip: Mip) -> SamplerState {
    SamplerState {
        min_mode_filter: if linear { Min::LINEAR } else { Min::NEAREST },
        mag_mode_filter: if linear { Mag::LINEAR } else { Mag::NEAREST },
        mip_mode_filter: mip,
        tcx_address_control_mode: TextureCoordinateMode::CLAMP,
        tcy_address_control_mode: TextureCoordinateMode::CLAMP,
        tcz_address_control_mode: TextureCoordinateMode::CLAMP,
        max_lod: genxml::core::UFix::new(13.0).unwrap(),
        ..SamplerState::new()
    }
}

/// Writes a sampler state as sampler `index`.
pub fn load_sampler(rig: &mut Rig, index: u64, state: &SamplerState) {
    rig.put(BASE + SAMPLERS + 16 * index, &state.pack());
}
