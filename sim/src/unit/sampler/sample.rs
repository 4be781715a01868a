//! Filtered texels: the messages sample, sample_b, sample_l, sample_c, sample_d and their kin.

use super::fast_sample;
use super::footprint::{self, Footprint, Way};
use super::levels::{self, Detail};
use super::mono;
use super::payload::{GROUP, LodFrom, Parameter, Reduce, Request, Sample};
use super::point::{Coordinates, Point};
use super::state::MapFilter;
use super::texels::{Pages, Texels};
use super::view::{Source, View};
use crate::eu::regions::Registers;
use crate::mem::{PageFault, Vm};
use crate::surface::format::Numeric;
use crate::surface::format::value::Value;

/// Channels of a colour as it is being summed up.
type Sum = [f64; 4];

/// What becomes of a message about samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Bytes that were read.
    pub bytes: u64,
    /// Lanes that the chroma key killed.
    pub killed: u32,
}

/// Samples a surface and answers the message.
///
/// # Errors
/// A page fault.
pub fn sample(
    view: &View,
    vm: &Vm<'_>,
    registers: &mut Registers,
    request: &Request<'_>,
    sample: Sample,
) -> Result<Done, PageFault> {
    let mut done = Done::default();
    if view.source == Source::Nothing || view.sampler.disabled {
        request.answer_all(registers, [0; 4]);
        if sample.kills {
            request.answer_mask(registers, 0);
        }
        return Ok(done);
    }
    if let Some(fast) = view.fast_path.filter(|_| sample.reduce == Reduce::Mean && !sample.compares)
    {
        let mut pages = Pages::new(vm);
        for group in 0..request.simd.groups() {
            let mask = request.group_mask(group);
            if mask == 0 {
                continue;
            }
            let coordinates = Coordinates::read(request, registers, view, group);
            let details =
                levels::details(request, registers, view, &coordinates, sample.lod, false, group);
            let lanes =
                fast_sample::group(view, &mut pages, &coordinates, &details, request.offset, mask)?;
            request.answer(registers, group, &fast.answer(&lanes));
            let texels = if view.filters == [MapFilter::Nearest; 2] { 1 } else { 4 };
            done.bytes += 4 * texels * u64::from(mask.count_ones());
        }
        if sample.kills {
            request.answer_mask(registers, 0);
        }
        return Ok(done);
    }
    let mut texels = Texels::new(view, vm);
    for group in 0..request.simd.groups() {
        let mask = request.group_mask(group);
        if mask == 0 {
            continue;
        }
        let coordinates = Coordinates::read(request, registers, view, group);
        let on_face = sample.lod == LodFrom::Derivatives;
        let details =
            levels::details(request, registers, view, &coordinates, sample.lod, false, group);
        let references = request.floats(registers, Parameter::Ref, group);
        let mut lanes = Lanes {
            view,
            sample,
            mask,
            offset: request.offset,
            points: [Point::default(); GROUP],
            details,
            references,
            values: [[0; 4]; GROUP],
            killed: 0,
        };
        for lane in 0..GROUP {
            if mask >> lane & 1 == 1 {
                lanes.points[lane] = coordinates.point(view, lane, on_face);
            }
        }
        lanes.run(&mut texels)?;
        let mut channels = [[0; GROUP]; 4];
        for (lane, value) in lanes.values.iter().enumerate() {
            let value = view.selected(value);
            (0..4).for_each(|n| channels[n][lane] = value[n]);
        }
        request.answer(registers, group, &channels);
        done.killed |= lanes.killed << (GROUP * group);
    }
    done.bytes = texels.bytes;
    if sample.kills {
        request.answer_mask(registers, done.killed);
    }
    Ok(done)
}

/// The lanes of a group.
struct Lanes<'v> {
    view: &'v View,
    sample: Sample,
    mask: u32,
    offset: [i32; 3],
    points: [Point; GROUP],
    details: [Detail; GROUP],
    references: [f32; GROUP],
    /// What comes out.
    values: [Value; GROUP],
    killed: u32,
}

impl Lanes<'_> {
    fn run(&mut self, texels: &mut Texels<'_, '_>) -> Result<(), PageFault> {
        let view = self.view;
        if view.filters.contains(&MapFilter::Mono) {
            return self.each(|lanes, lane| {
                let place = view.place(lanes.details[lane].choice.level);
                let value = mono::filter(view, texels, place, &lanes.points[lane])?;
                lanes.values[lane] = [value.to_bits(); 4];
                Ok(())
            });
        }
        let simple =
            self.details.iter().all(|detail| detail.choice.share == 0 && detail.line.is_none());
        if simple && self.sample.reduce == Reduce::Mean {
            return self.simple(texels);
        }
        self.several(texels)
    }

    /// Does something for every lane that takes part.
    #[inline(always)]
    fn each(
        &mut self,
        mut work: impl FnMut(&mut Self, usize) -> Result<(), PageFault>,
    ) -> Result<(), PageFault> {
        for lane in 0..GROUP {
            if self.mask >> lane & 1 == 1 {
                work(self, lane)?;
            }
        }
        Ok(())
    }

    /// How a lane samples its levels.
    #[inline(always)]
    fn way(&self, lane: usize) -> Way {
        let magnified = self.details[lane].choice.magnified;
        let filter = match self.sample.reduce {
            Reduce::Mean => self.view.filters[usize::from(magnified)],
            // Integers have filters there (2d p.398).
            _ => [self.view.sampler.min, self.view.sampler.mag][usize::from(magnified)],
        };
        Way { linear: filter != MapFilter::Nearest, magnified, offset: self.offset }
    }

    /// One level, one sample.
    #[inline(always)]
    fn simple(&mut self, texels: &mut Texels<'_, '_>) -> Result<(), PageFault> {
        let view = self.view;
        let mut footprints = [Footprint::default(); GROUP];
        texels.clear();
        self.each(|lanes, lane| {
            let place = view.place(lanes.details[lane].choice.level);
            footprints[lane] =
                footprint::collect(view, texels, place, &lanes.points[lane], lanes.way(lane))?;
            Ok(())
        })?;
        texels.read()?;
        for (lane, footprint) in footprints.iter().enumerate() {
            if self.mask >> lane & 1 == 0 {
                continue;
            }
            let values = &texels.values[footprint.first..footprint.first + footprint.count];
            self.values[lane] = if self.sample.compares {
                [(self.compared(values, footprint, lane) as f32).to_bits(); 4]
            } else if let [value] = values {
                *value
            } else {
                mean(values, footprint).map(|sum| (sum as f32).to_bits())
            };
            self.note_killed(texels, footprint, lane);
        }
        Ok(())
    }

    /// Two levels, or several samples along a line, or the least and the greatest of texels.
    fn several(&mut self, texels: &mut Texels<'_, '_>) -> Result<(), PageFault> {
        let view = self.view;
        let mut sums: [Sum; GROUP] = [[0.0; 4]; GROUP];
        let mut first = self.mask;
        for next in [false, true] {
            let ways =
                self.details.iter().map(|detail| detail.line.map_or(1, |line| line.ways)).max();
            for way in 0..ways.unwrap_or(1) {
                let mut footprints = [Footprint::default(); GROUP];
                let mut weights = [0.0; GROUP];
                texels.clear();
                self.each(|lanes, lane| {
                    let Detail { choice, line, .. } = lanes.details[lane];
                    let (level, share) = match next {
                        false => (choice.level, 256 - choice.share),
                        true => (choice.next, choice.share),
                    };
                    let Some(sample) = along(line, way).filter(|_| share > 0) else {
                        return Ok(());
                    };
                    let mut point = lanes.points[lane];
                    point.uvr[0] += sample.offset[0];
                    point.uvr[1] += sample.offset[1];
                    let place = view.place(level);
                    footprints[lane] =
                        footprint::collect(view, texels, place, &point, lanes.way(lane))?;
                    weights[lane] = f64::from(share) * (1.0 / 256.0) * sample.weight;
                    Ok(())
                })?;
                texels.read()?;
                for lane in 0..GROUP {
                    let footprint = &footprints[lane];
                    if footprint.count == 0 || weights[lane] == 0.0 {
                        continue;
                    }
                    let values = &texels.values[footprint.first..footprint.first + footprint.count];
                    self.note_killed(texels, footprint, lane);
                    let is_first = first >> lane & 1 == 1;
                    first &= !(1 << lane);
                    if self.sample.reduce != Reduce::Mean {
                        self.reduce(values, footprint, lane, is_first);
                    } else if view.numeric != Numeric::Float {
                        // Integers have no mean: the first level's.
                        if is_first {
                            self.values[lane] = values[0];
                        }
                    } else {
                        let own = match self.sample.compares {
                            true => [self.compared(values, footprint, lane); 4],
                            false => mean(values, footprint),
                        };
                        let weight = weights[lane];
                        sums[lane].iter_mut().zip(own).for_each(|(sum, own)| *sum += weight * own);
                    }
                }
            }
        }
        if self.sample.reduce == Reduce::Mean && view.numeric == Numeric::Float {
            for (value, sum) in self.values.iter_mut().zip(sums) {
                *value = sum.map(|sum| (sum as f32).to_bits());
            }
        }
        Ok(())
    }

    /// The mean of comparisons.
    fn compared(&self, values: &[Value], footprint: &Footprint, lane: usize) -> f64 {
        let reference = self.references[lane];
        let results = values.iter().map(|value| f64::from(self.view.shadow(value, reference)));
        results.zip(footprint.weights).map(|(result, weight)| result * weight).sum()
    }

    /// The least or the greatest of texels that count, and of those before.
    fn reduce(&mut self, values: &[Value], footprint: &Footprint, lane: usize, is_first: bool) {
        let (numeric, least) = (self.view.numeric, self.sample.reduce == Reduce::Min);
        let mut best = (!is_first).then_some(self.values[lane]);
        for (value, &weight) in values.iter().zip(&footprint.weights) {
            if weight == 0.0 {
                continue;
            }
            best = Some(match best {
                None => *value,
                Some(best) => std::array::from_fn(|n| better(numeric, least, best[n], value[n])),
            });
        }
        self.values[lane] = best.unwrap_or_default();
    }

    /// Notes that a texel that counts matched the chroma key.
    #[inline(always)]
    fn note_killed(&mut self, texels: &Texels<'_, '_>, footprint: &Footprint, lane: usize) {
        if texels.killed == 0 {
            return;
        }
        let counts = |n: &usize| footprint.weights[*n] != 0.0;
        let killed = (0..footprint.count)
            .filter(counts)
            .any(|n| texels.killed >> (footprint.first + n) & 1 == 1);
        self.killed |= u32::from(killed) << lane;
    }
}

/// A sample of the anisotropic filter: its way from the middle, and its weight of all.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Along {
    offset: [f64; 2],
    weight: f64,
}

/// Sample `way` of a line, or the only one where there is none.
fn along(line: Option<levels::Line>, way: u32) -> Option<Along> {
    let Some(line) = line else {
        return (way == 0).then_some(Along { offset: [0.0; 2], weight: 1.0 });
    };
    if way >= line.ways {
        return None;
    }
    let from_middle = f64::from(way) - (f64::from(line.ways) - 1.0) / 2.0;
    let all = f64::from(line.ways - 2) + 2.0 * line.end;
    let own = if way == 0 || way + 1 == line.ways { line.end } else { 1.0 };
    Some(Along { offset: line.step.map(|step| step * from_middle), weight: own / all })
}

/// The weighted mean of texels. Products are exact; what has no weight does not count, even if it
/// is no number.
#[inline(always)]
fn mean(values: &[Value], footprint: &Footprint) -> Sum {
    let mut sum = [0.0; 4];
    for (value, &weight) in values.iter().zip(&footprint.weights) {
        if weight != 0.0 {
            for n in 0..4 {
                sum[n] += f64::from(f32::from_bits(value[n])) * weight;
            }
        }
    }
    sum
}

/// The lesser or the greater of two channels; of a number and none, the number.
fn better(numeric: Numeric, least: bool, a: u32, b: u32) -> u32 {
    let take_b = match numeric {
        Numeric::Uint => (b < a) == least,
        Numeric::Sint => ((b as i32) < a as i32) == least,
        Numeric::Float => {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            a.is_nan() || if least { b < a } else { b > a }
        }
    };
    if take_b { b } else { a }
}
