//! Setup backend: selects the vertex values for each attribute of the pixel shader, and makes the
//! setup data that interpolate them (2a, 3DSTATE_SBE, 3DSTATE_SBE_SWIZ; gen8_facts 5.2).

use super::vue::{SLOT, SLOTS, dword};
use crate::machine::state::State;
use crate::pixel::interpolate;
use crate::pixel::interpolate::Attribute;
use genxml::gen8::enums::WrapShortestEnable;
use genxml::gen8::render3d_raster::{
    SfOutputAttributeDetailConstantSource as Constant,
    SfOutputAttributeDetailSwizzleSelect as Swizzle, ThreeDStateSbe,
    ThreeDStateSbePointSpriteTextureCoordinateOrigin as Origin, ThreeDStateSbeSwiz,
};

/// Maximum number of attributes.
pub const MAX_ATTRIBUTES: usize = 32;
/// Attributes that can be swizzled.
const SWIZZLED: usize = 16;

/// The source of an attribute.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The slot of the vertex that has the attribute.
    slot: usize,
    swizzle: Swizzle,
    constant: Constant,
    /// Components that are replaced by the constant.
    overridden: [bool; 4],
    /// Components that are replaced by the primitive ID.
    primitive_id: [bool; 4],
    flat: bool,
    sprite: bool,
    /// Components that wrap from 1 to 0 and are interpolated the shorter way around (Wrap Shortest
    /// Enable).
    wrap: [bool; 4],
}

/// The attributes of a draw.
#[derive(Clone, Debug)]
pub struct Attributes {
    rules: Vec<Rule>,
    lower_left: bool,
}

/// The properties of a primitive that its attributes depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct About {
    /// Primitive ID.
    pub primitive_id: u32,
    /// The primitive faces backward.
    pub back: bool,
    /// For a point, which has sprite coordinates: the vertex that its attributes come from.
    pub corner: Option<u8>,
    /// The vertex that flat attributes come from.
    pub provoking: usize,
}

impl Attributes {
    /// Resolves the attributes. `offset` is their offset in a vertex in 256-bit units, from the
    /// packet of the last stage. 3DSTATE_SBE can override it.
    pub fn resolve(state: &State, offset: u64) -> Attributes {
        let sbe: ThreeDStateSbe = state.latched.read(0);
        let swizzles: ThreeDStateSbeSwiz = state.latched.read(0);
        let offset = match sbe.force_vertex_urb_entry_read_offset {
            true => sbe.vertex_urb_entry_read_offset.get(),
            false => offset,
        };
        let first = offset as usize * SLOTS;
        let wraps = wraps(&swizzles);
        // The swizzle controls apply to attributes 0 to 15, or to attributes 16 to 31 if the first
        // control selects these (2d p.415).
        let upper =
            sbe.attribute_swizzle_enable && swizzles.attribute[0].swizzle_control_mode.get() != 0;
        let first_swizzled = if upper { SWIZZLED } else { 0 };
        let count = (sbe.number_of_sf_output_attributes.get() as usize).min(MAX_ATTRIBUTES);
        let bit = |mask: u64, n: usize| mask >> n & 1 == 1;
        let rule = |n: usize| {
            let mut rule = Rule {
                slot: first + n,
                swizzle: Swizzle::INPUTATTR,
                constant: Constant::CONST_0000,
                overridden: [false; 4],
                primitive_id: [false; 4],
                flat: bit(sbe.constant_interpolation_enable.get(), n),
                sprite: bit(sbe.point_sprite_texture_coordinate_enable.get(), n),
                wrap: [false; 4],
            };
            let swizzled = n.checked_sub(first_swizzled).filter(|n| *n < SWIZZLED);
            if let Some(n) = swizzled {
                rule.wrap = wraps[n];
            }
            if let Some(n) = swizzled.filter(|_| sbe.attribute_swizzle_enable) {
                let detail = &swizzles.attribute[n];
                rule.slot = first + detail.source_attribute.get() as usize;
                rule.swizzle = detail.swizzle_select;
                rule.constant = detail.constant_source;
                rule.overridden = [
                    detail.component_override_x,
                    detail.component_override_y,
                    detail.component_override_z,
                    detail.component_override_w,
                ];
            }
            if n as u64 == sbe.primitive_id_override_attribute_select.get() {
                rule.primitive_id = [
                    sbe.primitive_id_override_component_x,
                    sbe.primitive_id_override_component_y,
                    sbe.primitive_id_override_component_z,
                    sbe.primitive_id_override_component_w,
                ];
            }
            rule
        };
        Attributes {
            rules: (0..count).map(rule).collect(),
            lower_left: sbe.point_sprite_texture_coordinate_origin == Origin::LOWERLEFT,
        }
    }

    /// Number of attributes.
    pub fn count(&self) -> usize {
        self.rules.len()
    }

    /// Appends the setup data of all attributes of a primitive to `out`. In `vertices`, lines
    /// repeat their last vertex, and points their only one.
    pub fn setup(&self, vertices: [&[u32]; 3], about: &About, out: &mut Vec<[Attribute; 4]>) {
        out.extend(self.rules.iter().map(|rule| {
            if rule.sprite && about.corner.is_some() {
                return interpolate::sprite(self.lower_left);
            }
            if let Some(values) = rule.plain(vertices, about) {
                return values;
            }
            std::array::from_fn(|component| rule.component(component, vertices, about))
        }));
    }
}

/// Where the value of an attribute's component comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttributeSource {
    /// Vertices.
    Vertices {
        /// The dword of each vertex.
        dword: usize,
        /// The only vertex that the value comes from; `None` if it is interpolated.
        only: Option<usize>,
    },
    /// A constant of 3DSTATE_SBE_SWIZ.
    Constant(u32),
    /// The primitive ID.
    PrimitiveId,
    /// The sprite coordinates of the point.
    Sprite,
}

impl Attributes {
    /// Where a component, 0 to 3, of an attribute comes from; `None` if the draw does not have the
    /// attribute. This is for observers; [`setup`](Self::setup) computes the values.
    pub fn source(
        &self,
        number: usize,
        component: usize,
        about: &About,
    ) -> Option<AttributeSource> {
        let rule = self.rules.get(number).filter(|_| component < SLOT)?;
        if rule.sprite && about.corner.is_some() {
            return Some(AttributeSource::Sprite);
        }
        if rule.primitive_id[component] {
            return Some(AttributeSource::PrimitiveId);
        }
        if rule.overridden[component] {
            return Some(match rule.constant {
                Constant::PRIM_ID => AttributeSource::PrimitiveId,
                constant => AttributeSource::Constant(constant_bits(constant, component)),
            });
        }
        let corner = about.corner.map(usize::from);
        Some(AttributeSource::Vertices {
            dword: rule.dword(component, about),
            only: if rule.flat { Some(about.provoking) } else { corner },
        })
    }
}

/// The bits of a constant that replaces a component. The caller handles the primitive ID.
fn constant_bits(constant: Constant, component: usize) -> u32 {
    match constant {
        Constant::CONST_0001_FLOAT if component == 3 => 1.0f32.to_bits(),
        Constant::CONST_1111_FLOAT => 1.0f32.to_bits(),
        _ => 0,
    }
}

impl Rule {
    /// The dword of a vertex that a component comes from.
    #[inline(always)]
    fn dword(&self, component: usize, about: &About) -> usize {
        let facing =
            matches!(self.swizzle, Swizzle::INPUTATTR_FACING | Swizzle::INPUTATTR_FACING_W);
        let slot = self.slot + usize::from(facing && about.back);
        let source = match self.swizzle {
            Swizzle::INPUTATTR_W | Swizzle::INPUTATTR_FACING_W => 3,
            _ => component,
        };
        slot * SLOT + source
    }

    /// The setup data of an attribute whose four components are interpolated between one slot of
    /// three vertices. Most attributes are like this. `None` for other attributes.
    #[inline(always)]
    fn plain(&self, vertices: [&[u32]; 3], about: &About) -> Option<[Attribute; 4]> {
        let Rule { slot, swizzle, overridden, primitive_id, flat, wrap, .. } = *self;
        let replaced = [overridden, primitive_id, wrap] != [[false; 4]; 3];
        if replaced || flat || swizzle != Swizzle::INPUTATTR || about.corner.is_some() {
            return None;
        }
        let slot = |vertex: &[u32]| vertex.get(slot * SLOT..)?.first_chunk::<SLOT>().copied();
        let (a, b, c) = (slot(vertices[0])?, slot(vertices[1])?, slot(vertices[2])?);
        let mut data = [[0.0; 4]; SLOT];
        for (n, data) in data.iter_mut().enumerate() {
            let values = [f32::from_bits(a[n]), f32::from_bits(b[n]), f32::from_bits(c[n])];
            *data = interpolate::interpolated(values);
        }
        Some(data)
    }

    fn component(&self, component: usize, vertices: [&[u32]; 3], about: &About) -> Attribute {
        if self.primitive_id[component] {
            return interpolate::constant(f32::from_bits(about.primitive_id));
        }
        if self.overridden[component] {
            return interpolate::constant(f32::from_bits(match self.constant {
                Constant::PRIM_ID => about.primitive_id,
                constant => constant_bits(constant, component),
            }));
        }
        let from = self.dword(component, about);
        let value = |vertex: usize| f32::from_bits(dword(vertices[vertex], from));
        let corner = about.corner.map(usize::from);
        if let Some(vertex) = if self.flat { Some(about.provoking) } else { corner } {
            return interpolate::constant(value(vertex));
        }
        let values = [0, 1, 2].map(value);
        // Wrap Shortest Enables apply to the components of the attribute, not to those of its
        // source (000:1125).
        if self.wrap[component] {
            interpolate::wrapped(values)
        } else {
            interpolate::interpolated(values)
        }
    }
}

/// Wrap Shortest Enables of the first 16 attributes.
fn wraps(packet: &ThreeDStateSbeSwiz) -> [[bool; 4]; SWIZZLED] {
    let enables: [WrapShortestEnable; SWIZZLED] = [
        packet.attribute_00_wrap_shortest_enables,
        packet.attribute_01_wrap_shortest_enables,
        packet.attribute_02_wrap_shortest_enables,
        packet.attribute_03_wrap_shortest_enables,
        packet.attribute_04_wrap_shortest_enables,
        packet.attribute_05_wrap_shortest_enables,
        packet.attribute_06_wrap_shortest_enables,
        packet.attribute_07_wrap_shortest_enables,
        packet.attribute_08_wrap_shortest_enables,
        packet.attribute_09_wrap_shortest_enables,
        packet.attribute_10_wrap_shortest_enables,
        packet.attribute_11_wrap_shortest_enables,
        packet.attribute_12_wrap_shortest_enables,
        packet.attribute_13_wrap_shortest_enables,
        packet.attribute_14_wrap_shortest_enables,
        packet.attribute_15_wrap_shortest_enables,
    ];
    // The field has a bit for each component (000, WRAP_SHORTEST_ENABLE).
    enables.map(|enable| [0, 1, 2, 3].map(|n| enable.bits() >> n & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml_testkit::Random;

    const CONSTANTS: [Constant; 4] = [
        Constant::CONST_0000,
        Constant::CONST_0001_FLOAT,
        Constant::CONST_1111_FLOAT,
        Constant::PRIM_ID,
    ];
    const SWIZZLES: [Swizzle; 4] = [
        Swizzle::INPUTATTR,
        Swizzle::INPUTATTR_FACING,
        Swizzle::INPUTATTR_W,
        Swizzle::INPUTATTR_FACING_W,
    ];
    /// Dwords of a vertex.
    const DWORDS: usize = 24;

    /// Oracle: setup itself. It changes with a dword of a vertex if and only if the source names
    /// the dword.
    #[test]
    fn sources_are_what_setup_reads() {
        let mut random = Random::new(5);
        for _ in 0..2000 {
            let mut bits = random.below(1 << 20);
            let mut bit = || {
                bits >>= 1;
                bits & 1 == 1
            };
            let rule = Rule {
                slot: random.below(4) as usize,
                swizzle: SWIZZLES[random.below(4) as usize],
                constant: CONSTANTS[random.below(4) as usize],
                overridden: [bit() && bit(), bit() && bit(), false, false],
                primitive_id: [false, bit() && bit(), bit() && bit(), false],
                flat: bit(),
                sprite: bit() && bit(),
                wrap: [false; 4],
            };
            let attributes = Attributes { rules: vec![rule], lower_left: false };
            let about = About {
                primitive_id: 0x1234_5678,
                back: bit(),
                corner: (bit() && bit()).then_some(1),
                provoking: random.below(3) as usize,
            };
            let vertices: [[u32; DWORDS]; 3] = std::array::from_fn(|v| {
                std::array::from_fn(|n| ((v * DWORDS + n) as f32).to_bits())
            });
            let setup = |vertices: &[[u32; DWORDS]; 3]| {
                let mut out = Vec::new();
                attributes.setup(vertices.each_ref().map(|it| &it[..]), &about, &mut out);
                out[0].map(|component| component.map(f32::to_bits))
            };
            let before = setup(&vertices);
            for (component, old) in before.into_iter().enumerate() {
                let source = attributes.source(0, component, &about).unwrap();
                for (vertex, dword) in (0..3).flat_map(|v| (0..DWORDS).map(move |n| (v, n))) {
                    let mut changed = vertices;
                    changed[vertex][dword] = 1000.0f32.to_bits();
                    let is_named = match source {
                        AttributeSource::Vertices { dword: own, only } => {
                            own == dword && only.is_none_or(|only| only == vertex)
                        }
                        _ => false,
                    };
                    let differs = setup(&changed)[component] != old;
                    assert_eq!(differs, is_named, "{rule:?} {component} {source:?}");
                }
                match source {
                    AttributeSource::Constant(value) => assert_eq!(old[3], value),
                    AttributeSource::PrimitiveId => {
                        assert_eq!(old[3], about.primitive_id);
                    }
                    _ => {}
                }
            }
        }
    }
}
