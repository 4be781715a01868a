//! Which dwords of the vertices of a primitive a pixel depends on: the position, the header fields
//! that the state uses, and the attributes that setup makes for the pixel shader (2a, 3DSTATE_SBE;
//! gen8_facts 5.2).

use super::origins::{Needs, PrimitiveOrigin};
use super::used::VertexUse;
use crate::machine::drawing::Drawing;
use crate::render::geometry::last_stage;
use crate::render::raster_state::clip_state;
use crate::render::sbe::{About, AttributeSource, Attributes};
use crate::render::vue::place;
use genxml::gen8::render3d_raster::{
    ThreeDStateClip, ThreeDStateRaster, ThreeDStateSf, ThreeDStateSfPointWidthSource as WidthSource,
};

/// A component of an attribute, and where setup takes it from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttributeUse {
    /// Number of the attribute.
    pub number: u8,
    /// Component, 0 to 3 for x to w.
    pub component: u8,
    /// Where it comes from; `None` if the draw does not have the attribute.
    pub source: Option<AttributeSource>,
}

/// Setup data that a pixel shader reads: number and component of an attribute, and the term.
pub type Term = (u8, u8, &'static str);

/// The state that decides which dwords are used.
#[derive(Clone, Debug)]
pub struct Setup {
    attributes: Attributes,
    /// Vertices select among several viewports.
    has_viewports: bool,
    /// Vertices select the layer.
    has_layers: bool,
    /// Points have the width of their vertex.
    has_widths: bool,
    /// The distances that clip or cull.
    distances: u8,
}

impl Setup {
    /// The state of a draw.
    pub fn of(drawing: &Drawing<'_>) -> Setup {
        let clip: ThreeDStateClip = drawing.latched();
        let raster: ThreeDStateRaster = drawing.latched();
        let sf: ThreeDStateSf = drawing.latched();
        let last = last_stage(drawing.state);
        let state = clip_state(&clip, &raster, last.distances);
        Setup {
            attributes: Attributes::resolve(drawing.state, last.read_offset),
            has_viewports: clip.maximum_vp_index.get() > 0,
            has_layers: !clip.force_zero_rta_index_enable,
            has_widths: sf.point_width_source != WidthSource::STATE,
            distances: state.clip_distances | state.cull_distances,
        }
    }

    /// The dwords of each vertex of a primitive that a pixel depends on, with what they are for.
    /// `terms` is what the pixel shader reads; `back` and `corner` are those of
    /// [`Covered`](crate::machine::watched::Covered).
    pub fn needs(
        &self,
        origin: &PrimitiveOrigin,
        (back, corner): (bool, Option<u8>),
        terms: &[Term],
    ) -> (Needs, Vec<AttributeUse>) {
        let mut needs = Needs::default();
        let about = About { primitive_id: origin.id, back, corner, provoking: origin.provoking };
        let mut add = |vertex: usize, dword: usize, what: VertexUse| {
            let uses = needs[vertex.min(origin.count - 1)].entry(dword).or_default();
            if !uses.contains(&what) {
                uses.push(what);
            }
        };
        for vertex in 0..origin.count {
            for n in 0..4 {
                add(vertex, place::POSITION + n, VertexUse::Position(n as u8));
            }
            if self.has_widths && origin.count == 1 {
                add(vertex, place::POINT_WIDTH, VertexUse::PointWidth);
            }
            for n in (0..8).filter(|n| self.distances >> n & 1 == 1) {
                add(vertex, place::DISTANCES + n, VertexUse::Distance(n as u8));
            }
        }
        if self.has_layers {
            add(origin.provoking, place::ARRAY_INDEX, VertexUse::ArrayIndex);
        }
        if self.has_viewports {
            add(origin.provoking, place::VIEWPORT, VertexUse::Viewport);
        }
        let mut attributes: Vec<AttributeUse> = Vec::new();
        for &(number, component, term) in terms {
            let source = self.attributes.source(number.into(), component.into(), &about);
            let used = AttributeUse { number, component, source };
            if !attributes.contains(&used) {
                attributes.push(used);
            }
            let Some(AttributeSource::Vertices { dword, only }) = source else { continue };
            let vertices: &[usize] = match (only, term) {
                (Some(only), "a0") => &[only],
                (None, "a0") => &[0],
                (None, "c1") => &[0, 1],
                (None, "c2") => &[0, 2],
                _ => &[],
            };
            for vertex in vertices {
                add(*vertex, dword, VertexUse::Attribute { number, component });
            }
        }
        attributes.sort_by_key(|it| (it.number, it.component));
        (needs, attributes)
    }
}
