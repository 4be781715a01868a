//! The vector path of the sampler: all lanes of a group together, for the views and messages of
//! [`super::fast_sample`].
//!
//! Everything is computed on arrays of lanes, which the compiler turns into vector instructions. A
//! message that needs more (a page fault, a coordinate far outside of the map) is refused before
//! anything is changed; the other paths then start from its beginning.

use super::address::{Axes, layer};
use super::fast_path::FastPath;
use super::levels::{self, Choices};
use super::lod::Choice;
use super::payload::{GROUP, LANES, Reduce, Request, Sample, Simd};
use super::point::Coordinates;
use super::state::MapFilter;
use super::texels::Pages;
use super::view::{Place, View};
use crate::eu::fast::Level;
use crate::eu::fast::lanes::{blend, map, zip};
use crate::eu::regions::Registers;
use crate::mem::{PAGE, Page, Vm};
use crate::surface::{Surface, TileMode};

/// Values of the lanes of a group.
type Row<T> = [T; GROUP];
/// The four corners of a linear sample of each lane: (i0, j0), (i1, j0), (i0, j1), (i1, j1).
const CORNERS: usize = 4;

/// What the vector path needs of a view.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    level: Level,
    /// Address of the page of the surface's first byte, and the byte's offset in the page.
    page: u64,
    within: i32,
}

impl Vector {
    /// The vector path for a surface with the given levels; `None` if this processor or the surface
    /// excludes it.
    pub fn of(surface: &Surface, places: &[Place]) -> Option<Vector> {
        let level = Level::detect()?;
        let whole = |bytes: u64| bytes.is_multiple_of(surface.element_bytes.into());
        let simple = surface.element_bytes == 4
            && surface.tile_mode != TileMode::W
            && surface.line_stride == 0
            && surface.layout.samples == 1
            && !surface.layout.by_level()
            && whole(surface.base)
            && whole(surface.pitch.into());
        // Offsets have 31 bits. A bound of them: all rows, and as many tiles as a row can have.
        let bottom = places.iter().map(|place| place.top + i64::from(place.size[1])).max()?;
        let right = places.iter().map(|place| place.left).max()?
            + i64::from(places[0].size[0]) * i64::from(surface.element_bytes);
        let slices = i64::from(surface.first_slice + surface.slices);
        let rows = slices * i64::from(surface.layout.qpitch) + bottom + i64::from(surface.top);
        let bytes = (rows + i64::from(surface.tile_mode.height())) * i64::from(surface.pitch)
            + (right + i64::from(surface.left)) * PAGE as i64;
        (simple && bytes < 1 << 30).then_some(Vector {
            level,
            page: surface.base & !(PAGE - 1),
            within: (surface.base % PAGE) as i32,
        })
    }
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
    let vector = view.vector?;
    let fast = &view.fast_path?;
    if sample.reduce != Reduce::Mean || sample.compares || request.simd == Simd::Pair {
        return None;
    }
    vector.level.vectorize(
        #[inline(always)]
        || {
            let mut pages = Pages::new(vm);
            let mut answers = [[[0; GROUP]; 4]; LANES / GROUP];
            for (group, mask) in request.active_groups() {
                let lanes = Lanes::read(view, registers, request, sample, group, mask);
                answers[group % 2] = lanes.sample(vector, fast, &mut pages)?;
            }
            for (group, _) in request.active_groups() {
                request.answer(registers, group, &answers[group % 2]);
            }
            if sample.kills {
                request.answer_mask(registers, 0);
            }
            Some(fast.bytes(view) * u64::from(request.mask.count_ones()))
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
    /// Number of the first row of each lane's slice.
    slices: Row<i32>,
    choices: Choices,
}

impl<'v> Lanes<'v> {
    #[inline(always)]
    fn read(
        view: &'v View,
        registers: &Registers,
        request: &Request<'_>,
        sample: Sample,
        group: usize,
        mask: u32,
    ) -> Lanes<'v> {
        let coordinates = Coordinates::read(request, registers, view, group);
        let choices = levels::choices(request, registers, view, &coordinates, sample.lod, group);
        let surface = &view.surface;
        let [u, v, r] = &coordinates.uvr;
        let uv = [active(u, mask), active(v, mask)];
        let layers = match surface.array && view.layers > 1 {
            true => map(active(r, mask), |r| layer(r, view.layers)),
            false => [0; GROUP],
        };
        let qpitch = surface.layout.qpitch;
        let slices = map(layers, |layer| ((surface.first_slice + layer) * qpitch) as i32);
        Lanes { view, mask, offset: request.offset, uv, slices, choices }
    }

    /// The four channels of the response.
    #[inline(always)]
    fn sample(
        &self,
        vector: Vector,
        fast: &FastPath,
        pages: &mut Pages<'_, '_>,
    ) -> Option<[Row<u32>; 4]> {
        let mut found = [[0; GROUP]; 4];
        let mut rest = self.mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize % GROUP;
            let (choice, same, shares) = match &self.choices {
                Choices::Same(choice) => (*choice, self.mask, [0; GROUP]),
                Choices::Each(choices) => {
                    let choice = choices[lane];
                    let equal =
                        map(*choices, |other| Choice { share: choice.share, ..other } == choice);
                    let same =
                        equal.iter().rev().fold(0, |same, &equal| same << 1 | u32::from(equal));
                    (choice, same & self.mask, map(*choices, |choice| i32::from(choice.share)))
                }
            };
            let own = self.levels(vector, fast, pages, choice, &shares)?;
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

    /// The four channels of lanes that read the levels of `choice`. `shares` are the weights of the
    /// second level in 1/256.
    #[inline(always)]
    fn levels(
        &self,
        vector: Vector,
        fast: &FastPath,
        pages: &mut Pages<'_, '_>,
        choice: Choice,
        shares: &Row<i32>,
    ) -> Option<[Row<u32>; 4]> {
        let own = self.level(vector, pages, choice.level, choice.magnified)?;
        if choice.level == choice.next {
            return Some(
                fast.respond(|low| map(own.sums(low), |sum| (sum / (255.0 * 65536.0)).to_bits())),
            );
        }
        let next = self.level(vector, pages, choice.next, choice.magnified)?;
        Some(fast.respond(|low| {
            let sums = zip(own.sums(low), next.sums(low), |own, next| [own, next]);
            zip(sums, *shares, |[own, next], share| {
                let share = f64::from(share);
                let both = f64::from(own) * (256.0 - share) + f64::from(next) * share;
                ((both / (255.0 * 65536.0 * 256.0)) as f32).to_bits()
            })
        }))
    }

    /// The texels of a level.
    #[inline(always)]
    fn level(
        &self,
        vector: Vector,
        pages: &mut Pages<'_, '_>,
        level: u8,
        magnified: bool,
    ) -> Option<Texels> {
        let view = self.view;
        let place = view.place(level);
        let linear = view.filters[usize::from(magnified)] == MapFilter::Linear;
        let [u, v] = [0, 1].map(|n| view.rule(place, n, magnified, linear, self.offset[n]));
        let (x, y) = (u.axes(self.uv[0])?, v.axes(self.uv[1])?);
        let grid = Grid::new(view, place, self.slices, vector.within);
        let (left, above) = (grid.columns(x.texels[0]), grid.lines(y.texels[0]));
        if !linear {
            let texels = fetch(pages, vector.page, [sum(above, left)])?;
            return Some(Texels { first: texels[0], linear: None });
        }
        let (right, below) = (grid.columns(x.texels[1]), grid.lines(y.texels[1]));
        let places = [sum(above, left), sum(above, right), sum(below, left), sum(below, right)];
        let texels: [Row<u32>; CORNERS] = fetch(pages, vector.page, places)?;
        Some(Texels { first: texels[0], linear: Some((texels, x, y)) })
    }
}

/// The coordinates of active lanes. An inactive lane gets that of the first active one, so that it
/// samples the same texel and has no effect.
#[inline(always)]
fn active(row: &Row<f32>, mask: u32) -> Row<f32> {
    match mask {
        0xff => *row,
        _ => blend(mask, *row, [row[mask.trailing_zeros() as usize % GROUP]; GROUP]),
    }
}

#[inline(always)]
fn sum(a: Row<i32>, b: Row<i32>) -> Row<u32> {
    zip(a, b, |a, b| (a + b) as u32)
}

/// The position of a level's texels.
struct Grid {
    mode: TileMode,
    pitch: i32,
    /// First byte of the level in a row.
    left: i32,
    /// First row of each lane's slice of the level.
    top: Row<i32>,
    /// Number of bytes that is added to all offsets.
    within: i32,
}

impl Grid {
    #[inline(always)]
    fn new(view: &View, place: &Place, slices: Row<i32>, within: i32) -> Grid {
        let surface = &view.surface;
        let top = place.top as i32 + surface.top as i32;
        Grid {
            mode: surface.tile_mode,
            pitch: surface.pitch as i32,
            left: place.left as i32 + surface.left as i32,
            top: map(slices, |slice| slice + top),
            within,
        }
    }

    /// The part of texels' offsets that depends on the column.
    #[inline(always)]
    fn columns(&self, texels: Row<i32>) -> Row<i32> {
        let pitch = self.pitch;
        let bytes = map(texels, |texel| self.left + 4 * texel);
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
        let lines = zip(self.top, texels, |top, texel| top + texel);
        let offsets = match self.mode {
            TileMode::Linear => map(lines, |line| TileMode::Linear.near_offset(0, line, pitch)),
            TileMode::X => map(lines, |line| TileMode::X.near_offset(0, line, pitch)),
            TileMode::Y => map(lines, |line| TileMode::Y.near_offset(0, line, pitch)),
            TileMode::W => map(lines, |line| TileMode::W.near_offset(0, line, pitch)),
        };
        map(offsets, |offset| offset + self.within)
    }
}

/// Reads the dwords at offsets from `base`, a page's address. The offsets are multiples of 4.
/// `None` if there is a page fault.
#[inline(always)]
fn fetch<const N: usize>(
    pages: &mut Pages<'_, '_>,
    base: u64,
    offsets: [Row<u32>; N],
) -> Option<[Row<u32>; N]> {
    let first = offsets[0][0];
    let mut others = [0; GROUP];
    for row in offsets {
        others = zip(others, row, |others, offset| others | offset ^ first);
    }
    if !others.iter().fold(true, |same, &other| same & (other < SIZE)) {
        return scattered(pages, base, offsets);
    }
    let page = pages.page(base.wrapping_add(first.into())).ok()?;
    let mut dwords = [[0; GROUP]; N];
    for (dwords, offsets) in dwords.iter_mut().zip(&offsets) {
        *dwords = map(*offsets, |offset| dword(page, offset));
    }
    Some(dwords)
}

/// Bytes of a page.
const SIZE: u32 = PAGE as u32;

/// The dword of a page at an offset, of which the page number does not count.
#[inline(always)]
fn dword(page: &Page, offset: u32) -> u32 {
    const DWORD: usize = size_of::<u32>();
    let within = (offset % SIZE) as usize / DWORD * DWORD;
    page.load(within).map_or(0, u32::from_le_bytes)
}

/// As [`fetch`], for dwords in several pages.
#[inline(always)]
fn scattered<const N: usize>(
    pages: &mut Pages<'_, '_>,
    base: u64,
    offsets: [Row<u32>; N],
) -> Option<[Row<u32>; N]> {
    let mut dwords = [[0; GROUP]; N];
    let mut number = offsets[0][0] / SIZE;
    let mut page = pages.page(base.wrapping_add(offsets[0][0].into())).ok()?;
    for (dwords, offsets) in dwords.iter_mut().zip(&offsets) {
        for (to, &offset) in dwords.iter_mut().zip(offsets) {
            if offset / SIZE != number {
                number = offset / SIZE;
                page = pages.page(base.wrapping_add(offset.into())).ok()?;
            }
            *to = dword(page, offset);
        }
    }
    Some(dwords)
}

/// The texels of one level.
struct Texels {
    /// The first texel of each lane.
    first: Row<u32>,
    /// For the linear filter: all texels, and their weights along U and V.
    linear: Option<([Row<u32>; CORNERS], Axes<GROUP>, Axes<GROUP>)>,
}

impl Texels {
    /// Weighted sums of the bytes from bit `low` of the texels on. The weights add up to 65536, so
    /// the sums are exact.
    #[inline(always)]
    fn sums(&self, low: u32) -> Row<f32> {
        let Some((corners, x, y)) = &self.linear else {
            return map(bytes(self.first, low), |byte| byte * 65536.0);
        };
        let above = between(bytes(corners[0], low), bytes(corners[1], low), x.shares);
        let below = between(bytes(corners[2], low), bytes(corners[3], low), x.shares);
        between(above, below, y.shares)
    }
}

/// The bytes from bit `low` of texels on.
#[inline(always)]
fn bytes(texels: Row<u32>, low: u32) -> Row<f32> {
    map(texels, |texel| i32::from((texel >> low) as u8) as f32)
}

/// Weighted sums of two values. `shares` are the weights of the second ones in 1/256.
#[inline(always)]
fn between(first: Row<f32>, second: Row<f32>, shares: Row<i32>) -> Row<f32> {
    let first = zip(first, shares, |first, share| first * (256 - share) as f32);
    let second = zip(second, shares, |second, share| second * share as f32);
    zip(first, second, |first, second| first + second)
}
