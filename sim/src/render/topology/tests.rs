//! Oracles: the tables of OpenGL 4.6 (10.1: vertices of each primitive; table 10.1: strips with
//! adjacency; table 13.2: provoking vertices), and areas, which add up only if windings agree and
//! nothing overlaps.

use super::*;
use std::convert::Infallible;

fn topology(kind: Kind) -> Topology {
    Topology { kind, back_facing: false, continued: false, stippled: true }
}

fn primitives(
    kind: Kind,
    reorder: Reorder,
    adjacency: Adjacency,
    stream: &[u32],
) -> Vec<Primitive> {
    let mut made = Vec::new();
    let mut assembler = Assembler::new(topology(kind), reorder, adjacency);
    let done = assembler.stream(stream.iter().copied(), &mut |primitive| {
        made.push(*primitive);
        Ok::<(), Infallible>(())
    });
    assert_eq!(done, Ok(()));
    made
}

fn setup(kind: Kind, count: u32) -> Vec<Vec<u32>> {
    let stream: Vec<u32> = (0..count).collect();
    let made = primitives(kind, Reorder::Trailing, Adjacency::Discard, &stream);
    made.iter().map(|primitive| primitive.vertices().to_vec()).collect()
}

fn adjacent(kind: Kind, reorder: Reorder, count: u32) -> Vec<Vec<u32>> {
    let stream: Vec<u32> = (0..count).collect();
    let made = primitives(kind, reorder, Adjacency::Keep, &stream);
    made.iter().map(|primitive| primitive.vertices().to_vec()).collect()
}

/// Oracle: OpenGL 4.6, 10.1.2 to 10.1.10.
#[test]
fn vertices_of_each_kind() {
    assert_eq!(setup(Kind::Points, 3), [[0], [1], [2]]);
    assert_eq!(setup(Kind::Lines, 5), [[0, 1], [2, 3]]);
    assert_eq!(setup(Kind::LineStrip, 4), [[0, 1], [1, 2], [2, 3]]);
    assert_eq!(setup(Kind::LineLoop, 4), [[0, 1], [1, 2], [2, 3], [3, 0]]);
    assert_eq!(setup(Kind::LinesAdjacent, 9), [[1, 2], [5, 6]]);
    assert_eq!(setup(Kind::LineStripAdjacent, 6), [[1, 2], [2, 3], [3, 4]]);
    assert_eq!(setup(Kind::Triangles, 8), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(setup(Kind::TriangleStrip, 5), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
    assert_eq!(setup(Kind::TriangleStripReversed, 5), [[1, 0, 2], [1, 2, 3], [3, 2, 4]]);
    assert_eq!(setup(Kind::TriangleFan, 5), [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    assert_eq!(setup(Kind::Polygon, 5), [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    assert_eq!(setup(Kind::TrianglesAdjacent, 13), [[0, 2, 4], [6, 8, 10]]);
    assert_eq!(setup(Kind::TriangleStripAdjacent, 11), [[0, 2, 4], [4, 2, 6], [4, 6, 8]]);
    assert_eq!(setup(Kind::Rectangles, 7), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(setup(Kind::Patches(3), 7), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(setup(Kind::Patches(32), 65), [Vec::from_iter(0..32), Vec::from_iter(32..64)]);
    for kind in
        [Kind::LineStrip, Kind::LineLoop, Kind::TriangleStrip, Kind::TriangleFan, Kind::Polygon]
    {
        assert!(setup(kind, 1).is_empty(), "{kind:?}");
    }
    assert!(setup(Kind::Quads, 3).is_empty() && setup(Kind::QuadStrip, 3).is_empty());
}

/// Oracle: OpenGL 4.6, table 10.1. The table counts vertices from 1, and has the order of
/// `Reorder::Trailing`.
#[test]
fn strips_with_adjacency() {
    for triangles in 1..40_u32 {
        let count = 2 * (triangles + 2);
        for surplus in 0..2 {
            let made = adjacent(Kind::TriangleStripAdjacent, Reorder::Trailing, count + surplus);
            assert_eq!(made.len(), triangles as usize);
            for (i, made) in (0..).zip(&made) {
                let last = i == triangles - 1;
                let corners = match i % 2 {
                    0 => [2 * i + 1, 2 * i + 3, 2 * i + 5],
                    _ => [2 * i + 3, 2 * i + 1, 2 * i + 5],
                };
                let beyond = if last { 2 * i + 6 } else { 2 * i + 7 };
                let between = match (i, i % 2) {
                    (0, _) => [2, beyond, 4],
                    (_, 0) => [2 * i - 1, beyond, 2 * i + 4],
                    _ => [2 * i - 1, 2 * i + 4, beyond],
                };
                let want: Vec<u32> =
                    (0..3).flat_map(|n| [corners[n] - 1, between[n] - 1]).collect();
                assert_eq!(made, &want, "triangle {i} of {triangles}");
            }
            // With `Reorder::Leading`, each odd triangle is the same but starts at another vertex.
            let leading = adjacent(Kind::TriangleStripAdjacent, Reorder::Leading, count + surplus);
            for (i, (leading, trailing)) in leading.iter().zip(&made).enumerate() {
                let mut turned = trailing.clone();
                turned.rotate_left(if i % 2 == 1 { 2 } else { 0 });
                assert_eq!(leading, &turned);
                assert_eq!(leading[0], 2 * i as u32);
                assert_eq!(trailing[4], 2 * i as u32 + 4);
            }
        }
    }
    assert_eq!(
        adjacent(Kind::LineStripAdjacent, Reorder::Leading, 5),
        [[0, 1, 2, 3], [1, 2, 3, 4]]
    );
    assert_eq!(adjacent(Kind::LinesAdjacent, Reorder::Leading, 8), [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert_eq!(adjacent(Kind::TrianglesAdjacent, Reorder::Leading, 7), [[0, 1, 2, 3, 4, 5]]);
    assert_eq!(adjacent(Kind::TriangleStrip, Reorder::Leading, 4), [[0, 1, 2], [1, 3, 2]]);
    assert_eq!(adjacent(Kind::TriangleStripReversed, Reorder::Leading, 4), [[0, 2, 1], [1, 2, 3]]);
}

/// Twice the signed area.
fn area(at: impl Fn(u32) -> [i64; 2], triangle: &[u32]) -> i64 {
    let [a, b, c] = [0, 1, 2].map(|n| at(triangle[n]));
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
}

/// Oracle: areas of a ladder of squares and of a convex polygon.
#[test]
fn windings_agree() {
    let ladder = |v: u32| [i64::from(v / 2), i64::from(v % 2)];
    for count in 3..64 {
        for (kind, sign) in [(Kind::TriangleStrip, -1), (Kind::TriangleStripReversed, 1)] {
            for reorder in [Reorder::Leading, Reorder::Trailing] {
                let stream: Vec<u32> = (0..count).collect();
                let made = primitives(kind, reorder, Adjacency::Discard, &stream);
                assert_eq!(made.len() as u32, count - 2);
                assert!(made.iter().all(|primitive| area(ladder, primitive.vertices()) == sign));
                for other in [Reorder::Leading, Reorder::Trailing] {
                    let direct = primitives(kind, other, Adjacency::Discard, &stream);
                    let mut pairs = made.iter().zip(&direct);
                    assert!(pairs.all(|(a, b)| a.reordered(other) == b.corners()));
                }
            }
        }
        let quads = setup(Kind::QuadStrip, count);
        assert_eq!(quads.len() as u32, (count / 2 - 1) * 2);
        assert!(quads.iter().all(|triangle| area(ladder, triangle) == -1));
        // The vertices of the polygon lie on a parabola, so it is convex.
        let parabola = |v: u32| [i64::from(v), i64::from(v * v)];
        let around = (1..count - 1).map(|v| area(parabola, &[0, v, v + 1])).sum::<i64>();
        let polygon = setup(Kind::Polygon, count);
        assert!(polygon.iter().all(|triangle| area(parabola, triangle) > 0));
        assert_eq!(polygon.iter().map(|triangle| area(parabola, triangle)).sum::<i64>(), around);
    }
    let square = |v: u32| [[0, 0], [1, 0], [1, 1], [0, 1]][v as usize % 4];
    assert!(setup(Kind::Quads, 8).iter().all(|triangle| area(square, triangle) == 1));
}

/// Wireframes draw each outer edge once, and nothing inside.
#[test]
fn outer_edges() {
    let outer = |kind, count| {
        let stream: Vec<u32> = (0..count).collect();
        let mut edges = Vec::new();
        for primitive in primitives(kind, Reorder::Trailing, Adjacency::Discard, &stream) {
            let [a, b, c] = primitive.corners();
            for (edge, drawn) in [[a, b], [b, c], [c, a]].into_iter().zip(primitive.edges) {
                if drawn {
                    edges.push(edge);
                }
            }
        }
        edges.sort_unstable();
        edges
    };
    for count in 3..12 {
        let around: Vec<[u32; 2]> = (0..count).map(|v| [v, (v + 1) % count]).collect();
        assert_eq!(outer(Kind::Polygon, count), around);
    }
    assert_eq!(outer(Kind::Quads, 4), [[0, 1], [1, 2], [2, 3], [3, 0]]);
    assert_eq!(outer(Kind::QuadStrip, 4), [[0, 1], [1, 3], [2, 0], [3, 2]]);
    assert_eq!(outer(Kind::TriangleStrip, 4).len(), 6);
}

/// Oracle: OpenGL 4.6 compatibility profile, table 13.2, with the selects that drivers program for
/// the two conventions (gen8_facts 5.1) and the limits QUADS_FOLLOW_PROVOKING_VERTEX_CONVENTION
/// off.
#[test]
fn provoking_vertices() {
    let first = ProvokingSelects { line: 0, triangle: 0, fan: 1 };
    let last = ProvokingSelects { line: 1, triangle: 2, fan: 2 };
    let check =
        |kind, reorder, count: u32, selects: &ProvokingSelects, want: &dyn Fn(u32) -> u32| {
            let stream: Vec<u32> = (0..count).collect();
            for (i, primitive) in (0..).zip(primitives(kind, reorder, Adjacency::Discard, &stream))
            {
                assert_eq!(
                    primitive.vertices()[primitive.provoking(selects)],
                    want(i),
                    "{kind:?}, primitive {i}"
                );
            }
        };
    for reorder in [Reorder::Leading, Reorder::Trailing] {
        check(Kind::Points, reorder, 9, &first, &|i| i);
        check(Kind::Points, reorder, 9, &last, &|i| i);
        check(Kind::Lines, reorder, 10, &first, &|i| 2 * i);
        check(Kind::Lines, reorder, 10, &last, &|i| 2 * i + 1);
        check(Kind::LineStrip, reorder, 9, &first, &|i| i);
        check(Kind::LineStrip, reorder, 9, &last, &|i| i + 1);
        check(Kind::LineLoop, reorder, 9, &first, &|i| i);
        check(Kind::LineLoop, reorder, 9, &last, &|i| (i + 1) % 9);
        check(Kind::Triangles, reorder, 9, &first, &|i| 3 * i);
        check(Kind::Triangles, reorder, 9, &last, &|i| 3 * i + 2);
        for kind in [Kind::TriangleStrip, Kind::TriangleStripReversed] {
            check(kind, reorder, 9, &first, &|i| i);
            check(kind, reorder, 9, &last, &|i| i + 2);
            check(kind, reorder, 9, &ProvokingSelects { triangle: 1, ..first }, &|i| i + 1);
        }
        check(Kind::TriangleFan, reorder, 9, &first, &|i| i + 1);
        check(Kind::TriangleFan, reorder, 9, &last, &|i| i + 2);
        check(Kind::TriangleStripAdjacent, reorder, 20, &first, &|i| 2 * i);
        check(Kind::TriangleStripAdjacent, reorder, 20, &last, &|i| 2 * i + 4);
        for selects in [&first, &last] {
            check(Kind::Polygon, reorder, 9, selects, &|_| 0);
            // Each quad has two triangles.
            check(Kind::Quads, reorder, 12, selects, &|i| 4 * (i / 2) + 3);
            check(Kind::QuadStrip, reorder, 12, selects, &|i| 2 * (i / 2) + 3);
        }
    }
}

/// A cut drops an incomplete primitive; primitive IDs continue (OpenGL 4.6, 10.3.6 and 11.3.4.3).
#[test]
fn cuts() {
    let made = |kind, stream: &[u32]| -> Vec<(u32, Vec<u32>)> {
        let made = primitives(kind, Reorder::Trailing, Adjacency::Discard, stream);
        made.iter().map(|primitive| (primitive.id, primitive.vertices().to_vec())).collect()
    };
    assert_eq!(
        made(Kind::TriangleStrip, &[7, 8, CUT, CUT, 1, 2, 3, 4, CUT, 5, 6, 7]),
        [(0, vec![1, 2, 3]), (1, vec![3, 2, 4]), (2, vec![5, 6, 7])]
    );
    assert_eq!(made(Kind::Triangles, &[1, 2, CUT, 3, 4, 5, CUT, 6]), [(0, vec![3, 4, 5])]);
    assert_eq!(
        made(Kind::LineLoop, &[1, 2, 3, CUT, 4, CUT, 5, 6]),
        [(0, vec![1, 2]), (1, vec![2, 3]), (2, vec![3, 1]), (3, vec![5, 6]), (4, vec![6, 5])]
    );
    assert_eq!(
        made(Kind::Polygon, &[1, 2, 3, 4, CUT, 5, 6, 7]),
        [(0, vec![1, 2, 3]), (0, vec![1, 3, 4]), (1, vec![5, 6, 7])]
    );
    let ids = |kind, stream| made(kind, stream).iter().map(|(id, _)| *id).collect::<Vec<_>>();
    assert_eq!(ids(Kind::Quads, &[0, 1, 2, 3, 4, 5, CUT, 6, 7, 8, 9]), [0, 0, 1, 1]);
    assert_eq!(ids(Kind::QuadStrip, &[0, 1, 2, 3, 4, 5, 6]), [0, 0, 1, 1]);
    // A stream that is longer than the assembler's ring of vertices.
    let long: Vec<u32> = (0..100).collect();
    assert_eq!(made(Kind::TriangleStrip, &long).last().unwrap().1, [98, 97, 99]);
}

/// Where a stipple starts and where the last pixel is (3DSTATE_SF, Last Pixel Enable: 2a p.213).
#[test]
fn ends_of_lines() {
    let ends = |topology: Topology, stream: &[u32]| {
        let mut made = Vec::new();
        let mut assembler = Assembler::for_setup(topology);
        let done = assembler.stream(stream.iter().copied(), &mut |primitive: &Primitive| {
            made.push((primitive.first, primitive.last));
            Ok::<(), Infallible>(())
        });
        assert_eq!(done, Ok(()));
        made
    };
    let lines = topology(Kind::Lines);
    assert_eq!(ends(lines, &[0, 1, 2, 3]), [(true, true), (true, true)]);
    let strip = topology(Kind::LineStrip);
    assert_eq!(ends(strip, &[0, 1, CUT, 0, 1, 2, 3]).as_slice(), {
        [(true, true), (true, false), (false, false), (false, true)]
    });
    assert_eq!(
        ends(Topology { continued: true, ..strip }, &[0, 1, 2]),
        [(false, false), (false, true)]
    );
    let adjacent = topology(Kind::LineStripAdjacent);
    assert_eq!(ends(adjacent, &[0, 1, 2, 3, 4]), [(true, false), (false, true)]);
    let closed = topology(Kind::LineLoop);
    assert_eq!(ends(closed, &[0, 1, 2]), [(true, false), (false, false), (false, true)]);
}

/// Every code of the manual's table is a topology, and no other is.
#[test]
fn codes() {
    let known =
        (0..64).filter(|&code| Topology::of(Code::from_bits(code)).is_some()).collect::<Vec<_>>();
    let named: Vec<u64> = (1..=0x14).chain([0x16]).chain(0x20..=0x3f).collect();
    assert_eq!(known, named);
    let of = |code| Topology::of(code).unwrap();
    assert_eq!(of(Code::_3DPRIM_PATCHLIST_1).kind, Kind::Patches(1));
    assert_eq!(of(Code::_3DPRIM_PATCHLIST_32).kind, Kind::Patches(32));
    assert_eq!(of(Code::_3DPRIM_TRISTRIP_ADJ).primitive_vertices(Adjacency::Keep), 6);
    assert_eq!(of(Code::_3DPRIM_TRISTRIP_ADJ).primitive_vertices(Adjacency::Discard), 3);
    assert!(of(Code::_3DPRIM_POINTLIST_BF).back_facing && !of(Code::_3DPRIM_POINTLIST).back_facing);
    assert!(
        of(Code::_3DPRIM_LINESTRIP_CONT_BF).continued
            && of(Code::_3DPRIM_LINESTRIP_CONT_BF).back_facing
    );
    assert!(!of(Code::_3DPRIM_TRIFAN_NOSTIPPLE).stippled);
}

/// Oracle: lists vertex by vertex. Every second primitive is made at once, the others vertex by
/// vertex.
#[test]
fn consecutive_vertices_of_lists() {
    for kind in [Kind::Points, Kind::Lines, Kind::Triangles, Kind::Rectangles] {
        let stream: Vec<u32> = (0..20).collect();
        let expected = primitives(kind, Reorder::Trailing, Adjacency::Discard, &stream);
        let mut assembler = Assembler::for_setup(topology(kind));
        let length = assembler.list_length().unwrap();
        let mut made = Vec::new();
        let mut out = |primitive: &Primitive| {
            made.push(*primitive);
            Ok::<(), Infallible>(())
        };
        let (mut first, mut at_once) = (0, true);
        while first + length <= 20 {
            match at_once {
                true => assembler.consecutive(first, &mut out),
                false => assembler.stream(first..first + length, &mut out),
            }
            .unwrap();
            (first, at_once) = (first + length, !at_once);
        }
        assert_eq!(made, expected);
    }
    let strip = Assembler::for_setup(topology(Kind::TriangleStrip));
    assert_eq!(strip.list_length(), None);
}
