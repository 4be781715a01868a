//! The detail filter from the formula of video.md 11.5, with masks as tables.

use genxml::gen8::media_states::SamplerState8x8Avs;

/// Both Sobel masks of the pixels around a pixel, and the ring two pixels apart.
const ACROSS: [[f64; 5]; 5] = [
    [0.0; 5],
    [0.0, -1.0, 0.0, 1.0, 0.0],
    [0.0, -2.0, 0.0, 2.0, 0.0],
    [0.0, -1.0, 0.0, 1.0, 0.0],
    [0.0; 5],
];
const DOWN: [[f64; 5]; 5] =
    [[0.0; 5], [0.0, -1.0, -2.0, -1.0, 0.0], [0.0; 5], [0.0, 1.0, 2.0, 1.0, 0.0], [0.0; 5]];
const RING: [[f64; 5]; 5] = [
    [-1.0, 0.0, -1.0, 0.0, -1.0],
    [0.0; 5],
    [-1.0, 0.0, 8.0, 0.0, -1.0],
    [0.0; 5],
    [-1.0, 0.0, -1.0, 0.0, -1.0],
];

/// Luma of a pixel in 1/65536, from luma of the pixels around it.
pub fn enhanced(state: &SamplerState8x8Avs, around: [[u16; 5]; 5]) -> u16 {
    let ten = around.map(|row| row.map(|luma| (f64::from(luma) / 64.0).floor()));
    let sum = |mask: [[f64; 5]; 5]| -> f64 {
        ten.iter().flatten().zip(mask.iter().flatten()).map(|(luma, weight)| luma * weight).sum()
    };
    let edge = ((sum(ACROSS).abs() + sum(DOWN).abs() + 4.0) / 8.0).floor().min(15.0) as u64;
    let weight = if edge > state.strong_edge_threshold.get() {
        state.strong_edge_weight.get()
    } else if edge > state.weak_edge_threshold.get() {
        state.regular_weight.get()
    } else {
        state.non_edge_weight.get()
    };
    let near: Vec<f64> = ten[1..4].iter().flat_map(|row| row[1..4].to_vec()).collect();
    let least = near.iter().copied().fold(f64::INFINITY, f64::min);
    let most = near.iter().copied().fold(0.0, f64::max);
    let factor = (state.gain_factor.get() * weight) as f64;
    let change = sum(RING).clamp(-128.0, 128.0) * factor + 64.0;
    let change = (change / (128.0 * (8.0 + most - least).min(255.0))).trunc();
    (f64::from(around[2][2]) + 64.0 * change).clamp(0.0, 65535.0) as u16
}
