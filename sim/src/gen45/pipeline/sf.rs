//! Strips and fans (setup): transforms vertices to the screen, drops faces, and runs a thread for
//! each object, which computes the planes of its attributes (gen45_facts 9).

use super::common::{GEOMETRY_CHANNELS, begin};
use super::objects::{Object, Shape};
use super::raster_state::RasterState;
use super::unit::{ROW, Unit, UnitState};
use crate::gen45::debug::fixed;
use crate::gen45::urb::{self, Urb};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::pixel::coordinates::{Point, doubled_area};
use crate::pixel::interpolate::{Corner, Planes};
use crate::pixel::raster::{Convex, FillRule};
use crate::pixel::viewport::ScreenVertex;
use crate::render::points_lines;
use crate::render::primitives::{Kind, SetupPrimitive};
use crate::render::sf::CullMode;
use crate::render::stipple::pixels_along;
use crate::render::tiles::Bins;
use crate::render::vue::{Vertices, dword, floats};
use genxml::gen45::enums::ThreeDPrimTopoType as Code;
use genxml::gen45::state_units::SfState;
use genxml::gen45::thread_payloads::{SfThreadPayload, SfThreadPayloadVertex, VertexUrbEntry};
use genxml_core::U;

/// First dword of the position after division by w.
const NDC: usize = 4;

/// A primitive that can be rasterised.
#[derive(Clone, Copy, Debug)]
pub struct Primitive {
    /// The topology of its object.
    pub code: Code,
    /// What it covers, and its facing.
    pub setup: SetupPrimitive,
    /// Position of the first vertex on the screen minus the position of the sample in a pixel. There
    /// a plane has the value C0.
    pub start: [f32; 2],
    /// Added to the depth of every pixel.
    pub depth_bias: f32,
    /// The polygon stipple applies.
    pub stippled: bool,
}

/// An object on the screen: vertices in the order in which the thread gets them.
struct Screen<'v> {
    vertices: [&'v [u32]; 3],
    at: [ScreenVertex; 3],
    count: usize,
    provoking: usize,
}

/// Strips and fans of a draw.
#[derive(Debug)]
pub struct Setup {
    unit: Unit,
    /// Position in the line stipple pattern.
    stipple: u32,
    /// The newest setup entry.
    entry: Vec<u32>,
}

impl Setup {
    /// Resolves strips and fans.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for fields that no thread can run with.
    pub fn resolve(exec: &mut Exec<'_>, state: &SfState, table: u64) -> Result<Setup, Fault> {
        let unit = Unit::resolve(exec, UnitState::from(state), table)?;
        Ok(Setup { stipple: 0, entry: Vec::new(), unit })
    }

    /// Sets up an object of `vertices`. If it can cover pixels, runs its thread, and adds it to the
    /// bins with its setup entry.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for entries that do not fit the URB and for topologies that the unit
    /// does not have; any [`Fault`] of the thread.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        state: &RasterState,
        vertices: &Vertices,
        object: &Object,
        bins: &mut Bins<Primitive, u32>,
    ) -> Result<(), Fault> {
        if object.shape == Shape::Quad {
            let why = "only the geometry shader takes quads";
            return Err(exec.bad_field("Primitive Topology Type", object.code.bits(), why));
        }
        if object.start && object.shape == Shape::Line {
            self.stipple = state.line_stipple.map_or(0, |(_, start)| start);
        }
        let Some(screen) = screen(state, vertices, object) else { return Ok(()) };
        let Some(mut primitive) = self.primitive(state, object, &screen) else { return Ok(()) };
        let pixels = primitive.setup.pixels(&state.multisample.samples).intersection(state.window);
        if pixels.is_empty() {
            return Ok(());
        }
        if let (Some(bias), Kind::Surface) = (&state.depth_bias, primitive.setup.kind) {
            let largest = screen.at.iter().fold(0.0_f32, |z, vertex| z.max(vertex.z.abs()));
            primitive.depth_bias = bias.of(largest, primitive.setup.planes.slope());
        }
        self.thread(exec, state, object, &screen, &primitive)?;
        let UnitState { rows, .. } = self.unit.state;
        self.entry.clear();
        self.entry.resize(rows * ROW, 0);
        let urb = exec.state.slots.get_mut::<Urb>();
        let entry = urb.rows(urb.handle(0), rows);
        let out: &mut [u8] = bytemuck::cast_slice_mut(&mut self.entry);
        out[..entry.len()].copy_from_slice(entry);
        bins.push(exec, pixels, primitive, |data| data.extend_from_slice(&self.entry))
    }

    /// The primitive of an object, if it can cover pixels.
    fn primitive(
        &mut self,
        state: &RasterState,
        object: &Object,
        screen: &Screen<'_>,
    ) -> Option<Primitive> {
        let [a, b, c] = screen.at.map(|vertex| vertex.at);
        let mut first = a;
        let setup = match object.shape {
            Shape::Point => {
                let header: [u32; VertexUrbEntry::DWORDS] =
                    std::array::from_fn(|n| dword(screen.vertices[0], n));
                let width = VertexUrbEntry::unpack_lossy(&header).point_width.get() as f32;
                let multisample = &state.multisample;
                let point = points_lines::point(&state.point, multisample, &screen.at[0], width)?;
                let half = point_width(state, screen.vertices[0]) / 2.0;
                let half = (half * 256.0) as i32;
                first = Point { x: a.x - half, y: a.y - half };
                SetupPrimitive { back: object.code == Code::_3DPRIM_POINTLIST_BF, ..point }
            }
            Shape::Line => {
                let ends = [0, 1].map(|n| Corner::vertex(screen.at[n], n));
                let line = &state.line;
                let line =
                    points_lines::line(line, &state.multisample, &ends, self.stipple, object.end);
                self.stipple = self.stipple.wrapping_add(pixels_along(a, b));
                let back = matches!(
                    object.code,
                    Code::_3DPRIM_LINESTRIP_BF | Code::_3DPRIM_LINESTRIP_CONT_BF
                );
                SetupPrimitive { back, ..line? }
            }
            Shape::Rectangle => {
                let fourth = Point::new(a.x - b.x + c.x, a.y - b.y + c.y);
                let convex = Convex::quadrangle([a, b, c, fourth], FillRule::UpperLeft)?;
                SetupPrimitive::surface(convex, planes(screen)?, false)
            }
            _ => {
                let area = doubled_area(a, b, c);
                let back = (area < 0) != state.front_is_counterclockwise;
                let dropped = match state.cull {
                    CullMode::Both => true,
                    CullMode::None => false,
                    CullMode::Front => !back,
                    CullMode::Back => back,
                };
                if dropped {
                    return None;
                }
                let convex = Convex::triangle([a, b, c], FillRule::UpperLeft)?;
                SetupPrimitive::surface(convex, planes(screen)?, back)
            }
        };
        let [x, y] = first.pixels();
        let [bias_x, bias_y] = state.bias;
        Some(Primitive {
            code: object.code,
            setup,
            start: [x as f32 - bias_x, y as f32 - bias_y],
            depth_bias: 0.0,
            stippled: object.code != Code::_3DPRIM_TRIFAN_NOSTIPPLE,
        })
    }

    fn thread(
        &mut self,
        exec: &mut Exec<'_>,
        state: &RasterState,
        object: &Object,
        screen: &Screen<'_>,
        primitive: &Primitive,
    ) -> Result<(), Fault> {
        begin(exec, urb::Unit::Sf, &self.unit.state)?;
        let handle = exec.state.slots.get_mut::<Urb>().handle(0);
        let header = self.unit.header();
        let [a, b, c] = screen.at.map(|vertex| vertex.at.pixels());
        let [dx0, dy0] = [b[0] - a[0], b[1] - a[1]];
        let [dx2, dy2] = [c[0] - a[0], c[1] - a[1]];
        let (determinant, [dx0, dx2, dy0, dy2]) = match object.shape {
            Shape::Point => {
                let width = f64::from(point_width(state, screen.vertices[0]));
                (width * width, [width, 0.0, 0.0, width])
            }
            Shape::Line => (dx0 * dx0 + dy0 * dy0, [dx0, 0.0, dy0, 0.0]),
            _ => (dx0 * dy2 - dx2 * dy0, [dx0, dx2, dy0, dy2]),
        };
        let start = SfThreadPayload {
            urb_return_handle: U::from_bits(handle.into()),
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_base_pointer: header.scratch,
            primitive_topology_type: U::from_bits(object.code.bits()),
            point_sprite_enable: state.sprites && primitive.setup.kind == Kind::Point,
            provoking_vertex: U::from_bits(screen.provoking as u64),
            determinant: determinant as f32,
            dx0: dx0 as f32,
            dx2: dx2 as f32,
            dy0: dy0 as f32,
            dy2: dy2 as f32,
            vertex: screen.at.map(|at| SfThreadPayloadVertex { z: at.z, inverse_w: at.inv_w }),
            ..SfThreadPayload::new()
        };
        self.unit.begin(&start.pack());
        for vertex in &screen.vertices[..screen.count] {
            self.unit.push_entry(vertex);
        }
        if self.unit.debugged() {
            self.unit.mark = Some(fixed::setup_thread(exec));
        }
        self.unit.run(exec, GEOMETRY_CHANNELS)
    }

    /// Counts a primitive for debugging. Returns false if it is dropped.
    pub fn counts(&self, exec: &mut Exec<'_>, object: &Object) -> bool {
        fixed::primitive(exec, self.unit.state.kernel, object.shape.vertices())
    }
}

/// The vertices of an object on the screen, in the order in which all triangles of a strip turn the
/// same way; none if a coordinate is NaN.
fn screen<'v>(state: &RasterState, vertices: &'v Vertices, object: &Object) -> Option<Screen<'v>> {
    let [line, triangle, fan] = state.provoking.map(usize::from);
    // Odd triangles of strips are turned
    // (assumptions::G45_ODD_TRIANGLES_SWAP_THEIR_FIRST_VERTICES).
    let (order, provoking) = match object.code {
        Code::_3DPRIM_TRISTRIP_REVERSE => ([1, 0, 2], [1, 0, 2][triangle.min(2)]),
        Code::_3DPRIM_TRISTRIP | Code::_3DPRIM_TRILIST => ([0, 1, 2], triangle.min(2)),
        Code::_3DPRIM_TRIFAN | Code::_3DPRIM_TRIFAN_NOSTIPPLE => ([0, 1, 2], fan.min(2)),
        _ if object.shape == Shape::Line => ([0, 1, 2], line.min(1)),
        // Points, rectangles and polygons: the first vertex.
        _ => ([0, 1, 2], 0),
    };
    let vertices = order.map(|n| vertices.get(object.vertices[n] as usize));
    let mut at = [ScreenVertex::default(); 3];
    for (at, vertex) in at.iter_mut().zip(vertices) {
        *at = state.transform.apply(&state.viewport, floats(vertex, NDC))?;
    }
    Some(Screen { vertices, at, count: object.shape.vertices(), provoking })
}

/// The width of a point in pixels.
fn point_width(state: &RasterState, vertex: &[u32]) -> f32 {
    let header: [u32; VertexUrbEntry::DWORDS] = std::array::from_fn(|n| dword(vertex, n));
    let [least, most] = state.point.bounds;
    let own = || VertexUrbEntry::unpack_lossy(&header).point_width.get() as f32;
    state.point.width.unwrap_or_else(|| own().max(least).min(most))
}

/// The plane of depth of a triangle or rectangle, for the depth bias; none without an area.
fn planes(screen: &Screen<'_>) -> Option<Planes> {
    Planes::triangle(&[0, 1, 2].map(|n| Corner::vertex(screen.at[n], n)))
}
