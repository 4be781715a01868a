//! The write of one pixel with the colours that are blended, for observers.

use super::{Pixels, Purpose, RenderTarget};
use crate::machine::exec::Exec;
use crate::machine::watched::{Blended, TargetWrite};
use crate::render::aux_surface::Stored;
use crate::render::blend::{Colors, Equation};
use crate::unit::render_cache::{SLOTS, Source};

impl RenderTarget {
    /// What [`write`](Self::write) is about to do for a slot of `pixels`; `None` without a surface.
    pub(in crate::render) fn look(
        &self,
        exec: &Exec<'_>,
        pixels: &Pixels,
        slot: usize,
        color: &Source,
        second: Option<&Source>,
    ) -> Option<TargetWrite> {
        let codec = self.codec?;
        let slice =
            self.surface.first_slice + if pixels.slice < self.slices { pixels.slice } else { 0 };
        let [x, y] = pixels.subspans[slot / 4];
        let (x, y) = (x + (slot as u32 & 1), y + (slot as u32 >> 1 & 1));
        let mut blends = [None; 8];
        let equations = self.blend.equations().filter(|_| {
            // Rotated targets have the pixel at another position.
            self.turn.is_none() && x < self.level.width && y < self.level.height
        });
        let _own = exec.vm.unrecorded();
        let read = |at: u64, out: &mut [u8]| exec.vm.read(at, out).is_ok();
        for (sample, blended) in (0..self.surface.layout.samples).zip(&mut blends) {
            let Some(equations) = &equations else { break };
            if pixels.samples[slot] >> sample & 1 == 0 {
                continue;
            }
            let stored = match &self.auxiliary {
                Some(auxiliary) => auxiliary.stored(slice, [x, y], sample, &read),
                None => Stored::Plane(sample),
            };
            let mut element = self.cleared();
            let bytes = self.surface.element_bytes as usize;
            if let Stored::Plane(plane) = stored
                && !read(self.surface.texel(&self.level, slice, x, y, plane), &mut element[..bytes])
            {
                continue;
            }
            let decoded = codec.decode_one(&element[..bytes]);
            let order = self.swizzle.unwrap_or([Some(0), Some(1), Some(2), Some(3)]);
            let destination = order.map(|from| {
                from.map_or(0.0, |from| f32::from_bits(decoded[usize::from(from & 3)]))
            });
            *blended = Some(self.blended(color, second, slot, destination, equations));
        }
        let clears = self.purpose != Purpose::Draw;
        Some(TargetWrite { base: self.surface.base, slice, blends, clears })
    }

    fn blended(
        &self,
        color: &Source,
        second: Option<&Source>,
        slot: usize,
        destination: [f32; 4],
        equations: &[Equation; 2],
    ) -> Blended {
        // All slots get the same colours; the result of the first one counts.
        let spread = |color: [f32; 4]| -> Colors { color.map(|value| [value; SLOTS]) };
        let source = color.map(|lanes| f32::from_bits(lanes[slot]));
        let second = second.map(|second| second.map(|lanes| f32::from_bits(lanes[slot])));
        let mut colors = spread(source);
        let second = second.filter(|_| self.reads_second()).map(spread);
        self.blend.apply(&mut colors, second.as_ref(), &spread(destination));
        Blended {
            source,
            destination,
            result: colors.map(|lanes| lanes[0]),
            equations: equations.map(|equation| {
                [equation.source.name(), equation.destination.name(), equation.function.name()]
            }),
        }
    }
}
