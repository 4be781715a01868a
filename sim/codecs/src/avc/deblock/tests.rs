//! The filter against one that is written from the text of 8.7: a sample at a time, with the
//! strength derived for each sample.

use super::super::Prediction;
use super::filter;
use super::samples::{ALPHA, BETA, CLIP};
use super::{Macroblock, Parameters, SliceFilter};
use crate::{Frame, Plane, Structure};

/// The picture that the oracle filters, with the variables of 8.7.
struct Oracle<'a> {
    width: usize,
    height: usize,
    mbaff: bool,
    field_pic: bool,
    macroblocks: &'a [Macroblock],
    slices: &'a [SliceFilter],
    /// s' of each component.
    samples: [Plane; 3],
}

/// An edge sample: 8.7.1.
#[derive(Clone, Copy)]
struct Edge {
    vertical: bool,
    /// fieldModeInFrameFilteringFlag.
    field_mode: bool,
    x: usize,
    y: usize,
}

impl Oracle<'_> {
    fn is_field(&self, index: usize) -> bool {
        self.field_pic || self.mbaff && self.macroblocks[index].field
    }

    /// The macroblock that holds a sample, and the sample's position in it. `size`: 16 for luma, 8
    /// for chroma.
    fn macroblock_at(&self, x: usize, y: usize, size: usize) -> (usize, usize, usize) {
        let column = x / size;
        let upper = y / size / 2 * 2 * self.width + column;
        if self.mbaff && self.macroblocks[upper].field {
            (upper + y % 2 * self.width, x % size, y % (2 * size) / 2)
        } else {
            (y / size * self.width + column, x % size, y % size)
        }
    }

    /// xI and yI of a macroblock (6.4.1), in luma samples.
    fn origin(&self, index: usize) -> (usize, usize) {
        let (x, y) = (index % self.width, index / self.width);
        let row =
            if self.mbaff && self.macroblocks[index].field { y / 2 * 32 + y % 2 } else { y * 16 };
        (x * 16, row)
    }

    fn run(&mut self) {
        let pairs = if self.mbaff { 2 } else { 1 };
        for y in (0..self.height).step_by(pairs) {
            for x in 0..self.width {
                for y in y..y + pairs {
                    self.macroblock(y * self.width + x);
                }
            }
        }
    }

    /// The edges of a macroblock, in order.
    fn macroblock(&mut self, index: usize) {
        let current = &self.macroblocks[index];
        if !current.decoded {
            return;
        }
        let slice = self.slices[usize::from(current.slice)];
        if slice.disable == 1 {
            return;
        }
        let field_in_frame = self.mbaff && current.field;
        let (x, y) = (index % self.width, index / self.width);
        let usable = |neighbour: usize| {
            let neighbour = &self.macroblocks[neighbour];
            neighbour.decoded && (slice.disable != 2 || neighbour.slice == current.slice)
        };
        let left = x > 0 && {
            let left = if self.mbaff { y / 2 * 2 * self.width + x - 1 } else { index - 1 };
            usable(left)
        };
        // mbAddrB (6.4.12): for the edge above.
        let above = match (self.mbaff, field_in_frame, y % 2) {
            (false, ..) | (true, false, 1) => index.checked_sub(self.width),
            (true, true, 1) => index.checked_sub(2 * self.width),
            _ => index.checked_sub(self.width),
        };
        let top = above.is_some_and(usable);
        let above_is_field = self.mbaff
            && y % 2 == 0
            && y > 0
            && self.macroblocks[index - self.width].field
            && !current.field;
        let transform_8x8 = current.transform_8x8;
        let edge = |vertical, x, y| Edge { vertical, field_mode: field_in_frame, x, y };
        let mut edges = Vec::new();
        let inner: &[usize] = if transform_8x8 { &[8] } else { &[4, 8, 12] };
        if left {
            edges.extend((0..16).map(|k| edge(true, 0, k)));
        }
        edges.extend(inner.iter().flat_map(|&x| (0..16).map(move |k| edge(true, x, k))));
        if top && above_is_field {
            for parity in 0..2 {
                edges.extend((0..16).map(|k| Edge { field_mode: true, ..edge(false, k, parity) }));
            }
        } else if top {
            edges.extend((0..16).map(|k| edge(false, k, 0)));
        }
        edges.extend(inner.iter().flat_map(|&y| (0..16).map(move |k| edge(false, k, y))));
        for &edge in &edges {
            self.luma(index, edge, &slice);
        }
        for component in [1, 2] {
            for &edge in &edges {
                self.chroma(component, index, edge, &slice);
            }
        }
    }

    /// Places of p3, p2, p1, p0, q0, q1, q2, q3 (8.7.1). `scale`: 1 for luma, 2 for
    /// chroma, where the edge is in units of chroma samples.
    fn places(&self, index: usize, edge: Edge, scale: usize) -> [(usize, usize); 8] {
        let (x_i, y_i) = self.origin(index);
        let y_i = if self.mbaff && self.macroblocks[index].field {
            (y_i - y_i % 2) / scale + y_i % 2
        } else {
            y_i / scale
        };
        let (x_i, y_i) = ((x_i / scale) as isize, y_i as isize);
        let dy = 1 + isize::from(edge.field_mode);
        let (x, y) = (edge.x as isize, edge.y as isize);
        std::array::from_fn(|k| {
            let i = k as isize - 4;
            let (x, y) = if edge.vertical {
                (x_i + x + i, y_i + dy * y)
            } else {
                (x_i + x, y_i + dy * (y + i) - y % 2)
            };
            (x.max(0) as usize, y.max(0) as usize)
        })
    }

    fn luma(&mut self, index: usize, edge: Edge, slice: &SliceFilter) {
        let places = self.places(index, edge, 1);
        let [p, q] = [places[3], places[4]].map(|(x, y)| self.macroblock_at(x, y, 16));
        let strength = self.strength(p, q, edge);
        let before = p.0;
        self.filter_sample(0, (before, index), &places, strength, slice);
    }

    /// Chroma edges lie on luma edges whose distance from the macroblock's edge is a multiple of 8.
    fn chroma(&mut self, component: usize, index: usize, edge: Edge, slice: &SliceFilter) {
        // Of each pair of luma samples along the edge, one chroma sample.
        let along = if edge.vertical { edge.y } else { edge.x };
        let across = if edge.vertical { edge.x } else { edge.y };
        if along >= 8 || !(across % 8 == 0 || across == 1) {
            return;
        }
        let across = if across == 8 { 4 } else { across };
        let chroma_edge = match edge.vertical {
            true => Edge { x: across, y: along, ..edge },
            false => Edge { x: along, y: across, ..edge },
        };
        let places = self.places(index, chroma_edge, 2);
        // The luma samples at twice the coordinates in the same macroblocks have the same strength.
        let [p, q] = [places[3], places[4]].map(|(x, y)| {
            let (index, x, y) = self.macroblock_at(x, y, 8);
            (index, 2 * x, 2 * y)
        });
        let strength = self.strength(p, q, edge);
        let before = p.0;
        self.filter_sample(component, (before, index), &places, strength, slice);
    }

    /// bS (8.7.2.1) for the luma samples p0 and q0: macroblock, x and y in it.
    fn strength(
        &self,
        (p, p_x, p_y): (usize, usize, usize),
        (q, q_x, q_y): (usize, usize, usize),
        edge: Edge,
    ) -> usize {
        let (p_mb, q_mb) = (&self.macroblocks[p], &self.macroblocks[q]);
        let mixed = self.mbaff && p != q && self.is_field(p) != self.is_field(q);
        let any_intra = p_mb.is_intra() || q_mb.is_intra();
        let frames = !self.is_field(p) && !self.is_field(q);
        if any_intra && p != q && (frames || edge.vertical) {
            return 4;
        }
        if any_intra {
            return 3;
        }
        let block = |x: usize, y: usize| x / 4 + y / 4 * 4;
        let (p_block, q_block) = (block(p_x, p_y), block(q_x, q_y));
        if p_mb.coefficients >> p_block & 1 == 1 || q_mb.coefficients >> q_block & 1 == 1 {
            return 2;
        }
        if mixed {
            return 1;
        }
        let vertical_limit = if self.is_field(q) { 2 } else { 4 };
        let motion = |mb: &Macroblock, x: usize, y: usize| {
            let part = x / 8 + y / 8 * 2;
            let vectors = [0, 1].map(|list| mb.vectors[list][block(x, y)]);
            let lists = [0, 1].map(|list| (mb.pictures[list][part], vectors[list]));
            lists.into_iter().filter(|(picture, _)| *picture >= 0).collect::<Vec<_>>()
        };
        let (p_motion, q_motion) = (motion(p_mb, p_x, p_y), motion(q_mb, q_x, q_y));
        let pictures = |motion: &[(i8, [i16; 2])]| {
            let mut pictures: Vec<i8> = motion.iter().map(|&(picture, _)| picture).collect();
            pictures.sort_unstable();
            pictures
        };
        if pictures(&p_motion) != pictures(&q_motion) {
            return 1;
        }
        let far = |v: [i16; 2], w: [i16; 2]| {
            (i32::from(v[0]) - i32::from(w[0])).abs() >= 4
                || (i32::from(v[1]) - i32::from(w[1])).abs() >= vertical_limit
        };
        let by_picture = |motion: &[(i8, [i16; 2])]| {
            let mut motion = motion.to_vec();
            motion.sort_by_key(|&(picture, _)| picture);
            motion
        };
        let (p, q) = (by_picture(&p_motion), by_picture(&q_motion));
        let straight = p.iter().zip(&q).any(|(p, q)| far(p.1, q.1));
        if p.len() == 2 && p[0].0 == p[1].0 {
            usize::from(straight && (far(p[0].1, q[1].1) || far(p[1].1, q[0].1)))
        } else {
            usize::from(straight)
        }
    }

    /// 8.7.2.2 to 8.7.2.4 for one line of samples.
    fn filter_sample(
        &mut self,
        component: usize,
        (before, after): (usize, usize),
        places: &[(usize, usize); 8],
        strength: usize,
        slice: &SliceFilter,
    ) {
        if strength == 0 {
            return;
        }
        let qp = |index: usize| i32::from(self.macroblocks[index].qp[component]);
        let average = (qp(before) + qp(after) + 1) >> 1;
        let index_a = (average + i32::from(slice.alpha)).clamp(0, 51) as usize;
        let index_b = (average + i32::from(slice.beta)).clamp(0, 51) as usize;
        let alpha = if index_a < 16 { 0 } else { i32::from(ALPHA[index_a - 16]) };
        let beta = if index_b < 16 { 0 } else { i32::from(BETA[index_b - 16]) };
        let chroma = component > 0;
        let plane = &mut self.samples[component];
        let reach = if chroma { 2 } else { 4 };
        let mut s = [0; 8];
        for k in 4 - reach..4 + reach {
            s[k] = i32::from(plane.data[places[k].1 * plane.width + places[k].0]);
        }
        let p = |i: usize| s[3 - i];
        let q = |i: usize| s[4 + i];
        if (p(0) - q(0)).abs() >= alpha
            || (p(1) - p(0)).abs() >= beta
            || (q(1) - q(0)).abs() >= beta
        {
            return;
        }
        let (a_p, a_q) = ((p(2) - p(0)).abs(), (q(2) - q(0)).abs());
        let mut out = s;
        if strength < 4 {
            let t_c0 = if index_a < 16 { 0 } else { i32::from(CLIP[index_a - 16][strength - 1]) };
            let t_c = match chroma {
                true => t_c0 + 1,
                false => t_c0 + i32::from(a_p < beta) + i32::from(a_q < beta),
            };
            let delta = ((((q(0) - p(0)) << 2) + (p(1) - q(1)) + 4) >> 3).clamp(-t_c, t_c);
            out[3] = (p(0) + delta).clamp(0, 255);
            out[4] = (q(0) - delta).clamp(0, 255);
            let middle = (p(0) + q(0) + 1) >> 1;
            if !chroma && a_p < beta {
                out[2] = p(1) + ((p(2) + middle - (p(1) << 1)) >> 1).clamp(-t_c0, t_c0);
            }
            if !chroma && a_q < beta {
                out[5] = q(1) + ((q(2) + middle - (q(1) << 1)) >> 1).clamp(-t_c0, t_c0);
            }
        } else {
            let small = (p(0) - q(0)).abs() < (alpha >> 2) + 2;
            if !chroma && a_p < beta && small {
                out[3] = (p(2) + 2 * p(1) + 2 * p(0) + 2 * q(0) + q(1) + 4) >> 3;
                out[2] = (p(2) + p(1) + p(0) + q(0) + 2) >> 2;
                out[1] = (2 * p(3) + 3 * p(2) + p(1) + p(0) + q(0) + 4) >> 3;
            } else {
                out[3] = (2 * p(1) + p(0) + q(1) + 2) >> 2;
            }
            if !chroma && a_q < beta && small {
                out[4] = (p(1) + 2 * p(0) + 2 * q(0) + 2 * q(1) + q(2) + 4) >> 3;
                out[5] = (p(0) + q(0) + q(1) + q(2) + 2) >> 2;
                out[6] = (2 * q(3) + 3 * q(2) + q(1) + q(0) + p(0) + 4) >> 3;
            } else {
                out[4] = (2 * q(1) + q(0) + p(1) + 2) >> 2;
            }
        }
        for k in 4 - reach..4 + reach {
            plane.data[places[k].1 * plane.width + places[k].0] = out[k] as u8;
        }
    }
}

/// A macroblock with random motion, often that of its neighbours.
fn random_macroblock(random: &mut fastrand::Rng, slices: u16) -> Macroblock {
    let intra = random.u8(0..5) == 0;
    let transform_8x8 = random.u8(0..3) == 0;
    let mut macroblock = Macroblock {
        decoded: random.u8(0..40) > 0,
        slice: random.u16(0..slices),
        transform_8x8,
        qp: std::array::from_fn(|_| random.u8(10..52)),
        prediction: if intra { Prediction::Intra4x4 } else { Prediction::Inter },
        pictures: [[-1; 4]; 2],
        references: [[-1; 4]; 2],
        ..Macroblock::default()
    };
    let coded = random.u16(..) & random.u16(..) & random.u16(..);
    let coded = if random.bool() { 0 } else { coded };
    macroblock.coefficients = if transform_8x8 {
        [0x0033, 0x00cc, 0x3300, 0xcc00].iter().filter(|&mask| coded & mask != 0).sum()
    } else {
        coded
    };
    if !intra {
        let whole = random.bool();
        let two_lists = random.bool();
        for part in 0..4 {
            for list in 0..2 {
                let used = if two_lists { random.bool() || list == 0 } else { list == 0 };
                macroblock.pictures[list][part] = if used { random.i8(0..2) * 2 } else { -1 };
                for block in [0, 1, 4, 5].map(|block| block + part % 2 * 2 + part / 2 * 8) {
                    let near = [random.i16(-2..=3), random.i16(-2..=3)];
                    let far = [random.i16(..), random.i16(..)];
                    let vector = if random.u8(0..50) == 0 { far } else { near };
                    macroblock.vectors[list][block] = if used { vector } else { [0; 2] };
                }
            }
        }
        if whole {
            for list in 0..2 {
                macroblock.pictures[list] = [macroblock.pictures[list][0]; 4];
                macroblock.vectors[list] = [macroblock.vectors[list][0]; 16];
            }
        }
    }
    macroblock
}

/// A plane with small and large steps.
fn random_plane(random: &mut fastrand::Rng, width: usize, height: usize) -> Plane {
    let mut plane = Plane::new(width, height, 0);
    let range = [3, 12, 255][random.usize(0..3)];
    let base = random.u8(0..=255 - range);
    plane.data.iter_mut().for_each(|sample| *sample = base + random.u8(0..=range));
    plane
}

/// Oracle: the filter of 8.7 a sample at a time, in pictures with random macroblocks.
#[test]
fn pictures_are_filtered_as_the_text_states() {
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..400 {
        let (width, pairs) = (random.usize(1..5), random.usize(1..4));
        let mbaff = round % 2 == 0;
        let structure = match round % 4 {
            1 => Structure::Frame,
            3 => [Structure::Top, Structure::Bottom][random.usize(0..2)],
            _ => Structure::Frame,
        };
        let parameters =
            Parameters { width, height: 2 * pairs, structure, mbaff, ..Parameters::default() };
        let slices: Vec<SliceFilter> = (0..3)
            .map(|_| SliceFilter {
                disable: [0, 0, 1, 2][random.usize(0..4)],
                alpha: 2 * random.i8(-6..=6),
                beta: 2 * random.i8(-6..=6),
            })
            .collect();
        let height = parameters.picture_height();
        let mut macroblocks: Vec<Macroblock> = (0..width * height)
            .map(|_| random_macroblock(&mut random, slices.len() as u16))
            .collect();
        if mbaff {
            // What pairs have in common.
            for upper in (0..height).step_by(2).flat_map(|y| (0..width).map(move |x| y * width + x))
            {
                let lower = upper + width;
                let field = random.bool();
                (macroblocks[upper].field, macroblocks[lower].field) = (field, field);
                macroblocks[lower].slice = macroblocks[upper].slice;
                macroblocks[lower].decoded = macroblocks[upper].decoded;
            }
        }
        let mut frame = Frame {
            planes: [1, 2, 2]
                .map(|scale| random_plane(&mut random, 16 * width / scale, 32 * pairs / scale)),
        };
        let before = frame.clone();
        let mut oracle = Oracle {
            width,
            height,
            mbaff,
            field_pic: structure.is_field(),
            macroblocks: &macroblocks,
            slices: &slices,
            samples: before.planes.each_ref().map(|plane| {
                let view = plane.view(structure);
                let mut out = Plane::new(view.width, view.height, 0);
                view.block(0, 0, view.width, &mut out.data);
                out
            }),
        };
        oracle.run();
        filter(&parameters, &macroblocks, &slices, &mut frame);
        for (component, want) in oracle.samples.iter().enumerate() {
            let got = frame.planes[component].view(structure);
            for (at, &want) in want.data.iter().enumerate() {
                let (x, y) = (at % got.width, at / got.width);
                assert_eq!(
                    got.sample(x as i32, y as i32),
                    want,
                    "component {component}, ({x}, {y}), round {round}, {structure:?}"
                );
            }
            // The other field stays as it is.
            let other = |frame: &Frame| {
                let view = frame.planes[component].view(structure.opposite());
                (0..view.width * view.height)
                    .map(|at| view.sample((at % view.width) as i32, (at / view.width) as i32))
                    .collect::<Vec<_>>()
            };
            assert!(!structure.is_field() || other(&frame) == other(&before));
        }
        assert!(round > 20 || frame != before || slices.iter().any(|slice| slice.disable > 0));
    }
}

/// Chroma of a monochrome picture stays, and sizes that do not fit do not panic.
#[test]
fn odd_pictures_do_not_panic() {
    let mut random = fastrand::Rng::with_seed(2);
    for round in 0..200 {
        let parameters = Parameters {
            width: random.usize(1..4),
            height: random.usize(1..6),
            mbaff: random.bool(),
            monochrome: round % 2 == 0,
            structure: [Structure::Frame, Structure::Bottom][random.usize(0..2)],
            ..Parameters::default()
        };
        let macroblocks: Vec<Macroblock> = (0..random.usize(0..20))
            .map(|_| Macroblock {
                field: random.bool(),
                qp: std::array::from_fn(|_| random.u8(..)),
                ..random_macroblock(&mut random, 5)
            })
            .collect();
        let slices = [SliceFilter { disable: 0, alpha: 127, beta: -1 }; 3];
        let (width, height) = (random.usize(1..50), random.usize(0..60));
        let mut frame = Frame::new(width, height, (2, 2), 0);
        frame.planes.iter_mut().flat_map(|plane| &mut plane.data).for_each(|s| *s = random.u8(..));
        let before = frame.clone();
        filter(&parameters, &macroblocks, &slices, &mut frame);
        if parameters.monochrome {
            assert_eq!(frame.planes[1..], before.planes[1..]);
        }
    }
}
