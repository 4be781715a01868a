//! The process that the library is loaded into, as the device needs it.

use super::{arena, client, thread};
use crate::device::host::{self, FilePages, Host, Mappable, UserPages};
use rustix::fd::{OwnedFd, RawFd};
use rustix::io::Errno;
use std::sync::Arc;

/// This process.
#[derive(Debug)]
pub struct Process;

/// This process, for [`Device::new`](crate::device::Device::new).
pub static PROCESS: &dyn Host = &Process;

impl Host for Process {
    fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Errno> {
        client::read(address, out)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        client::write(address, bytes)
    }

    fn is_accessible(&self, address: u64, bytes: u64, writable: bool) -> bool {
        client::is_accessible(address, bytes, writable)
    }

    fn is_admin(&self) -> bool {
        use rustix::thread::{CapabilitySet, capabilities};
        let sets = capabilities(None);
        sets.is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
    }

    fn duplicate(&self, number: RawFd) -> Result<OwnedFd, Errno> {
        client::duplicate(number)
    }

    fn map(&self, memory: Mappable, bytes: u64) -> Result<u64, Errno> {
        client::map(memory, bytes)
    }

    fn new_arena(&self) -> Result<Box<dyn host::Arena>, Errno> {
        Ok(Box::new(arena::Arena::new()?))
    }

    fn import(&self, file: OwnedFd, offset: u64, bytes: u64) -> Result<Arc<dyn FilePages>, Errno> {
        Ok(Arc::new(arena::import(file, offset, bytes)?))
    }

    fn user_pages(&self, address: u64, bytes: u64, writable: bool) -> Arc<dyn UserPages> {
        Arc::new(client::Pinned::new(address, bytes, writable))
    }

    fn spawn(&self, work: Box<dyn FnOnce() + Send>) -> Result<(), Errno> {
        thread::spawn(work)
    }
}
