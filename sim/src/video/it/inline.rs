//! The inline data of MFD_IT_OBJECT.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfd::MfdItObject;

/// The dwords of inline data.
///
/// # Errors
/// [`Fault::BadPacket`] if the packet has fewer or more.
pub fn dwords<const N: usize>(
    exec: &Exec<'_>,
    packet: &MfdItObject<'_>,
) -> Result<[u32; N], Fault> {
    let mut dwords = packet.inline_data.iter().map(|dword| dword.get() as u32);
    let all = std::array::from_fn(|_| dwords.next().unwrap_or(0));
    let count = packet.inline_data.iter().count();
    match count == N {
        true => Ok(all),
        false => {
            let why = format!("the inline data have {count} dwords; this standard has {N}");
            Err(exec.bad_field("DWord Length", 5 + count as u64, why))
        }
    }
}
