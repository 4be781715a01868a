//! Clipper: drops objects outside the view volume, and runs threads that clip the objects that
//! cross its planes (gen45_facts 8).

use super::common::{GEOMETRY_CHANNELS, begin, count, refuse};
use super::objects::{Object, Shape};
use super::produced::Output;
use super::unit::{Unit, UnitState};
use crate::gen45::debug::{self, fixed};
use crate::gen45::state::general;
use crate::gen45::urb::{self, Urb};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::render::vue::{Vertices, dword, floats};
use genxml::gen45::enums::ThreeDPrimTopoType as Code;
use genxml::gen45::registers::{ClInvocationCount, ClPrimitivesCount};
use genxml::gen45::state_units::{
    ClipState, ClipStateApiMode as ApiMode, ClipStateClipMode as Mode, ClipViewport,
};
use genxml::gen45::thread_payloads::{ClipThreadPayload, VertexUrbEntry};
use genxml_core::U;

/// First dword of the position in clip space
/// (assumptions::G45_CLIPPER_TESTS_POSITIONS_IN_CLIP_SPACE).
const POSITION: usize = 8;

/// Planes of the view volume, a bit each.
mod plane {
    pub const FAR: u8 = 1 << 0;
    pub const NEAR: u8 = 1 << 1;
    pub const TOP: u8 = 1 << 2;
    pub const BOTTOM: u8 = 1 << 3;
    pub const RIGHT: u8 = 1 << 4;
    pub const LEFT: u8 = 1 << 5;
}

/// What happens to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is dropped.
    Drop,
    /// It passes unchanged.
    Pass,
    /// A thread clips it against these planes and user planes.
    Clip {
        /// Planes of the view volume.
        planes: u8,
        /// User planes.
        user: u8,
    },
}

/// The tests that decide whether objects are clipped.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tests {
    mode: Mode,
    /// Z is visible from 0 on, not from -W on.
    from_zero: bool,
    xy: bool,
    z: bool,
    guard_band: Option<[f32; 4]>,
    negative_w: bool,
    /// User clip flags that are tested.
    user: u8,
}

/// What the tests say about one vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Outside {
    /// Planes of the view volume that the vertex is outside of.
    volume: u8,
    /// Planes that the object has to be clipped against because of this vertex.
    clip: u8,
    user: u8,
    negative: bool,
}

impl Tests {
    fn vertex(&self, vertex: &[u32]) -> Outside {
        let [x, y, z, w] = floats(vertex, POSITION);
        let when = |outside: bool, plane: u8| if outside { plane } else { 0 };
        let volume_xy = when(x > w, plane::RIGHT)
            | when(x < -w, plane::LEFT)
            | when(y > w, plane::TOP)
            | when(y < -w, plane::BOTTOM);
        let least = if self.from_zero { 0.0 } else { -w };
        let volume_z = when(z > w, plane::FAR) | when(z < least, plane::NEAR);
        let band = self.guard_band.map_or(volume_xy, |[left, right, bottom, top]| {
            when(x > right * w, plane::RIGHT)
                | when(x < left * w, plane::LEFT)
                | when(y > top * w, plane::TOP)
                | when(y < bottom * w, plane::BOTTOM)
        });
        let negative = self.negative_w && w < 0.0;
        let mut clip = if self.xy || self.guard_band.is_some() { band } else { 0 };
        if negative {
            clip |= volume_xy;
        }
        if self.z {
            clip |= volume_z;
        }
        let header = VertexUrbEntry::unpack_lossy(&std::array::from_fn(|n| dword(vertex, n)));
        Outside {
            volume: if self.xy { volume_xy } else { 0 } | if self.z { volume_z } else { 0 },
            clip,
            user: header.user_clip_flags.get() as u8 & self.user,
            negative,
        }
    }

    /// Decides about an object.
    pub fn decide(&self, vertices: &[&[u32]]) -> Verdict {
        let (mut outside_all, mut user_all) = (u8::MAX, u8::MAX);
        let (mut planes, mut user, mut negative) = (0, 0, false);
        for vertex in vertices {
            let outside = self.vertex(vertex);
            (outside_all, user_all) = (outside_all & outside.volume, user_all & outside.user);
            (planes, user) = (planes | outside.clip, user | outside.user);
            negative |= outside.negative;
        }
        let rejected = outside_all != 0 || user_all != 0;
        let must_clip = planes != 0 || user != 0 || negative;
        match self.mode {
            Mode::ACCEPT_ALL => Verdict::Pass,
            Mode::REJECT_ALL => Verdict::Drop,
            Mode::ALL => Verdict::Clip { planes, user },
            _ if rejected => Verdict::Drop,
            Mode::CLIP_NON_REJECTED => Verdict::Clip { planes, user },
            _ if must_clip => Verdict::Clip { planes, user },
            _ => Verdict::Pass,
        }
    }
}

/// The clipper of a draw.
#[derive(Debug)]
pub struct Clipper {
    unit: Unit,
    tests: Tests,
    counted: bool,
    /// What the newest thread put out.
    output: Output,
}

impl Clipper {
    /// Resolves the clipper.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for a clip mode that does not exist and for fields that no thread can
    /// run with; [`Fault::Unimplemented`] for GS Output Object Statistics Enable; a page fault at
    /// the viewport.
    pub fn resolve(exec: &mut Exec<'_>, state: &ClipState, table: u64) -> Result<Clipper, Fault> {
        let mode = state.clip_mode;
        if mode.name().is_none() {
            return Err(exec.bad_field("Clip Mode", mode.bits(), "there is no such mode"));
        }
        let counts_gs = state.gs_output_object_statistics_enable;
        refuse(exec, counts_gs, "GS Output Object Statistics Enable of CLIP_STATE")?;
        let guard_band = match state.guardband_clip_test_enable {
            true => {
                let pointer = state.clipper_viewport_state_pointer.get();
                let viewport: ClipViewport = general(exec, pointer)?;
                Some([
                    viewport.xmin_clip_guardband,
                    viewport.xmax_clip_guardband,
                    viewport.ymin_clip_guardband,
                    viewport.ymax_clip_guardband,
                ])
            }
            false => None,
        };
        let user = state.user_clip_distance_clip_test_enable_bitmask.get() as u8;
        let tests = Tests {
            mode,
            from_zero: state.api_mode == ApiMode::D3D,
            xy: state.viewport_xy_clip_test_enable,
            z: state.viewport_z_clip_test_enable,
            guard_band,
            negative_w: state.negative_w_clip_test_enable,
            user: if state.user_clip_flags_must_clip_enable { user } else { 0 },
        };
        let unit = Unit::resolve(exec, UnitState::from(state), table)?;
        Ok(Clipper {
            unit,
            tests,
            counted: state.clipper_statistics_enable,
            output: Output::default(),
        })
    }

    /// Clips an object of `vertices`, and calls `each` for what remains of it.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for entries that do not fit the URB; any [`Fault`] of a thread or of
    /// `each`.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        object: &Object,
        each: &mut impl FnMut(&mut Exec<'_>, &Vertices, &Object) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.counted {
            count(exec, ClInvocationCount::OFFSET, 1);
        }
        let corners = object.vertices.map(|vertex| vertices.get(vertex as usize));
        let corners = &corners[..object.shape.vertices()];
        let verdict = match object.shape {
            // Rectangles are not clipped (gen45_facts 5).
            Shape::Rectangle => Verdict::Pass,
            _ => self.tests.decide(corners),
        };
        let made = match verdict {
            Verdict::Drop => 0,
            Verdict::Pass => {
                if self.unit.debugged() {
                    fixed::clipper_passes(exec, self.unit.state.kernel, corners.len());
                }
                each(exec, vertices, object)?;
                1
            }
            Verdict::Clip { planes, user } => {
                let number = self.thread(exec, corners, object, planes, user)?;
                let mut made = 0;
                self.output.objects(&mut |object, vertices| {
                    made += 1;
                    if let Some(number) = number {
                        let unit = debug::state::Unit::Clipper;
                        fixed::produced(exec, unit, number, object.vertices);
                    }
                    each(exec, vertices, object)
                })?;
                made
            }
        };
        if self.counted {
            count(exec, ClPrimitivesCount::OFFSET, made);
        }
        Ok(())
    }

    /// Runs a thread for an object. Returns its number, if debugging is enabled.
    fn thread(
        &mut self,
        exec: &mut Exec<'_>,
        corners: &[&[u32]],
        object: &Object,
        planes: u8,
        user: u8,
    ) -> Result<Option<u32>, Fault> {
        begin(exec, urb::Unit::Clip, &self.unit.state)?;
        let handle = exec.state.slots.get_mut::<Urb>().allocate();
        let header = self.unit.header();
        // Only polygons have inner edges.
        let polygon = object.code == Code::_3DPRIM_POLYGON;
        let start = ClipThreadPayload {
            urb_return_handle: U::from_bits(handle.into()),
            primitive_topology_type: U::from_bits(object.code.bits()),
            prim_start: !polygon || object.start,
            prim_end: !polygon || object.end,
            user_clip_outcodes: U::from_bits(user.into()),
            far_plane_outcode: planes & plane::FAR != 0,
            near_plane_outcode: planes & plane::NEAR != 0,
            top_plane_outcode: planes & plane::TOP != 0,
            bottom_plane_outcode: planes & plane::BOTTOM != 0,
            right_plane_outcode: planes & plane::RIGHT != 0,
            left_plane_outcode: planes & plane::LEFT != 0,
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_base_pointer: header.scratch,
            ..ClipThreadPayload::new()
        };
        self.unit.begin(&start.pack());
        for corner in corners {
            self.unit.push_entry(corner);
        }
        let mut number = None;
        if self.unit.debugged() {
            let kernel = self.unit.state.kernel;
            let (thread, mark) = fixed::clipper_thread(exec, kernel, corners.len());
            (self.unit.mark, number) = (Some(mark), Some(thread));
        }
        self.unit.run(exec, GEOMETRY_CHANNELS)?;
        self.output.take(exec, self.unit.state.rows);
        Ok(number)
    }
}
