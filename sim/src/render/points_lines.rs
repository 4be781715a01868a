//! Points and lines: the shapes that they cover on the screen.
//!
//! There are four kinds of lines (gen8_facts 7). Thin lines cover the pixels whose diamond they
//! leave. Aliased wide lines are parallelograms with ends along an axis. Multisampled lines are
//! rectangles. Antialiased lines are rectangles with soft borders. The manual of Sandy Bridge
//! describes wide and antialiased lines (vol 2 part 1 p.237-245). Points are squares or soft discs.
//! For what the manual leaves open see [`crate::assumptions`], `THIN_LINES_FOLLOW_DIRECT3D_10` and
//! the entries after it.

use super::primitives::{Kind, Ramps, SetupPrimitive, Shape, Smooth};
use super::stipple::{Along, Stippled};
use super::thin_line::ThinLine;
use crate::assumptions::{SMOOTH_POINT_REGION, SMOOTH_POINTS_WITH_SLOPES_ARE_SQUARES};
use crate::pixel::coordinates::{Point, SUBPIXEL_BITS};
use crate::pixel::interpolate::{Corner, Planes};
use crate::pixel::multisample::Multisample;
use crate::pixel::raster::{Convex, FillRule};
use crate::pixel::viewport::ScreenVertex;

/// How lines are drawn.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LineState {
    /// Line Width in pixels, U3.7; 0 for the thinnest line (3DSTATE_SF, 2a p.213).
    pub width: f32,
    /// Lines are rectangles, and sampled like triangles: multisample modes ON (2a p.177).
    pub rectangle: bool,
    /// Antialiasing Enable (3DSTATE_RASTER): lines whose width is not 0 have soft borders.
    pub antialias: bool,
    /// Line Antialiasing Region Width in pixels: 0.5, 1, 2 or 4 (3DSTATE_WM).
    pub region: f32,
    /// Line End Cap Antialiasing Region Width in pixels: 0.5, 1, 2 or 4.
    pub cap_region: f32,
    /// AA Line Distance Mode (3DSTATE_SF) is AALINEDISTANCE_MANHATTAN.
    pub manhattan: bool,
    /// AA Coverage Slope and Bias, then AA Coverage EndCap Slope and Bias
    /// (3DSTATE_AA_LINE_PARAMETERS); the first slope is 0 if the region widths are used instead.
    pub slopes: [[f32; 2]; 2],
    /// Last Pixel Enable (3DSTATE_SF): thin lines cover their last pixel if they are the last line
    /// of a strip, or a line of a list.
    pub last_pixel: bool,
}

/// How points are drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PointState {
    /// Point Width in pixels, U8.3, if widths come from state (3DSTATE_SF, 2a p.215).
    pub width: Option<f32>,
    /// Minimum and Maximum Point Width in pixels, for widths that come from vertices (3DSTATE_CLIP,
    /// 2a p.43).
    pub bounds: [f32; 2],
    /// The rule for samples on the border (3DSTATE_WM Point Rasterization Rule).
    pub rule: FillRule,
    /// Smooth Point Enable: discs with a soft border.
    pub smooth: bool,
    /// AA Point Coverage Slope and Bias, then AA Point Coverage EndCap Slope and Bias
    /// (3DSTATE_AA_LINE_PARAMETERS); the first slope is 0 for discs.
    pub slopes: [[f32; 2]; 2],
}

impl Default for PointState {
    fn default() -> PointState {
        PointState {
            width: Some(1.0),
            bounds: [0.125, 255.875],
            rule: FillRule::UpperLeft,
            smooth: false,
            slopes: [[0.0; 2]; 2],
        }
    }
}

/// A position in pixels, rounded to 1/256 pixels.
fn point_at([x, y]: [f64; 2]) -> Point {
    let unit = f64::from(1 << SUBPIXEL_BITS);
    Point::new((x * unit).round_ties_even() as i32, (y * unit).round_ties_even() as i32)
}

/// The setup primitive of a line between two corners. `stipple` is the position in the stipple
/// pattern at the start of the line. `last` is true for the last line of a strip, and for lines of
/// a list. `None` if a line that is not thin has no area.
#[must_use]
pub fn line(
    state: &LineState,
    multisample: &Multisample,
    ends: &[Corner; 2],
    stipple: u32,
    last: bool,
) -> Option<SetupPrimitive> {
    let [a, b] = ends.map(|c| c.screen.at);
    let (dx, dy) = (i64::from(b.x) - i64::from(a.x), i64::from(b.y) - i64::from(a.y));
    let x_major = dx.abs() >= dy.abs();
    let axis = if x_major { Along::X } else { Along::Y };
    let length = ((dx * dx + dy * dy) as f64).sqrt();
    let direction =
        if length == 0.0 { [1.0, 0.0] } else { [dx as f64 / length, dy as f64 / length] };
    let [ux, uy] = direction;
    // Widths of the packet are U3.7, so below 8 (2a p.213). The limit is for other values.
    let width = if state.width > 0.0 { f64::from(state.width.min(2048.0)) } else { 1.0 };
    // A rectangle that extends `across` pixels to both sides and `beyond` pixels past both ends.
    let rectangle = |across: f64, beyond: f64| {
        let ([ax, ay], [bx, by]) = (a.pixels(), b.pixels());
        let (ax, ay, bx, by) =
            (ax - ux * beyond, ay - uy * beyond, bx + ux * beyond, by + uy * beyond);
        let (nx, ny) = (-uy * across, ux * across);
        let corners =
            [[ax + nx, ay + ny], [ax - nx, ay - ny], [bx - nx, by - ny], [bx + nx, by + ny]];
        Convex::quadrangle(corners.map(point_at), FillRule::UpperLeft)
    };
    let mut smooth = None;
    let (shape, along) = if state.rectangle {
        (Shape::Convex(rectangle(width / 2.0, 0.0)?), Along::Direction(direction))
    } else if state.width.is_nan() || state.width <= 0.0 {
        let covers_last = state.last_pixel && last;
        (Shape::Thin(ThinLine { a, b, location: multisample.location, covers_last }), axis)
    } else if state.antialias {
        let [region, cap] =
            [f64::from(state.region), f64::from(state.cap_region)].map(|r| r.clamp(0.5, 4.0));
        let ([ax, ay], [bx, by]) = (a.pixels(), b.pixels());
        let centre = [(ax + bx) / 2.0, (ay + by) / 2.0];
        let half = [width / 2.0, length / f64::from(2 << SUBPIXEL_BITS)];
        let ramps = match state.slopes[0][0] == 0.0 {
            true => Ramps::Regions([region / 2.0, cap]),
            false => Ramps::Slopes(state.slopes.map(|pair| pair.map(f64::from))),
        };
        let stretch = if state.manhattan { ux.abs() + uy.abs() } else { 1.0 };
        smooth = Some(Smooth::Line { centre, direction, half, cap, stretch, ramps });
        (Shape::Convex(rectangle(width / 2.0, cap)?), Along::Direction(direction))
    } else {
        let half = (width * f64::from(1 << SUBPIXEL_BITS) / 2.0).round_ties_even() as i32;
        let (hx, hy) = if x_major { (0, half) } else { (half, 0) };
        let beside = |p: Point, sign: i32| Point::new(p.x + sign * hx, p.y + sign * hy);
        let corners = [beside(a, 1), beside(a, -1), beside(b, -1), beside(b, 1)];
        (Shape::Convex(Convex::quadrangle(corners, FillRule::UpperLeft)?), axis)
    };
    let stippled = Some(Stippled { start: a, along, offset: stipple });
    Some(SetupPrimitive {
        kind: Kind::Line,
        shape,
        planes: Planes::line(ends),
        back: false,
        smooth,
        stippled,
        corner: None,
    })
}

/// The setup primitive of a point. `width` is the point width of the vertex in pixels, which is
/// clamped and used if the state has no width. `None` if the resulting width is NaN or not
/// positive.
#[must_use]
pub fn point(
    state: &PointState,
    multisample: &Multisample,
    vertex: &ScreenVertex,
    width: f32,
) -> Option<SetupPrimitive> {
    let width = match state.width {
        Some(width) => width,
        None if width.is_nan() => return None,
        None => width.max(state.bounds[0]).min(state.bounds[1]),
    };
    if width.is_nan() || width <= 0.0 {
        return None;
    }
    // The width is rounded to 1/8 pixels. So half of it is a whole number of 1/256 pixels.
    let half = ((f64::from(width.min(256.0)) * 8.0).round_ties_even() as i32).max(1)
        << (SUBPIXEL_BITS - 4);
    let at = vertex.at;
    let upper_left = Point { x: at.x - half, y: at.y - half };
    let square = |half: i32| {
        let corner = |x: i32, y: i32| Point::new(at.x + x * half, at.y + y * half);
        Convex::quadrangle([corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)], state.rule)
    };
    let mut smooth = None;
    let reach = if state.smooth && multisample.samples.count() == 1 {
        let (centre, radius) = (at.pixels(), f64::from(half) / f64::from(1 << SUBPIXEL_BITS));
        if SMOOTH_POINTS_WITH_SLOPES_ARE_SQUARES && state.slopes[0][0] != 0.0 {
            smooth = Some(Smooth::Line {
                centre,
                direction: [1.0, 0.0],
                half: [radius, 0.0],
                cap: radius,
                stretch: 1.0,
                ramps: Ramps::Slopes(state.slopes.map(|pair| pair.map(f64::from))),
            });
            half
        } else {
            smooth = Some(Smooth::Disc { centre, radius, region: SMOOTH_POINT_REGION });
            half + (SMOOTH_POINT_REGION * f64::from(1 << SUBPIXEL_BITS)) as i32
        }
    } else {
        half
    };
    let shape = Shape::Convex(square(reach)?);
    let planes = Planes::point(vertex, upper_left, 2 * half);
    Some(SetupPrimitive {
        kind: Kind::Point,
        shape,
        planes,
        back: false,
        smooth,
        stippled: None,
        corner: Some(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pixel::coordinates::Rect;
    use crate::pixel::multisample::{PixelLocation, RasterMode, Samples};
    use crate::pixel::raster::Quad;
    use crate::render::stipple::{LineStipple, pixels_along};
    use proptest::prelude::*;

    const SIDE: i32 = 16;
    const SCREEN: Rect = Rect { x0: 0, y0: 0, x1: SIDE, y1: SIDE };

    fn single() -> Multisample {
        Multisample::new(Samples::CENTRE, RasterMode::default(), PixelLocation::Centre, false)
    }

    fn p(x: f32, y: f32) -> Point {
        Point { x: (x * 256.0) as i32, y: (y * 256.0) as i32 }
    }

    fn ends(a: Point, b: Point) -> [Corner; 2] {
        let corner = |at, i| Corner::vertex(ScreenVertex { at, z: 0.0, inv_w: 1.0 }, i);
        [corner(a, 0), corner(b, 1)]
    }

    /// Covered pixels, in the order of rows.
    fn covered(rasterise: impl Fn(&mut dyn FnMut(Quad))) -> Vec<(i32, i32)> {
        let mut pixels = vec![];
        rasterise(&mut |quad: Quad| {
            for (i, &mask) in quad.mask.iter().enumerate() {
                if mask != 0 {
                    pixels.push((quad.x as i32 + (i as i32 & 1), quad.y as i32 + (i as i32 >> 1)));
                }
            }
        });
        pixels.sort_by_key(|&(x, y)| (y, x));
        let count = pixels.len();
        pixels.dedup();
        assert_eq!(count, pixels.len(), "a pixel is covered twice");
        pixels
    }

    fn drawn(state: &LineState, a: Point, b: Point) -> Vec<(i32, i32)> {
        let Some(primitive) = line(state, &single(), &ends(a, b), 0, true) else { return vec![] };
        covered(|each| primitive.rasterise(&Samples::CENTRE, SCREEN, &mut |q| each(q)))
    }

    type Fraction = (i128, i128);

    /// Direct3D 10's diamond rule as it is written: true if the line from `a` to `b` has a point in
    /// the test area of the diamond and, unless `last` is set, does not end in this area. Tests all
    /// positions where the line can enter or leave the area, and one position between each two.
    fn leaves_diamond(a: Point, b: Point, x: i32, y: i32, last: bool) -> bool {
        let steep = (b.x - a.x).abs() < (b.y - a.y).abs();
        let d = [i128::from(b.x - a.x), i128::from(b.y - a.y)];
        let from = [i128::from(a.x - x * 256 - 128), i128::from(a.y - y * 256 - 128)];
        // True if the point at fraction n / m of the line is in the test area. Positions are
        // multiplied by m.
        let within = |(n, m): Fraction| {
            let (px, py) = (from[0] * m + d[0] * n, from[1] * m + d[1] * n);
            let half = 128 * m;
            let inner = px.abs() + py.abs() < half;
            let lower_edges = px.abs() + py.abs() == half && py > 0;
            inner || lower_edges || (steep && (px, py) == (half, 0))
        };
        let mut places: Vec<Fraction> = vec![(0, 1), (1, 1)];
        for (speed, start) in [(d[0] + d[1], from[0] + from[1]), (d[0] - d[1], from[0] - from[1])] {
            for side in [-128, 128] {
                let n = (side - start) * speed.signum();
                if speed != 0 && n >= 0 && n <= speed.abs() {
                    places.push((n, speed.abs()));
                }
            }
        }
        places.sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)));
        let between =
            places.windows(2).map(|w| (w[0].0 * w[1].1 + w[1].0 * w[0].1, 2 * w[0].1 * w[1].1));
        let met = places.iter().copied().chain(between).any(within);
        met && (last || !within((1, 1)))
    }

    /// Positions everywhere, and on the sides and corners of diamonds.
    fn place() -> impl Strategy<Value = Point> {
        let c = -2 * 256..(SIDE + 2) * 256;
        (c.clone(), c, prop_oneof![Just(0), Just(6), Just(7)])
            .prop_map(|(x, y, bits)| Point { x: x >> bits << bits, y: y >> bits << bits })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

        /// Oracle: Direct3D 10's rule in fractions, every pixel.
        #[test]
        fn thin_lines_leave_diamonds(a in place(), b in place(), last_pixel in any::<bool>()) {
            let found = drawn(&LineState { last_pixel, ..LineState::default() }, a, b);
            for y in 0..SIDE {
                for x in 0..SIDE {
                    let expected = leaves_diamond(a, b, x, y, last_pixel);
                    prop_assert_eq!(found.contains(&(x, y)), expected, "{:?} {:?} at ({}, {})", a, b, x, y);
                }
            }
        }

        /// Two lines of a straight strip together cover each pixel of the whole line exactly once.
        #[test]
        fn strips_join(a in place(), dx in -900..900_i32, dy in -900..900_i32) {
            let at = |n: i32| Point { x: a.x + n * dx, y: a.y + n * dy };
            let state = LineState::default();
            let mut parts = drawn(&state, at(0), at(1));
            parts.extend(drawn(&state, at(1), at(2)));
            parts.sort_by_key(|&(x, y)| (y, x));
            prop_assert_eq!(parts, drawn(&state, at(0), at(2)));
        }

        /// Oracle: distances in whole numbers. A point covers the samples inside its square and on
        /// half of its border.
        #[test]
        fn points_cover_their_square(at in place(), eighths in 1..64_i32, right in any::<bool>()) {
            let rule = if right { FillRule::UpperRight } else { FillRule::UpperLeft };
            let state = PointState { rule, ..PointState::default() };
            let state = PointState { width: Some(eighths as f32 / 8.0), ..state };
            let vertex = ScreenVertex { at, z: 0.0, inv_w: 1.0 };
            let primitive = point(&state, &single(), &vertex, 99.0).unwrap();
            let found = covered(|each| primitive.rasterise(&Samples::CENTRE, SCREEN, &mut |q| each(q)));
            for y in 0..SIDE {
                for x in 0..SIDE {
                    let (dx, dy) = (x * 256 + 128 - at.x, y * 256 + 128 - at.y);
                    let half = eighths * 16;
                    let dx = if right { -dx } else { dx };
                    let expected = dx >= -half && dx < half && dy >= -half && dy < half;
                    prop_assert_eq!(found.contains(&(x, y)), expected, "({}, {})", x, y);
                }
            }
        }
    }

    #[test]
    fn kinds_of_lines() {
        let (a, b) = (p(2.5, 3.5), p(7.5, 3.5));
        let row = |y: i32, x: std::ops::Range<i32>| x.map(move |x| (x, y));
        let thin = LineState::default();
        assert_eq!(drawn(&thin, a, b), row(3, 2..7).collect::<Vec<_>>());
        assert_eq!(drawn(&thin, b, a), row(3, 3..8).collect::<Vec<_>>());
        assert_eq!(
            drawn(&LineState { last_pixel: true, ..thin }, a, b),
            row(3, 2..8).collect::<Vec<_>>()
        );
        assert_eq!(drawn(&thin, a, a), []);
        // The ends of aliased wide lines are parallel to an axis. The ends of rectangles are
        // perpendicular to the line.
        let wide = LineState { width: 3.0, ..thin };
        assert_eq!(drawn(&wide, a, b), (2..5).flat_map(|y| row(y, 2..7)).collect::<Vec<_>>());
        let slanted = drawn(&wide, p(2.5, 3.5), p(6.5, 7.5));
        assert_eq!(slanted.len(), 12, "each of four columns has three pixels: {slanted:?}");
        let rectangle = drawn(&LineState { rectangle: true, ..wide }, p(2.0, 3.0), p(6.0, 3.0));
        assert_eq!(
            rectangle,
            (1..4).flat_map(|y| row(y, 2..6)).filter(|&(_, y)| y < 4).collect::<Vec<_>>()
        );
        let none = line(&LineState { rectangle: true, ..wide }, &single(), &ends(a, a), 0, true);
        assert_eq!(none, None, "a rectangle without length has no area");
        assert!(
            line(&LineState { width: f32::NAN, ..wide }, &single(), &ends(a, b), 0, true).is_some()
        );
    }

    fn antialiased(width: f32, region: f32, cap_region: f32) -> LineState {
        LineState { width, antialias: true, region, cap_region, ..LineState::default() }
    }

    fn smooth(state: &LineState, a: Point, b: Point) -> Smooth {
        line(state, &single(), &ends(a, b), 0, true).unwrap().smooth.unwrap()
    }

    #[track_caller]
    fn close(smooth: Smooth, x: f32, y: f32, coverage: f32) {
        let found = smooth.coverage(x, y);
        assert!((found - coverage).abs() < 1e-6, "({x}, {y}): {found}, expected {coverage}");
    }

    /// Oracle: Sandy Bridge vol 2 part 1 p.243-244. Coverage rises from 0 at a side of the line to
    /// 1 at half the region width inside. It falls from 1 at an endpoint to 0 at the cap's region
    /// width beyond the endpoint. At corners, coverage is the product of both values.
    #[test]
    fn antialiased_lines_fade() {
        let state = antialiased(2.0, 1.0, 2.0);
        let primitive = line(&state, &single(), &ends(p(2.0, 8.0), p(12.0, 8.0)), 0, true).unwrap();
        let smooth = primitive.smooth.unwrap();
        close(smooth, 7.0, 8.0, 1.0);
        close(smooth, 7.0, 8.5, 1.0);
        close(smooth, 7.0, 8.75, 0.5);
        close(smooth, 7.0, 7.125, 0.25);
        close(smooth, 7.0, 9.0, 0.0);
        close(smooth, 12.0, 8.0, 1.0);
        close(smooth, 12.5, 8.0, 0.75);
        close(smooth, 0.5, 8.0, 0.25);
        close(smooth, 13.0, 7.25, 0.25);
        // Every pixel with any coverage is visited.
        let visited =
            covered(|each| primitive.rasterise(&Samples::CENTRE, SCREEN, &mut |q| each(q)));
        for y in 0..SIDE {
            for x in 0..SIDE {
                let covered = smooth.coverage(x as f32 + 0.5, y as f32 + 0.5) > 0.0;
                assert!(!covered || visited.contains(&(x, y)), "({x}, {y})");
            }
        }
    }

    /// Oracle: |dx| + |dy| of the way from the position to the line (Sandy Bridge vol 2 part 1
    /// p.245). The direction is (0.8, 0.6), so the way to the line is 1.4 times as long as the true
    /// distance. For a line along an axis both modes are the same.
    #[test]
    fn manhattan_distance() {
        let (a, b) = (p(2.0, 2.0), p(10.0, 8.0));
        for (manhattan, stretch) in [(false, 1.0), (true, 1.4)] {
            let state = LineState { manhattan, ..antialiased(4.0, 2.0, 2.0) };
            let smooth = smooth(&state, a, b);
            for (along, across) in [(0.0, 0.0), (0.0, 1.1), (0.0, -1.3), (5.5, 0.0), (-5.75, 1.2)] {
                let (x, y) = (6.0 + 0.8 * along - 0.6 * across, 5.0 + 0.6 * along + 0.8 * across);
                let side = (2.0 - f32::abs(across) * stretch).clamp(0.0, 1.0);
                let end = (1.0 - (f32::abs(along) - 5.0) * stretch / 2.0).clamp(0.0, 1.0);
                close(smooth, x, y, side * end);
            }
            let straight = line(&state, &single(), &ends(p(2.0, 8.0), p(12.0, 8.0)), 0, true);
            close(straight.unwrap().smooth.unwrap(), 7.0, 9.5, 0.5);
        }
    }

    /// Oracle: the worked example of Sandy Bridge vol 2 part 1 p.292-294. The line's middle is two
    /// pixels from both edges and has alpha 148/255, the pixel beside it 54/255, the next one 0.
    #[test]
    fn slope_and_bias() {
        let slopes = [[141.0 / 256.0, 87.0 / 256.0]; 2];
        let smooth =
            smooth(&LineState { slopes, ..antialiased(4.0, 0.5, 4.0) }, p(2.0, 8.5), p(12.0, 8.5));
        for (y, alpha) in [(8.5, 148.0), (9.5, 54.0), (7.5, 54.0), (10.5, 0.0), (6.5, 0.0)] {
            let found = smooth.coverage(7.0, y) * 255.0;
            assert!((found - alpha).abs() < 0.5, "{y}: {found}, expected {alpha}");
        }
        // Test one pixel and two pixels before the edge of the end cap, which is at x = 16.
        close(smooth, 15.0, 8.5, (54.0 / 256.0) * smooth.coverage(7.0, 8.5));
        close(smooth, 14.0, 8.5, (195.0 / 256.0) * smooth.coverage(7.0, 8.5));
    }

    #[test]
    fn smooth_points_are_round() {
        let state = PointState { width: None, smooth: true, ..PointState::default() };
        let vertex = ScreenVertex { at: p(8.0, 8.0), z: 0.0, inv_w: 1.0 };
        let disc = point(&state, &single(), &vertex, 4.0).unwrap().smooth.unwrap();
        assert_eq!([8.0, 10.0, 10.5].map(|x| disc.coverage(x, 8.0)), [1.0, 0.5, 0.0]);
        assert!(disc.coverage(9.75, 9.75) < 0.05);
        // Widths from vertices are clamped; those from state are not.
        let narrow = PointState { bounds: [1.0, 3.0], smooth: false, ..state };
        let pixels = |width: f32| {
            point(&narrow, &single(), &vertex, width).unwrap().pixels(&Samples::CENTRE)
        };
        assert_eq!(pixels(0.25), pixels(1.0));
        assert_eq!(pixels(200.0), pixels(3.0));
        assert_eq!(point(&narrow, &single(), &vertex, f32::NAN), None);
        assert_eq!(
            point(&PointState { width: Some(0.0), ..narrow }, &single(), &vertex, 5.0),
            None
        );
    }

    /// Oracle: OpenGL 4.6 compatibility, 14.5.2.2: bit floor(s / r) mod 16 for the s-th pixel.
    #[test]
    fn line_stipple() {
        let stipple = LineStipple { pattern: 0b0000_1111_0000_0101, repeat: 3 };
        for s in 0..200_u32 {
            let bit = (s / 3) % 16;
            assert_eq!(stipple.draws(s), [0, 2, 8, 9, 10, 11].contains(&bit), "{s}");
        }
        assert!(LineStipple { pattern: 1, repeat: 0 }.draws(16), "a repeat count of 0 is 1");
        let at = |a, b, x, y| {
            let primitive = line(&LineState::default(), &single(), &ends(a, b), 5, true).unwrap();
            primitive.stippled.unwrap().position(x, y)
        };
        assert_eq!(at(p(2.5, 3.5), p(9.5, 5.5), 6, 4), 5 + 4);
        assert_eq!(at(p(9.5, 5.5), p(2.5, 3.5), 6, 4), 5 + 3);
        assert_eq!(at(p(2.5, 3.5), p(3.5, 9.5), 2, 8), 5 + 5);
        assert_eq!(pixels_along(p(2.5, 3.5), p(9.5, 5.5)), 7);
    }
}
