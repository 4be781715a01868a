//! Tests of the device through its ioctls. Oracle: the kernel's interface. The expected values in
//! memory are those that the batches store.
//!
//! This file has the client and its batches. The tests are in other files, one for each topic.

#![allow(unused_assignments, reason = "the device reads variables through their addresses")]

use super::*;
use crate::edge::host::PROCESS;
use crate::uapi::i915::{ExecBuffer2, ExecObject2, exec, object};
use crate::uapi::{COMMAND_BASE, Request, drm, i915, mode};
use bytemuck::Pod;
use genxml::core::{Address, U};
use genxml::gen8::mi::{MiBatchBufferEnd, MiStoreDataImm};
use rustix::fd::{AsFd, FromRawFd};

mod asynchronous;
mod contexts;
mod display;
mod fences;
mod frame_buffers;
mod g45;
mod leases;
mod objects;
mod queries;
mod sharing;
mod submissions;
mod time_slices;

/// A client with an open device.
struct Client {
    device: Device,
    id: Id,
    /// The client's end of the descriptor.
    end: OwnedFd,
}

impl Drop for Client {
    fn drop(&mut self) {
        let errors = &self.device.config.errors;
        if *errors != std::env::temp_dir() {
            std::fs::remove_dir_all(errors).unwrap();
        }
    }
}

impl Client {
    fn open(minor: u32) -> Client {
        // Each test has its own directory, because tests run in parallel.
        let errors = std::env::temp_dir().join(format!(
            "genx-shim-{}-{}",
            std::process::id(),
            Id::new().serial
        ));
        std::fs::create_dir_all(&errors).unwrap();
        Client::with(minor, Config { work_limit: 1 << 20, errors, ..Config::default() })
    }

    fn with(minor: u32, config: Config) -> Client {
        let mut device = Device::new(config, PROCESS);
        let id = Id::new();
        let (end, channel) = Descriptor::Device { id, minor }.create(true).unwrap();
        device.open(id, minor, Some(channel));
        Client { device, id, end }
    }

    fn core<T: Pod>(&mut self, number: u32, argument: &mut T) -> Outcome {
        match self.begin(number, argument) {
            Err(Stop::After(fence)) => fence.wait().map_err(Stop::Errno),
            Err(Stop::AfterWork(fence)) => fence.wait_or_rest().map_err(Stop::Errno),
            outcome => outcome,
        }
    }

    /// Calls an ioctl once, without waiting.
    fn begin<T: Pod>(&mut self, number: u32, argument: &mut T) -> Outcome {
        let address = std::ptr::from_mut(argument) as u64;
        self.device.ioctl(self.id, Request::of::<T>(number), address, now())
    }

    /// Numbers of the machine's objects, context states and unused model contexts.
    fn counts(&self) -> [usize; 3] {
        let (send, receive) = std::sync::mpsc::channel();
        self.device.queue.when_idle(move |machine| send.send(machine.counts()).unwrap());
        receive.recv().unwrap()
    }

    fn i915<T: Pod>(&mut self, number: u32, argument: &mut T) -> Outcome {
        self.core(COMMAND_BASE + number, argument)
    }

    fn create(&mut self, size: u64) -> u32 {
        let mut create = i915::GemCreate { size, ..Default::default() };
        self.i915(i915::nr::GEM_CREATE, &mut create).unwrap();
        create.handle
    }

    fn write(&mut self, handle: u32, offset: u64, bytes: &[u8]) -> Outcome {
        let (size, data_ptr) = (bytes.len() as u64, bytes.as_ptr() as u64);
        let mut write = i915::GemTransfer { handle, offset, size, data_ptr, ..Default::default() };
        self.i915(i915::nr::GEM_PWRITE, &mut write)
    }

    fn read<const N: usize>(&mut self, handle: u32, offset: u64) -> [u8; N] {
        let mut bytes = [0xee; N];
        let data_ptr = bytes.as_mut_ptr() as u64;
        let mut read =
            i915::GemTransfer { handle, offset, size: N as u64, data_ptr, ..Default::default() };
        self.i915(i915::nr::GEM_PREAD, &mut read).unwrap();
        bytes
    }

    /// Submits a list of objects, of which the last is the batch unless the flags say otherwise.
    fn exec(&mut self, objects: &mut [ExecObject2], flags: u64, context: u32) -> Outcome {
        let mut exec = ExecBuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: objects.len() as u32,
            flags,
            rsvd1: context.into(),
            ..Default::default()
        };
        self.i915(i915::nr::GEM_EXECBUFFER2, &mut exec)
    }

    /// The handle of a new batch that stores `value` at `address`.
    fn store_batch(&mut self, address: u64, value: u64) -> u32 {
        let batch = self.create(4096);
        self.write(batch, 0, &store(address, value)).unwrap();
        batch
    }
}

/// `N` bytes of an object's memory.
fn bytes<const N: usize>(pages: &dyn host::FilePages, offset: u64) -> [u8; N] {
    let mut bytes = [0; N];
    pages.read(offset, &mut bytes).unwrap();
    bytes
}

fn errno<T>(error: Errno) -> Result<T, Stop> {
    Err(Stop::Errno(error))
}

fn pinned(handle: u32, offset: u64) -> ExecObject2 {
    ExecObject2 {
        handle,
        offset,
        flags: object::PINNED | object::SUPPORTS_48B,
        ..Default::default()
    }
}

/// A batch that stores `value`, which must fit in 32 bits, as a dword at `address`.
fn store(address: u64, value: u64) -> Vec<u8> {
    store_after(&[], address, value)
}

/// The same batch with the dwords `before` at its start.
fn store_after(before: &[u32], address: u64, value: u64) -> Vec<u8> {
    let data = [U::<32>::new(value).unwrap()];
    let packet = MiStoreDataImm {
        data_dword: (&data).into(),
        ..MiStoreDataImm::new(Address::from_bits(address))
    };
    let mut dwords = before.to_vec();
    dwords.resize(before.len() + packet.dwords(), 0);
    packet.pack_into(&mut dwords[before.len()..]).unwrap();
    dwords.extend(MiBatchBufferEnd::new().pack());
    dwords.push(0);
    dwords.truncate(dwords.len() / 2 * 2);
    bytemuck::cast_slice(&dwords).to_vec()
}

/// Byte offset of the store's address in a batch that [`store`] returns.
const ADDRESS_FIELD: u64 = 4;

/// A client whose submissions run while it continues.
fn asynchronous() -> Client {
    asynchronous_at(RENDER)
}

/// As [`asynchronous`], with the device node `minor`.
fn asynchronous_at(minor: u32) -> Client {
    let errors =
        std::env::temp_dir().join(format!("genx-shim-{}-{}", std::process::id(), Id::new().serial));
    std::fs::create_dir_all(&errors).unwrap();
    Client::with(
        minor,
        Config { work_limit: 1 << 20, errors, asynchronous: true, ..Config::default() },
    )
}

impl Client {
    /// A sync file, and the device's end of it, with which the test signals the sync file.
    fn gate() -> (OwnedFd, OwnedFd) {
        descriptor::new_fence().unwrap()
    }

    /// Submits a list of objects. The submission waits for the sync file `gate`. Returns its
    /// out-fence.
    fn exec_after(&mut self, gate: &OwnedFd, objects: &mut [ExecObject2]) -> OwnedFd {
        let mut exec = ExecBuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: objects.len() as u32,
            flags: exec::FENCE_IN | exec::FENCE_OUT,
            rsvd2: rustix::fd::AsRawFd::as_raw_fd(gate) as u64,
            ..Default::default()
        };
        assert_eq!(self.begin(COMMAND_BASE + i915::nr::GEM_EXECBUFFER2, &mut exec), Ok(()));
        // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
        unsafe { OwnedFd::from_raw_fd((exec.rsvd2 >> 32) as i32) }
    }

    fn busy(&mut self, handle: u32) -> u32 {
        let mut busy = i915::GemBusy { handle, busy: 9 };
        self.i915(i915::nr::GEM_BUSY, &mut busy).unwrap();
        busy.busy
    }

    /// Calls GEM_WAIT until it completes. Returns its outcome and the time that is left.
    fn wait(&mut self, handle: u32, timeout_ns: i64) -> (Outcome, i64) {
        let mut wait = i915::GemWait { bo_handle: handle, flags: 0, timeout_ns };
        let since = now();
        loop {
            let (changes, address) = (self.device.changes(), std::ptr::from_mut(&mut wait) as u64);
            let seen = changes.count();
            let request = Request::i915::<i915::GemWait>(i915::nr::GEM_WAIT);
            match self.device.ioctl(self.id, request, address, since) {
                Err(Stop::Wait(until)) => {
                    changes.wait(seen, until);
                }
                outcome => return (outcome, wait.timeout_ns),
            }
        }
    }
}
