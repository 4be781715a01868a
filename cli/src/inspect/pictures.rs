//! Pictures of a step as PNG files.

use genxml_sim::inspect::frame::{SeenTarget, heat::Heat};
use genxml_sim::inspect::image::{Image, MOST};
use genxml_sim::inspect::picture;

/// A PNG file; `None` for a picture without pixels.
pub fn png(image: &Image) -> Option<Vec<u8>> {
    let mut file = Vec::new();
    let Image { width, height, rgba } = image;
    picture::encode_rgba(&mut file, *width, *height, rgba).ok()?;
    Some(file)
}

/// The pixels whose bytes differ before and after the step: the difference of each colour, at least
/// 64 in the greatest one. Equal pixels are black.
pub fn difference(target: &SeenTarget) -> Option<Image> {
    let [Some(before), Some(after)] = &target.images else { return None };
    let [old, new] = &target.texels;
    let step = old.width.max(old.height).div_ceil(MOST).max(1) as usize;
    let width = after.width as usize;
    let pixels = before.rgba.chunks_exact(4).zip(after.rgba.chunks_exact(4)).enumerate();
    let rgba = pixels.flat_map(|(number, (before, after))| {
        let (x, y) = (number % width * step, number / width * step);
        let index = y * old.width as usize + x;
        if old.value(index) == new.value(index) {
            return [0, 0, 0, 255];
        }
        let parts: [u8; 3] = std::array::from_fn(|part| before[part].abs_diff(after[part]));
        let most = parts.into_iter().max().unwrap_or(0);
        let [red, green, blue] = parts.map(|part| part.saturating_add(64u8.saturating_sub(most)));
        [red, green, blue, 255]
    });
    Some(Image { width: after.width, height: after.height, rgba: rgba.collect() })
}

/// A map of counts: 0 is transparent, 1 is blue, the greatest count is red.
pub fn heat(heat: &Heat, counts: impl Iterator<Item = u64> + Clone) -> Option<Image> {
    let most = counts.clone().max()?.max(1);
    let rgba = counts.flat_map(|count| match count {
        0 => [0; 4],
        _ => color(count as f64 / most as f64),
    });
    Some(Image { width: heat.width, height: heat.height, rgba: rgba.collect() })
}

/// Blue, cyan, green, yellow, red for 0 to 1.
fn color(part: f64) -> [u8; 4] {
    const STOPS: [[f64; 3]; 5] = [
        [40.0, 70.0, 200.0],
        [0.0, 180.0, 220.0],
        [40.0, 190.0, 70.0],
        [250.0, 210.0, 40.0],
        [220.0, 30.0, 30.0],
    ];
    let at = part.clamp(0.0, 1.0) * 4.0;
    let first = (at as usize).min(3);
    let mix = |n: usize| {
        let (a, b) = (STOPS[first][n], STOPS[first + 1][n]);
        (a + (b - a) * (at - first as f64)) as u8
    };
    [mix(0), mix(1), mix(2), 255]
}
