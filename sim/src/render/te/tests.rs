//! Oracles: the rules of OpenGL 4.6, 11.2.3 and of the functional specification of Direct3D 11 on
//! positions and counts, and geometry: triangles cover the domain exactly once, and neighbours meet
//! in the same points.

use super::*;

const PARTITIONINGS: [Partitioning; 3] =
    [Partitioning::Integer, Partitioning::OddFractional, Partitioning::EvenFractional];

fn tessellator(domain: Domain, partitioning: Partitioning, output: Output) -> Tessellator {
    Tessellator { domain, partitioning, output, max_odd: 63.0, max_other: 64.0 }
}

fn divided(
    domain: Domain,
    partitioning: Partitioning,
    outer: [f32; 4],
    inner: [f32; 2],
) -> Tessellation {
    let output = if domain == Domain::Isoline { Output::Lines } else { Output::Clockwise };
    let mut out = Tessellation::default();
    tessellate(&tessellator(domain, partitioning, output), &Factors { outer, inner }, &mut out);
    out
}

/// Coordinates as whole multiples of 2^-16.
fn exact(point: &Point) -> [i64; 2] {
    [point.u, point.v].map(|t| {
        let t = t * 65536.0;
        assert!(t.fract() == 0.0 && (0.0..=65536.0).contains(&t));
        t as i64
    })
}

/// Pseudo-random tessellation factors of several kinds: whole, with a half, close above a whole
/// number, and any. They are the same in each run.
fn factors(count: usize) -> Vec<f32> {
    let mut state = 12345_u32;
    (0..count)
        .map(|n| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            let bits = state >> 8;
            match n % 6 {
                0 => (bits % 64 + 1) as f32,
                1 => 1.0 + bits as f32 / 16777216.0,
                2 => (bits % 9) as f32 + 0.5,
                3 => f32::from_bits(f32::to_bits((bits % 63 + 1) as f32) + bits % 64),
                _ => bits as f32 / 16777216.0 * 66.0 + 0.001,
            }
        })
        .collect()
}

/// Checks that triangles have the same winding, fill the domain, and meet along whole edges.
fn check_cover(domain: Domain, out: &Tessellation, what: &str) {
    let points: Vec<[i64; 2]> = out.points.iter().map(exact).collect();
    let mut area = 0;
    let mut edges = Vec::new();
    let mut used = vec![false; points.len()];
    assert_eq!(out.indices.len() % 3, 0);
    for triangle in out.indices.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|n| points[usize::from(triangle[n])]);
        let twice = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
        // A point that has just been added by a split has the position of its neighbour, and
        // rounding moves points by 2^-16. So small negative areas are allowed.
        assert!(twice >= -(1 << 18), "{what}: {a:?} {b:?} {c:?} goes backward");
        area += twice;
        for edge in [[0, 1], [1, 2], [2, 0]] {
            let [from, to] = edge.map(|n| triangle[n]);
            used[usize::from(from)] = true;
            assert_ne!(from, to, "{what}");
            edges.push((from, to));
        }
    }
    let whole = if domain == Domain::Quad { 2_i64 << 32 } else { 1 << 32 };
    assert_eq!(area, whole, "{what}");
    assert!(used.iter().all(|&used| used), "{what}: a point is in no triangle");
    edges.sort_unstable();
    assert!(
        edges.windows(2).all(|pair| pair[0] != pair[1]),
        "{what}: two triangles have the same directed edge"
    );
    let mut border = 0;
    for &(from, to) in &edges {
        if edges.binary_search(&(to, from)).is_err() {
            border += 1;
            let [a, b] = [from, to].map(|point| points[usize::from(point)]);
            let on = |side: &dyn Fn([i64; 2]) -> bool| side(a) && side(b);
            let outer = match domain {
                Domain::Quad => (0..2).any(|n| on(&|p| p[n] == 0) || on(&|p| p[n] == 65536)),
                _ => on(&|p| p[0] == 0) || on(&|p| p[1] == 0) || on(&|p| p[0] + p[1] == 65536),
            };
            assert!(outer, "{what}: a hole at {a:?} {b:?}");
        }
    }
    // Euler's formula for a mesh without holes: triangles + border edges + 2 = 2 * points.
    assert_eq!(out.indices.len() / 3 + border + 2, 2 * points.len(), "{what}");
}

/// Pseudo-random factors in every partitioning.
#[test]
fn triangles_cover_the_domain_once() {
    for partitioning in PARTITIONINGS {
        for f in factors(6 * 12).chunks(6) {
            let (outer, inner) = ([f[0], f[1], f[2], f[3]], [f[4], f[5]]);

            for domain in [Domain::Quad, Domain::Triangle] {
                let what = format!("{domain:?} {partitioning:?} {outer:?} {inner:?}");
                check_cover(domain, &divided(domain, partitioning, outer, inner), &what);
            }
        }
    }
}

/// All combinations of four whole factors from 1 to 4, which are those of most programs.
#[test]
fn small_factors_cover_the_domain_once() {
    for partitioning in PARTITIONINGS {
        for n in 0..256_u32 {
            let f = [0, 2, 4, 6].map(|bit| (n >> bit & 3) as f32 + 1.0);
            let what = format!("{partitioning:?} {f:?}");
            let [a, b, c, d] = f;
            check_cover(
                Domain::Quad,
                &divided(Domain::Quad, partitioning, [a, b, a, b], [c, d]),
                &what,
            );
            check_cover(
                Domain::Triangle,
                &divided(Domain::Triangle, partitioning, [a, b, c, 0.0], [d; 2]),
                &what,
            );
        }
    }
}

/// The positions of the points on an outer edge along this edge, in ascending order.
fn edge(domain: Domain, out: &Tessellation, edge: usize) -> Vec<i64> {
    let on = |[u, v]: [i64; 2]| match (domain, edge) {
        (_, 0) => (u == 0).then_some(v),
        (_, 1) => (v == 0).then_some(u),
        (Domain::Quad, 2) => (u == 65536).then_some(v),
        (Domain::Quad, _) => (v == 65536).then_some(u),
        _ => (u + v == 65536).then_some(u),
    };
    let mut edge: Vec<i64> = out.points.iter().map(exact).filter_map(on).collect();
    edge.sort_unstable();
    edge
}

/// The points of an edge are symmetric, so that neighbours agree from opposite ends, and depend
/// only on the factor of the edge (OpenGL 4.6, 11.2.3.1, and the rules of appendix A.4).
#[test]
fn edges_are_watertight() {
    let all = factors(60);
    for partitioning in PARTITIONINGS {
        for (n, &factor) in all.iter().enumerate() {
            let other = |m: usize| all[(n * 7 + m) % all.len()].max(1.5);
            let mut seen: Option<Vec<i64>> = None;
            for (domain, edges) in [(Domain::Quad, 4), (Domain::Triangle, 3)] {
                for side in 0..edges {
                    let mut outer = [other(1), other(2), other(3), other(4)];
                    outer[side] = factor;
                    let points = edge(
                        domain,
                        &divided(
                            domain,
                            partitioning,
                            outer,
                            [other(5).min(7.0), other(6).min(7.0)],
                        ),
                        side,
                    );
                    let mirrored: Vec<i64> = points.iter().rev().map(|t| 65536 - t).collect();
                    assert_eq!(points, mirrored, "{partitioning:?} {factor}");
                    assert_eq!(
                        seen.get_or_insert_with(|| points.clone()),
                        &points,
                        "{partitioning:?} {factor}"
                    );
                }
            }
        }
    }
}

/// Number and length of segments (OpenGL 4.6, 11.2.3.1). All segments of an edge are equally long,
/// except two, which are equal to each other and not longer than the others. These two get shorter
/// as the factor gets smaller.
#[test]
fn segments_of_an_edge() {
    for partitioning in PARTITIONINGS {
        let (low, high) = match partitioning {
            Partitioning::Integer => (1.0, 64.0),
            Partitioning::OddFractional => (1.0, 63.0),
            Partitioning::EvenFractional => (2.0, 64.0),
        };
        let mut before: Option<(usize, i64)> = None;
        for step in 4..=66 * 4 {
            let factor = step as f32 / 4.0;
            let clamped = factor.clamp(low, high);
            let n = match partitioning {
                Partitioning::Integer => clamped.ceil() as usize,
                Partitioning::OddFractional => ((clamped - 1.0) / 2.0).ceil() as usize * 2 + 1,
                Partitioning::EvenFractional => (clamped / 2.0).ceil() as usize * 2,
            };
            let points =
                edge(Domain::Quad, &divided(Domain::Quad, partitioning, [factor; 4], [8.0; 2]), 0);
            let mut lengths: Vec<i64> = points.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert_eq!(lengths.len(), n, "{partitioning:?} {factor}");
            assert_eq!(lengths, lengths.iter().rev().copied().collect::<Vec<_>>());
            lengths.sort_unstable();
            let short = lengths[0];
            if n > 2 {
                // A position is off by at most 2^-17 for each segment before it, and the middle
                // segment has the error of both halves.
                let rounding = 2 + n as i64 / 2;
                assert!(
                    (lengths[0] - lengths[1]).abs() <= rounding,
                    "{partitioning:?} {factor}: {lengths:?}"
                );
                assert!(
                    lengths[n - 1] - lengths[2] <= rounding,
                    "{partitioning:?} {factor}: {lengths:?}"
                );
                if n as f32 == clamped {
                    assert!(
                        lengths[n - 1] - lengths[0] <= rounding,
                        "{partitioning:?} {factor}: {lengths:?}"
                    );
                }
                if let Some((_, before)) = before.filter(|(segments, _)| *segments == n) {
                    assert!(short + rounding >= before, "{partitioning:?} {factor}");
                }
            }
            before = Some((n, short));
        }
    }
}

/// Oracle: sums of rings. A square of n by n has (n + 1)^2 points and 2 n^2 triangles. A triangle
/// has rings of 3 n, 3 (n - 2)... points, and a point in the middle if n is even. An isoline has
/// one point more than segments, and there is no line at V = 1 (OpenGL 4.6, 11.2.3.2 to 11.2.3.4).
#[test]
fn counts_of_whole_factors() {
    for n in 1..=64_usize {
        let factor = n as f32;
        let quad = divided(Domain::Quad, Partitioning::Integer, [factor; 4], [factor; 2]);
        assert_eq!(quad.points.len(), (n + 1) * (n + 1));
        assert_eq!(quad.indices.len() / 3, 2 * n * n);
        let triangle = divided(Domain::Triangle, Partitioning::Integer, [factor; 4], [factor; 2]);
        let rings: usize = (1..=n).rev().step_by(2).map(|ring| 3 * ring).sum();
        assert_eq!(triangle.points.len(), rings + usize::from(n % 2 == 0), "{n}");
        let lines =
            divided(Domain::Isoline, Partitioning::Integer, [factor, 5.0, 0.0, 0.0], [0.0; 2]);
        assert_eq!(lines.points.len(), n * 6);
        assert_eq!(lines.indices.len(), n * 7);
        for (line, points) in lines.points.chunks(6).enumerate() {
            for (k, point) in points.iter().enumerate() {
                assert!((point.u - k as f32 / 5.0).abs() < 1.0 / 30000.0);
                assert!((point.v - line as f32 / factor).abs() < 1.0 / 2000.0 && point.v < 1.0);
            }
        }
        let mut segments = Vec::new();
        lines.primitives(Output::Lines, 7, |primitive| segments.push(*primitive));
        assert_eq!(segments.len(), n * 5);
        for (k, segment) in segments.iter().enumerate() {
            let first = (k / 5 * 6 + k % 5) as u32;
            assert_eq!(segment.vertices(), [first, first + 1]);
            assert_eq!((segment.id, segment.first, segment.last), (7, k % 5 == 0, k % 5 == 4));
        }
    }
    // With Output::Points, each point comes once.
    let mut out = Tessellation::default();
    for domain in [Domain::Quad, Domain::Triangle, Domain::Isoline] {
        let points = tessellator(domain, Partitioning::EvenFractional, Output::Points);
        tessellate(&points, &Factors { outer: [7.3, 2.0, 64.0, 5.0], inner: [9.1, 3.0] }, &mut out);
        assert_eq!(out.indices, Vec::from_iter(0..out.points.len() as u16));
        let mut places: Vec<_> = out.points.iter().map(exact).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), out.points.len(), "{domain:?}");
    }
}

/// Oracle: the order that gen8_facts 6 states, worked out by hand.
#[test]
fn smallest_patches() {
    let places =
        |out: &Tessellation| -> Vec<[f32; 2]> { out.points.iter().map(|p| [p.u, p.v]).collect() };
    let quad = divided(Domain::Quad, Partitioning::Integer, [1.0; 4], [1.0; 2]);
    assert_eq!(places(&quad), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    assert_eq!(quad.indices, [0, 1, 3, 1, 2, 3]);
    let triangle = divided(Domain::Triangle, Partitioning::OddFractional, [0.5; 4], [0.1; 2]);
    assert_eq!(places(&triangle), [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]);
    assert_eq!(triangle.indices, [0, 1, 2]);
    // A ring of eight points around the middle.
    let quad = divided(Domain::Quad, Partitioning::EvenFractional, [2.0; 4], [2.0; 2]);
    let ring = [
        [0.0, 1.0],
        [0.0, 0.5],
        [0.0, 0.0],
        [0.5, 0.0],
        [1.0, 0.0],
        [1.0, 0.5],
        [1.0, 1.0],
        [0.5, 1.0],
    ];
    assert_eq!(places(&quad)[..8], ring);
    assert_eq!(places(&quad)[8..], [[0.5, 0.5]]);
    let fan: Vec<u16> = (0..8).flat_map(|n| [n, (n + 1) % 8, 8]).collect();
    assert_eq!(quad.indices, fan);
    let triangle = divided(Domain::Triangle, Partitioning::Integer, [2.0; 4], [2.0; 2]);
    let ring = [[0.0, 1.0], [0.0, 0.5], [0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [0.5, 0.5]];
    assert_eq!(places(&triangle)[..6], ring);
    assert_eq!(exact(&triangle.points[6]), [0x5555; 2]);
    // Inside are two columns of four points, which start at the greatest V. The squares between
    // the columns come last. The middle square is cut along the other diagonal.
    let quad = divided(Domain::Quad, Partitioning::Integer, [1.0; 4], [3.0, 5.0]);
    assert_eq!(quad.points.len(), 4 + 2 * 4);
    let [left, right] = [[4, 5, 6, 7], [11, 10, 9, 8]];
    assert!(places(&quad)[4..8].windows(2).all(|pair| pair[0][0] < 0.5 && pair[0][1] > pair[1][1]));
    let squares = [
        [left[0], left[1], right[0], right[0], left[1], right[1]],
        [left[1], right[2], right[1], left[1], left[2], right[2]],
        [left[2], left[3], right[2], right[2], left[3], right[3]],
    ];
    assert_eq!(quad.indices[quad.indices.len() - 18..], squares.concat());
}

/// The two windings differ only in the order of vertices. An outer factor that is not above 0 culls
/// the patch.
#[test]
fn winding_and_culling() {
    let mut clockwise = Tessellation::default();
    let mut counter = Tessellation::default();
    let factors = Factors { outer: [3.0, 4.5, 2.0, 7.0], inner: [3.0, 2.0] };
    for domain in [Domain::Quad, Domain::Triangle] {
        for partitioning in PARTITIONINGS {
            tessellate(
                &tessellator(domain, partitioning, Output::Clockwise),
                &factors,
                &mut clockwise,
            );
            tessellate(
                &tessellator(domain, partitioning, Output::CounterClockwise),
                &factors,
                &mut counter,
            );
            assert_eq!(clockwise.points, counter.points);
            for (a, b) in clockwise.indices.chunks(3).zip(counter.indices.chunks(3)) {
                assert_eq!([a[0], a[2], a[1]], [b[0], b[1], b[2]]);
            }
        }
    }
    for (domain, edges) in [(Domain::Quad, 4), (Domain::Triangle, 3), (Domain::Isoline, 2)] {
        for partitioning in PARTITIONINGS {
            for edge in 0..4 {
                for bad in [0.0, -0.0, -1.0, f32::NAN, f32::NEG_INFINITY] {
                    let mut outer = [4.0; 4];
                    outer[edge] = bad;
                    let culled = divided(domain, partitioning, outer, [3.0; 2]).points.is_empty();
                    assert_eq!(culled, edge < edges, "{domain:?} {edge} {bad}");
                    // Inner factors do not cull: they are clamped to the lower limit.
                    let inner = divided(domain, partitioning, [4.0; 4], [bad; 2]);
                    assert_eq!(inner, divided(domain, partitioning, [4.0; 4], [1e-9; 2]));
                }
            }
            let most = divided(domain, partitioning, [f32::INFINITY; 4], [f32::INFINITY; 2]);
            assert_eq!(most, divided(domain, partitioning, [64.0; 4], [64.0; 2]));
        }
    }
}

/// The limits of the packet apply. Limits that make no sense still give points; for quads, the
/// triangles still cover the domain once.
#[test]
fn limits_of_the_packet() {
    let factors = Factors { outer: [60.0; 4], inner: [60.0; 2] };
    let mut out = Tessellation::default();
    for limit in [8.0, 0.0, -3.0, f32::NAN, f32::INFINITY, 1e30] {
        for domain in [Domain::Quad, Domain::Triangle, Domain::Isoline] {
            for partitioning in PARTITIONINGS {
                let output =
                    if domain == Domain::Isoline { Output::Lines } else { Output::Clockwise };
                let mut state = tessellator(domain, partitioning, output);
                (state.max_odd, state.max_other) = (limit, limit);
                tessellate(&state, &factors, &mut out);
                assert!(!out.points.is_empty() && out.points.len() <= 65 * 65);
                if domain == Domain::Quad {
                    check_cover(domain, &out, "limits");
                }
                if limit == 8.0 && domain == Domain::Quad {
                    let edge = edge(domain, &out, 0).len() - 1;
                    assert_eq!(
                        edge,
                        if partitioning == Partitioning::OddFractional { 9 } else { 8 }
                    );
                }
            }
        }
    }
}
