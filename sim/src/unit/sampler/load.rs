//! Texels at integer coordinates, without a filter (ld, ld2dms, ld2dss), and words of the
//! multisample control surface (ld_mcs) (003:4064, gen8_facts 4.2 and 8.3).

use super::border;
use super::payload::{Action, GROUP, Parameter, Request};
use super::texels::Texels;
use super::view::{Origin, Source, View};
use crate::assumptions::CONTROL_WORDS_WITHOUT_A_SURFACE_ARE_ZERO;
use crate::eu::regions::Registers;
use crate::mem::outside::{Beyond, Outside};
use crate::mem::{PageFault, Vm};
use crate::surface::{AuxiliaryKind, Dimension, SurfaceKind, TileMode};

/// Coordinates, level, sample and control word of the texel that a lane reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Texel {
    u: i64,
    v: i64,
    r: i64,
    lod: u32,
    sample: u32,
    control: u32,
}

/// Result of looking up a lane's texel.
enum Found {
    /// Position of the texel among the collected texels.
    Texel(usize),
    /// The texel lies outside of the surface.
    Outside,
    /// The texel has the clear colour.
    Clear,
}

/// Loads texels and writes the response. Returns the number of bytes read.
///
/// # Errors
/// A page fault.
pub fn load(
    view: &View,
    vm: &Vm<'_>,
    registers: &mut Registers,
    request: &Request<'_>,
) -> Result<u64, PageFault> {
    if view.source == Source::Nothing {
        request.answer_all(registers, [0; 4]);
        return Ok(0);
    }
    let one = border::one(view.numeric);
    let clear = view.surface.clear.map(|bit| if bit { one } else { 0 });
    let mut texels = Texels::new(view, vm);
    for (group, mask) in request.active_groups() {
        let read = |parameter| request.parameter(registers, parameter, group);
        let (u, v, r) = (read(Parameter::U), read(Parameter::V), read(Parameter::R));
        let (lod, sample, control) =
            (read(Parameter::Lod), read(Parameter::Si), read(Parameter::Mcs));
        let moved =
            |coordinate: u32, n: usize| i64::from(coordinate as i32) + i64::from(request.offset[n]);
        texels.clear();
        let mut found = [const { Found::Outside }; GROUP];
        for (lane, found) in found.iter_mut().enumerate() {
            if mask >> lane & 1 == 1 {
                let texel = Texel {
                    u: moved(u[lane], 0),
                    v: moved(v[lane], 1),
                    r: moved(r[lane], 2),
                    lod: lod[lane],
                    sample: sample[lane],
                    control: control[lane],
                };
                *found = find(view, &mut texels, request.kind.action, texel)?;
                if let (Found::Outside, Some(log)) = (&*found, vm.log()) {
                    log.add_outside(Outside {
                        channel: (GROUP * group + lane) as u32,
                        base: Some(view.surface.base),
                        beyond: Beyond::Element([texel.u, texel.v, texel.r, texel.lod.into()]),
                        write: false,
                    });
                }
            }
        }
        texels.read()?;
        let mut channels = [[0; GROUP]; 4];
        for (lane, found) in found.iter().enumerate() {
            let value = match found {
                Found::Texel(n) => &texels.values[*n],
                Found::Outside => &view.outside,
                Found::Clear => &clear,
            };
            let value = view.selected(value);
            (0..4).for_each(|n| channels[n][lane] = value[n]);
        }
        request.answer(registers, group, &channels);
    }
    Ok(texels.bytes)
}

fn find(
    view: &View,
    texels: &mut Texels<'_, '_>,
    action: Action,
    texel: Texel,
) -> Result<Found, PageFault> {
    let surface = &view.surface;
    let n = texels.count();
    if surface.kind != SurfaceKind::Image {
        if !(0..i64::from(surface.width)).contains(&texel.u) {
            return Ok(Found::Outside);
        }
        texels.push_address(surface.base.wrapping_add(texel.u as u64 * u64::from(surface.pitch)));
        return Ok(Found::Texel(n));
    }
    if texel.lod < view.first_present
        || texel.lod > surface.mip_count
        || surface.first_level + texel.lod > 14
    {
        return Ok(Found::Outside);
    }
    let place = view.place(texel.lod as u8);
    let array = |layer: i64| if surface.array { layer } else { 0 };
    let (row, slice, slices) = match surface.layout.dimension {
        Dimension::One => (0, array(texel.v), surface.slices),
        Dimension::Two => (texel.v, array(texel.r), surface.slices),
        Dimension::Three => (texel.v, texel.r, place.size[2] as u32),
        // R is the face. In an array, the faces of all cubes are numbered in order.
        Dimension::Cube => (texel.v, texel.r, surface.slices),
    };
    let inside = (0..i64::from(place.size[0])).contains(&texel.u)
        && (0..i64::from(place.size[1])).contains(&row)
        && (0..i64::from(slices)).contains(&slice);
    let samples = surface.layout.samples;
    if !inside || texel.sample >= samples {
        return Ok(Found::Outside);
    }
    let stored = match action {
        Action::LoadSample if surface.auxiliary.kind == AuxiliaryKind::Mcs && samples > 1 => {
            match stored(texel.control, texel.sample, samples) {
                Some(stored) => stored,
                None => return Ok(Found::Clear),
            }
        }
        _ => texel.sample,
    };
    let first = if surface.layout.dimension == Dimension::Three { 0 } else { surface.first_slice };
    let origin = view.origin(place, first + slice as u32, stored);
    let [x, y] = match surface.layout.interleaved {
        true => surface.layout.interleave(texel.u as u32, row as u32, stored),
        false => [texel.u as u32, row as u32],
    };
    texels.push(place, origin, x as i32, y as i32)?;
    Ok(Found::Texel(n))
}

/// The number under which a sample is stored, from a word of the multisample control surface. Each
/// sample has 1, 2 or 4 bits if there are 2, 4 or 8 samples (gen8_facts 8.3). `None` if all these
/// bits are set: all samples have the clear colour.
const fn stored(word: u32, sample: u32, samples: u32) -> Option<u32> {
    let (bits, all) = match samples {
        2 => (1, 0x3),
        4 => (2, 0xff),
        _ => (4, u32::MAX),
    };
    if word & all == all {
        return None;
    }
    let field = word >> (bits * sample) & ((1 << bits) - 1);
    Some(field & (samples - 1))
}

/// Loads words of the multisample control surface and writes the response. Returns the number of
/// bytes read. Channel selects do not apply (2d p.347).
///
/// # Errors
/// A page fault.
pub fn load_control(
    view: &View,
    vm: &Vm<'_>,
    registers: &mut Registers,
    request: &Request<'_>,
) -> Result<u64, PageFault> {
    let surface = &view.surface;
    let there = surface.auxiliary.kind == AuxiliaryKind::Mcs && surface.layout.samples > 1;
    if !there && CONTROL_WORDS_WITHOUT_A_SURFACE_ARE_ZERO {
        request.answer_all(registers, [0; 4]);
        return Ok(0);
    }
    let size = if surface.layout.samples == 8 { 4 } else { 1 };
    let mut bytes = 0;
    for group in 0..request.simd.groups() {
        let mask = request.group_mask(group);
        let read = |parameter| request.parameter(registers, parameter, group);
        let (u, v, r) = (read(Parameter::U), read(Parameter::V), read(Parameter::R));
        let mut channels = [[0; GROUP]; 4];
        for lane in 0..GROUP {
            let layer = if surface.array { r[lane] } else { 0 };
            let inside =
                u[lane] < surface.width && v[lane] < surface.height && layer < surface.slices;
            if mask >> lane & 1 == 0 || !inside {
                continue;
            }
            let origin = Origin {
                left: 0,
                top: i64::from(surface.first_slice + layer) * i64::from(surface.auxiliary.qpitch),
            };
            let offset = TileMode::Y.offset(
                origin.left + i64::from(u[lane]) * size,
                origin.top + i64::from(v[lane]),
                i64::from(surface.auxiliary.pitch),
            );
            let address = surface.auxiliary.base.wrapping_add(offset as u64);
            channels[0][lane] = match size {
                4 => vm.read_u32(address)?,
                _ => vm.read_u8(address)?.into(),
            };
            bytes += size as u64;
        }
        request.answer(registers, group, &channels);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the codes of gen8_facts 8.3.
    #[test]
    fn control_words() {
        for (samples, identity, clear) in
            [(2, 0b10, 0x3), (4, 0xe4, 0xff), (8, 0x7654_3210, u32::MAX)]
        {
            for sample in 0..samples {
                assert_eq!(stored(identity, sample, samples), Some(sample));
                assert_eq!(stored(0, sample, samples), Some(0));
                assert_eq!(stored(clear, sample, samples), None);
            }
        }
    }
}
