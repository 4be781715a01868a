//! A client of the device that uses it through libc.

use genxml::core::{Address, U};
use genxml::gen8::mi::{MiBatchBufferEnd, MiStoreDataImm};
use genxml_drm_uapi::{Request, i915};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

/// Calls an ioctl.
pub fn ioctl<T>(file: &File, request: Request, argument: &mut T) -> std::io::Result<()> {
    // SAFETY: the argument has the size that the request says, and lives until the call returns.
    let result =
        unsafe { libc::ioctl(file.as_raw_fd(), request.0.into(), std::ptr::from_mut(argument)) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Maps an object. The GPU and child processes write the memory, so its dwords are atomic.
pub fn map(file: &File, length: usize, offset: u64) -> &'static [AtomicU32] {
    // SAFETY: without an address the kernel maps the file where nothing is mapped.
    let at = unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let (file, offset) = (file.as_raw_fd(), offset as i64);
        libc::mmap64(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file, offset)
    };
    assert_ne!(at, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
    // SAFETY: the mapping has this length, is aligned to a page, and is never unmapped.
    unsafe { std::slice::from_raw_parts(at.cast(), length / 4) }
}

/// Creates and maps an object. Returns its handle and its mapping.
pub fn object(file: &File, bytes: u64) -> (u32, &'static [AtomicU32]) {
    let mut create = i915::GemCreate { size: bytes, ..Default::default() };
    ioctl(file, Request::i915::<i915::GemCreate>(i915::nr::GEM_CREATE), &mut create).unwrap();
    let mut offset = i915::GemMmapOffset { handle: create.handle, flags: 2, ..Default::default() };
    ioctl(file, Request::i915::<i915::GemMmapOffset>(i915::nr::GEM_MMAP_OFFSET), &mut offset)
        .unwrap();
    (create.handle, map(file, bytes as usize, offset.offset))
}

/// Opens the device.
pub fn open() -> File {
    File::options().read(true).write(true).open("/dev/dri/renderD128").unwrap()
}

/// Address of the object that batches write.
pub const DATA: u64 = 0x8000_0000;

/// Writes a batch that stores the numbers from 1 to `last`, one after another, all at [`DATA`] + 8.
pub fn stores(batch: &[AtomicU32], last: u64) {
    let mut at = 0;
    let mut put = |dwords: &[u32]| {
        for dword in dwords {
            batch[at].store(*dword, Ordering::Relaxed);
            at += 1;
        }
    };
    for value in 1..=last {
        let stored = [U::<32>::new(value).unwrap()];
        let address = Address::from_bits(DATA + 8);
        let packet =
            MiStoreDataImm { data_dword: (&stored).into(), ..MiStoreDataImm::new(address) };
        let mut dwords = [0; 8];
        let length = packet.pack_into(&mut dwords).unwrap();
        put(&dwords[..length]);
    }
    put(&MiBatchBufferEnd::new().pack());
}

/// Submits a batch with the object that it writes.
pub fn submit(file: &File, data: u32, batch: u32) -> std::io::Result<()> {
    let flags = i915::object::PINNED;
    let mut list = [
        i915::ExecObject2 { handle: data, offset: DATA, flags, ..Default::default() },
        i915::ExecObject2 { handle: batch, offset: 0x9000_0000, flags, ..Default::default() },
    ];
    let mut exec = i915::ExecBuffer2 {
        buffers_ptr: list.as_mut_ptr() as u64,
        buffer_count: 2,
        ..Default::default()
    };
    ioctl(file, Request::i915::<i915::ExecBuffer2>(i915::nr::GEM_EXECBUFFER2), &mut exec)
}

/// Waits until no submission uses an object.
pub fn wait(file: &File, object: u32) {
    let mut wait = i915::GemWait { bo_handle: object, flags: 0, timeout_ns: -1 };
    ioctl(file, Request::i915::<i915::GemWait>(i915::nr::GEM_WAIT), &mut wait).unwrap();
}

/// Stores the numbers from 1 to `value` with the GPU, and checks that `value` is left in the mapped
/// memory.
pub fn compute(file: &File, value: u64) {
    let (data, numbers) = object(file, 4096);
    let (batch, commands) = object(file, 1 << 16);
    stores(commands, value);
    submit(file, data, batch).unwrap();
    wait(file, batch);
    let number = |index: usize| numbers[index].load(Ordering::Relaxed);
    assert_eq!((u64::from(number(2)), number(1)), (value, 0));
}
