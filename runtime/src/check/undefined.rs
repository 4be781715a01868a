//! State that draws need and that nothing in the context has set.
//!
//! A draw uses whatever state the units of the pipeline have. State that is never set comes from
//! the last user of the hardware or from the kernel driver, or is zero. So the same program may
//! work on one machine and fail on another. Only contexts that a dump contains from their beginning
//! are checked.

use genxml_core::rule::{Cond, Rule, Severity};

/// The rule about undefined state, as an array for use with other lists of rules.
pub(super) static RULE: [Rule; 1] = [Rule {
    id: "STATE-UNDEFINED",
    severity: Severity::Warning,
    // The checker finds the violations.
    require: Cond::Number(1),
    text: "each state packet that the pipeline of a draw needs came before it in the context",
    message: "the draw uses state that nothing in the context has set",
    source: "",
}];

/// Packets that every draw of the 3D pipeline needs: those that switch a unit on or off, and the
/// state of units that are always on.
const THREE_D: &[&str] = &[
    "STATE_BASE_ADDRESS",
    "3DSTATE_VF_TOPOLOGY",
    "3DSTATE_VERTEX_ELEMENTS",
    "3DSTATE_URB_VS",
    "3DSTATE_URB_HS",
    "3DSTATE_URB_DS",
    "3DSTATE_URB_GS",
    "3DSTATE_VS",
    "3DSTATE_HS",
    "3DSTATE_TE",
    "3DSTATE_DS",
    "3DSTATE_GS",
    "3DSTATE_STREAMOUT",
    "3DSTATE_CLIP",
    "3DSTATE_SF",
    "3DSTATE_RASTER",
    "3DSTATE_SBE",
    "3DSTATE_WM",
    "3DSTATE_PS",
    "3DSTATE_PS_EXTRA",
    "3DSTATE_PS_BLEND",
    "3DSTATE_WM_DEPTH_STENCIL",
    "3DSTATE_MULTISAMPLE",
    "3DSTATE_SAMPLE_MASK",
    "3DSTATE_DEPTH_BUFFER",
    "3DSTATE_STENCIL_BUFFER",
    "3DSTATE_HIER_DEPTH_BUFFER",
    "3DSTATE_DRAWING_RECTANGLE",
    "3DSTATE_VIEWPORT_STATE_POINTERS_CC",
    "3DSTATE_CC_STATE_POINTERS",
    "3DSTATE_BLEND_STATE_POINTERS",
];

/// Packets that every draw of G45 needs. All others that a draw uses belong to features that state
/// of the units enables.
const THREE_D_G45: &[&str] = &[
    "STATE_BASE_ADDRESS",
    "3DSTATE_VERTEX_ELEMENTS",
    "3DSTATE_DEPTH_BUFFER",
    "3DSTATE_DRAWING_RECTANGLE",
    "3DSTATE_PIPELINED_POINTERS",
    "3DSTATE_BINDING_TABLE_POINTERS",
    "URB_FENCE",
    "CS_URB_STATE",
];

/// Packets that every command that starts threads of the media or GPGPU pipeline needs.
const MEDIA: &[&str] =
    &["STATE_BASE_ADDRESS", "MEDIA_VFE_STATE", "MEDIA_INTERFACE_DESCRIPTOR_LOAD"];

/// The state that a packet sets and needs, as sets of bits. Each bit stands for one packet's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Part {
    /// Bits of the state that the packet sets.
    pub sets: u64,
    /// Bits of the state that the packet needs.
    pub needs: u64,
}

/// The packet names of all bits, in the order of the bits.
fn all() -> impl Iterator<Item = &'static str> {
    let g45 = THREE_D_G45.iter().filter(|name| !THREE_D.contains(name));
    THREE_D.iter().chain(&MEDIA[1..]).chain(g45).copied()
}

impl Part {
    /// The state that the packet of this name sets and needs, of G45 or of Broadwell.
    pub fn of(name: &str, g45: bool) -> Part {
        let bits = |names: &[&str]| {
            let bit = |name: &&str| all().position(|other| other == *name).map_or(0, |at| 1 << at);
            names.iter().map(bit).fold(0, |bits: u64, bit: u64| bits | bit)
        };
        let needs = match name {
            "3DPRIMITIVE" if g45 => bits(THREE_D_G45),
            "3DPRIMITIVE" => bits(THREE_D),
            _ if g45 => 0,
            "GPGPU_WALKER" | "MEDIA_OBJECT" | "MEDIA_OBJECT_PRT" | "MEDIA_OBJECT_WALKER" => {
                bits(MEDIA)
            }
            _ => 0,
        };
        Part { sets: bits(&[name]), needs }
    }
}

/// The packet names of these bits.
pub(super) fn names(bits: u64) -> impl Iterator<Item = &'static str> {
    all().enumerate().filter(move |(at, _)| bits >> at & 1 != 0).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Tables;

    #[test]
    fn names_are_those_of_packets() {
        assert!(all().count() <= 64);
        for name in all() {
            assert_eq!(names(Part::of(name, false).sets).collect::<Vec<_>>(), [name]);
        }
        for name in THREE_D.iter().chain(MEDIA) {
            assert!(Tables::gen8().container(name).is_some(), "no {name}");
        }
        #[cfg(feature = "gen45-tables")]
        for name in THREE_D_G45 {
            assert!(Tables::gen45().container(name).is_some(), "no {name}");
        }
        assert_eq!(names(Part::of("GPGPU_WALKER", false).needs).collect::<Vec<_>>(), MEDIA);
        let draw = names(Part::of("3DPRIMITIVE", true).needs).collect::<Vec<_>>();
        assert_eq!(draw, THREE_D_G45);
    }
}
