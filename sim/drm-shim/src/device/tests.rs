//! The device as a client sees it, ioctl by ioctl. Oracle: what the kernel's interface promises;
//! stored values are those that the batches' own commands name.

#![allow(unused_assignments, reason = "the device reads what is assigned by its address")]

use super::*;
use crate::edge::host::PROCESS;
use crate::uapi::COMMAND_BASE;
use crate::uapi::i915::{ExecBuffer2, ExecObject2, exec, object};
use genxml::core::{Address, U};
use genxml::gen8::mi::{MiBatchBufferEnd, MiStoreDataImm};
use rustix::fd::{AsFd, FromRawFd};

/// A client with the device open.
struct Client {
    device: Device,
    id: Id,
    /// Its end of the descriptor.
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
        // One for each test: they run side by side.
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
            outcome => outcome,
        }
    }

    /// The same without waiting for anything.
    fn begin<T: Pod>(&mut self, number: u32, argument: &mut T) -> Outcome {
        let address = std::ptr::from_mut(argument) as u64;
        self.device.ioctl(self.id, Request::of::<T>(number), address, now())
    }

    /// What the machine has: objects, states and spare contexts.
    fn counts(&self) -> [usize; 3] {
        let (send, receive) = std::sync::mpsc::channel();
        self.device.queue.tell(move |machine| send.send(machine.counts()).unwrap());
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

    /// Submits a list of objects.
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

    /// A batch that stores `value` at `address`.
    fn store_batch(&mut self, address: u64, value: u64) -> u32 {
        let batch = self.create(4096);
        self.write(batch, 0, &store(address, value)).unwrap();
        batch
    }
}

/// Bytes of mapped memory.
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

/// A batch that stores the low dword of `value`.
fn store(address: u64, value: u64) -> Vec<u8> {
    let data = [U::<32>::new(value).unwrap()];
    let packet = MiStoreDataImm {
        data_dword: (&data).into(),
        ..MiStoreDataImm::new(Address::from_bits(address))
    };
    let mut dwords = vec![0; packet.dwords()];
    packet.pack_into(&mut dwords).unwrap();
    dwords.extend(MiBatchBufferEnd::new().pack());
    dwords.push(0);
    dwords.truncate(dwords.len() / 2 * 2);
    bytemuck::cast_slice(&dwords).to_vec()
}

/// Byte of the store's address within its batch.
const ADDRESS_FIELD: u64 = 4;

/// Wrong addresses are errors.
#[test]
fn wrong_addresses() {
    let mut bytes = [1u8, 2, 3, 4];
    let address = bytes.as_mut_ptr() as u64;
    assert_eq!(PROCESS.value::<u32>(address), Ok(u32::from_ne_bytes(bytes)));
    PROCESS.put(address, &9u32).unwrap();
    assert_eq!(PROCESS.value::<u32>(address), Ok(9));
    for wrong in [0, 4, u64::MAX, 1 << 47] {
        assert_eq!(PROCESS.value::<u32>(wrong), Err(Errno::FAULT), "{wrong:#x}");
        assert_eq!(PROCESS.put(wrong, &1u32), Err(Errno::FAULT), "{wrong:#x}");
    }
    assert_eq!(PROCESS.array::<u64>(address, u64::MAX), Err(Errno::TOOBIG));
    assert_eq!(PROCESS.array::<u64>(0, 1 << 20), Err(Errno::FAULT));
}

#[test]
fn objects() {
    let mut client = Client::open(RENDER);
    let mut create = i915::GemCreate { size: 5000, ..Default::default() };
    client.i915(i915::nr::GEM_CREATE, &mut create).unwrap();
    assert_eq!((create.size, create.handle), (8192, 1));
    assert_eq!(client.read::<8>(1, 4996), [0; 8]);
    client.write(1, 8190, &[1, 2]).unwrap();
    assert_eq!(client.write(1, 8191, &[1, 2]), errno(Errno::INVAL));
    assert_eq!(client.write(2, 0, &[1, 2]), errno(Errno::NOENT));

    let mut map = i915::GemMmapOffset { handle: 1, flags: 2, ..Default::default() };
    client.i915(i915::nr::GEM_MMAP_OFFSET, &mut map).unwrap();
    let (file, offset) = client.device.mapping(map.offset, 8192).unwrap();
    let pages = PROCESS.import(file, offset, 8192).unwrap();
    assert_eq!(bytes(&*pages, 8190), [1, 2]);
    assert!(client.device.mapping(map.offset + 4096, 8192).is_err());
    assert!(client.device.mapping(77 << 36, 4096).is_err());

    for size in [0, u64::MAX, gem::MAX_SIZE + 1] {
        let mut create = i915::GemCreate { size, ..Default::default() };
        assert_eq!(
            client.i915(i915::nr::GEM_CREATE, &mut create),
            errno(Errno::INVAL),
            "{size:#x}"
        );
    }
    let mut close = drm::GemClose { handle: 1, pad: 0 };
    client.core(drm::nr::GEM_CLOSE, &mut close).unwrap();
    assert_eq!(client.core(drm::nr::GEM_CLOSE, &mut close), errno(Errno::INVAL));
    assert!(client.device.objects.is_empty());
    assert_eq!(client.core(0x90, &mut close), errno(Errno::INVAL));
    assert_eq!(
        client.device.ioctl(client.id, Request::of::<drm::GemClose>(9), 16, 0),
        errno(Errno::FAULT)
    );
}

#[test]
fn pinned_objects() {
    const DATA: u64 = 0xffff_8001_0000_0000;
    let mut client = Client::open(RENDER);
    let data = client.create(4096);
    let batch = client.store_batch(DATA + 8, 0x1234_5678);
    let mut objects = [pinned(data, DATA), pinned(batch, 0x20_0000)];
    client.exec(&mut objects, 0, 0).unwrap();
    assert_eq!(client.read::<4>(data, 8), 0x1234_5678u32.to_le_bytes());

    // The batch comes first, on the engine that copies.
    client.write(data, 8, &[0; 4]).unwrap();
    objects.reverse();
    client.exec(&mut objects, exec::BATCH_FIRST | exec::BLT, 0).unwrap();
    assert_eq!(client.read::<4>(data, 8), 0x1234_5678u32.to_le_bytes());

    let mut twice = [pinned(data, DATA), pinned(batch, DATA)];
    assert_eq!(client.exec(&mut twice, 0, 0), errno(Errno::NOSPC));
    let mut plain = [pinned(data, 0x8001_0000_0000), pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut plain, 0, 0), errno(Errno::INVAL));
    let mut same = [pinned(batch, DATA), pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut same, 0, 0), errno(Errno::INVAL));
    assert_eq!(client.exec(&mut objects, exec::GEN7_SOL_RESET, 0), errno(Errno::INVAL));
    assert_eq!(client.exec(&mut objects, 5, 0), errno(Errno::INVAL));
    assert_eq!(client.exec(&mut objects, 0, 9), errno(Errno::NOENT));
    assert_eq!(client.exec(&mut [], 0, 0), errno(Errno::INVAL));
}

#[test]
fn relocations() {
    let mut client = Client::open(RENDER);
    for lut in [0, exec::HANDLE_LUT] {
        let data = client.create(8192);
        let batch = client.store_batch(0, 77);
        let mut relocation = i915::Relocation {
            target_handle: if lut == 0 { data } else { 0 },
            delta: 4096,
            offset: ADDRESS_FIELD,
            presumed_offset: u64::MAX,
            ..Default::default()
        };
        let mut objects = [
            ExecObject2 { handle: data, ..Default::default() },
            ExecObject2 {
                handle: batch,
                relocation_count: 1,
                relocs_ptr: std::ptr::from_mut(&mut relocation) as u64,
                ..Default::default()
            },
        ];
        client.exec(&mut objects, lut, 0).unwrap();
        assert_eq!(client.read::<4>(data, 4096), [77, 0, 0, 0]);
        assert_eq!(relocation.presumed_offset, objects[0].offset);
        assert_ne!(objects[0].offset, 0);
        assert!(objects[1].offset >> 32 == 0);
        // They stay where they are, so that nothing has to be written the next time.
        let offsets = objects.map(|object| object.offset);
        relocation.offset = u64::MAX;
        client.exec(&mut objects, lut | exec::NO_RELOC, 0).unwrap();
        assert_eq!(objects.map(|object| object.offset), offsets);
        relocation.presumed_offset = 0;
        assert_eq!(client.exec(&mut objects, lut, 0), errno(Errno::INVAL));
        relocation.target_handle = 99;
        assert_eq!(client.exec(&mut objects, lut, 0), errno(Errno::NOENT));
    }
}

/// A target may lie behind what is meant. Oracle: Linux' relocation_target.
#[test]
fn relocations_backwards() {
    const DATA: u64 = 0x3000_0000;
    let mut client = Client::open(RENDER);
    let (data, behind) = (client.create(4096), client.create(4096));
    let batch = client.store_batch(0, 78);
    let mut relocation = i915::Relocation {
        target_handle: behind,
        delta: (-8i32).cast_unsigned(),
        offset: ADDRESS_FIELD,
        presumed_offset: u64::MAX,
        ..Default::default()
    };
    let mut objects = [pinned(data, DATA), pinned(behind, DATA + 4096), pinned(batch, 0x20_0000)];
    (objects[2].relocation_count, objects[2].relocs_ptr) =
        (1, std::ptr::from_mut(&mut relocation) as u64);
    client.exec(&mut objects, 0, 0).unwrap();
    assert_eq!(client.read::<4>(data, 4096 - 8), [78, 0, 0, 0]);
}

/// What a submission does not list it does not see; the client is told, and can look at what is
/// left.
#[test]
fn faults() {
    let mut client = Client::open(RENDER);
    let batch = client.store_batch(0x30_0000, 1);
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let mut param = i915::ContextParam {
        ctx_id: create.ctx_id,
        param: i915::context_param::RECOVERABLE,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut param).unwrap();
    let mut objects = [pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut objects, 0, create.ctx_id), errno(Errno::IO));
    let mut stats = i915::ResetStats { ctx_id: create.ctx_id, ..Default::default() };
    client.i915(i915::nr::GET_RESET_STATS, &mut stats).unwrap();
    assert_eq!((stats.reset_count, stats.batch_active, stats.batch_pending), (1, 1, 0));
    // It is banned: nothing of it runs again, whatever it is.
    let data = client.create(4096);
    let mut right = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut right, 0, create.ctx_id), errno(Errno::IO));
    client.exec(&mut right, 0, 0).unwrap();
    // Another one is not, and a context that can go on does.
    assert_eq!(client.exec(&mut objects, 0, 0), errno(Errno::IO));
    client.exec(&mut right, 0, 0).unwrap();
    let directory = &client.device.config.errors;
    let mine = format!(".{}.1.txt", std::process::id());
    let state = std::fs::read_dir(directory)
        .unwrap()
        .flatten()
        .find(|file| file.file_name().to_string_lossy().ends_with(&mine));
    let path = state.unwrap().path();
    let mut dump = genxml::dump::Dump::open(&path, &Default::default()).unwrap();
    // Its ring leads to the batch, which is there.
    let mut found = 0;
    dump.submissions(&mut |submission| {
        let memory = submission.memory.tail(0x20_0000);
        found += u32::from(memory.starts_with(&store(0x30_0000, 1)));
        Ok(())
    })
    .unwrap();
    assert_eq!(found, 1);
}

#[test]
fn user_pages() {
    const DATA: u64 = 0x7fff_0000_0000;
    let mut client = Client::open(RENDER);
    let mut memory = vec![0u8; 3 * 4096];
    let start = (memory.as_mut_ptr() as u64).next_multiple_of(4096);
    let mut userptr = i915::GemUserptr { user_ptr: start, user_size: 4096, ..Default::default() };
    client.i915(i915::nr::GEM_USERPTR, &mut userptr).unwrap();
    let batch = client.store_batch(DATA, 0x5566);
    client.exec(&mut [pinned(userptr.handle, DATA), pinned(batch, 0x20_0000)], 0, 0).unwrap();
    let stored: u32 = PROCESS.value(start).unwrap();
    assert_eq!(stored, 0x5566);

    userptr.flags = i915::USERPTR_READ_ONLY;
    client.i915(i915::nr::GEM_USERPTR, &mut userptr).unwrap();
    let outcome = client.exec(&mut [pinned(userptr.handle, DATA), pinned(batch, 0x20_0000)], 0, 0);
    assert_eq!(outcome, errno(Errno::IO));

    let mut odd = i915::GemUserptr { user_ptr: start + 8, user_size: 4096, ..Default::default() };
    assert_eq!(client.i915(i915::nr::GEM_USERPTR, &mut odd), errno(Errno::INVAL));
    let flags = i915::USERPTR_PROBE;
    let mut nowhere =
        i915::GemUserptr { user_ptr: 4096, user_size: 4096, flags, ..Default::default() };
    assert_eq!(client.i915(i915::nr::GEM_USERPTR, &mut nowhere), errno(Errno::FAULT));
    nowhere.flags = 0;
    client.i915(i915::nr::GEM_USERPTR, &mut nowhere).unwrap();
    let outcome = client.exec(&mut [pinned(nowhere.handle, DATA), pinned(batch, 0x20_0000)], 0, 0);
    assert_eq!(outcome, errno(Errno::FAULT));
}

#[test]
fn shared_buffers() {
    let mut client = Client::open(RENDER);
    let handle = client.create(8192);
    client.write(handle, 4096, b"shared").unwrap();
    let mut prime = drm::PrimeHandle { handle, flags: drm::CLOEXEC, fd: -1 };
    client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut prime).unwrap();
    let mut back = drm::PrimeHandle { fd: prime.fd, ..Default::default() };
    client.core(drm::nr::PRIME_FD_TO_HANDLE, &mut back).unwrap();
    assert_eq!(back.handle, handle);
    // Another file of the same device has a handle of its own, and the object outlives the first
    // one's.
    let other = Id::new();
    client.device.open(other, RENDER, None);
    let mine = std::mem::replace(&mut client.id, other);
    client.create(4096);
    client.core(drm::nr::PRIME_FD_TO_HANDLE, &mut back).unwrap();
    assert_eq!(back.handle, 2);
    client.device.close(mine);
    assert_eq!(&client.read::<6>(2, 4096), b"shared");
    // SAFETY: the descriptor was just made for this test.
    let descriptor = unsafe { OwnedFd::from_raw_fd(prime.fd) };
    let token = Descriptor::of(descriptor.as_fd()).unwrap();
    let (file, offset) = client.device.shared_mapping(token, 4096, 4096).unwrap();
    let pages = PROCESS.import(file, offset, 4096).unwrap();
    assert_eq!(&bytes(&*pages, 0), b"shared");
    for length in [4097, u64::MAX, u64::MAX - 4095] {
        assert!(client.device.shared_mapping(token, 4096, length).is_err());
    }
    // When the descriptor and all handles are gone, so is the object.
    client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle: 2, pad: 0 }).unwrap();
    assert_eq!(client.device.objects.len(), 2);
    drop(descriptor);
    client.device.collect();
    assert_eq!(client.device.objects.len(), 1);
    let mut wrong = drm::PrimeHandle { fd: 987, ..Default::default() };
    assert_eq!(client.core(drm::nr::PRIME_FD_TO_HANDLE, &mut wrong), errno(Errno::BADF));
}

/// What is no sync file is not waited for. Oracle: Linux' sync_file_get_fence and its callers.
#[test]
fn other_descriptors() {
    let mut client = Client::open(RENDER);
    let (pipe, _end) = std::io::pipe().unwrap();
    let pipe = std::os::fd::AsRawFd::as_raw_fd(&pipe);
    let batch = client.store_batch(0, 1);
    let mut objects = [pinned(batch, 0x20_0000)];
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    for fd in [pipe, -1] {
        let mut exec = ExecBuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: 1,
            flags: exec::FENCE_IN,
            rsvd2: u64::from(fd.cast_unsigned()),
            ..Default::default()
        };
        assert_eq!(client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec), errno(Errno::INVAL));
        for flags in [0, drm::SYNCOBJ_SYNC_FILE] {
            let mut import = drm::SyncobjHandle { handle: sync.handle, flags, fd, pad: 0 };
            assert_eq!(
                client.core(drm::nr::SYNCOBJ_FD_TO_HANDLE, &mut import),
                errno(Errno::INVAL)
            );
        }
    }
}

/// What is refused. Oracle: Linux' i915_gem_execbuffer.c, drm_syncobj.c, drm_framebuffer.c.
#[test]
fn refusals() {
    let mut client = Client::open(PRIMARY);
    let batch = client.store_batch(0x40_0000, 1);
    let data = client.create(4096);
    let mut objects = [pinned(data, 0x40_0000), pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut objects, exec::SECURE, 0), errno(Errno::PERM));

    let mut sync = drm::Syncobj { flags: drm::SYNCOBJ_CREATE_SIGNALED, ..Default::default() };
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let handles = std::ptr::from_ref(&sync.handle) as u64;
    let mut wait =
        drm::SyncobjWait { handles, count_handles: 1, flags: 1 << 30, ..Default::default() };
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), errno(Errno::INVAL));
    let mut wait = drm::SyncobjTimelineWait {
        handles,
        count_handles: 1,
        flags: 1 << 30,
        ..Default::default()
    };
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait), errno(Errno::INVAL));
    for (flags, error) in [(0, Errno::INVAL), (drm::SYNCOBJ_SYNC_FILE, Errno::NOENT)] {
        let mut export = drm::SyncobjHandle { handle: 99, flags, ..Default::default() };
        assert_eq!(client.core(drm::nr::SYNCOBJ_HANDLE_TO_FD, &mut export), errno(error));
    }

    // Engines that are none leave the context as it was.
    client.exec(&mut objects, 0, 0).unwrap();
    let states = client.counts()[1];
    let mut engines = i915::ContextParam {
        param: i915::context_param::ENGINES,
        size: 8,
        value: 16,
        ..Default::default()
    };
    assert_eq!(client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut engines), errno(Errno::FAULT));
    assert_eq!((client.counts()[1], states), (1, 1));

    let handle = client.create(64 * 64 * 4);
    let mut fb = mode::FbCmd {
        width: 64,
        height: 64,
        pitch: 252,
        bpp: 32,
        depth: 24,
        handle,
        ..Default::default()
    };
    assert_eq!(client.core(mode::nr::ADDFB, &mut fb), errno(Errno::INVAL));
    fb.pitch = 256;
    client.core(mode::nr::ADDFB, &mut fb).unwrap();
    let (first, other) = (client.id, Id::new());
    client.device.open(other, PRIMARY, None);
    client.id = other;
    let mut remove = mode::FbId { fb_id: fb.fb_id };
    assert_eq!(client.core(mode::nr::RMFB, &mut remove), errno(Errno::NOENT));
    client.id = first;
    client.core(mode::nr::RMFB, &mut remove).unwrap();
}

/// Descriptors that clients close leave nothing behind, though nobody tells the device.
#[test]
fn closed_descriptors() {
    let mut client = Client::open(RENDER);
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    // SAFETY: each was just made for this test.
    let close = |descriptor| drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
    for _ in 0..1200 {
        let mut export = drm::SyncobjHandle { handle: sync.handle, ..Default::default() };
        client.core(drm::nr::SYNCOBJ_HANDLE_TO_FD, &mut export).unwrap();
        close(export.fd);
        assert!(client.device.shared_syncs.len() <= CROWD);
    }
    let handle = client.create(4096);
    for _ in 0..1200 {
        let mut export = drm::PrimeHandle { handle, flags: drm::CLOEXEC, fd: 0 };
        client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut export).unwrap();
        close(export.fd);
        assert!(client.device.exports.len() <= CROWD);
    }
    client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }).unwrap();
    assert!(client.device.objects.is_empty());
}

#[test]
fn closed_files() {
    let mut client = Client::open(RENDER);
    client.create(4096);
    assert_eq!((client.device.objects.len(), client.device.files.len()), (1, 1));
    client.end = descriptor::signaled_fence().unwrap();
    client.device.collect();
    assert_eq!((client.device.objects.len(), client.device.files.len()), (0, 0));
    assert!(client.device.vms.is_empty());
}

/// Oracle: an X tile is 8 rows of 512 bytes.
#[test]
fn aperture() {
    let mut client = Client::open(RENDER);
    let handle = client.create(2 * 4096);
    let mut tiling = i915::GemSetTiling { handle, tiling_mode: 1, stride: 1024, swizzle_mode: 9 };
    client.i915(i915::nr::GEM_SET_TILING, &mut tiling).unwrap();
    assert_eq!(tiling.swizzle_mode, 0);
    // Row 1, byte 512: the second tile's second row.
    client.write(handle, 4096 + 512, b"here").unwrap();
    let mut map =
        i915::GemMmapOffset { handle, flags: i915::MMAP_OFFSET_GTT, ..Default::default() };
    client.i915(i915::nr::GEM_MMAP_OFFSET, &mut map).unwrap();
    let (file, offset) = client.device.mapping(map.offset, 8192).unwrap();
    let pages = PROCESS.import(file, offset, 8192).unwrap();
    assert_eq!(&bytes(&*pages, 1024 + 512), b"here");
    pages.write(1024 + 512, b"there").unwrap();
    client.i915(i915::nr::GEM_SW_FINISH, &mut i915::GemSwFinish { handle }).unwrap();
    assert_eq!(&client.read::<5>(handle, 4096 + 512), b"there");
    client.write(handle, 4096, b"row 0").unwrap();
    let domain = i915::DOMAIN_GTT;
    let mut domains = i915::GemSetDomain { handle, read_domains: domain, write_domain: 0 };
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domains).unwrap();
    assert_eq!(&bytes(&*pages, 512), b"row 0");
    tiling.stride = 100;
    assert_eq!(client.i915(i915::nr::GEM_SET_TILING, &mut tiling), errno(Errno::INVAL));
}

#[test]
fn fences() {
    let mut client = Client::open(RENDER);
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let handles = [sync.handle];
    let (address, count_handles) = (handles.as_ptr() as u64, 1);
    let mut wait = drm::SyncobjWait { handles: address, count_handles, ..Default::default() };
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), errno(Errno::INVAL));
    wait.flags = drm::SYNCOBJ_WAIT_FOR_SUBMIT;
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), errno(Errno::TIME));
    wait.timeout_nsec = i64::MAX;
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), Err(Stop::Wait(i64::MAX as u64)));

    // A submission signals it, and a point of a timeline.
    let batch = client.store_batch(0x20_0800, 1);
    let mut fences = [i915::ExecFence { handle: sync.handle, flags: i915::FENCE_SIGNAL }];
    let mut objects = [pinned(batch, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 1,
        cliprects_ptr: fences.as_mut_ptr() as u64,
        num_cliprects: 1,
        flags: exec::FENCE_ARRAY | exec::FENCE_OUT,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    client.core(drm::nr::SYNCOBJ_WAIT, &mut wait).unwrap();
    // SAFETY: the descriptor was just made for this test.
    let fence = unsafe { OwnedFd::from_raw_fd((exec.rsvd2 >> 32) as i32) };
    assert!(descriptor::is_signaled(&fence));

    let points = [5u64];
    let mut timeline = i915::TimelineFences {
        fence_count: 1,
        handles_ptr: fences.as_ptr() as u64,
        values_ptr: points.as_ptr() as u64,
        ..Default::default()
    };
    exec.flags = exec::USE_EXTENSIONS;
    (exec.num_cliprects, exec.cliprects_ptr) = (0, std::ptr::from_mut(&mut timeline) as u64);
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    let mut past = [0u64];
    let mut query = drm::SyncobjTimelineArray {
        handles: address,
        points: past.as_mut_ptr() as u64,
        count_handles,
        flags: 0,
    };
    client.core(drm::nr::SYNCOBJ_QUERY, &mut query).unwrap();
    assert_eq!(past, points);
    let later = [6u64];
    let mut wait = drm::SyncobjTimelineWait {
        handles: address,
        points: later.as_ptr() as u64,
        count_handles,
        flags: drm::SYNCOBJ_WAIT_FOR_SUBMIT,
        ..Default::default()
    };
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait), errno(Errno::TIME));
    query.points = later.as_ptr() as u64;
    client.core(drm::nr::SYNCOBJ_TIMELINE_SIGNAL, &mut query).unwrap();
    client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait).unwrap();
    // A fence that is not there cannot be waited for.
    let mut reset = drm::SyncobjArray { handles: address, count_handles, pad: 0 };
    client.core(drm::nr::SYNCOBJ_RESET, &mut reset).unwrap();
    fences[0].flags = i915::FENCE_WAIT;
    assert_eq!(client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec), errno(Errno::INVAL));

    let mut export = drm::SyncobjHandle { handle: sync.handle, ..Default::default() };
    client.core(drm::nr::SYNCOBJ_HANDLE_TO_FD, &mut export).unwrap();
    let mut import = drm::SyncobjHandle { fd: export.fd, ..Default::default() };
    client.core(drm::nr::SYNCOBJ_FD_TO_HANDLE, &mut import).unwrap();
    let both = [import.handle];
    let mut signal = drm::SyncobjArray { handles: both.as_ptr() as u64, count_handles, pad: 0 };
    client.core(drm::nr::SYNCOBJ_SIGNAL, &mut signal).unwrap();
    let mut wait = drm::SyncobjWait { handles: address, count_handles, ..Default::default() };
    client.core(drm::nr::SYNCOBJ_WAIT, &mut wait).unwrap();
    // SAFETY: the descriptor was just made for this test.
    drop(unsafe { OwnedFd::from_raw_fd(export.fd) });
}

#[test]
fn contexts() {
    use i915::context_param as param;
    let mut client = Client::open(RENDER);
    #[repr(C)]
    #[derive(Clone, Copy, Pod, bytemuck::Zeroable)]
    struct Map {
        extensions: u64,
        engines: [i915::EngineClass; 2],
    }
    let engine = |class, instance| i915::EngineClass { class, instance };
    let mut map = Map { extensions: 0, engines: [engine(1, 0), engine(u16::MAX, u16::MAX)] };
    let mut set = i915::ContextSetParam {
        param: i915::ContextParam {
            param: param::ENGINES,
            size: size_of::<Map>() as u32,
            value: std::ptr::from_mut(&mut map) as u64,
            ..Default::default()
        },
        ..Default::default()
    };
    let extensions = std::ptr::from_mut(&mut set) as u64;
    let mut create = i915::ContextCreate { flags: 1, extensions, ..Default::default() };
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let batch = client.store_batch(0x20_0800, 1);
    let mut objects = [pinned(batch, 0x20_0000)];
    client.exec(&mut objects, 0, create.ctx_id).unwrap();
    assert_eq!(client.exec(&mut objects, 1, create.ctx_id), errno(Errno::INVAL));
    assert_eq!(client.exec(&mut objects, 2, create.ctx_id), errno(Errno::INVAL));
    map.engines[1] = engine(2, 1);
    assert_eq!(client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create), errno(Errno::NOENT));

    let mut get = |number, value| {
        let mut get = i915::ContextParam {
            ctx_id: create.ctx_id,
            param: number,
            value,
            ..Default::default()
        };
        client.i915(i915::nr::GEM_CONTEXT_GETPARAM, &mut get).map(|()| get.value)
    };
    assert_eq!(get(param::GTT_SIZE, 0), Ok(1 << 48));
    assert_eq!(get(param::RECOVERABLE, 0), Ok(1));
    assert_eq!(get(param::VM, 0), Ok(1));
    assert_eq!(get(0x8000_0000, 0), errno(Errno::INVAL));
    // Two contexts in one address space: an object that has no address of its own keeps it.
    let mut other = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut other).unwrap();
    let mut vm = i915::ContextParam {
        ctx_id: other.ctx_id,
        param: param::VM,
        value: 1,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut vm).unwrap();
    let first = client.create(4096);
    let second = client.create(4096);
    let free = |handle| ExecObject2 { handle, ..Default::default() };
    let mut list = [free(first), free(second), pinned(batch, 0x20_0000)];
    client.exec(&mut list, 0, create.ctx_id).unwrap();
    let mut later = [free(second), pinned(batch, 0x20_0000)];
    client.exec(&mut later, 0, other.ctx_id).unwrap();
    assert_eq!(later[0].offset, list[1].offset);

    let mut destroy = i915::ContextDestroy { ctx_id: other.ctx_id, pad: 0 };
    client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
    assert_eq!(client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy), errno(Errno::NOENT));
}

/// A thousand submissions, contexts and objects later nothing has grown.
#[test]
fn nothing_grows() {
    let mut client = Client::open(RENDER);
    let batch = client.store_batch(0x20_0800, 1);
    let mut models = 0;
    for round in 0..1000 {
        let mut create = i915::ContextCreate::default();
        client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
        let data = client.create(4096);
        client
            .exec(&mut [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)], 0, create.ctx_id)
            .unwrap();
        client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle: data, pad: 0 }).unwrap();
        let mut destroy = i915::ContextDestroy { ctx_id: create.ctx_id, pad: 0 };
        client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
        let device = &client.device;
        assert_eq!([device.objects.len(), device.vms.len()], [1, 1]);
        let [objects, states, spare] = client.counts();
        assert_eq!([objects, states], [1, 0]);
        if round == 0 {
            models = spare;
        }
        assert_eq!(spare, models);
    }
}

#[test]
fn questions() {
    let mut client = Client::with(RENDER, Config { device: 0x1626, ..Config::default() });
    let mut value = 0u32;
    let mut ask = |number| {
        let mut get =
            i915::GetParam { param: number, pad: 0, value: std::ptr::from_mut(&mut value) as u64 };
        client.i915(i915::nr::GETPARAM, &mut get).map(|()| value)
    };
    assert_eq!(ask(i915::param::CHIPSET_ID), Ok(0x1626));
    assert_eq!(ask(i915::param::EU_TOTAL), Ok(48));
    assert_eq!(ask(i915::param::HUC_STATUS), errno(Errno::NODEV));
    assert_eq!(ask(999), errno(Errno::INVAL));

    let mut answer = |query_id| {
        let mut item = i915::QueryItem { query_id, ..Default::default() };
        let mut query =
            i915::Query { num_items: 1, flags: 0, items_ptr: std::ptr::from_mut(&mut item) as u64 };
        client.i915(i915::nr::QUERY, &mut query).unwrap();
        let mut bytes = vec![0u8; item.length.max(0) as usize];
        item.data_ptr = bytes.as_mut_ptr() as u64;
        client.i915(i915::nr::QUERY, &mut query).unwrap();
        (item.length, bytes)
    };
    let (length, topology) = answer(i915::QUERY_TOPOLOGY_INFO);
    // Head, a mask of slices, three of subslices, nine of execution units.
    assert_eq!(length, 16 + 1 + 3 + 9);
    assert_eq!(topology[16..20], [0b11, 0b111, 0b111, 0]);
    let (_, engines) = answer(i915::QUERY_ENGINE_INFO);
    assert_eq!(engines[0], 5);
    assert_eq!(answer(i915::QUERY_MEMORY_REGIONS).0, 16 + 88);
    assert_eq!(answer(i915::QUERY_HWCONFIG_BLOB).0, -Errno::NODEV.raw_os_error());
    assert_eq!(answer(99).0, -Errno::INVAL.raw_os_error());
    let mut read = i915::RegRead { offset: 0x2358 | 1, val: 7 };
    client.i915(i915::nr::REG_READ, &mut read).unwrap();
    assert_eq!(read.val, 0);
    read.offset = 0x2000;
    assert_eq!(client.i915(i915::nr::REG_READ, &mut read), errno(Errno::INVAL));
}

#[test]
fn display() {
    let mut client = Client::open(PRIMARY);
    let mut ids = [0u32; 2];
    let mut resources = mode::CardRes::default();
    client.core(mode::nr::GETRESOURCES, &mut resources).unwrap();
    assert_eq!((resources.count_crtcs, resources.count_connectors, resources.count_fbs), (1, 1, 0));
    (resources.crtc_id_ptr, resources.connector_id_ptr) =
        (ids.as_mut_ptr() as u64, ids[1..].as_mut_ptr() as u64);
    client.core(mode::nr::GETRESOURCES, &mut resources).unwrap();
    let mut connector = mode::GetConnector { connector_id: ids[1], ..Default::default() };
    client.core(mode::nr::GETCONNECTOR, &mut connector).unwrap();
    let mut modes = vec![mode::ModeInfo::default(); connector.count_modes as usize];
    connector.modes_ptr = modes.as_mut_ptr() as u64;
    (connector.count_props, connector.count_encoders) = (0, 0);
    client.core(mode::nr::GETCONNECTOR, &mut connector).unwrap();
    let small = *modes.iter().find(|mode| mode.hdisplay == 320).unwrap();

    let mut dumb = mode::CreateDumb { width: 320, height: 240, bpp: 32, ..Default::default() };
    client.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
    assert_eq!((dumb.pitch, dumb.size), (1280, 1280 * 240));
    let mut fb = mode::FbCmd2 {
        width: 320,
        height: 240,
        pixel_format: u32::from_le_bytes(*b"XR24"),
        handles: [dumb.handle, 0, 0, 0],
        pitches: [dumb.pitch, 0, 0, 0],
        ..Default::default()
    };
    client.core(mode::nr::ADDFB2, &mut fb).unwrap();
    // The display shows neither planes of their own for colours nor Y tiles.
    let mut planar = mode::FbCmd2 { pixel_format: u32::from_le_bytes(*b"NV12"), ..fb };
    assert_eq!(client.core(mode::nr::ADDFB2, &mut planar), errno(Errno::INVAL));
    let mut tiled =
        mode::FbCmd2 { flags: mode::FB_MODIFIERS, modifier: [1 << 56 | 2, 0, 0, 0], ..fb };
    assert_eq!(client.core(mode::nr::ADDFB2, &mut tiled), errno(Errno::INVAL));
    let mut flip = mode::PageFlip {
        crtc_id: ids[0],
        fb_id: fb.fb_id,
        flags: mode::PAGE_FLIP_EVENT,
        user_data: 0xabcd,
        ..Default::default()
    };
    assert_eq!(client.core(mode::nr::PAGE_FLIP, &mut flip), errno(Errno::BUSY));
    let mut crtc = mode::Crtc {
        crtc_id: ids[0],
        fb_id: fb.fb_id,
        mode_valid: 1,
        mode: small,
        ..Default::default()
    };
    client.core(mode::nr::SETCRTC, &mut crtc).unwrap();
    client.core(mode::nr::PAGE_FLIP, &mut flip).unwrap();
    let mut event = drm::EventVblank::default();
    let read = rustix::io::read(&client.end, bytemuck::bytes_of_mut(&mut event)).unwrap();
    assert_eq!((read, event.kind, event.user_data), (32, drm::EVENT_FLIP_COMPLETE, 0xabcd));
    // A picture needs its object, whoever closes it.
    client.core(mode::nr::DESTROY_DUMB, &mut mode::DestroyDumb { handle: dumb.handle }).unwrap();
    assert_eq!(client.device.objects.len(), 1);
    client.core(mode::nr::RMFB, &mut mode::FbId { fb_id: fb.fb_id }).unwrap();
    assert!(client.device.objects.is_empty());
    assert_eq!(client.core(mode::nr::PAGE_FLIP, &mut flip), errno(Errno::NOENT));
    // Those of a file go with it.
    client.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
    fb.handles[0] = dumb.handle;
    client.core(mode::nr::ADDFB2, &mut fb).unwrap();
    client.device.close(client.id);
    assert!(client.device.objects.is_empty());

    // The render node has no display.
    let render = Id::new();
    client.device.open(render, RENDER, None);
    client.id = render;
    assert_eq!(client.core(mode::nr::GETRESOURCES, &mut resources), errno(Errno::ACCESS));
}

/// The monitor's own size is its first and largest.
#[test]
fn modes() {
    let own = config::Mode { width: 800, height: 600, hz: 75 };
    let mut client = Client::with(PRIMARY, Config { mode: Some(own), ..Config::default() });
    let mut modes = [mode::ModeInfo::default(); 16];
    let mut connector = mode::GetConnector {
        connector_id: 33,
        count_modes: 16,
        modes_ptr: modes.as_mut_ptr() as u64,
        ..Default::default()
    };
    client.core(mode::nr::GETCONNECTOR, &mut connector).unwrap();
    let modes = &modes[..connector.count_modes as usize];
    let sizes: Vec<_> =
        modes.iter().map(|mode| (mode.hdisplay, mode.vdisplay, mode.vrefresh)).collect();
    assert_eq!(sizes, [(800, 600, 75), (800, 600, 60), (640, 480, 60), (320, 240, 60)]);
    // Preferred, of the driver.
    assert_eq!(modes.iter().map(|mode| mode.kind).collect::<Vec<_>>(), [0x48, 0x40, 0x40, 0x40]);
    // Pixels of a picture with its blanking, 75 times a second.
    assert_eq!(modes[0].clock, 960 * 635 * 75 / 1000);
}

impl Client {
    /// Properties of an object by name: number and value.
    fn named(&mut self, object: u32) -> BTreeMap<String, (u32, u64)> {
        let (mut ids, mut values) = ([0u32; 32], [0u64; 32]);
        let mut list = mode::ObjGetProperties {
            obj_id: object,
            count_props: 32,
            props_ptr: ids.as_mut_ptr() as u64,
            prop_values_ptr: values.as_mut_ptr() as u64,
            ..Default::default()
        };
        self.core(mode::nr::OBJ_GETPROPERTIES, &mut list).unwrap();
        let mut named = BTreeMap::new();
        for (id, value) in ids.into_iter().zip(values).take(list.count_props as usize) {
            let mut property = mode::GetProperty { prop_id: id, ..Default::default() };
            self.core(mode::nr::GETPROPERTY, &mut property).unwrap();
            let end = property.name.iter().position(|byte| *byte == 0).unwrap();
            named.insert(String::from_utf8_lossy(&property.name[..end]).into_owned(), (id, value));
        }
        named
    }

    /// Sets properties: object, name, value.
    fn commit(&mut self, flags: u32, user_data: u64, list: &[(u32, &str, u64)]) -> Outcome {
        let objects: Vec<u32> = list.iter().map(|row| row.0).collect();
        let counts = vec![1u32; list.len()];
        let ids: Vec<u32> = list.iter().map(|row| self.named(row.0)[row.1].0).collect();
        let values: Vec<u64> = list.iter().map(|row| row.2).collect();
        let mut atomic = mode::Atomic {
            flags,
            count_objs: objects.len() as u32,
            objs_ptr: objects.as_ptr() as u64,
            count_props_ptr: counts.as_ptr() as u64,
            props_ptr: ids.as_ptr() as u64,
            prop_values_ptr: values.as_ptr() as u64,
            user_data,
            ..Default::default()
        };
        self.core(mode::nr::ATOMIC, &mut atomic)
    }
}

/// A mode is set and a picture shown at once, as kmscube -A does; each picture becomes a file.
#[test]
fn atomic() {
    let frames = std::env::temp_dir().join(format!("genx-shim-frames-{}", std::process::id()));
    let mut client =
        Client::with(PRIMARY, Config { frames: Some(frames.clone()), ..Config::default() });
    let (crtc, connector) = (31, 33);
    // Who does not ask for it sees neither planes nor properties for it.
    let mut planes = mode::PlaneRes::default();
    client.core(mode::nr::GETPLANERESOURCES, &mut planes).unwrap();
    assert_eq!(planes.count_planes, 0);
    assert_eq!(client.named(connector).keys().collect::<Vec<_>>(), ["DPMS"]);
    assert_eq!(client.commit(0, 0, &[]), errno(Errno::INVAL));
    client.core(drm::nr::SET_CLIENT_CAP, &mut drm::Cap { capability: 3, value: 1 }).unwrap();
    let mut plane = 0u32;
    planes = mode::PlaneRes { plane_id_ptr: &raw mut plane as u64, count_planes: 1, pad: 0 };
    client.core(mode::nr::GETPLANERESOURCES, &mut planes).unwrap();
    assert_eq!((planes.count_planes, client.named(plane)["type"].1), (1, 1));

    let mut blob =
        mode::Blob { blob_id: client.named(plane)["IN_FORMATS"].1 as u32, ..Default::default() };
    client.core(mode::nr::GETPROPBLOB, &mut blob).unwrap();
    let mut formats = vec![0u8; blob.length as usize];
    blob.data = formats.as_mut_ptr() as u64;
    client.core(mode::nr::GETPROPBLOB, &mut blob).unwrap();
    let at = |at: usize| u32::from_le_bytes(*formats[at..].first_chunk().unwrap());
    // Five formats, two modifiers, each with all of them. (drm_mode.h, drm_format_modifier_blob)
    assert_eq!([at(8), at(16), at(at(20) as usize), at(at(20) as usize + 24)], [5, 2, 0x1f, 0x1f]);

    let (width, height) = (16u16, 8u16);
    let mut dumb = mode::CreateDumb { width: 16, height: 8, bpp: 32, ..Default::default() };
    client.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
    client.write(dumb.handle, 0, &[0x10, 0x20, 0x30, 0]).unwrap();
    let mut fb = mode::FbCmd {
        width: 16,
        height: 8,
        pitch: dumb.pitch,
        bpp: 32,
        depth: 24,
        handle: dumb.handle,
        ..Default::default()
    };
    client.core(mode::nr::ADDFB, &mut fb).unwrap();
    let info = mode::ModeInfo { hdisplay: width, vdisplay: height, ..Default::default() };
    let mut made =
        mode::CreateBlob { data: &raw const info as u64, length: 68, ..Default::default() };
    client.core(mode::nr::CREATEPROPBLOB, &mut made).unwrap();
    let mut fence = 0i32;
    let fence_at = &raw mut fence as u64;
    let size = |pixels: u16| u64::from(pixels) << 16;
    let wanted = [
        (connector, "CRTC_ID", crtc.into()),
        (crtc, "MODE_ID", made.blob_id.into()),
        (crtc, "ACTIVE", 1),
        (crtc, "OUT_FENCE_PTR", fence_at),
        (plane, "FB_ID", fb.fb_id.into()),
        (plane, "CRTC_ID", crtc.into()),
        (plane, "SRC_W", size(width)),
        (plane, "SRC_H", size(height)),
        (plane, "CRTC_W", width.into()),
        (plane, "CRTC_H", height.into()),
    ];
    const TEST_ONLY: u32 = mode::ATOMIC_TEST_ONLY | mode::ATOMIC_ALLOW_MODESET;
    assert_eq!(client.commit(0, 0, &wanted), errno(Errno::INVAL), "the mode may not change");
    assert_eq!(client.commit(TEST_ONLY, 0, &wanted[..4]), Ok(()), "no plane is needed");
    assert_eq!(client.commit(TEST_ONLY, 0, &wanted[1..]), errno(Errno::INVAL), "a connector is");
    let mut wrong = wanted;
    wrong[6].2 = size(width + 1);
    assert_eq!(client.commit(TEST_ONLY, 0, &wrong), errno(Errno::NOSPC), "beyond the frame buffer");
    wrong = wanted;
    wrong[7].2 = size(height - 1);
    assert_eq!(client.commit(TEST_ONLY, 0, &wrong), errno(Errno::RANGE), "scaled");
    assert_eq!(client.named(crtc)["ACTIVE"].1, 0, "nothing has changed");
    let flags = mode::ATOMIC_ALLOW_MODESET | mode::ATOMIC_NONBLOCK | mode::PAGE_FLIP_EVENT;
    client.commit(flags, 7, &wanted).unwrap();
    let mut event = drm::EventVblank::default();
    rustix::io::read(&client.end, bytemuck::bytes_of_mut(&mut event)).unwrap();
    assert_eq!((event.kind, event.user_data, event.crtc_id), (drm::EVENT_FLIP_COMPLETE, 7, crtc));
    let known = PROCESS.duplicate(fence).unwrap();
    assert!(descriptor::is_signaled(&known));
    assert_eq!(client.named(plane)["FB_ID"].1, u64::from(fb.fb_id));
    // The mode lives without its blob.
    client.core(mode::nr::DESTROYPROPBLOB, &mut mode::BlobId { blob_id: made.blob_id }).unwrap();
    client.write(dumb.handle, 0, &[0xff]).unwrap();
    let again = [(plane, "FB_ID", fb.fb_id.into()), (plane, "IN_FENCE_FD", fence as u64)];
    client.commit(mode::ATOMIC_NONBLOCK, 0, &again).unwrap();
    client.commit(mode::ATOMIC_ALLOW_MODESET, 0, &[(crtc, "ACTIVE", 0)]).unwrap();

    client.device.finish();
    let directory = std::fs::read_dir(&frames).unwrap().next().unwrap().unwrap().path();
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let first: Vec<[u8; 4]> = files.iter().map(|file| pixel(file)).collect();
    assert_eq!(first, [[0x30, 0x20, 0x10, 255], [0x30, 0x20, 0xff, 255]]);
    std::fs::remove_dir_all(&frames).unwrap();
}

/// The first pixel of a PNG file.
fn pixel(path: &std::path::Path) -> [u8; 4] {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    *pixels.first_chunk().unwrap()
}

/// What was submitted can be read as a capture, with what the client wrote between.
#[test]
fn captures() {
    let directory = std::env::temp_dir().join(format!("genx-shim-capture-{}", std::process::id()));
    let mut client = Client::with(
        RENDER,
        Config { capture: Some(directory.clone()), check: true, ..Config::default() },
    );
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0010, 0x99);
    let mut objects = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
    client.exec(&mut objects, 0, 0).unwrap();
    client.write(data, 256, &[5]).unwrap();
    client.exec(&mut objects, 0, 0).unwrap();
    client.device.finish();
    let inside = std::fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let capture = genxml::capture::Capture::open(&inside).unwrap();
    let mut replay = genxml_sim::replay::Replay::new(&capture);
    while replay.step().is_some() {}
    let second = capture.execs().nth(1).unwrap();
    let writes = &second.objects.iter().find(|object| object.address == 0x30_0000).unwrap().writes;
    assert_eq!((writes.len(), writes[0].offset), (1, 256));
    let object = second.objects.iter().find(|object| object.address == 0x30_0000).unwrap().object;
    let bytes = replay.bytes(object);
    assert_eq!((bytes[0x10], bytes[256]), (0x99, 5));
    std::fs::remove_dir_all(&directory).unwrap();
}

/// A client that goes on while its work is done.
fn asynchronous() -> Client {
    let errors =
        std::env::temp_dir().join(format!("genx-shim-{}-{}", std::process::id(), Id::new().serial));
    std::fs::create_dir_all(&errors).unwrap();
    Client::with(
        RENDER,
        Config { work_limit: 1 << 20, errors, asynchronous: true, ..Config::default() },
    )
}

impl Client {
    /// A sync file that is past when the other end says so.
    fn gate() -> (OwnedFd, OwnedFd) {
        descriptor::new_fence().unwrap()
    }

    /// Submits a list of objects behind a sync file.
    fn exec_behind(&mut self, gate: &OwnedFd, objects: &mut [ExecObject2]) -> OwnedFd {
        let mut exec = ExecBuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: objects.len() as u32,
            flags: exec::FENCE_IN | exec::FENCE_OUT,
            rsvd2: rustix::fd::AsRawFd::as_raw_fd(gate) as u64,
            ..Default::default()
        };
        assert_eq!(self.begin(COMMAND_BASE + i915::nr::GEM_EXECBUFFER2, &mut exec), Ok(()));
        // SAFETY: the descriptor was just made for this test.
        unsafe { OwnedFd::from_raw_fd((exec.rsvd2 >> 32) as i32) }
    }

    fn busy(&mut self, handle: u32) -> u32 {
        let mut busy = i915::GemBusy { handle, busy: 9 };
        self.i915(i915::nr::GEM_BUSY, &mut busy).unwrap();
        busy.busy
    }

    /// GEM_WAIT, as often as it has to be called.
    fn wait(&mut self, handle: u32, timeout_ns: i64) -> (Outcome, i64) {
        let mut wait = i915::GemWait { bo_handle: handle, flags: 0, timeout_ns };
        let since = now();
        loop {
            let (changes, address) = (self.device.changes(), std::ptr::from_mut(&mut wait) as u64);
            let seen = changes.count();
            let request = Request::i915::<i915::GemWait>(i915::nr::GEM_WAIT);
            match self.device.ioctl(self.id, request, address, since) {
                Err(Stop::Wait(until)) => changes.wait(seen, until),
                outcome => return (outcome, wait.timeout_ns),
            }
        }
    }
}

/// Work waits for its fences while the client goes on, and who asks for it is told or waits.
#[test]
fn work_behind_a_fence() {
    let mut client = asynchronous();
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0000, 7);
    let other = client.create(4096);
    let writes = |handle, address| ExecObject2 {
        flags: pinned(0, 0).flags | object::WRITE,
        ..pinned(handle, address)
    };
    let (gate, opens) = Client::gate();
    let done = client.exec_behind(&gate, &mut [writes(data, 0x30_0000), pinned(batch, 0x20_0000)]);
    assert!(!descriptor::is_signaled(&done) && descriptor::status(&done) == 0);
    // Render is class 0. (Linux i915_gem_busy.c)
    assert_eq!(client.busy(data), 0x1_0001);
    assert_eq!(client.busy(batch), 0x1_0000);
    assert_eq!(client.busy(other), 0);
    assert_eq!(client.wait(other, 0), (Ok(()), 0));
    assert_eq!(client.wait(data, 0), (errno(Errno::TIME), 0));
    let (outcome, left) = client.wait(data, 5_000_000);
    assert_eq!((outcome, left), (errno(Errno::TIME), 0));
    let mut read = i915::GemTransfer { handle: data, size: 4, ..Default::default() };
    assert_eq!(client.i915(i915::nr::GEM_PREAD, &mut read), Err(Stop::Wait(FOREVER)));
    let mut domain = i915::GemSetDomain { handle: batch, read_domains: 1, write_domain: 0 };
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domain).unwrap();
    domain.write_domain = 1;
    assert_eq!(client.i915(i915::nr::GEM_SET_DOMAIN, &mut domain), Err(Stop::Wait(FOREVER)));

    // A fence of two is past when both are; a synchronisation object takes it over.
    let merged = client
        .device
        .merge([done.try_clone().unwrap(), descriptor::signaled_fence().unwrap()])
        .unwrap();
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let fd = rustix::fd::AsRawFd::as_raw_fd(&merged);
    let flags = drm::SYNCOBJ_SYNC_FILE;
    client
        .core(
            drm::nr::SYNCOBJ_FD_TO_HANDLE,
            &mut drm::SyncobjHandle { handle: sync.handle, flags, fd, pad: 0 },
        )
        .unwrap();
    let handles = [sync.handle];
    let mut wait = drm::SyncobjWait {
        handles: handles.as_ptr() as u64,
        count_handles: 1,
        ..Default::default()
    };
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), errno(Errno::TIME));

    // What does not need it overtakes it, on another context; objects are kept although their
    // handles are closed.
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let second = client.store_batch(0x30_0000, 8);
    client
        .exec(&mut [writes(other, 0x30_0000), pinned(second, 0x20_0000)], 0, create.ctx_id)
        .unwrap();
    assert_eq!(client.wait(other, -1).0, Ok(()));
    assert_eq!(client.read::<4>(other, 0), [8, 0, 0, 0]);
    // What writes the same waits for it, wherever it runs.
    let third = client.store_batch(0x30_0000, 9);
    client
        .exec(&mut [writes(data, 0x30_0000), pinned(third, 0x20_0000)], 0, create.ctx_id)
        .unwrap();
    let mut destroy = i915::ContextDestroy { ctx_id: create.ctx_id, pad: 0 };
    client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
    for handle in [batch, second, third] {
        client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }).unwrap();
    }
    assert!(!descriptor::is_signaled(&done));
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(data, i64::MAX).0, Ok(()));
    assert_eq!(client.read::<4>(data, 0), [9, 0, 0, 0]);
    assert!(descriptor::is_signaled(&done) && descriptor::status(&done) == 1);
    assert_eq!(client.busy(data), 0);
    wait.timeout_nsec = i64::MAX;
    while let Err(stop) = client.core(drm::nr::SYNCOBJ_WAIT, &mut wait) {
        assert_eq!(stop, Stop::Wait(i64::MAX as u64));
    }
    assert!(descriptor::is_signaled(&merged));
    // The context is gone with its work, and so are the objects.
    assert_eq!(client.counts()[..2], [2, 1]);
}

/// Points of a timeline are past one after the other.
#[test]
fn timelines() {
    let mut client = asynchronous();
    let batch = client.store_batch(0x20_0800, 1);
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let handles = [sync.handle];
    let mut fences = [i915::ExecFence { handle: sync.handle, flags: i915::FENCE_SIGNAL }];
    let mut points = [3u64];
    let mut timeline = i915::TimelineFences {
        fence_count: 1,
        handles_ptr: fences.as_mut_ptr() as u64,
        values_ptr: points.as_mut_ptr() as u64,
        ..Default::default()
    };
    let mut objects = [pinned(batch, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 1,
        cliprects_ptr: std::ptr::from_mut(&mut timeline) as u64,
        flags: exec::USE_EXTENSIONS | exec::FENCE_IN,
        ..Default::default()
    };
    let (gate, opens) = Client::gate();
    exec.rsvd2 = rustix::fd::AsRawFd::as_raw_fd(&gate) as u64;
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    let mut asked = [3u64];
    let mut wait = drm::SyncobjTimelineWait {
        handles: handles.as_ptr() as u64,
        points: asked.as_mut_ptr() as u64,
        count_handles: 1,
        ..Default::default()
    };
    let query = |client: &mut Client, flags| {
        let mut point = [99u64];
        let mut query = drm::SyncobjTimelineArray {
            handles: handles.as_ptr() as u64,
            points: point.as_mut_ptr() as u64,
            count_handles: 1,
            flags,
        };
        client.core(drm::nr::SYNCOBJ_QUERY, &mut query).unwrap();
        point[0]
    };
    // It is there, but not past; the next one is not even there.
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait), errno(Errno::TIME));
    wait.flags = drm::SYNCOBJ_WAIT_AVAILABLE;
    client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait).unwrap();
    assert_eq!(
        (query(&mut client, 0), query(&mut client, drm::SYNCOBJ_QUERY_LAST_SUBMITTED)),
        (0, 3)
    );
    asked[0] = 5;
    wait.flags = 0;
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait), errno(Errno::INVAL));
    // The work of point 5 waits for point 3.
    (points[0], exec.flags) = (5, exec::USE_EXTENSIONS);
    let data = client.create(4096);
    let store = client.store_batch(0x30_0000, 1);
    let mut both = [pinned(data, 0x30_0000), pinned(store, 0x20_0000)];
    let mut order = [
        i915::ExecFence { handle: sync.handle, flags: i915::FENCE_WAIT },
        i915::ExecFence { handle: sync.handle, flags: i915::FENCE_SIGNAL },
    ];
    let mut values = [3u64, 5];
    timeline.fence_count = 2;
    (timeline.handles_ptr, timeline.values_ptr) =
        (order.as_mut_ptr() as u64, values.as_mut_ptr() as u64);
    (exec.buffers_ptr, exec.buffer_count) = (both.as_mut_ptr() as u64, 2);
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    exec.rsvd1 = create.ctx_id.into();
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    assert_eq!(client.wait(data, 1_000_000).0, errno(Errno::TIME));
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(data, -1).0, Ok(()));
    client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait).unwrap();
    assert_eq!(query(&mut client, 0), 5);
    assert_eq!(client.read::<4>(data, 0), [1, 0, 0, 0]);
}

/// A client that went on after a fault learns of it by its fence, by what it submits next, and by
/// asking.
#[test]
fn late_faults() {
    let mut client = asynchronous();
    let wrong = client.store_batch(0x70_0000, 1);
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let ctx_id = create.ctx_id;
    let mut param = i915::ContextParam {
        ctx_id,
        param: i915::context_param::RECOVERABLE,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut param).unwrap();
    client.exec(&mut [pinned(wrong, 0x20_0000)], 0, ctx_id).unwrap();
    assert_eq!(client.wait(wrong, -1).0, Ok(()));
    let mut stats = i915::ResetStats { ctx_id, ..Default::default() };
    client.i915(i915::nr::GET_RESET_STATS, &mut stats).unwrap();
    assert_eq!((stats.reset_count, stats.batch_active, stats.batch_pending), (1, 1, 0));
    assert_eq!(client.exec(&mut [pinned(wrong, 0x20_0000)], 0, ctx_id), errno(Errno::IO));

    // What waits behind a fault that bans is not done, and says so.
    let (gate, opens) = Client::gate();
    let mut zero =
        i915::ContextParam { param: i915::context_param::RECOVERABLE, ..Default::default() };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut zero).unwrap();
    let data = client.create(4096);
    let right = client.store_batch(0x30_0000, 1);
    let first = client.exec_behind(&gate, &mut [pinned(wrong, 0x20_0000)]);
    let next = client.exec_behind(&gate, &mut [pinned(data, 0x30_0000), pinned(right, 0x20_0000)]);
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(data, -1).0, Ok(()));
    for fence in [first, next] {
        assert_eq!(descriptor::status(&fence), -Errno::IO.raw_os_error());
    }
    assert_eq!(client.read::<4>(data, 0), [0; 4]);

    // A context that does not outlive its file takes along what has not begun.
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    param = i915::ContextParam {
        ctx_id: create.ctx_id,
        param: i915::context_param::PERSISTENCE,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut param).unwrap();
    let (gate, _closed) = Client::gate();
    let mut objects = [pinned(data, 0x30_0000), pinned(right, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 2,
        flags: exec::FENCE_IN,
        rsvd1: create.ctx_id.into(),
        rsvd2: rustix::fd::AsRawFd::as_raw_fd(&gate) as u64,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    assert_ne!(client.busy(data), 0);
    client.device.close(client.id);
    assert_eq!(client.counts()[..2], [0, 0]);
}

/// Objects that others may see are done when the client goes on.
#[test]
fn shared_work() {
    let mut client = asynchronous();
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0000, 7);
    let mut prime = drm::PrimeHandle { handle: data, flags: drm::CLOEXEC, fd: -1 };
    client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut prime).unwrap();
    // SAFETY: the descriptor was just made for this test.
    let _end = unsafe { OwnedFd::from_raw_fd(prime.fd) };
    let mut objects = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 2,
        ..Default::default()
    };
    let outcome = client.begin(COMMAND_BASE + i915::nr::GEM_EXECBUFFER2, &mut exec);
    assert!(matches!(outcome, Err(Stop::After(_))), "{outcome:?}");
}
