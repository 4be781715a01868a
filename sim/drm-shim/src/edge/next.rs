//! The functions that the hooks stand before: those of the next library in order, and system calls.

use libc::{c_char, c_int, c_void};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the next library, looked up once.
pub struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    /// The function with this name.
    pub const fn new(name: &'static CStr) -> Next {
        Next { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address; null if there is none.
    pub fn address(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero; the handle is one that dlsym knows.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Declares functions of libc that a hook goes on to, and what they give where libc lacks one.
macro_rules! next {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty, $symbol:literal, $lacking:expr;)*) => {$(
        /// libc's own.
        ///
        /// # Safety
        /// As libc says.
        pub unsafe fn $name($($arg: $type),*) -> $result {
            static NEXT: Next = Next::new($symbol);
            let address = NEXT.address();
            if address.is_null() {
                return $lacking;
            }
            // SAFETY: libc's function of this name has this type; the caller keeps its promises.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) -> $result = std::mem::transmute(address);
                function($($arg),*)
            }
        }
    )*};
}

/// Whether scandir keeps an entry.
pub type Filter = Option<unsafe extern "C" fn(*const libc::dirent) -> c_int>;
/// How scandir orders entries.
pub type Compare =
    Option<unsafe extern "C" fn(*mut *const libc::dirent, *mut *const libc::dirent) -> c_int>;

next! {
    fopen(path: *const c_char, mode: *const c_char) -> *mut libc::FILE, c"fopen", std::ptr::null_mut();
    realpath(path: *const c_char, out: *mut c_char) -> *mut c_char, c"realpath", std::ptr::null_mut();
    opendir(path: *const c_char) -> *mut libc::DIR, c"opendir", std::ptr::null_mut();
    fdopendir(file: c_int) -> *mut libc::DIR, c"fdopendir", std::ptr::null_mut();
    readdir(directory: *mut libc::DIR) -> *mut libc::dirent, c"readdir", std::ptr::null_mut();
    closedir(directory: *mut libc::DIR) -> c_int, c"closedir", -1;
    dirfd(directory: *mut libc::DIR) -> c_int, c"dirfd", -1;
    scandir(path: *const c_char, list: *mut *mut *mut libc::dirent, filter: Filter, compare: Compare) -> c_int,
        c"scandir", -1;
    faccessat(at: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int, c"faccessat", -1;
}

/// libc's own.
///
/// # Safety
/// As libc says.
pub unsafe fn rewinddir(directory: *mut libc::DIR) {
    static NEXT: Next = Next::new(c"rewinddir");
    let address = NEXT.address();
    if !address.is_null() {
        // SAFETY: libc's function of this name has this type; the caller keeps its promises.
        unsafe {
            let function: unsafe extern "C" fn(*mut libc::DIR) = std::mem::transmute(address);
            function(directory);
        }
    }
}

/// Sets errno and gives -1.
pub fn fail(error: c_int) -> c_int {
    // SAFETY: glibc's errno of this thread is always there.
    unsafe { *libc::__errno_location() = error };
    -1
}
