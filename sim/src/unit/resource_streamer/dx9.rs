//! The constant registers of DX9 inside the resource streamer, and the constant buffers that it
//! makes from them. Each stage has global registers, which an application sets, and local ones,
//! which a shader defines. A valid local register hides the global one with the same number.

use super::chip::{Dx9, Dx9Stage, Registers, ResourceStreamer, Valid, running, switched_off};
use crate::assumptions::{DX9_BOOLEANS_AT, DX9_BUFFER_BYTES, DX9_INTEGERS_AT};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;

/// Sets registers from number `first` on. `choose` selects the floats, the integers or the booleans
/// of the set.
///
/// # Errors
/// [`Fault::BadPacket`] if the streamer does not follow the batch, or if there are more values than
/// registers.
pub fn set<T, const N: usize>(
    exec: &mut Exec<'_>,
    stage: Dx9Stage,
    global: bool,
    first: u64,
    values: impl ExactSizeIterator<Item = T>,
    choose: impl FnOnce(&mut Registers) -> &mut [T; N],
) -> Result<(), Fault> {
    running(exec)?;
    if first + values.len() as u64 > N as u64 {
        let why = format!("the {} values end after the last of {N} registers", values.len());
        return Err(exec.bad_field("Constant Register Index", first, why));
    }
    let constants = &mut ResourceStreamer::chip(exec).dx9[stage as usize];
    let set = if global { &mut constants.global } else { &mut constants.local };
    choose(set).iter_mut().skip(first as usize).zip(values).for_each(|(to, from)| *to = from);
    Ok(())
}

/// 3DSTATE_DX9_LOCAL_VALID_*: replaces the valid bits of all local registers (2a p.92-95).
///
/// # Errors
/// [`Fault::BadPacket`] if the streamer does not follow the batch.
pub fn set_valid(exec: &mut Exec<'_>, stage: Dx9Stage, valid: Valid) -> Result<(), Fault> {
    running(exec)?;
    ResourceStreamer::chip(exec).dx9[stage as usize].valid = valid;
    Ok(())
}

/// 3DSTATE_DX9_GENERATE_ACTIVE_*: writes the active registers to the buffer at `offset` in the
/// pool, and resets the valid bits of the local registers (2a p.88-91). With `hides`, a valid local
/// register is active instead of the global one; otherwise, as in DX8, all global registers are
/// active. With `clamp`, global floats are clamped to -1..1 in the buffer. No effect if the pool is
/// disabled.
///
/// # Errors
/// [`Fault::BadPacket`] if the streamer does not follow the batch, or for a buffer that ends after
/// the pool; `field` names the packet's pointer. [`Fault::Page`] at the pool.
pub fn generate(
    exec: &mut Exec<'_>,
    stage: Dx9Stage,
    (field, offset): (&'static str, u64),
    hides: bool,
    clamp: bool,
) -> Result<(), Fault> {
    running(exec)?;
    let chip = ResourceStreamer::chip(exec);
    let Some(pool) = chip.dx9_pool else {
        switched_off(exec);
        return Ok(());
    };
    let constants = &mut chip.dx9[stage as usize];
    let buffer = buffer(constants, hides, clamp);
    constants.valid = Valid::default();
    if pool.after(offset) < DX9_BUFFER_BYTES as u64 {
        let why = format!("the buffer ends after the pool, which has {} bytes", pool.bytes);
        return Err(exec.bad_field(field, offset, why));
    }
    exec.vm
        .write(pool.address(offset), bytemuck::cast_slice(&buffer))
        .map_err(|fault| exec.page(fault, "DX9 constant buffer pool"))?;
    exec.stats.bytes_written += DX9_BUFFER_BYTES as u64;
    Ok(())
}

/// The dwords of the constant buffer. The layout is that of assumptions::DX9_INTEGERS_AT and
/// assumptions::DX9_BOOLEANS_AT.
fn buffer(constants: &Dx9, hides: bool, clamp: bool) -> [u32; DX9_BUFFER_BYTES / 4] {
    let Dx9 { global, local, valid } = constants;
    let mut dwords = [0; DX9_BUFFER_BYTES / 4];
    let bit = |bits: u32, register: usize| hides && bits >> register & 1 != 0;
    let (floats, rest) = dwords.split_at_mut(DX9_INTEGERS_AT / 4);
    let (integers, booleans) = rest.split_at_mut((DX9_BOOLEANS_AT - DX9_INTEGERS_AT) / 4);
    for (register, to) in floats.chunks_exact_mut(4).enumerate() {
        to.copy_from_slice(&match bit(valid.floats[register / 32], register % 32) {
            true => local.floats[register],
            false if clamp => global.floats[register].map(clamped),
            false => global.floats[register],
        });
    }
    for (register, to) in integers.chunks_exact_mut(4).enumerate() {
        let set = if bit(valid.integers, register) { local } else { global };
        to.copy_from_slice(&set.integers[register]);
    }
    for (register, to) in booleans.iter_mut().enumerate() {
        let set = if bit(valid.booleans, register) { local } else { global };
        *to = set.booleans[register];
    }
    dwords
}

/// The float with these bits, clamped to -1..1. A NaN stays as it is
/// (assumptions::DX9_CLAMP_KEEPS_INTEGERS_AND_NAN).
fn clamped(bits: u32) -> u32 {
    f32::from_bits(bits).clamp(-1.0, 1.0).to_bits()
}
