//! The pixels that a thread of a pixel shader shades, from its payload.

use genxml::gen8::thread_payloads::PsThreadPayload;
use genxml_core::packet::{Dwords, Fixed};

/// Bytes of a register.
const REGISTER: usize = 32;
/// Subspans in one r1 of a payload.
const SUBSPANS: usize = 4;

/// Calls `each` with the slice (render target array index), x and y of each pixel that a thread of
/// Gen8 shades. `is_wide` is true for a thread of 32 pixels.
pub fn fragments(payload: &[u8], is_wide: bool, mut each: impl FnMut(u32, u32, u32)) {
    half(payload, &mut each);
    if is_wide && payload.len() >= 3 * REGISTER {
        // A thread of 32 pixels has a second r1.
        let mut second = payload[..REGISTER].to_vec();
        second.extend_from_slice(&payload[2 * REGISTER..3 * REGISTER]);
        half(&second, &mut each);
    }
}

/// The pixels of r0 and one r1.
fn half(payload: &[u8], each: &mut impl FnMut(u32, u32, u32)) {
    let Some(bytes) = payload.get(..2 * REGISTER) else { return };
    let words: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
    let dwords = <PsThreadPayload as Fixed>::Dwords::padded(&words);
    let payload = PsThreadPayload::from_dwords_lossy(&dwords);
    let mask = payload.pixel_mask.get();
    let slice = payload.render_target_array_index.get();
    for (number, subspan) in payload.subspan.iter().enumerate().take(SUBSPANS) {
        for pixel in (0..4).filter(|pixel| mask >> (4 * number + pixel) & 1 == 1) {
            let (x, y) = (subspan.x.get() as u32, subspan.y.get() as u32);
            each(slice as u32, x + pixel as u32 % 2, y + pixel as u32 / 2);
        }
    }
}
