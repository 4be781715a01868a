//! Reports of a process that a signal ends.
//!
//! A handler takes the place of the default action of each signal that ends the process. It lets
//! the device write its reports, and then the signal ends the process. Signals that the client
//! ignores or handles itself stay as they are, and so do SIGKILL and the real-time signals.

use libc::{c_int, c_void, siginfo_t};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// The signals whose default action ends the process (signal(7)).
const FATAL: [c_int; 18] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGUSR1,
    libc::SIGSEGV,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGSYS,
];

/// What the handler calls.
static REPORT: OnceLock<fn()> = OnceLock::new();

/// Makes signals that end the process call `report` first. The function runs in a signal handler:
/// it must not allocate, and must not wait for a lock without a limit. Only the first call counts.
pub fn report_before_end(report: fn()) {
    if REPORT.set(report).is_ok() {
        FATAL.into_iter().for_each(handle);
    }
}

/// Installs the handler for a signal that has its default action.
fn handle(signal: c_int) {
    let mut old = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: zeros are a valid `sigaction`: no flags, an empty mask, the default action. The
    // handler has the type that SA_SIGINFO requires. `sigaction` writes the old action to `old` if
    // it succeeds.
    unsafe {
        if libc::sigaction(signal, null(), old.as_mut_ptr()) != 0
            || old.assume_init().sa_sigaction != libc::SIG_DFL
        {
            return;
        }
        let mut new = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        new.sa_sigaction = end as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(signal, &raw const new, null_mut());
    }
}

/// The handler: calls the report, and then lets the signal end the process.
extern "C" fn end(signal: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a `ucontext_t`, which has the signals that the
    // interrupted thread blocks.
    let blocked = unsafe {
        let context = context.cast::<libc::ucontext_t>();
        libc::sigismember(&raw const (*context).uc_sigmask, libc::SIGTERM) == 1
    };
    // The model's threads block signals. After a crash of one of them, nobody can write reports.
    if let Some(report) = REPORT.get().filter(|_| !blocked) {
        report();
    }
    // SAFETY: zeros are the default action. The signal is blocked in its handler: it is delivered
    // when the handler returns, and then ends the process.
    unsafe {
        let default = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        libc::sigaction(signal, &raw const default, null_mut());
        libc::raise(signal);
    }
}
