//! Chains of extensions, with which clients pass optional arguments.

use crate::device::host::Host;
use crate::uapi::Extension;
use rustix::io::Errno;

/// Largest number of extensions in a chain.
const MAX_EXTENSIONS: usize = 64;

/// The chain of extensions at an address, each with its own address.
///
/// # Errors
/// EFAULT if an extension cannot be read; EINVAL for flags or reserved fields that are not 0; E2BIG
/// for more than 64 extensions.
pub(super) fn extensions(
    host: &dyn Host,
    mut address: u64,
) -> Result<Vec<(Extension, u64)>, Errno> {
    let mut chain = Vec::new();
    while address != 0 {
        if chain.len() == MAX_EXTENSIONS {
            return Err(Errno::TOOBIG);
        }
        let extension: Extension = host.value(address)?;
        if extension.flags != 0 || extension.reserved != [0; 4] {
            return Err(Errno::INVAL);
        }
        chain.push((extension, address));
        address = extension.next;
    }
    Ok(chain)
}
