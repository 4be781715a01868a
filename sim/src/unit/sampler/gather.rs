//! gather4: returns one channel of the four texels that a linear filter would read (gen8_facts
//! 4.2).

use super::footprint::{self, Way};
use super::payload::{GROUP, Parameter, Request};
use super::point::Coordinates;
use super::texels::Texels;
use super::view::View;
use crate::eu::regions::Registers;
use crate::mem::{PageFault, Vm};

/// Positions in a footprint of the texels in the order of the response: lower left, lower right,
/// upper right, upper left.
const ORDER: [usize; 4] = [2, 3, 1, 0];

/// Number of bits of an offset of gather4_po. The highest bit is the sign (Direct3D 11,
/// gather4_po).
const OFFSET_BITS: u32 = 6;

fn offset(bits: u32) -> i32 {
    (bits << (32 - OFFSET_BITS)) as i32 >> (32 - OFFSET_BITS)
}

/// Gathers texels and writes the response. Returns the number of bytes read.
///
/// # Errors
/// A page fault.
pub fn gather(
    view: &View,
    vm: &Vm<'_>,
    registers: &mut Registers,
    request: &Request<'_>,
    compares: bool,
) -> Result<u64, PageFault> {
    if view.samples_nothing() {
        request.answer_all(registers, [0; 4]);
        return Ok(0);
    }
    let level = view.chooser.first();
    let place = view.place(level);
    let select = view.surface.select[request.channel];
    let mut texels = Texels::flushing(view, vm);
    for (group, mask) in request.active_groups() {
        let coordinates = Coordinates::read(request, registers, view, group);
        let references = request.floats(registers, Parameter::Ref, group);
        let offsets = request.has(Parameter::OffU).then(|| {
            [Parameter::OffU, Parameter::OffV].map(|axis| request.parameter(registers, axis, group))
        });
        texels.clear();
        let mut firsts = [0; GROUP];
        for (lane, first) in firsts.iter_mut().enumerate() {
            if mask >> lane & 1 == 0 {
                continue;
            }
            let mut way = Way { linear: true, magnified: true, offset: request.offset };
            if let Some([u, v]) = offsets {
                way.offset = [offset(u[lane]), offset(v[lane]), 0];
            }
            let point = coordinates.point(view, lane, false);
            *first = footprint::collect(view, &mut texels, place, &point, way)?.first;
        }
        texels.read()?;
        let mut channels = [[0; GROUP]; 4];
        for (lane, first) in firsts.iter().enumerate() {
            if mask >> lane & 1 == 0 {
                continue;
            }
            for (channel, n) in channels.iter_mut().zip(ORDER) {
                let value = &texels.values[first + n];
                channel[lane] = match compares {
                    true => {
                        view.select(select, &[view.shadow(value, references[lane]).to_bits(); 4])
                    }
                    false => view.select(select, value),
                };
            }
        }
        request.answer(registers, group, &channels);
    }
    Ok(texels.bytes)
}
