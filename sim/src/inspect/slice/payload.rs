//! What the payload of a pixel, vertex or geometry shader has in each register (2a, 3DSTATE_PS, VS
//! and GS; gen8_facts 3.2, 3.5, 3.6). The order is that of [`crate::render::ps`],
//! [`crate::render::vs`] and [`crate::render::gs`].

use crate::eu::regions::{GRF_BYTES, REGISTER};
use crate::machine::drawing::Drawing;
use crate::render::constant_buffers::{ConstantBuffer, constant_buffers};
use crate::render::gs::Mode;
use crate::render::ps::{MAX_SPANS, PsKernel};
use crate::render::vue::{SLOT, SLOTS};
use genxml::gen8::render3d_constants::{
    ThreeDStateConstantBody, ThreeDStateConstantGs, ThreeDStateConstantPs, ThreeDStateConstantVs,
};
use genxml::gen8::render3d_pixel::{
    ThreeDStatePs, ThreeDStatePsExtra, ThreeDStatePsPositionXyOffsetSelect as OffsetSelect,
    ThreeDStateWm,
};
use genxml::gen8::render3d_raster::ThreeDStateSbe;
use genxml::gen8::render3d_stages::{ThreeDStateGs, ThreeDStateVs};
use std::ops::Range;

/// The source of a register of the payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// r0: state pointers, topology, and facing.
    Header,
    /// r1, and r2 for 32 pixels: positions of the quads, and the mask of pixels.
    Positions,
    /// A weight of a vertex.
    Barycentric {
        /// Where it is evaluated, and whether with perspective.
        mode: &'static str,
        /// The vertex: 1 or 2.
        vertex: u8,
    },
    /// The depth of the primitive at the pixel.
    Depth,
    /// The w of the primitive at the pixel.
    W,
    /// The offset of the sample or centroid.
    Offset,
    /// The mask of covered samples.
    Coverage,
    /// A push constant.
    Constant {
        /// Constant buffer 0 to 3 of the 3DSTATE_CONSTANT packet of the stage.
        buffer: u8,
        /// Graphics address of the dword.
        address: u64,
    },
    /// Setup data of an attribute.
    Attribute {
        /// Number of the attribute, from 0 on.
        number: u8,
        /// Component: 0 to 3 for x to w.
        component: u8,
        /// The difference of vertices 1 and 0 (`c1`) or 2 and 0 (`c2`), or the value at vertex 0
        /// (`a0`).
        term: &'static str,
    },
    /// The handles of URB entries.
    Handles,
    /// The primitive ID.
    PrimitiveId,
    /// A dword of a vertex: of a fetched vertex for the vertex shader, of a vertex of the primitive
    /// for the geometry shader.
    Vertex {
        /// The vertex or primitive among those of the thread.
        lane: u8,
        /// The vertex of the primitive; `None` for the vertex shader.
        vertex: Option<u8>,
        /// The dword of the vertex.
        dword: u16,
    },
    /// The payload of a thread of another kind: its parts are not described.
    Payload,
    /// A register that is 0 when the thread starts.
    Zero,
    /// An architecture register: `sr0`, `cr0`...
    Machine,
}

/// Channels of a register.
const LANES: usize = 8;

/// The barycentrics in the order of the payload.
const MODES: [&str; 6] = [
    "perspective, pixel",
    "perspective, centroid",
    "perspective, sample",
    "linear, pixel",
    "linear, centroid",
    "linear, sample",
];

/// The payload of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Map {
    parts: Vec<(Range<usize>, Source)>,
    /// Graphics and physical addresses of the registers of constants.
    constants: Vec<[u64; 2]>,
}

impl Map {
    /// The payload of the threads of `kernel` in a draw.
    pub fn of(drawing: &Drawing<'_>, kernel: &PsKernel) -> Map {
        let ps: ThreeDStatePs = drawing.latched();
        let extra: ThreeDStatePsExtra = drawing.latched();
        let wm: ThreeDStateWm = drawing.latched();
        let mut map = Map::default();
        map.push(1, Source::Header);
        map.push(if kernel.spans == MAX_SPANS { 2 } else { 1 }, Source::Positions);
        for _ in (0..kernel.spans).step_by(4) {
            let rows = if kernel.spans == 2 { 1 } else { 2 };
            let modes = wm.barycentric_interpolation_mode.get();
            for (_, mode) in MODES.into_iter().enumerate().filter(|(n, _)| modes >> n & 1 == 1) {
                for _ in 0..rows {
                    map.push(1, Source::Barycentric { mode, vertex: 1 });
                    map.push(1, Source::Barycentric { mode, vertex: 2 });
                }
            }
            if extra.pixel_shader_uses_source_depth {
                map.push(rows, Source::Depth);
            }
            if extra.pixel_shader_uses_source_w {
                map.push(rows, Source::W);
            }
            let offsets = [OffsetSelect::POSOFFSET_CENTROID, OffsetSelect::POSOFFSET_SAMPLE];
            if offsets.contains(&ps.position_xy_offset_select) {
                map.push(1, Source::Offset);
            }
            if extra.pixel_shader_uses_input_coverage_mask {
                map.push(rows, Source::Coverage);
            }
        }
        map.start(kernel.start as usize);
        if ps.push_constant_enable {
            let ThreeDStateConstantPs { constant_body, .. } = drawing.latched();
            map.constants(drawing, &constant_body);
        }
        if extra.attribute_enable {
            map.attributes(drawing);
        }
        map
    }

    fn end(&self) -> usize {
        self.parts.last().map_or(0, |(range, _)| range.end)
    }

    fn push(&mut self, registers: usize, source: Source) {
        let end = self.end();
        self.parts.push((end..end + registers * REGISTER, source));
    }

    /// Drops the parts from `register` on, which is the first register of the constants. A gap
    /// before it is zero.
    fn start(&mut self, register: usize) {
        let start = register * REGISTER;
        self.parts.retain(|(range, _)| range.end <= start);
        let end = self.end();
        self.parts.push((end..start, Source::Zero));
    }

    fn vertex(&mut self, lane: usize, vertex: Option<usize>, dword: usize) {
        let (end, vertex) = (self.end(), vertex.map(|vertex| vertex as u8));
        let source = Source::Vertex { lane: lane as u8, vertex, dword: dword as u16 };
        self.parts.push((end..end + 4, source));
    }

    /// The payload of the threads of the vertex shader.
    pub fn of_vertex_shader(drawing: &Drawing<'_>) -> Map {
        let vs: ThreeDStateVs = drawing.latched();
        let ThreeDStateConstantVs { constant_body, .. } = drawing.latched();
        let mut map = Map::default();
        map.push(1, Source::Header);
        if vs.simd8_dispatch_enable {
            map.push(1, Source::Handles);
        }
        map.start(vs.dispatch_grf_start_register_for_urb_data.get() as usize);
        map.constants(drawing, &constant_body);
        let first = vs.vertex_urb_entry_read_offset.get() as usize * SLOTS;
        let slots = first..first + vs.vertex_urb_entry_read_length.get() as usize * SLOTS;
        for dword in slots.start * SLOT..slots.end * SLOT {
            if vs.simd8_dispatch_enable {
                (0..LANES).for_each(|lane| map.vertex(lane, None, dword));
            } else if dword.is_multiple_of(SLOT) {
                (0..LANES).for_each(|n| map.vertex(n / SLOT, None, dword + n % SLOT));
            }
        }
        map
    }

    /// The payload of the threads of the geometry shader.
    pub fn of_geometry_shader(drawing: &Drawing<'_>) -> Map {
        let gs: ThreeDStateGs = drawing.latched();
        let ThreeDStateConstantGs { constant_body, .. } = drawing.latched();
        let expected = gs.expected_vertex_count.get() as usize;
        let mode = Mode::of(&gs);
        let mut map = Map::default();
        map.push(1, Source::Header);
        if mode == Mode::Simd8 {
            map.push(1, Source::Handles);
        }
        if gs.include_primitive_id {
            map.push(1, Source::PrimitiveId);
        }
        if gs.include_vertex_handles {
            let instances = gs.instance_control.get() as u32;
            map.push(mode.registers_of_handles(instances, expected), Source::Handles);
        }
        map.start(gs.dispatch_grf_start_register_for_urb_data.get() as usize);
        map.constants(drawing, &constant_body);
        let first = gs.vertex_urb_entry_read_offset.get() as usize * SLOTS;
        let slots = first..first + gs.vertex_urb_entry_read_length.get() as usize * SLOTS;
        for vertex in 0..expected {
            for dword in slots.start * SLOT..slots.end * SLOT {
                match mode {
                    Mode::Simd8 => {
                        (0..LANES).for_each(|lane| map.vertex(lane, Some(vertex), dword));
                    }
                    Mode::Single | Mode::DualInstance => map.vertex(0, Some(vertex), dword),
                    Mode::DualObject if dword.is_multiple_of(SLOT) => {
                        (0..LANES)
                            .for_each(|n| map.vertex(n / SLOT, Some(vertex), dword + n % SLOT));
                    }
                    Mode::DualObject => {}
                }
            }
        }
        map
    }

    fn constants(&mut self, drawing: &Drawing<'_>, body: &ThreeDStateConstantBody) {
        let buffers = constant_buffers(drawing.state, body);
        for (number, ConstantBuffer { registers, address }) in buffers.into_iter().enumerate() {
            for register in 0..registers {
                let address = address.wrapping_add(register * REGISTER as u64);
                self.push(1, Source::Constant { buffer: number as u8, address });
                self.constants
                    .extend(drawing.physical(address).map(|physical| [address, physical]));
            }
        }
    }

    fn attributes(&mut self, drawing: &Drawing<'_>) {
        let sbe: ThreeDStateSbe = drawing.latched();
        for number in 0..sbe.number_of_sf_output_attributes.get() as u8 {
            for component in 0..4 {
                for term in ["c1", "c2", "", "a0"] {
                    let end = self.end();
                    let source = Source::Attribute { number, component, term };
                    self.parts.push((end..end + 4, source));
                }
            }
        }
    }

    /// The physical address of a constant.
    pub fn physical(&self, address: u64) -> Option<u64> {
        let has = |[first, _]: &&[u64; 2]| address.wrapping_sub(*first) < REGISTER as u64;
        let [first, physical] = self.constants.iter().find(has)?;
        Some(physical + (address - first))
    }

    /// The source of the register byte at an offset in the register file. `payload` is the number
    /// of bytes of the thread's payload.
    pub fn source(&self, at: usize, payload: usize) -> Source {
        if at >= GRF_BYTES {
            return Source::Machine;
        }
        let found = self.parts.iter().find(|(range, _)| range.contains(&at));
        match found {
            Some((range, Source::Constant { buffer, address })) => {
                let address = address.wrapping_add((at - range.start) as u64);
                Source::Constant { buffer: *buffer, address }
            }
            Some((_, source)) => *source,
            None if self.parts.is_empty() && at < payload => Source::Payload,
            None => Source::Zero,
        }
    }
}
