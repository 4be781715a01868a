//! Hooks for _exit and _Exit, which end the process without the functions of atexit.

use super::hooks;
use crate::edge::session;
use libc::c_int;

hooks! {
    fn _exit(status: c_int) -> ! { exit_now(status) }
    fn _Exit(status: c_int) -> ! { exit_now(status) }
}

/// The hook for _exit.
fn exit_now(status: c_int) -> ! {
    session::end_at_once();
    loop {
        // SAFETY: the system call ends the process and does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}
