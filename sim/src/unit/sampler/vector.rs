//! The vector path of the sampler. It samples all lanes of a group together. It supports
//! two-dimensional textures whose texels have 1, 2, 4, 8 or 16 bytes, and the filters nearest and
//! linear.
//!
//! Everything is computed on arrays of lanes, which the compiler turns into vector instructions.
//! The results are those of [`super::fast_sample`] for views that have a fast path, and those of
//! [`mod@super::sample`] for other views. The path refuses some messages before it changes
//! anything, for example after a page fault, for a coordinate far outside of the map, or for a
//! result that is a NaN. Another path then executes the message from its start.

use super::address::layer;
use super::fast_path::FastPath;
use super::levels::{self, Choices};
use super::lod::Choice;
use super::payload::{GROUP, LANES, Reduce, Request, Sample, Simd};
use super::plain;
use super::point::Coordinates;
use super::rows::{CORNERS, LANE_BITS, Row, Rows, SIZE, Texels, active, fetch, sum};
use super::state::{MapFilter, Wrap};
use super::texels::{Pages, flush};
use super::vector_state::Vector;
use super::view::{Place, Source, View};
use crate::eu::fast::Level;
use crate::eu::fast::lanes::{blend, map, zip};
use crate::eu::regions::Registers;
use crate::mem::{PAGE, Vm, lines};
use crate::surface::format::Numeric;
use crate::surface::format::value::Value;
use crate::surface::{Codec, Dimension, SurfaceKind, TileMode};
use genxml::gen8::state::ShaderChannelSelect;

/// The view with the state of the vector path, unless this processor or the view excludes it.
pub fn prepared(view: View) -> View {
    View { vector: state(&view), ..view }
}

fn state(view: &View) -> Option<Vector> {
    let level = Level::detect()?;
    let surface = &view.surface;
    let Source::Elements(size) = view.source else { return None };
    let whole = |bytes: u64| bytes.is_multiple_of(size.into());
    let plain = surface.kind == SurfaceKind::Image
        && surface.layout.dimension == Dimension::Two
        && surface.tile_mode != TileMode::W
        && surface.line_stride == 0
        && surface.layout.samples == 1
        && !surface.layout.by_level()
        && usize::try_from(size).is_ok_and(|size| size <= ELEMENT)
        && whole(surface.base)
        && whole(surface.pitch.into())
        && view.codec.is_some_and(Codec::has_channels)
        && view.palette.is_none()
        && view.key.is_none()
        && view.ones == [false; 4]
        && !view.sampler.disabled
        && view
            .filters
            .iter()
            .all(|filter| matches!(filter, MapFilter::Nearest | MapFilter::Linear))
        && !view.wrap[..2].iter().any(|wrap| matches!(wrap, Wrap::Border | Wrap::HalfBorder));
    // Offsets are computed as `i32`, so they must stay below 2^30. `bytes` is an upper bound of
    // them: the bytes of all rows, plus those of all tiles left of the last byte of a row. A
    // tile has `PAGE` bytes and is at least 64 bytes wide.
    let places = &view.places;
    let bottom = places.iter().map(|place| place.top + i64::from(place.size[1])).max()?;
    let right = places.iter().map(|place| place.left).max()?
        + i64::from(places[0].size[0]) * i64::from(size);
    let slices = i64::from(surface.first_slice + surface.slices);
    let rows = slices * i64::from(surface.layout.qpitch) + bottom + i64::from(surface.top);
    let bytes = (rows + i64::from(surface.tile_mode.height())) * i64::from(surface.pitch)
        + (right + i64::from(surface.left)) * (PAGE as i64 / 64);
    (plain && bytes < 1 << 30).then_some(Vector {
        level,
        fixed: levels::fixed(view),
        size: size as i32,
        page: surface.base & !(PAGE - 1),
        within: (surface.base % PAGE) as i32,
        plain: plain::state(view, levels::fixed(view)),
    })
}

/// Samples a surface and writes the response. Returns the number of bytes read, or `None` if the
/// message needs another path; then nothing is changed.
#[inline]
pub fn sample(
    view: &View,
    vm: &Vm<'_>,
    registers: &mut Registers,
    request: &Request<'_>,
    sample: Sample,
) -> Option<u64> {
    let vector = view.vector.as_ref()?;
    if sample.reduce != Reduce::Mean || sample.compares || request.simd == Simd::Pair {
        return None;
    }
    if let (Some(plain), Some(fast)) = (&vector.plain, &view.fast_path)
        && request.offset == [0; 3]
        && vm.log().is_none()
    {
        let bytes = fast.bytes(view.filters) * u64::from(request.mask.count_ones());
        let done = vector.level.vectorize(
            #[inline(always)]
            || plain::answer(plain, vector, fast, vm, registers, request),
        );
        if done.is_some() {
            if sample.kills {
                request.answer_mask(registers, 0);
            }
            return Some(bytes);
        }
    }
    vector.level.vectorize(
        #[inline(always)]
        || {
            let rows = Rows::of(view, request);
            let mut pages = Pages::new(vm);
            let mut answers = [[[0; GROUP]; 4]; LANES / GROUP];
            let mut bytes = 0;
            for (group, mask) in request.active_groups() {
                let uvr = rows.read(registers, group);
                let choices = match vector.fixed {
                    Some(choice) => Choices::Same(choice),
                    None => {
                        let coordinates = Coordinates::flat(uvr);
                        levels::choices(request, registers, view, &coordinates, sample.lod, group)
                    }
                };
                let lanes = Lanes::new(view, request, uvr, choices, mask);
                answers[group % 2] = match &view.fast_path {
                    Some(fast) => {
                        bytes += fast.bytes(view.filters) * u64::from(mask.count_ones());
                        lanes.sample(vector, fast, &mut pages)?
                    }
                    None => lanes.values(vector, &mut pages, &mut bytes)?,
                };
            }
            for (group, _) in request.active_groups() {
                request.answer(registers, group, &answers[group % 2]);
            }
            if sample.kills {
                request.answer_mask(registers, 0);
            }
            Some(bytes)
        },
    )
}

/// The lanes of a group.
struct Lanes<'v> {
    view: &'v View,
    mask: u32,
    offset: [i32; 3],
    /// U and V.
    uv: [Row<f32>; 2],
    /// First row of each lane's slice; `None` if the surface has only one.
    slices: Option<Row<i32>>,
    choices: Choices,
}

impl<'v> Lanes<'v> {
    #[inline(always)]
    fn new(
        view: &'v View,
        request: &Request<'_>,
        [u, v, r]: [Row<f32>; 3],
        choices: Choices,
        mask: u32,
    ) -> Lanes<'v> {
        let surface = &view.surface;
        let slices = (surface.array && view.layers > 1).then(|| {
            let slice = |r| surface.first_slice + layer(r, view.layers);
            map(active(&r, mask), |r| (slice(r) * surface.layout.qpitch) as i32)
        });
        let uv = [active(&u, mask), active(&v, mask)];
        Lanes { view, mask, offset: request.offset, uv, slices, choices }
    }

    /// The four channels of the response, for texels of four unsigned normalized bytes.
    #[inline(always)]
    fn sample(
        &self,
        vector: &Vector,
        fast: &FastPath,
        pages: &mut Pages<'_, '_>,
    ) -> Option<[Row<u32>; 4]> {
        let mut found = [[0; GROUP]; 4];
        let mut rest = self.mask;
        while rest != 0 {
            let (choice, same, shares) = self.first(rest);
            let own = self.levels(vector, fast, pages, choice, same, &shares)?;
            if same == self.mask {
                return Some(own);
            }
            for (found, own) in found.iter_mut().zip(own) {
                *found = blend(same, own, *found);
            }
            rest &= !same;
        }
        Some(found)
    }

    /// The levels of the first lane of `rest`, the mask of all active lanes that read these levels,
    /// and the weights of the second level for all lanes.
    #[inline(always)]
    fn first(&self, rest: u32) -> (Choice, u32, Row<i32>) {
        match &self.choices {
            Choices::Same(choice) => (*choice, self.mask, [choice.share.into(); GROUP]),
            Choices::Each(choices) => {
                let choice = choices[rest.trailing_zeros() as usize % GROUP];
                let equal =
                    map(*choices, |other| Choice { share: choice.share, ..other } == choice);
                let same = equal.iter().rev().fold(0, |same, &equal| same << 1 | u32::from(equal));
                (choice, same & self.mask, map(*choices, |choice| i32::from(choice.share)))
            }
        }
    }

    /// The four channels of the response, for texels that are decoded to floats or integers. Adds
    /// the number of bytes read to `bytes`.
    ///
    /// The sums are those of [`super::sample`], in the same order. A NaN needs the other path: its
    /// bits depend on the order in which the host's processor adds.
    #[inline(always)]
    fn values(
        &self,
        vector: &Vector,
        pages: &mut Pages<'_, '_>,
        bytes: &mut u64,
    ) -> Option<[Row<u32>; 4]> {
        let view = self.view;
        let one_level = match &self.choices {
            Choices::Same(choice) => choice.share == 0,
            Choices::Each(choices) => choices.iter().all(|choice| choice.share == 0),
        };
        // Integers are not filtered. The result is the first texel of the first level.
        let adds = view.numeric == Numeric::Float;
        let mut found = [[0; 4]; GROUP];
        let mut rest = self.mask;
        while rest != 0 {
            let (choice, same, shares) = self.first(rest);
            let size = u64::from(vector.size as u32);
            let own = self.decoded(vector, pages, choice.level, choice.magnified, same)?;
            *bytes += size * u64::from(same.count_ones()) * own.count as u64;
            let second = between_levels(&shares) & same;
            let both = second.count_ones();
            let next = match second {
                0 => None,
                _ => Some(self.decoded(vector, pages, choice.next, choice.magnified, second)?),
            };
            *bytes += size * u64::from(both) * own.count as u64;
            for lane in 0..GROUP {
                if same >> lane & 1 == 0 {
                    continue;
                }
                found[lane] = if !adds || one_level && own.count == 1 {
                    own.values[lane]
                } else if one_level {
                    own.mean(lane).map(|sum| (sum as f32).to_bits())
                } else {
                    let share = f64::from(shares[lane]);
                    let weight = (256.0 - share) * (1.0 / 256.0);
                    let mut sums = own.mean(lane).map(|own| 0.0 + weight * own);
                    if let Some(next) = next.as_ref().filter(|_| share > 0.0) {
                        let weight = share * (1.0 / 256.0);
                        sums = zip(sums, next.mean(lane), |sum, next| sum + weight * next);
                    }
                    sums.map(|sum| (sum as f32).to_bits())
                };
            }
            rest &= !same;
        }
        if view.flushes {
            flush(&mut found);
        }
        let nan = |bits: &u32| f32::from_bits(*bits).is_nan();
        if adds && found.as_flattened().iter().any(nan) {
            return None;
        }
        let channel = |n: usize| map(found, |value| value[n]);
        let [red, green, blue, alpha] = [channel(0), channel(1), channel(2), channel(3)];
        Some(view.surface.select.map(|select| match select {
            ShaderChannelSelect::RED => red,
            ShaderChannelSelect::GREEN => green,
            ShaderChannelSelect::BLUE => blue,
            ShaderChannelSelect::ALPHA => alpha,
            other => [view.select(other, &[0; 4]); GROUP],
        }))
    }

    /// The decoded texels of a level, which the lanes in the mask read.
    #[inline(always)]
    fn decoded(
        &self,
        vector: &Vector,
        pages: &mut Pages<'_, '_>,
        level: u8,
        magnified: bool,
        lanes: u32,
    ) -> Option<Decoded> {
        let mut decoded =
            Decoded { values: [[0; 4]; CORNERS * GROUP], count: 1, shares: [[0; GROUP]; 2] };
        let places = self.places(vector, level, magnified)?;
        if pages.recorded() {
            places.record(vector, pages, lanes);
        }
        match places {
            Places::Nearest(offsets) => {
                decode(self.view, pages, vector, offsets.as_slice(), &mut decoded.values)?;
            }
            Places::Linear(offsets, x, y) => {
                decoded.count = CORNERS;
                decoded.shares = [x, y];
                decode(self.view, pages, vector, offsets.as_flattened(), &mut decoded.values)?;
            }
        }
        Some(decoded)
    }

    /// The four channels of the lanes in the mask, which read the levels of `choice`. `shares` are
    /// the weights of the second level in 1/256.
    #[inline(always)]
    fn levels(
        &self,
        vector: &Vector,
        fast: &FastPath,
        pages: &mut Pages<'_, '_>,
        choice: Choice,
        lanes: u32,
        shares: &Row<i32>,
    ) -> Option<[Row<u32>; 4]> {
        let own = self.level(vector, pages, choice.level, choice.magnified, lanes)?;
        if choice.level == choice.next {
            let one = |sum: u32| (sum as i32 as f32 / (255.0 * 65536.0)).to_bits();
            let bytes = own.sums().map(|sums| map(sums, one));
            return Some(fast.respond(|low| bytes[low as usize / 8 % 4]));
        }
        let second = if pages.recorded() { between_levels(shares) & lanes } else { 0 };
        let next = self.level(vector, pages, choice.next, choice.magnified, second)?;
        let (own, next) = (own.sums(), next.sums());
        Some(fast.respond(|low| {
            let byte = low as usize / 8 % 4;
            let sums = zip(own[byte], next[byte], |own, next| [own as i32, next as i32]);
            zip(sums, *shares, |[own, next], share| {
                let share = f64::from(share);
                let both = f64::from(own) * (256.0 - share) + f64::from(next) * share;
                ((both / (255.0 * 65536.0 * 256.0)) as f32).to_bits()
            })
        }))
    }

    /// The texels of a level, which the lanes in the mask read.
    #[inline(always)]
    fn level(
        &self,
        vector: &Vector,
        pages: &mut Pages<'_, '_>,
        level: u8,
        magnified: bool,
        lanes: u32,
    ) -> Option<Texels> {
        let places = self.places(vector, level, magnified)?;
        if pages.recorded() {
            places.record(vector, pages, lanes);
        }
        Some(match places {
            Places::Nearest(offsets) => Texels::Nearest(fetch(pages, vector.page, [offsets])?[0]),
            Places::Linear(offsets, x, y) => {
                Texels::Linear(fetch(pages, vector.page, offsets)?, x, y)
            }
        })
    }

    /// The texels that a level contributes.
    #[inline(always)]
    fn places(&self, vector: &Vector, level: u8, magnified: bool) -> Option<Places> {
        let view = self.view;
        let place = view.place(level);
        let linear = view.filters[usize::from(magnified)] == MapFilter::Linear;
        let [u, v] = [0, 1].map(|n| view.rule(place, n, magnified, linear, self.offset[n]));
        let (x, y) = (u.axes(self.uv[0])?, v.axes(self.uv[1])?);
        let grid = Grid::new(view, place, &self.slices, vector);
        let (left, above) = (grid.columns(x.texels[0]), grid.lines(y.texels[0]));
        if !linear {
            return Some(Places::Nearest(sum(above, left)));
        }
        let (right, below) = (grid.columns(x.texels[1]), grid.lines(y.texels[1]));
        let corners = [sum(above, left), sum(above, right), sum(below, left), sum(below, right)];
        Some(Places::Linear(corners, x.shares, y.shares))
    }
}

/// Offsets of the texels of a level from the page of the surface's first byte.
enum Places {
    /// One texel.
    Nearest(Row<u32>),
    /// Four texels, and the weights of the second one along U and along V, in 1/256.
    Linear([Row<u32>; CORNERS], Row<i32>, Row<i32>),
}

impl Places {
    /// Records the reads of the lanes in a mask. If this path refuses the message after that, the
    /// other path records its reads again.
    #[inline(always)]
    fn record(&self, vector: &Vector, pages: &Pages<'_, '_>, lanes: u32) {
        let corners = match self {
            Places::Nearest(offsets) => std::slice::from_ref(offsets),
            Places::Linear(offsets, ..) => offsets,
        };
        // Usually all texels are in one page, and its lines were read before.
        let first = corners[0][0];
        let other = !pages.harmless_lines(vector.page.wrapping_add(first.into()));
        let mut new = [0; GROUP];
        for &offsets in corners {
            let outside = map(offsets, |offset| u64::from((offset ^ first) / SIZE));
            let unread = map(offsets, |offset| other >> (offset / LINE % u64::BITS) & 1);
            new = zip(new, zip(outside, unread, |a, b| a | b), |new, other| new | other);
        }
        if new != [0; GROUP] {
            record_elements(vector, pages, corners, lanes);
        }
    }
}

/// Records the reads of texels, which are elements at offsets, of the lanes in a mask.
#[cold]
#[inline(never)]
fn record_elements(vector: &Vector, pages: &Pages<'_, '_>, corners: &[Row<u32>], lanes: u32) {
    let mut read = [0; CORNERS * GROUP];
    let mut count = 0;
    for offsets in corners {
        for (offset, bit) in offsets.iter().zip(LANE_BITS) {
            read[count % (CORNERS * GROUP)] = *offset;
            count += usize::from(lanes & bit != 0);
        }
    }
    pages.record_elements(vector.page, &read[..count], vector.size as usize);
}

/// Mask of the lanes whose second level has a weight.
#[inline(always)]
fn between_levels(shares: &Row<i32>) -> u32 {
    zip(*shares, LANE_BITS, |share, bit| if share > 0 { bit } else { 0 })
        .iter()
        .fold(0, |mask, bit| mask | bit)
}

/// Decoded texels of a level: those of all lanes for the first corner, then for the others.
struct Decoded {
    values: [Value; CORNERS * GROUP],
    /// Number of texels of a lane.
    count: usize,
    /// Weights of the second texels along U and along V, in 1/256.
    shares: [Row<i32>; 2],
}

impl Decoded {
    /// The weighted mean of a lane's texels. A texel with weight 0 does not count, even if it is a
    /// NaN.
    #[inline(always)]
    fn mean(&self, lane: usize) -> [f64; 4] {
        let share = |n: usize| {
            let second = f64::from(self.shares[n][lane]) * (1.0 / 256.0);
            [1.0 - second, second]
        };
        let (x, y) = (share(0), share(1));
        let mut sum = [0.0; 4];
        for corner in 0..self.count {
            let weight = x[corner % 2] * y[corner / 2 % 2];
            let value = self.values[(corner * GROUP + lane) % (CORNERS * GROUP)];
            if weight != 0.0 {
                for n in 0..4 {
                    sum[n] += f64::from(f32::from_bits(value[n])) * weight;
                }
            }
        }
        sum
    }
}

/// Maximum number of bytes of an element.
const ELEMENT: usize = 16;

/// Reads and decodes the elements at offsets. `None` if there is a page fault.
fn decode(
    view: &View,
    pages: &mut Pages<'_, '_>,
    vector: &Vector,
    offsets: &[u32],
    values: &mut [Value],
) -> Option<()> {
    match vector.size {
        1 => elements::<1>(view, pages, vector, offsets, values),
        2 => elements::<2>(view, pages, vector, offsets, values),
        4 => elements::<4>(view, pages, vector, offsets, values),
        8 => elements::<8>(view, pages, vector, offsets, values),
        _ => elements::<ELEMENT>(view, pages, vector, offsets, values),
    }
}

fn elements<const N: usize>(
    view: &View,
    pages: &mut Pages<'_, '_>,
    vector: &Vector,
    offsets: &[u32],
    values: &mut [Value],
) -> Option<()> {
    let mut raw = [[0; N]; CORNERS * GROUP];
    let mut number = offsets[0] / SIZE;
    let mut page = pages.page(vector.page.wrapping_add(offsets[0].into())).ok()?;
    for (raw, &offset) in raw.iter_mut().zip(offsets) {
        if offset / SIZE != number {
            number = offset / SIZE;
            page = pages.page(vector.page.wrapping_add(offset.into())).ok()?;
        }
        *raw = page.load((offset % SIZE) as usize / N * N)?;
    }
    let values = &mut values[..offsets.len()];
    view.codec?.decode(raw[..offsets.len()].as_flattened(), values);
    if view.flushes {
        flush(values);
    }
    Some(())
}

/// The position of a level's texels.
struct Grid<'l> {
    mode: TileMode,
    pitch: i32,
    /// Offset in bytes of the level's first texel from the start of a row.
    left: i32,
    /// First row of the level in the first slice of the surface; in slice 0 if `slices` has values.
    top: i32,
    /// First row of each lane's slice; `None` if all lanes read the first slice.
    slices: &'l Option<Row<i32>>,
    /// Bytes of an element.
    size: i32,
    /// Number of bytes that is added to all offsets.
    within: i32,
}

impl<'l> Grid<'l> {
    #[inline(always)]
    fn new(view: &View, place: &Place, slices: &'l Option<Row<i32>>, vector: &Vector) -> Grid<'l> {
        let surface = &view.surface;
        let first = match slices {
            Some(_) => 0,
            None => (surface.first_slice * surface.layout.qpitch) as i32,
        };
        Grid {
            mode: surface.tile_mode,
            pitch: surface.pitch as i32,
            left: place.left as i32 + surface.left as i32,
            top: first + place.top as i32 + surface.top as i32,
            slices,
            size: vector.size,
            within: vector.within,
        }
    }

    /// The part of texels' offsets that depends on the column.
    #[inline(always)]
    fn columns(&self, texels: Row<i32>) -> Row<i32> {
        let pitch = self.pitch;
        let bytes = map(texels, |texel| self.left + self.size * texel);
        match self.mode {
            TileMode::Linear => bytes,
            TileMode::X => map(bytes, |byte| TileMode::X.near_offset(byte, 0, pitch)),
            TileMode::Y => map(bytes, |byte| TileMode::Y.near_offset(byte, 0, pitch)),
            TileMode::W => map(bytes, |byte| TileMode::W.near_offset(byte, 0, pitch)),
        }
    }

    /// The part of texels' offsets that depends on the row.
    #[inline(always)]
    fn lines(&self, texels: Row<i32>) -> Row<i32> {
        let pitch = self.pitch;
        let mut lines = map(texels, |texel| self.top + texel);
        if let Some(slices) = self.slices {
            lines = zip(lines, *slices, |line, slice| line + slice);
        }
        let offsets = match self.mode {
            TileMode::Linear => map(lines, |line| TileMode::Linear.near_offset(0, line, pitch)),
            TileMode::X => map(lines, |line| TileMode::X.near_offset(0, line, pitch)),
            TileMode::Y => map(lines, |line| TileMode::Y.near_offset(0, line, pitch)),
            TileMode::W => map(lines, |line| TileMode::W.near_offset(0, line, pitch)),
        };
        map(offsets, |offset| offset + self.within)
    }
}

/// Bytes of a line.
const LINE: u32 = lines::LINE as u32;
