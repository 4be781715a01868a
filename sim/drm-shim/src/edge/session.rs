//! The device of this process: made when it is first opened, locked for each call, kept apart in forked children.

use crate::device::config::Config;
use crate::device::report::say;
use crate::device::syncobj::now;
use crate::device::{Device, Stop};
use crate::edge::token::{Id, Token};
use crate::tree::Tree;
use crate::uapi::Request;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::Duration;

/// The device, if it was opened.
struct Held(Option<Device>);

// SAFETY: what cannot change threads by itself is the listener of the rules engine, a closure that owns plain data. It lives
// in the device and is reached only through the lock around it.
unsafe impl Send for Held {}

static DEVICE: Mutex<Held> = Mutex::new(Held(None));

/// Told whenever a call may have changed what another one waits for.
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// The lock, held while this thread forks.
    static FORKING: RefCell<Option<MutexGuard<'static, Held>>> = const { RefCell::new(None) };
}

/// What the environment asks for.
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

/// The files by which the device is found.
pub fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| Tree::new(config()))
}

extern "C" fn before_fork() {
    let guard = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = FORKING.try_with(|forking| forking.replace(Some(guard)));
}

extern "C" fn after_fork() {
    let _ = FORKING.try_with(|forking| drop(forking.replace(None)));
}

extern "C" fn after_fork_in_child() {
    let _ = FORKING.try_with(|forking| {
        if let Some(mut guard) = forking.replace(None)
            && let Some(device) = &mut guard.0
        {
            device.forked();
        }
    });
}

extern "C" fn at_exit() {
    // A thread that is in the middle of something will not come back to it.
    if let Ok(mut guard) = DEVICE.try_lock()
        && let Some(device) = &mut guard.0
    {
        let _ = catch_unwind(AssertUnwindSafe(|| device.finish()));
    }
}

fn lock() -> MutexGuard<'static, Held> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions are there as long as the process: a library that was preloaded is never unloaded.
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child));
            libc::atexit(at_exit);
        }
    });
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the device. A panic of the model is the model's fault, not the client's: it becomes an error.
fn with<R>(guard: &mut MutexGuard<'static, Held>, work: impl FnOnce(&mut Device) -> R) -> Result<R, Errno> {
    let device = guard.0.get_or_insert_with(|| Device::new(config().clone()));
    catch_unwind(AssertUnwindSafe(|| work(device))).map_err(|_| {
        say("the model panicked, which it never should: please report it");
        Errno::IO
    })
}

/// Opens the device with this minor number.
///
/// # Errors
/// The kernel's.
pub fn open(minor: u32, close_on_exec: bool) -> Result<OwnedFd, Errno> {
    let id = Id::new();
    let (client, end) = Token::Device { id, minor }.create(close_on_exec)?;
    with(&mut lock(), |device| device.open(id, minor, Some(end)))?;
    if config().log {
        say(&format!("open {minor}"));
    }
    Ok(client)
}

/// Does an ioctl on a descriptor that stands for a device.
///
/// # Errors
/// What the kernel would give.
pub fn ioctl(id: Id, minor: u32, request: Request, argument: u64) -> Result<(), Errno> {
    let mut guard = lock();
    loop {
        let outcome = with(&mut guard, |device| {
            // It came from another process: here it starts without objects.
            if !device.knows(id) {
                device.open(id, minor, None);
            }
            device.ioctl(id, request, argument)
        })?;
        if config().log {
            say(&format!("ioctl {:#04x}: {outcome:?}", request.number()));
        }
        match outcome {
            Ok(()) => {
                CHANGED.notify_all();
                return Ok(());
            }
            Err(Stop::Errno(error)) => return Err(error),
            Err(Stop::Wait(until)) => {
                let left = Duration::from_nanos(until.saturating_sub(now()));
                let woken = CHANGED.wait_timeout(guard, left.min(Duration::from_secs(1)));
                guard = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

/// What a client maps that passes a descriptor of the device, or of a buffer, to mmap.
///
/// # Errors
/// What mmap would give.
pub fn mapping(token: Token, offset: u64, length: u64) -> Result<(OwnedFd, u64), Errno> {
    with(&mut lock(), |device| match token {
        Token::Device { .. } => device.mapping(offset, length),
        Token::Buffer { .. } => device.shared_mapping(token, offset, length),
        Token::Sync { .. } | Token::Directory { .. } => Err(Errno::NODEV),
    })?
}
