//! Counts and records accesses that bounds cut off.

use super::slots::Slots;
use super::window::Target;
use crate::mem::outside::{Beyond, Outside};
use crate::surface::Surface;
use crate::unit::port::Port;

/// Counts `cut` accesses that were cut off. If an observer wants accesses, records each active slot
/// of the message whose `bytes` bytes are not all inside.
#[inline(always)]
pub(super) fn slots(
    port: &mut Port<'_, '_>,
    cut: u64,
    target: Target,
    slots: &Slots,
    bytes: u64,
    write: bool,
) {
    port.exec.stats.cut_off += cut;
    if cut > 0 && port.exec.vm.log().is_some() {
        for n in (0..slots.simd.count()).filter(|n| slots.has(*n)) {
            let channel = (n * slots.simd.channels()) as u32;
            let (offset, end) = (slots.offsets[n], slots.ends[n]);
            bytes_at(port, target, channel, Beyond::Bytes { offset, bytes, end }, write);
        }
    }
}

/// Records an access to `bytes` bytes at `offset` of the target if it goes beyond `end`. A null
/// surface has no bounds: programs use it to drop accesses.
#[cold]
pub(super) fn bytes_at(
    port: &Port<'_, '_>,
    target: Target,
    channel: u32,
    beyond: Beyond,
    write: bool,
) {
    let base = match target {
        Target::NOTHING => return,
        Target::Local => None,
        Target::Memory { base, .. } | Target::Structured { base, .. } => Some(base),
    };
    let inside = match beyond {
        Beyond::Bytes { offset, bytes, end } => offset.saturating_add(bytes) <= end,
        Beyond::Element(_) | Beyond::Sampler => false,
    };
    if let (Some(log), false) = (port.exec.vm.log(), inside) {
        log.add_outside(Outside { channel, base, beyond, write });
    }
}

/// Records an access to an element that is not in the surface.
#[cold]
pub(super) fn element(
    port: &Port<'_, '_>,
    surface: &Surface,
    slot: usize,
    at: [u32; 4],
    write: bool,
) {
    if let Some(log) = port.exec.vm.log() {
        let beyond = Beyond::Element(at.map(i64::from));
        let (channel, base) = (slot as u32, Some(surface.base));
        log.add_outside(Outside { channel, base, beyond, write });
    }
}
