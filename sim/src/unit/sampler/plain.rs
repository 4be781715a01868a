//! The fastest variant of the vector path. All lanes sample one mip level and one slice. A texel
//! has four unsigned normalized bytes. Coordinates are clamped, or the map repeats and its size is
//! a power of two.
//!
//! The steps are those of the general vector path. Here there are no branches between the steps, so
//! the compiler keeps whole rows in registers. This takes half of the instructions of the general
//! path.

use super::address::{FRACTION_BITS, INTEGER_IN_LOW_BITS, TEXEL};
use super::fast_path::FastPath;
use super::lod::Choice;
use super::payload::{GROUP, LANES, Request};
use super::rows::{Row, Rows, Texels, active, fetch, sum};
use super::state::{MapFilter, Wrap};
use super::texels::Pages;
use super::vector_state::{Plain, PlainAxis, Vector};
use super::view::View;
use crate::eu::fast::lanes::{map, zip};
use crate::eu::regions::Registers;
use crate::mem::Vm;
use crate::surface::TileMode;

/// Limit of a position, in 1/256 texel: that of [`super::address::Rule::axes`].
const FAR: f64 = (1 << 30) as f64;
/// One texel in positions.
const UNIT: i32 = TEXEL as i32;

/// The state for a view. `choice` has the levels that all lanes read, if they do not depend on the
/// level of detail. `None` if the view needs the general vector path.
pub fn state(view: &View, choice: Option<Choice>) -> Option<Plain> {
    let choice = choice.filter(|choice| choice.level == choice.next)?;
    let surface = &view.surface;
    if view.fast_path.is_none() || surface.array && view.layers > 1 {
        return None;
    }
    let place = view.place(choice.level);
    let linear = view.filters[usize::from(choice.magnified)] == MapFilter::Linear;
    let axis = |direction| {
        let rule = view.rule(place, direction, choice.magnified, linear, 0);
        let repeats = match rule.wrap {
            Wrap::Clamp | Wrap::Cube => -1,
            Wrap::Wrap if rule.size.is_positive() && rule.size.count_ones() == 1 => rule.size - 1,
            _ => return None,
        };
        Some(PlainAxis {
            scale: f64::from(if rule.normalized { rule.size * UNIT } else { UNIT }),
            rounded: if rule.round { 0.5 } else { 0.0 },
            // The linear filter takes the texels on both sides of a position.
            offset: if linear { -UNIT / 2 } else { 0 },
            repeats,
            last: rule.size - 1,
        })
    };
    let first = (surface.first_slice * surface.layout.qpitch) as i32;
    Some(Plain {
        axes: [axis(0)?, axis(1)?],
        mode: surface.tile_mode,
        pitch: surface.pitch as i32,
        left: place.left as i32 + surface.left as i32,
        top: first + place.top as i32 + surface.top as i32,
        linear,
    })
}

/// Samples all active lanes of a message and writes the response. `None` if a coordinate is a NaN
/// or far outside of the map, or if there is a page fault. Then nothing is changed, and the message
/// needs another path.
#[inline(always)]
pub fn answer(
    plain: &Plain,
    vector: &Vector,
    fast: &FastPath,
    vm: &Vm<'_>,
    registers: &mut Registers,
    request: &Request<'_>,
) -> Option<()> {
    let rows = Rows::of_plane(request);
    let mut pages = Pages::new(vm);
    let mut answers = [[[0; GROUP]; 4]; LANES / GROUP];
    for (group, answer) in answers.iter_mut().enumerate() {
        let mask = request.group_mask(group);
        if mask == 0 {
            continue;
        }
        let [u, v, _] = rows.read(registers, group);
        *answer = sample(plain, vector, &mut pages, active(&u, mask), active(&v, mask))?;
    }
    for (group, answer) in answers.iter().enumerate() {
        if request.group_mask(group) != 0 {
            let channels = fast.respond(|low| answer[low as usize / 8 % 4]);
            request.answer(registers, group, &channels);
        }
    }
    Some(())
}

/// The four filtered bytes of each lane of a group, as floats from 0 to 1.
#[inline(always)]
fn sample(
    plain: &Plain,
    vector: &Vector,
    pages: &mut Pages<'_, '_>,
    u: Row<f32>,
    v: Row<f32>,
) -> Option<[Row<u32>; 4]> {
    // The mode and the filter are constants, so the compiler makes code for each combination.
    let [a, b, c, d] = match (plain.mode, plain.linear) {
        (TileMode::Y, true) => sums(plain, TileMode::Y, true, vector, pages, u, v)?,
        (TileMode::Y, false) => sums(plain, TileMode::Y, false, vector, pages, u, v)?,
        (TileMode::X, true) => sums(plain, TileMode::X, true, vector, pages, u, v)?,
        (TileMode::X, false) => sums(plain, TileMode::X, false, vector, pages, u, v)?,
        (TileMode::Linear, true) => sums(plain, TileMode::Linear, true, vector, pages, u, v)?,
        (TileMode::Linear, false) => sums(plain, TileMode::Linear, false, vector, pages, u, v)?,
        (TileMode::W, _) => return None,
    };
    let one = |sum: u32| (sum as i32 as f32 / (255.0 * 65536.0)).to_bits();
    Some([map(a, one), map(b, one), map(c, one), map(d, one)])
}

/// Weighted sums of each of the four bytes of the texels. The weights add up to 65536.
#[inline(always)]
fn sums(
    plain: &Plain,
    mode: TileMode,
    linear: bool,
    vector: &Vector,
    pages: &mut Pages<'_, '_>,
    u: Row<f32>,
    v: Row<f32>,
) -> Option<[Row<u32>; 4]> {
    let mut far = [0; GROUP];
    let [along, down] = &plain.axes;
    let (x, y) = (along.positions(u, &mut far), down.positions(v, &mut far));
    let whole = |position: i32| position >> FRACTION_BITS;
    let (column, line) = (map(x, whole), map(y, whole));
    let left = plain.columns(mode, vector, column);
    let above = plain.lines(mode, vector, line);
    if !linear {
        let offsets = sum(above, left);
        if any(&far) {
            return None;
        }
        let [texels] = fetch(pages, vector.page, [offsets])?;
        return Some(Texels::Nearest(texels).sums());
    }
    let next = |texel| texel + 1;
    let right = plain.columns(mode, vector, map(column, next));
    let below = plain.lines(mode, vector, map(line, next));
    let corners = [sum(above, left), sum(above, right), sum(below, left), sum(below, right)];
    if any(&far) {
        return None;
    }
    let texels = fetch(pages, vector.page, corners)?;
    let share = |position| position & (UNIT - 1);
    Some(Texels::Linear(texels, map(x, share), map(y, share)).sums())
}

/// True if a value is not 0.
#[inline(always)]
fn any(far: &Row<u64>) -> bool {
    // The loop starts at the last lane, because then the compiler combines whole rows and does not
    // permute them.
    far.iter().rev().fold(0, |all, far| all | far) != 0
}

impl Plain {
    /// The part of texels' offsets that depends on the column.
    #[inline(always)]
    fn columns(&self, mode: TileMode, vector: &Vector, texels: Row<i32>) -> Row<i32> {
        let [along, _] = &self.axes;
        let bytes = map(along.inside(texels), |texel| self.left + vector.size * texel);
        map(bytes, |byte| mode.near_offset(byte, 0, self.pitch))
    }

    /// The part of texels' offsets that depends on the row.
    #[inline(always)]
    fn lines(&self, mode: TileMode, vector: &Vector, texels: Row<i32>) -> Row<i32> {
        let [_, down] = &self.axes;
        let lines = map(down.inside(texels), |texel| self.top + texel);
        map(lines, |line| mode.near_offset(0, line, self.pitch) + vector.within)
    }
}

impl PlainAxis {
    /// The positions of the first texels, in 1/256 texel. If the coordinate of a lane is a NaN or
    /// far outside of the map, sets `far` of the lane to 1; its position has no meaning then.
    #[inline(always)]
    fn positions(&self, coordinates: Row<f32>, far: &mut Row<u64>) -> Row<i32> {
        let position = |coordinate| (f64::from(coordinate) * self.scale + self.rounded).floor();
        let whole = map(coordinates, position);
        // The comparison is false for a NaN.
        let near = |whole: f64| whole.abs() < FAR;
        *far = zip(*far, whole, |far, whole| far | u64::from(!near(whole)));
        let integer = |whole: f64| (whole + INTEGER_IN_LOW_BITS).to_bits() as i32;
        map(whole, |whole| integer(whole).wrapping_add(self.offset))
    }

    /// Clamps texel numbers to the map, or repeats the map.
    #[inline(always)]
    fn inside(&self, texels: Row<i32>) -> Row<i32> {
        map(texels, |texel| (texel & self.repeats).max(0).min(self.last))
    }
}
