//! Parts of packets that are merged.

use genxml::core::{Fixed, lit};
use genxml::gen8::mi::PipeControl;
use genxml::gen8::render3d_fetch::ThreeDStateVf;
use genxml::gen8::render3d_pixel::{BlendState, ThreeDStatePs, ThreeDStateWm};
use genxml::gen8::render3d_raster::{ThreeDStateClip, ThreeDStateRaster, ThreeDStateSf};
use genxml::gen8::state::{RenderSurfaceState, SamplerState, StateBaseAddress};
use genxml::merge::{MergeError, Prepacked};
use proptest::prelude::*;

/// Checks that merging a part that sets no field leaves the other part unchanged. The other part
/// has the defaults, then the inverse of them in all bits after the first dword. So the tables and
/// `new` have the same defaults.
fn nothing<T>(new: T)
where
    T: Fixed<Dwords: AsRef<[u32]> + AsMut<[u32]>>,
{
    let part = Prepacked::new(&new);
    let merged = part.merge(&new).unwrap();
    assert_eq!(merged.dwords().as_ref(), new.to_dwords().as_ref(), "{}", T::NAME);
    let other = T::from_dwords_lossy(&{
        let mut dwords = new.to_dwords();
        let first = usize::from(T::DWORDS > 1);
        dwords.as_mut()[first..].iter_mut().for_each(|dword| *dword = !*dword);
        dwords
    });
    let merged = part.merge(&other).unwrap();
    assert_eq!(merged.dwords().as_ref(), other.to_dwords().as_ref(), "{}", T::NAME);
}

#[test]
fn a_part_that_sets_nothing_owns_nothing() {
    nothing(ThreeDStatePs::new());
    nothing(ThreeDStateWm::new());
    nothing(ThreeDStateRaster::new());
    nothing(ThreeDStateSf::new());
    nothing(ThreeDStateClip::new());
    nothing(ThreeDStateVf::new());
    nothing(BlendState::new());
    nothing(SamplerState::new());
    nothing(RenderSurfaceState::new());
    nothing(StateBaseAddress::new());
    nothing(PipeControl::new());
}

#[test]
fn names_of_fields() {
    let error = Prepacked::new(&ThreeDStateVf::new()).owning("Cut Indx").unwrap_err();
    assert_eq!(error, MergeError::NoField { packet: "3DSTATE_VF" });
}

proptest! {
    /// Oracle: the OR of the dwords if the parts set different fields, as Mesa does it. Two values
    /// for one field give no packet.
    #[test]
    fn as_an_or(enable: bool, index: u32, other: u32) {
        let index = genxml::core::U::new(index.into()).unwrap();
        let one = ThreeDStateVf { cut_index: index, ..ThreeDStateVf::new() };
        let two = ThreeDStateVf { indexed_draw_cut_index_enable: enable, ..ThreeDStateVf::new() };
        let merged = Prepacked::new(&one).merge(&two).unwrap().dwords();
        prop_assert_eq!(merged, [one.pack()[0] | two.pack()[0], one.pack()[1] | two.pack()[1]]);
        prop_assert_eq!(Prepacked::new(&two).merge(&one).unwrap().dwords(), merged);

        let three = ThreeDStateVf { cut_index: genxml::core::U::new(other.into()).unwrap(), ..two };
        let both = one.cut_index != lit!(0) && three.cut_index != lit!(0);
        prop_assert_eq!(Prepacked::new(&one).merge(&three).is_err(), both);
    }
}
