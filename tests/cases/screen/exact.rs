//! Coverage of samples, facing, and order of triangles. Oracle: exact integers, in units of 1/256
//! pixel: a triangle covers a sample inside of it or on its left or upper edge (Direct3D 11 3.4.1;
//! 2a p.280).

use crate::screen::scene::{Scene, on_screen};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_raster::{
    ThreeDStateRasterCullMode as Cull, ThreeDStateRasterFrontWinding as Winding,
    ThreeDStateSamplePattern,
};
use genxml::gen8::state::NumberOfMultisamples;
use genxml_cases::{Random, push};
use genxml_core::UFix;

/// True if a triangle covers a position. All coordinates are in 1/256 pixel.
pub fn covers(corners: &[[i64; 2]; 3], at: [i64; 2]) -> bool {
    let area = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let [a, mut b, mut c] = *corners;
    match area(a, b, c) {
        0 => return false,
        // Y points down on the screen: a positive area is clockwise.
        twice if twice < 0 => (b, c) = (c, b),
        _ => {}
    }
    [(a, b), (b, c), (c, a)].iter().all(|&(p, q)| {
        let side = area(p, q, at);
        // In clockwise order, edges that go up are left edges; edges that go right are upper edges.
        side > 0 || side == 0 && (q[1] < p[1] || q[1] == p[1] && q[0] > p[0])
    })
}

/// Positions of samples, in 1/16 pixels, of Direct3D's standard patterns.
pub const STANDARD: [&[[i64; 2]]; 4] = [
    &[[8, 8]],
    &[[12, 12], [4, 4]],
    &[[6, 2], [14, 6], [2, 10], [10, 14]],
    &[[9, 5], [7, 11], [13, 9], [5, 3], [3, 13], [1, 7], [11, 15], [15, 1]],
];

/// The packet that sets the patterns of [`STANDARD`].
pub fn pattern() -> ThreeDStateSamplePattern {
    let at =
        |log: usize, n: usize, axis: usize| UFix::<0, 4>::from_bits(STANDARD[log][n][axis] as u64);
    ThreeDStateSamplePattern {
        _1x_sample0_x_offset: at(0, 0, 0),
        _1x_sample0_y_offset: at(0, 0, 1),
        _2x_sample0_x_offset: at(1, 0, 0),
        _2x_sample0_y_offset: at(1, 0, 1),
        _2x_sample1_x_offset: at(1, 1, 0),
        _2x_sample1_y_offset: at(1, 1, 1),
        _4x_sample0_x_offset: at(2, 0, 0),
        _4x_sample0_y_offset: at(2, 0, 1),
        _4x_sample1_x_offset: at(2, 1, 0),
        _4x_sample1_y_offset: at(2, 1, 1),
        _4x_sample2_x_offset: at(2, 2, 0),
        _4x_sample2_y_offset: at(2, 2, 1),
        _4x_sample3_x_offset: at(2, 3, 0),
        _4x_sample3_y_offset: at(2, 3, 1),
        _8x_sample0_x_offset: at(3, 0, 0),
        _8x_sample0_y_offset: at(3, 0, 1),
        _8x_sample1_x_offset: at(3, 1, 0),
        _8x_sample1_y_offset: at(3, 1, 1),
        _8x_sample2_x_offset: at(3, 2, 0),
        _8x_sample2_y_offset: at(3, 2, 1),
        _8x_sample3_x_offset: at(3, 3, 0),
        _8x_sample3_y_offset: at(3, 3, 1),
        _8x_sample4_x_offset: at(3, 4, 0),
        _8x_sample4_y_offset: at(3, 4, 1),
        _8x_sample5_x_offset: at(3, 5, 0),
        _8x_sample5_y_offset: at(3, 5, 1),
        _8x_sample6_x_offset: at(3, 6, 0),
        _8x_sample6_y_offset: at(3, 6, 1),
        _8x_sample7_x_offset: at(3, 7, 0),
        _8x_sample7_y_offset: at(3, 7, 1),
    }
}

/// Random triangles over each other, some of which share corners. Vertices are in 1/256 pixel.
pub fn random_triangles(seed: u64, count: usize) -> Vec<[[i64; 2]; 3]> {
    let mut random = Random::new(seed);
    let mut pool: Vec<[i64; 2]> = Vec::new();
    let mut corner = |random: &mut Random| {
        if pool.len() > 4 && random.below(3) == 0 {
            return pool[random.below(pool.len() as u64) as usize];
        }
        // Corners are often at sample positions.
        let grid = [1, 16, 128][random.below(3) as usize];
        let at = [0; 2].map(|_| (random.below(32 * 256) as i64 - 8 * 256) / grid * grid);
        pool.push(at);
        at
    };
    (0..count).map(|_| [0; 3].map(|_| corner(&mut random))).collect()
}

/// The values of one sample of each pixel of a 16 x 16 screen if triangle n writes n + 1. `sample`
/// is the sample's position in 1/16 pixels.
pub fn expected(triangles: &[[[i64; 2]; 3]], sample: [i64; 2]) -> Vec<u32> {
    let place = |n: i64| [n % 16 * 256 + 16 * sample[0], n / 16 * 256 + 16 * sample[1]];
    let newest =
        |at| triangles.iter().rposition(|corners| covers(corners, at)).map_or(0, |n| n as u32 + 1);
    (0..256).map(|n| newest(place(n))).collect()
}

/// A scene that draws the triangles.
pub fn scene(triangles: &[[[i64; 2]; 3]]) -> Scene {
    let vertices = triangles.iter().enumerate().flat_map(|(n, corners)| {
        corners.map(|[x, y]| on_screen(x as f32 / 256.0, y as f32 / 256.0, n as u32 + 1))
    });
    Scene::new([16, 16], Code::_3DPRIM_TRILIST, vertices.collect())
}

#[test]
fn triangles_over_triangles() {
    for seed in 0..8 {
        let triangles = random_triangles(seed, 24);
        let drawn = scene(&triangles);
        assert_eq!(
            drawn.run().unwrap().dwords(0, 0, 0),
            expected(&triangles, [8, 8]),
            "seed {seed}"
        );
    }
}

/// The same as `triangles_over_triangles` for each of several samples, with all samples enabled and
/// with some masked.
#[test]
fn samples_of_triangles() {
    for (log, samples) in [
        (1, NumberOfMultisamples::_2),
        (2, NumberOfMultisamples::_4),
        (3, NumberOfMultisamples::_8),
    ] {
        for (seed, mask) in [(10, 0xff), (11, 0xff), (12, 0b0110_1001)] {
            let triangles = random_triangles(seed, 16);
            let mut scene = scene(&triangles);
            scene.samples = samples;
            scene.sample_mask = mask;
            scene.targets[0].samples = 1 << log;
            push(&mut scene.more, &pattern());
            let drawn = scene.run().unwrap();
            for (sample, &at) in STANDARD[log].iter().enumerate() {
                let want = match mask >> sample & 1 {
                    1 => expected(&triangles, at),
                    _ => vec![0; 256],
                };
                assert_eq!(
                    drawn.dwords(0, 0, sample as u32),
                    want,
                    "sample {sample} of {}, seed {seed}",
                    1 << log
                );
            }
        }
    }
}

/// Culling of two triangles, one clockwise and one counterclockwise on the screen. Oracle: 2a
/// p.177, as a table by hand. Its last two columns say whether the first and whether the second
/// triangle is drawn.
#[test]
fn culling() {
    let mut scene = Scene::new(
        [8, 4],
        Code::_3DPRIM_TRILIST,
        [(0.0, 0.0, 1), (4.0, 0.0, 1), (0.0, 4.0, 1), (4.0, 0.0, 2), (4.0, 4.0, 2), (8.0, 0.0, 2)]
            .map(|(x, y, value)| on_screen(x, y, value))
            .to_vec(),
    );
    for (cull, winding, first, second) in [
        (Cull::CULLMODE_NONE, Winding::CLOCKWISE, true, true),
        (Cull::CULLMODE_BOTH, Winding::CLOCKWISE, false, false),
        (Cull::CULLMODE_FRONT, Winding::CLOCKWISE, false, true),
        (Cull::CULLMODE_BACK, Winding::CLOCKWISE, true, false),
        (Cull::CULLMODE_FRONT, Winding::COUNTER_CLOCKWISE, true, false),
        (Cull::CULLMODE_BACK, Winding::COUNTER_CLOCKWISE, false, true),
    ] {
        scene.raster.cull_mode = cull;
        scene.raster.front_winding = winding;
        let drawn = scene.run().unwrap().dwords(0, 0, 0);
        assert_eq!([drawn[0] == 1, drawn[4] == 2], [first, second], "{cull:?} {winding:?}");
    }
}

/// Two triangles of a strip form a square. No pixel on the diagonal is drawn twice or left out. The
/// provoking vertex gives the value: the first or the last one of each triangle (2a p.196).
#[test]
fn strips_and_provoking_vertices() {
    use genxml::gen8::render3d_raster::ProvokingVertex;
    let corners = [(0.0, 0.0, 1), (4.0, 0.0, 2), (0.0, 4.0, 3), (4.0, 4.0, 4)];
    let mut scene = Scene::new(
        [4, 4],
        Code::_3DPRIM_TRISTRIP,
        corners.map(|(x, y, value)| on_screen(x, y, value)).to_vec(),
    );
    // The vertices of the second triangle are 2 1 3 or 1 3 2, so that both have the same winding.
    // The selection counts from vertex number 1, which has the value 2.
    for (select, upper, lower) in [(0, 1, 2), (2, 3, 4)] {
        scene.sf.triangle_strip_list_provoking_vertex_select = ProvokingVertex::from_bits(select);
        let u = char::from_digit(upper, 10).unwrap();
        let l = char::from_digit(lower, 10).unwrap();
        let row = |n: usize| (0..4).map(|x| if x + n < 3 { u } else { l }).collect::<String>();
        assert_eq!(scene.art(), (0..4).map(row).collect::<Vec<_>>(), "vertex {select}");
    }
}

/// Lines and fans have selects of their own: the vertex with this number of each line, and of each
/// triangle, whose vertices are the centre and two neighbours (2a p.211-215).
#[test]
fn provoking_vertices_of_lines_and_fans() {
    use genxml::gen8::render3d_raster::ProvokingVertex;
    let line = [(0.5, 0.5, 1), (2.5, 0.5, 2), (4.5, 0.5, 3), (6.5, 0.5, 4)];
    for (code, lines) in [
        (Code::_3DPRIM_LINESTRIP, &[[1, 2], [2, 3], [3, 4]][..]),
        (Code::_3DPRIM_LINELIST, &[[1, 2], [3, 4]]),
    ] {
        for select in 0..2 {
            let vertices = line.map(|(x, y, value)| on_screen(x, y, value));
            let mut scene = Scene::new([8, 1], code, vertices.to_vec());
            scene.sf.line_strip_list_provoking_vertex_select = ProvokingVertex::from_bits(select);
            // The lines of the strip are two pixels long. A list has the first and the third one.
            let mut want = [0; 8];
            for ends in lines {
                let from = 2 * (ends[0] as usize - 1);
                want[from..from + 2].fill(ends[select as usize]);
            }
            assert_eq!(scene.run().unwrap().dwords(0, 0, 0), want, "{code:?} {select}");
        }
    }
    // Three triangles around the middle of the screen: above, to the right, below.
    let fan = [(4.0, 4.0, 1), (0.0, 0.0, 2), (8.0, 0.0, 3), (8.0, 8.0, 4), (0.0, 8.0, 5)];
    for select in 0..3 {
        let vertices = fan.map(|(x, y, value)| on_screen(x, y, value));
        let mut scene = Scene::new([8, 8], Code::_3DPRIM_TRIFAN, vertices.to_vec());
        scene.sf.triangle_fan_provoking_vertex_select = ProvokingVertex::from_bits(select);
        let drawn = scene.run().unwrap().dwords(0, 0, 0);
        for (n, [x, y]) in [[4, 1], [6, 4], [4, 6]].into_iter().enumerate() {
            let want = [1, n as u32 + 2, n as u32 + 3][select as usize];
            assert_eq!(drawn[8 * y + x], want, "triangle {n}, select {select}");
        }
    }
}
