//! Filtered texels: the messages sample, sample_b, sample_l, sample_c, sample_d and related ones.

use super::fast_sample;
use super::footprint::{self, Footprint, Way};
use super::levels::{self, Detail};
use super::mono;
use super::payload::{GROUP, LodFrom, Parameter, Reduce, Request, Sample};
use super::point::{Coordinates, Point};
use super::state::MapFilter;
use super::texels::{self, Pages, Texels};
use super::vector;
use super::view::View;
use crate::eu::regions::Registers;
use crate::mem::{PageFault, Vm};
use crate::surface::format::Numeric;
use crate::surface::format::value::Value;

/// Sums of the four channels.
type Sum = [f64; 4];

/// Result of a sample message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Number of bytes read.
    pub bytes: u64,
    /// Mask of the lanes that the chroma key killed.
    pub killed: u32,
}

/// Samples a surface and writes the response.
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
    // The vector path comes first: it returns `None` for a view that samples nothing.
    if let Some(bytes) = vector::sample(view, vm, registers, request, sample) {
        return Ok(Done { bytes, ..done });
    }
    if view.samples_nothing() {
        request.answer_all(registers, [0; 4]);
        if sample.kills {
            request.answer_mask(registers, 0);
        }
        return Ok(done);
    }
    if let Some(fast) = view.fast_path.filter(|_| sample.reduce == Reduce::Mean && !sample.compares)
    {
        let mut pages = Pages::new(vm);
        for (group, mask) in request.active_groups() {
            let coordinates = Coordinates::read(request, registers, view, group);
            let details =
                levels::details(request, registers, view, &coordinates, sample.lod, false, group);
            let lanes =
                fast_sample::group(view, &mut pages, &coordinates, &details, request.offset, mask)?;
            request.answer(registers, group, &fast.answer(&lanes));
            done.bytes += fast.bytes(view.filters) * u64::from(mask.count_ones());
        }
        if sample.kills {
            request.answer_mask(registers, 0);
        }
        return Ok(done);
    }
    let mut texels = Texels::flushing(view, vm);
    for (group, mask) in request.active_groups() {
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
        if view.flushes {
            // The mean of normal numbers can be subnormal.
            texels::flush(&mut lanes.values);
        }
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
    /// The filtered texel of each lane.
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

    /// Calls `work` for every active lane.
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

    /// Filter and offset with which a lane samples its levels.
    #[inline(always)]
    fn way(&self, lane: usize) -> Way {
        let magnified = self.details[lane].choice.magnified;
        let filter = match self.sample.reduce {
            Reduce::Mean => self.view.filters[usize::from(magnified)],
            // Minimum and maximum have filters for integers too (2d p.398).
            _ => [self.view.sampler.min, self.view.sampler.mag][usize::from(magnified)],
        };
        Way { linear: filter != MapFilter::Nearest, magnified, offset: self.offset }
    }

    /// Samples lanes with one level and one sample each.
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

    /// Samples lanes with two levels, with several samples along a line, or with a minimum or
    /// maximum.
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
                        // Integers have no mean. Use the texel of the first sample.
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

    /// The weighted mean of the results of the comparisons.
    fn compared(&self, values: &[Value], footprint: &Footprint, lane: usize) -> f64 {
        let reference = self.references[lane];
        let results = values.iter().map(|value| f64::from(self.view.shadow(value, reference)));
        results.zip(footprint.weights).map(|(result, weight)| result * weight).sum()
    }

    /// Updates a lane's minimum or maximum with the texels whose weight is not 0.
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

    /// Marks a lane as killed if a texel whose weight is not 0 matched the chroma key.
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

/// A sample of the anisotropic filter: its offset from the middle of the line, and its part of the
/// total weight.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Along {
    offset: [f64; 2],
    weight: f64,
}

/// Sample `way` of a line. Without a line there is only sample 0.
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

/// The weighted mean of texels. Products are exact. A texel with weight 0 does not count, even if
/// it is a NaN.
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

/// The minimum of two values of a channel if `least` is true, else the maximum. If one value is a
/// NaN, the result is the other value.
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
