//! The functions that the hooks replace, from the next library in search order (libc).

use libc::{c_char, c_int, c_void};
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the next library, looked up once.
pub struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    /// The function with this name.
    pub const fn new(name: &'static CStr) -> Next {
        Next { name, address: AtomicPtr::new(null_mut()) }
    }

    /// The function's address; null if no library has it.
    pub fn address(&self) -> *mut c_void {
        let cached = self.address.load(Ordering::Relaxed);
        if !cached.is_null() {
            return cached;
        }
        // SAFETY: the name is a C string, and RTLD_NEXT is a handle that dlsym accepts.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Declares functions that call the functions of the next library. Each row ends with the value to
/// return if no library has the function.
macro_rules! next {
    ($(
        $name:ident($($arg:ident: $type:ty),*) -> $result:ty, $symbol:literal, $lacking:expr;
    )*) => {$(
        /// libc's function of this name.
        ///
        /// # Safety
        /// The caller keeps the contract of libc's function.
        pub unsafe fn $name($($arg: $type),*) -> $result {
            static NEXT: Next = Next::new($symbol);
            let address = NEXT.address();
            if address.is_null() {
                return $lacking;
            }
            // SAFETY: the address is not null, and dlsym returned it for this name. libc's headers
            // declare the function of this name with this type. The caller keeps its contract.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) -> $result =
                    std::mem::transmute(address);
                function($($arg),*)
            }
        }
    )*};
}

/// scandir's filter: an entry is selected if the function returns a value other than 0.
pub type Filter = Option<unsafe extern "C" fn(*const libc::dirent) -> c_int>;
/// scandir's comparison: the order of two entries, as for qsort.
pub type Compare =
    Option<unsafe extern "C" fn(*mut *const libc::dirent, *mut *const libc::dirent) -> c_int>;

/// The return type of functions that return nothing.
type Nothing = ();

next! {
    fopen(path: *const c_char, mode: *const c_char) -> *mut libc::FILE, c"fopen", null_mut();
    realpath(path: *const c_char, out: *mut c_char) -> *mut c_char, c"realpath", null_mut();
    opendir(path: *const c_char) -> *mut libc::DIR, c"opendir", null_mut();
    fdopendir(file: c_int) -> *mut libc::DIR, c"fdopendir", null_mut();
    readdir(directory: *mut libc::DIR) -> *mut libc::dirent, c"readdir", null_mut();
    rewinddir(directory: *mut libc::DIR) -> Nothing, c"rewinddir", Nothing::default();
    closedir(directory: *mut libc::DIR) -> c_int, c"closedir", -1;
    dirfd(directory: *mut libc::DIR) -> c_int, c"dirfd", -1;
    free(block: *mut c_void) -> Nothing, c"free", Nothing::default();
    realloc(block: *mut c_void, size: usize) -> *mut c_void, c"realloc", null_mut();
    faccessat(at: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int, c"faccessat", -1;
}

/// Sets errno and returns -1.
pub fn fail(error: c_int) -> c_int {
    // SAFETY: glibc's `__errno_location` takes no argument and returns the address of this thread's
    // errno, which lives as long as the thread and which no other thread accesses.
    unsafe { *libc::__errno_location() = error };
    -1
}
