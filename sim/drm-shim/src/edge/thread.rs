//! The thread that the model runs on.

use rustix::io::Errno;
use std::mem::MaybeUninit;

/// Bytes of its stack, of which those count that are touched: clients' own threads may have much
/// less.
const STACK: usize = 16 << 20;

/// Signals of a thread's own doing. While they are blocked the kernel ends the process, whatever
/// handlers it has.
const OWN_DOING: [i32; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];

/// Starts it. Signals are the client's: none is delivered to it, nor to threads that it starts, but
/// for those of their own doing.
///
/// # Errors
/// EAGAIN if there can be no more threads.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Errno> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are there to be written; a new thread has the mask of the one that starts
    // it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        for signal in OWN_DOING {
            libc::sigdelset(all.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let thread = std::thread::Builder::new().name("genx".to_owned()).stack_size(STACK).spawn(work);
    // SAFETY: the call above has filled the set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    thread.map(drop).map_err(|_| Errno::AGAIN)
}
