//! The device of this process: created when it is first used, locked for each call, separate in
//! forked children.

use crate::device::Device;
use crate::device::config::Config;
use crate::device::descriptor::{Descriptor, Id};
use crate::device::fence::{FOREVER, now};
use crate::device::host::Mappable;
use crate::device::outcome::Stop;
use crate::device::report::say;
use crate::edge::client;
use crate::edge::forks;
use crate::edge::host::PROCESS;
use crate::edge::mappings;
use crate::edge::signals;
use crate::tree::Tree;
use crate::uapi::Request;
use rustix::fd::{AsFd, OwnedFd, RawFd};
use rustix::io::Errno;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

/// The device, if it has been used. A thread that holds the lock waits only before a fork, for
/// the running submission, and at the end of the process, for pending work.
static DEVICE: Mutex<Option<Device>> = Mutex::new(None);

/// Id of the process that uses the device; 0 before the device is used.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// True once the process has begun to end.
static ENDED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    /// The function that at_quick_exit calls; at_quick_exit itself has no symbol in libc.so. The
    /// second argument is null for functions that stay loaded. (glibc stdlib/at_quick_exit.c)
    fn __cxa_at_quick_exit(
        function: extern "C" fn(*mut libc::c_void),
        library: *mut libc::c_void,
    ) -> libc::c_int;
}

/// The locks of the device and of the list of mappings.
type Locks = (MutexGuard<'static, Option<Device>>, Option<mappings::Held>);

thread_local! {
    /// The locks, while this thread forks.
    static FORKING: RefCell<Option<Locks>> = const { RefCell::new(None) };
}

/// The options from the environment, read once.
fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let (config, wrong) = Config::new(|name| std::env::var(name).ok());
        for line in wrong {
            say(&line);
        }
        config
    })
}

/// The files through which drivers find the device.
pub fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| Tree::new(config()))
}

extern "C" fn before_fork() {
    let mut guard = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = &mut *guard {
        device.pause();
        forks::prepare();
    }
    let _ = FORKING.try_with(|forking| forking.replace(Some((guard, mappings::hold()))));
}

/// After a fork, calls `work` with the device and releases the locks.
fn forked(work: impl FnOnce(&mut Device)) {
    let _ = FORKING.try_with(|forking| {
        let Some((mut guard, held)) = forking.replace(None) else { return };
        drop(held);
        if let Some(device) = &mut *guard {
            work(device);
        }
    });
}

extern "C" fn after_fork() {
    forked(Device::resume);
}

extern "C" fn after_fork_in_child() {
    OWNER.store(std::process::id(), Ordering::Relaxed);
    ENDED.store(false, Ordering::Relaxed);
    forked(|device| device.forked(forks::number()));
}

extern "C" fn at_exit() {
    end(Device::finish);
}

extern "C" fn at_quick_exit(_: *mut libc::c_void) {
    end(Device::finish);
}

/// Called when the process ends without the functions of atexit (_exit). May run in a signal
/// handler. Does nothing in a child of vfork: the memory, and so the device, is the parent's.
pub fn end_at_once() {
    if OWNER.load(Ordering::Relaxed) == std::process::id() {
        end(|device| device.finish_at_once());
    }
}

/// A signal ends the process. As [`end_at_once`], but the wait is shorter.
fn end_by_signal() {
    if OWNER.load(Ordering::Relaxed) == std::process::id() {
        end(|device| device.finish_soon());
    }
}

/// Calls `finish` with the device, if it has been used and this was not done before.
fn end(finish: impl FnOnce(&mut Device)) {
    if ENDED.swap(true, Ordering::Relaxed) {
        return;
    }
    // If a signal handler ends the process, the interrupted thread may hold the lock forever. So
    // give up after a second.
    for _ in 0..100 {
        let mut guard = match DEVICE.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        if let Some(device) = &mut *guard {
            let _ = catch_unwind(AssertUnwindSafe(|| finish(device)));
        }
        return;
    }
}

fn lock() -> MutexGuard<'static, Option<Device>> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions have the type that libc requires, and do not unwind: what may panic
        // is caught or aborts at the `extern "C"` boundary. They stay loaded until the process
        // ends, since a preloaded library is never unloaded.
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child));
            libc::atexit(at_exit);
            __cxa_at_quick_exit(at_quick_exit, std::ptr::null_mut());
        }
        if config().reports_at_end() {
            signals::report_before_end(end_by_signal);
        }
        OWNER.store(std::process::id(), Ordering::Relaxed);
    });
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` with the device, which is created if it does not exist. A panic is a defect of this
/// library, not of the client: the call fails with EIO.
fn with<R>(
    guard: &mut MutexGuard<'static, Option<Device>>,
    work: impl FnOnce(&mut Device) -> R,
) -> Result<R, Errno> {
    let device = guard.get_or_insert_with(|| Device::new(config().clone(), PROCESS));
    catch_unwind(AssertUnwindSafe(|| work(device))).map_err(|_| {
        say("the device panicked; this is a defect of genx shim: please report it");
        Errno::IO
    })
}

/// Opens the device node with this minor number.
///
/// # Errors
/// EMFILE or ENFILE if there are too many descriptors.
pub fn open(minor: u32, close_on_exec: bool) -> Result<OwnedFd, Errno> {
    let id = Id::new();
    let (client, end) = Descriptor::Device { id, minor }.create(close_on_exec)?;
    with(&mut lock(), |device| device.open(id, minor, Some(end)))?;
    if config().log {
        say(&format!("open {minor}"));
    }
    Ok(client)
}

/// The lines that the kernel adds to fdinfo of a file of the device; `None` if the file is not of
/// this process or the device does not respond.
pub fn fdinfo(id: Id) -> Option<String> {
    with(&mut lock(), |device| device.fdinfo(id)).ok()?
}

/// Executes an ioctl on a descriptor that stands for a device.
///
/// # Errors
/// The errors of the kernel.
pub fn ioctl(id: Id, minor: u32, request: Request, argument: u64) -> Result<(), Errno> {
    let since = now();
    loop {
        let (outcome, changes, seen) = with(&mut lock(), |device| {
            // Another process opened the file. In this process it starts without objects.
            if !device.has_file(id) {
                device.open(id, minor, None);
            }
            let changes = device.changes();
            let seen = changes.count();
            (device.ioctl(id, request, argument, since), changes, seen)
        })?;
        if config().log {
            say(&format!("ioctl {:#04x}: {outcome:?}", request.number()));
        }
        match outcome {
            Ok(()) => {
                changes.add();
                return Ok(());
            }
            Err(Stop::Errno(error)) => return Err(error),
            // As in the kernel, a signal interrupts a wait, but here also with SA_RESTART: clients
            // repeat the ioctl (libdrm, drmIoctl). A signal just before the wait is not noticed. A
            // wait with a time limit continues: the client would repeat the ioctl, and the limit
            // counts from the first call.
            Err(Stop::Wait(until)) => {
                if changes.wait(seen, until) && until == FOREVER {
                    return Err(Errno::INTR);
                }
            }
            Err(Stop::After(fence)) => {
                changes.add();
                return fence.wait();
            }
            Err(Stop::AfterWork(fence)) => {
                changes.add();
                return fence.wait_or_rest();
            }
        }
    }
}

/// Waits until the GPU has finished with pages that the client is about to unmap.
pub fn wait_for_pages(address: u64, bytes: u64) {
    if client::is_pinned(address, bytes) {
        wait_for_work(address, bytes);
    }
}

/// The same for pages of a block of the heap that the client is about to free or resize.
pub fn wait_for_block(address: u64, bytes: u64) {
    if client::give_back(address, bytes) {
        wait_for_work(address, bytes);
    }
}

/// Waits until the GPU has finished with the objects of the client's own pages that overlap a
/// range.
fn wait_for_work(address: u64, bytes: u64) {
    let work = with(&mut lock(), |device| device.work_on(address, bytes));
    for fence in work.unwrap_or_default() {
        // The result is ignored: the client gets it from the fence of its submission.
        let _ = fence.wait();
    }
}

/// A new sync file that signals when both `files` have signaled.
///
/// # Errors
/// EAGAIN if the worker cannot be started; EMFILE or ENFILE if there are too many descriptors.
pub fn merge(files: [OwnedFd; 2]) -> Result<OwnedFd, Errno> {
    with(&mut lock(), |device| device.merge(files))?
}

/// The memory to map when a client passes the descriptor `number` and `offset` to mmap.
/// `descriptor` is what it stands for.
///
/// # Errors
/// EINVAL for a wrong range; ENODEV for a descriptor of neither the device nor a buffer; those of
/// opening the file.
pub fn mapping(
    number: RawFd,
    descriptor: Descriptor,
    offset: u64,
    length: u64,
) -> Result<Mappable, Errno> {
    with(&mut lock(), |device| match descriptor {
        Descriptor::Device { id, .. } => device.mapping(id, offset, length),
        Descriptor::DmaBuf { .. } => {
            device.shared_mapping(PROCESS.duplicate(number)?.as_fd(), offset, length)
        }
        Descriptor::Syncobj { .. } | Descriptor::SyncFile { .. } | Descriptor::Directory { .. } => {
            Err(Errno::NODEV)
        }
    })?
}
