//! Rows of lanes, and the texels that they read. Both variants of the vector path use them.

use super::payload::{GROUP, Parameter, Request};
use super::texels::Pages;
use super::view::View;
use crate::eu::fast::lanes::{blend, map, zip};
use crate::eu::regions::{REGISTER, Registers};
use crate::mem::{PAGE, Page};

/// Values of the lanes of a group.
pub type Row<T> = [T; GROUP];
/// The four corners of a linear sample of each lane: (i0, j0), (i1, j0), (i0, j1), (i1, j1).
pub const CORNERS: usize = 4;

/// The bit of each lane in a mask.
pub const LANE_BITS: Row<u32> = [1, 2, 4, 8, 16, 32, 64, 128];

/// Bytes of a page.
pub const SIZE: u32 = PAGE as u32;

/// Byte offsets in the registers of the coordinates U, V and R of the first group of lanes. `None`
/// stands for a coordinate that is 0.
#[derive(Clone, Copy)]
pub struct Rows([Option<usize>; 3]);

impl Rows {
    /// The offsets for a two-dimensional surface, or for an array of them.
    #[inline(always)]
    pub fn of(view: &View, request: &Request<'_>) -> Rows {
        let layer = if view.surface.array { request.row(Parameter::R) } else { None };
        let Rows([u, v, _]) = Rows::of_plane(request);
        Rows([u, v, layer])
    }

    /// As [`of`](Self::of), without a layer.
    #[inline(always)]
    pub fn of_plane(request: &Request<'_>) -> Rows {
        Rows([request.row(Parameter::U), request.row(Parameter::V), None])
    }

    /// U, V and R of the lanes of a group.
    #[inline(always)]
    pub fn read(&self, registers: &Registers, group: usize) -> [Row<f32>; 3] {
        let read = |row| match row {
            Some(at) => map(registers.dwords(at + group * REGISTER), f32::from_bits),
            None => [0.0; GROUP],
        };
        let [u, v, r] = self.0;
        [read(u), read(v), read(r)]
    }
}

/// The coordinates of active lanes. An inactive lane gets that of the first active one, so that it
/// samples the same texel and has no effect.
#[inline(always)]
pub fn active(row: &Row<f32>, mask: u32) -> Row<f32> {
    match mask {
        0xff => *row,
        _ => blend(mask, *row, [row[mask.trailing_zeros() as usize % GROUP]; GROUP]),
    }
}

/// Sums of offsets.
#[inline(always)]
pub fn sum(a: Row<i32>, b: Row<i32>) -> Row<u32> {
    zip(a, b, |a, b| (a + b) as u32)
}

/// Reads the dwords at offsets from `base`, a page's address. The offsets are multiples of 4.
/// `None` if there is a page fault.
#[inline(always)]
pub fn fetch<const N: usize>(
    pages: &mut Pages<'_, '_>,
    base: u64,
    offsets: [Row<u32>; N],
) -> Option<[Row<u32>; N]> {
    let first = offsets[0][0];
    let mut others = [0; GROUP];
    for row in offsets {
        others = zip(others, row, |others, offset| others | offset ^ first);
    }
    // The loop starts at the last lane, because then the compiler combines whole rows and does not
    // permute them.
    if others.iter().rev().fold(0, |all, other| all | other) >= SIZE {
        return scattered(pages, base, offsets);
    }
    let page = pages.page(base.wrapping_add(first.into())).ok()?;
    let mut dwords = [[0; GROUP]; N];
    for (dwords, offsets) in dwords.iter_mut().zip(&offsets) {
        *dwords = map(*offsets, |offset| dword(page, offset));
    }
    Some(dwords)
}

/// The dword at `offset` modulo the page size.
#[inline(always)]
fn dword(page: &Page, offset: u32) -> u32 {
    const DWORD: usize = size_of::<u32>();
    let within = (offset % SIZE) as usize / DWORD * DWORD;
    page.load(within).map_or(0, u32::from_le_bytes)
}

/// As [`fetch`], for dwords in several pages. Neighbouring lanes usually read the same page.
#[inline(always)]
fn scattered<const N: usize>(
    pages: &mut Pages<'_, '_>,
    base: u64,
    offsets: [Row<u32>; N],
) -> Option<[Row<u32>; N]> {
    let mut dwords = [[0; GROUP]; N];
    let mut last = offsets[0][0];
    let mut page = find(pages, base.wrapping_add(last.into()))?;
    for (dwords, offsets) in dwords.iter_mut().zip(&offsets) {
        for (to, &offset) in dwords.iter_mut().zip(offsets) {
            if offset ^ last >= SIZE {
                page = find(pages, base.wrapping_add(offset.into()))?;
            }
            last = offset;
            *to = dword(page, offset);
        }
    }
    Some(dwords)
}

/// The page of an address; `None` if there is a page fault. Not inlined, because the loop over
/// texels is unrolled and would contain a copy of this function for each texel.
#[inline(never)]
fn find<'v>(pages: &mut Pages<'v, '_>, address: u64) -> Option<&'v Page> {
    pages.page(address).ok()
}

/// The texels of one level.
pub enum Texels {
    /// One texel of each lane.
    Nearest(Row<u32>),
    /// Four texels of each lane, and the weights of the second one along U and along V, in 1/256.
    Linear([Row<u32>; CORNERS], Row<i32>, Row<i32>),
}

impl Texels {
    /// Weighted sums of each of the four bytes of the texels. The weights add up to 65536. The sums
    /// are exact integers of 24 bits.
    #[inline(always)]
    pub fn sums(&self) -> [Row<u32>; 4] {
        match self {
            Texels::Nearest(texels) => {
                // Without `map` on the array of shifts: the compiler does not inline it.
                let byte = |low: u32| map(*texels, |texel| (texel >> low & 0xff) << 16);
                [byte(0), byte(8), byte(16), byte(24)]
            }
            Texels::Linear([a, b, c, d], x, y) => {
                let [above, below] = [across(*a, *b, *x), across(*c, *d, *x)];
                let sum = |half: usize, low: u32| {
                    let above = map(above[half], |above| above >> low & 0xffff);
                    let below = map(below[half], |below| below >> low & 0xffff);
                    between(above, below, *y)
                };
                [sum(0, 0), sum(1, 0), sum(0, 16), sum(1, 16)]
            }
        }
    }
}

/// Weighted sums of the bytes of two texels. A sum has 16 bits, so a dword has two sums. The dwords
/// of the first row have the sums of bytes 0 and 2, those of the second row have bytes 1 and 3.
#[inline(always)]
fn across(first: Row<u32>, second: Row<u32>, shares: Row<i32>) -> [Row<u32>; 2] {
    const EVEN: u32 = 0x00ff_00ff;
    let even = |texels| map(texels, |texel: u32| texel & EVEN);
    let odd = |texels| map(texels, |texel: u32| texel >> 8 & EVEN);
    [between(even(first), even(second), shares), between(odd(first), odd(second), shares)]
}

/// Weighted sums of two values. `shares` are the weights of the second ones in 1/256.
#[inline(always)]
fn between(first: Row<u32>, second: Row<u32>, shares: Row<i32>) -> Row<u32> {
    let first = zip(first, shares, |first, share| first.wrapping_mul(256 - share as u32));
    let second = zip(second, shares, |second, share| second.wrapping_mul(share as u32));
    zip(first, second, |first, second| first.wrapping_add(second))
}
