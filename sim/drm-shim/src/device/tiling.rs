//! Linear views of tiled objects. Hardware makes a tiled object look linear through the aperture.
//! Here, clients map a linear copy instead. The copy is refreshed by GEM_SET_DOMAIN, if something
//! else may have accessed the object, by GEM_PWRITE, and after each submission that uses the object.
//! The client's changes are written back before the object is used.

use super::host::{FilePages, Pages};
use genxml_sim::surface::tiling::TileMode;
use rustix::io::Errno;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The linear copy of a tiled object.
#[derive(Debug)]
struct View {
    /// Contents at the last refresh or write-back. The client wrote the bytes of the copy that
    /// differ from these contents.
    contents: Vec<u8>,
    mode: TileMode,
    stride: u32,
    /// True if the object can have been accessed only through the view since the last request for
    /// the domain GTT. Then the next request for this domain copies nothing.
    is_held: bool,
}

/// A view, shared by the object and the submissions that use it.
#[derive(Clone, Debug)]
pub struct SharedView {
    pages: Arc<dyn FilePages>,
    view: Arc<Mutex<View>>,
}

/// A vector of zeros. The length comes from a client; ENOMEM if it exceeds the host's memory.
fn zeros(length: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| Errno::NOMEM)?;
    bytes.resize(length, 0);
    Ok(bytes)
}

impl View {
    /// Runs of bytes that are contiguous both in the object and in the view: offset in the object,
    /// offset in the view, length. Covers only whole rows of tiles.
    fn runs(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (mode, stride) = (self.mode, self.stride as usize);
        let run = mode.run() as usize;
        let rows = (self.contents.len() / stride / mode.height() as usize) * mode.height() as usize;
        (0..rows).flat_map(move |y| {
            (0..stride).step_by(run).map(move |x| {
                let there = mode.offset(x as i64, y as i64, stride as i64);
                (there as usize, y * stride + x, run)
            })
        })
    }
}

impl SharedView {
    /// The view of an object of `size` bytes, without the object's contents yet. Clients map
    /// `pages`.
    ///
    /// # Errors
    /// ENOMEM if the host has too little memory.
    pub(super) fn new(
        pages: Arc<dyn FilePages>,
        size: u64,
        mode: TileMode,
        stride: u32,
    ) -> Result<SharedView, Errno> {
        let view = View { contents: zeros(size as usize)?, mode, stride, is_held: false };
        Ok(SharedView { pages, view: Arc::new(Mutex::new(view)) })
    }

    /// The memory that clients map.
    pub fn pages(&self) -> &Arc<dyn FilePages> {
        &self.pages
    }

    fn lock(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For GEM_SET_DOMAIN: writes the client's changes in the view to the object, then copies the
    /// object into the view. `only` is true if the request is for the domain GTT, and neither a
    /// direct mapping nor another process can access the object.
    pub fn request(&self, object: &dyn Pages, only: bool) {
        if only && self.lock().is_held {
            return;
        }
        self.write_back(object);
        self.refresh(object);
        self.lock().is_held = only;
    }

    /// Copies the object into the view. Does nothing if the object cannot be read.
    pub fn refresh(&self, object: &dyn Pages) {
        let mut view = self.lock();
        view.is_held = false;
        let Ok(mut bytes) = zeros(view.contents.len()) else { return };
        if object.read(0, &mut bytes).is_err() {
            return;
        }
        for (there, here, length) in view.runs() {
            view.contents[here..here + length].copy_from_slice(&bytes[there..there + length]);
        }
        // The view is as long as the object, so the range is valid.
        let _ = self.pages.write(0, &view.contents);
    }

    /// Copies what the client changed in the view into the object.
    pub fn write_back(&self, object: &dyn Pages) {
        let mut view = self.lock();
        view.is_held = false;
        let Ok(mut now) = zeros(view.contents.len()) else { return };
        if self.pages.read(0, &mut now).is_err() || now == view.contents {
            return;
        }
        for (there, here, length) in view.runs() {
            let (new, old) = (&now[here..here + length], &view.contents[here..here + length]);
            // Only changed bytes are written, because the GPU may have written the others.
            let mut next = 0;
            while let Some(first) = (next..length).find(|&n| new[n] != old[n]) {
                next = (first..length).find(|&n| new[n] == old[n]).unwrap_or(length);
                // The view is as long as the object, so the range is valid.
                let _ = object.write((there + first) as u64, &new[first..next]);
            }
        }
        view.contents = now;
    }
}

/// The tiling with the kernel's number `tiling`; `None` if there is no such tiling.
pub(super) fn tile_mode(tiling: u32) -> Option<TileMode> {
    match tiling {
        0 => Some(TileMode::Linear),
        1 => Some(TileMode::X),
        2 => Some(TileMode::Y),
        _ => None,
    }
}
