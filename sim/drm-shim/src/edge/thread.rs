//! The thread of the model.

use rustix::io::Errno;
use std::mem::MaybeUninit;

/// Size of the thread's stack in bytes. Only touched pages take memory. Stacks of the client's own
/// threads may be much smaller.
const STACK: usize = 16 << 20;

/// Signals caused by an instruction of the thread itself. If one of them is blocked, the kernel
/// ends the process without calling a handler.
const SYNCHRONOUS: [i32; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];

/// Starts the thread, which calls `work`. The client's threads handle signals: the new thread and
/// the threads that it starts block all signals except `SYNCHRONOUS`.
///
/// # Errors
/// EAGAIN if the process cannot have another thread.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Errno> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: sigfillset initialises `all` before the other calls read or change it, and the
    // numbers are valid signals. pthread_sigmask writes the old mask to `before`. The new thread
    // inherits the mask of this one.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        for signal in SYNCHRONOUS {
            libc::sigdelset(all.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let thread = std::thread::Builder::new().name("genx".to_owned()).stack_size(STACK).spawn(work);
    // SAFETY: the call above initialised `before`: it fails only for an invalid first argument. A
    // null pointer means that the old mask is not wanted.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    thread.map(drop).map_err(|_| Errno::AGAIN)
}
