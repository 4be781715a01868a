//! sample_unorm: 8 x 4 pixels of an ordinary surface with an ordinary sampler (003:4065-4071,
//! video.md 11.3).

use super::super::footprint::{self, Footprint, Way};
use super::super::point::Point;
use super::super::state::{MapFilter, MipFilter, Wrap};
use super::super::texels::Texels;
use super::super::view::View;
use super::response::{Block, Response, Shape};
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::mem::{PageFault, Vm};
use crate::surface::format::{Codec, Encoding, Letter};
use crate::surface::{Dimension, SurfaceKind};
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::eu::gen8::eu_payloads::{SampleUnormMessagePayload, SamplerMessageHeader};

/// Extent of the block.
const SHAPE: Shape = Shape { columns: 8, rows: 4 };
/// Number of pixels of the block.
const PIXELS: usize = SHAPE.columns * SHAPE.rows;
/// 1.0 in the response (video.md 11.3).
const ONE: f64 = 0xff00 as f64;

/// The kinds of sample_unorm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// True if the response has the mask of pixels that the chroma key did not kill.
    kills: bool,
    /// True for the payload of media kernels, false for that of pixel shaders.
    media: bool,
}

impl Kind {
    /// The kind of a message type; `None` for other types (gen8_facts 4.2).
    pub fn of(number: u64) -> Option<Kind> {
        match number {
            0x00 => Some(Kind { kills: false, media: false }),
            0x02 => Some(Kind { kills: true, media: false }),
            0x0a => Some(Kind { kills: true, media: true }),
            0x0c => Some(Kind { kills: false, media: true }),
            _ => None,
        }
    }
}

/// Where the pixels are.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// U and V of the first pixel.
    first: [f64; 2],
    /// Distance of U from column to column, and of V from row to row.
    delta: [f64; 2],
}

impl Grid {
    /// Reads the payload at byte `at` of the registers. The payload of pixel shaders has other
    /// positions, which suit the coefficients of coordinates (003:4161-4181).
    fn read(registers: &Registers, at: usize, media: bool) -> Grid {
        let payload: [u32; 8] = registers.dwords(at);
        let parts = match media {
            true => {
                let payload = SampleUnormMessagePayload::unpack_lossy(&payload);
                [payload.u, payload.v, payload.delta_u, payload.delta_v]
            }
            false => [2, 6, 0, 5].map(|n| f32::from_bits(payload[n])),
        };
        let [u, v, delta_u, delta_v] = parts.map(f64::from);
        Grid { first: [u, v], delta: [delta_u, delta_v] }
    }
}

/// Executes the message.
///
/// # Errors
/// Page faults at states and texels; [`Fault::IllegalInstruction`] for surfaces and samplers that
/// the message does not support.
pub(super) fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    payload: &Payload<'_>,
    header: &SamplerMessageHeader,
    kind: Kind,
    index: u8,
    sampler: u64,
) -> Result<(), Fault> {
    // The surface's rotation is for render targets, in spite of its name (2d p.338).
    let response = Response::new(header, SHAPE);
    let length = response.registers();
    payload.check(port, 1, length + usize::from(kind.kills))?;
    let grid = Grid::read(registers, payload.body, kind.media);
    port.exec.device.observed.add(Counter::Sampled, PIXELS as u64 / 4);
    let view = port.bindings.view(port.exec, index, Some(sampler))?;
    if let Some(why) = refused(view) {
        return Err(port.illegal(format!("sample_unorm {why}"), payload.message));
    }
    let vm = &port.exec.vm;
    let done = block(view, vm, &grid);
    let bytes = done.map(|(block, killed, bytes)| {
        if let Some(to) = payload.answer() {
            response.write(registers, to, &block);
            if kind.kills {
                registers.set_u32(to + length * REGISTER, !killed);
            }
        }
        bytes
    });
    payload.moved(port, false, bytes)
}

/// The reason why surface or sampler do not suit the message (003:4065).
fn refused(view: &View) -> Option<String> {
    let surface = &view.surface;
    if surface.kind == SurfaceKind::Null {
        return None;
    }
    let small = surface.codec.map(Codec::format).is_some_and(|format| {
        format
            .channels()
            .iter()
            .filter(|channel| channel.letter != Letter::X)
            .all(|channel| matches!(channel.encoding, Encoding::Unorm) && channel.bits <= 8)
    });
    if surface.kind != SurfaceKind::Image || surface.layout.dimension != Dimension::Two {
        return Some("of a surface that is not two-dimensional".to_owned());
    }
    if !small {
        return Some("of a format that is not UNORM with at most 8 bits per channel".to_owned());
    }
    if view.filters.iter().any(|filter| !matches!(filter, MapFilter::Nearest | MapFilter::Linear))
        || view.sampler.mip != MipFilter::None
    {
        return Some("with a filter that is not nearest or linear, or with levels".to_owned());
    }
    if view.wrap[..2]
        .iter()
        .any(|wrap| matches!(wrap, Wrap::Border | Wrap::Mirror | Wrap::MirrorOnce))
    {
        return Some("with an address control mode that it does not support".to_owned());
    }
    None
}

/// Samples the pixels. Returns them, the mask of pixels that the chroma key killed, and the number
/// of bytes that were read.
fn block(view: &View, vm: &Vm<'_>, grid: &Grid) -> Result<(Block, u32, u64), PageFault> {
    let mut block = Block::default();
    let mut killed = 0;
    if view.samples_nothing() {
        return Ok((block, killed, 0));
    }
    let place = view.place(0);
    // The map is minified if a step is longer than a texel.
    let minified = (0..2).any(|n| {
        let scale = if view.sampler.normalized { f64::from(place.size[n]) } else { 1.0 };
        grid.delta[n].abs() * scale > 1.0
    });
    let linear = view.filters[usize::from(!minified)] == MapFilter::Linear;
    let way = Way { linear, magnified: !minified, offset: [0; 3] };
    let mut texels = Texels::new(view, vm);
    for row in 0..SHAPE.rows {
        texels.clear();
        let mut footprints = [Footprint::default(); SHAPE.columns];
        for (column, footprint) in footprints.iter_mut().enumerate() {
            let step = [column as f64, row as f64];
            let [u, v] = [0, 1].map(|n| grid.first[n] + grid.delta[n] * step[n]);
            let point = Point { uvr: [u, v, 0.0], slice: view.surface.first_slice, face: 0 };
            *footprint = footprint::collect(view, &mut texels, place, &point, way)?;
        }
        texels.read()?;
        for (column, footprint) in footprints.iter().enumerate() {
            let pixel = SHAPE.pixel(column, row);
            let mut sum = [0.0; 4];
            for n in 0..footprint.count {
                let weight = footprint.weights[n];
                if weight == 0.0 {
                    continue;
                }
                let value = view.selected(&texels.values[footprint.first + n]);
                (0..4).for_each(|n| sum[n] += weight * f64::from(f32::from_bits(value[n])));
                killed |= ((texels.killed >> (footprint.first + n) & 1) as u32) << pixel;
            }
            for (channel, sum) in sum.into_iter().enumerate() {
                block.set(channel, pixel, libm::floor(sum * ONE + 0.5) as u16);
            }
        }
    }
    Ok((block, killed, texels.bytes))
}
