//! The values of a whole target: a render target, a depth buffer or a stencil buffer.

use crate::inspect::history::View;
use crate::inspect::history::probe::MOST_BYTES;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The values of all samples of a level of a surface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Texels {
    /// Name of the format.
    pub format: &'static str,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slice and sample of each plane, in order.
    pub planes: Vec<(u32, u32)>,
    /// Bytes of a value.
    pub bytes: usize,
    /// The values, plane by plane and row by row. Values that are not in memory are zeros.
    pub values: Vec<u8>,
}

/// The identity of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
    /// Slice of the surface.
    pub slice: u32,
    /// Sample of the pixel.
    pub sample: u32,
}

impl Texels {
    /// Reads the values of a view. `read` fills a slice with the memory at a graphics address, and
    /// returns false if it cannot be read.
    pub fn of(view: &View, read: &dyn Fn(u64, &mut [u8]) -> bool) -> Texels {
        let mut bytes = 0;
        let mut values = Vec::new();
        let planes: Vec<_> = view.planes().collect();
        each(view, &planes, read, &mut |value| {
            bytes = value.len();
            values.extend_from_slice(value);
        });
        let (width, height) = (view.level.width, view.level.height);
        Texels { format: view.format(), width, height, planes, bytes, values }
    }

    /// The value of a sample by its index.
    pub fn value(&self, index: usize) -> &[u8] {
        self.values.get(index * self.bytes..(index + 1) * self.bytes).unwrap_or_default()
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.values.len() / self.bytes.max(1)
    }

    /// The sample that has an index.
    pub fn position(&self, index: usize) -> Position {
        let (width, height) = (self.width.max(1) as usize, self.height.max(1) as usize);
        let (plane, pixel) = (index / (width * height), index % (width * height));
        let (slice, sample) = self.planes.get(plane).copied().unwrap_or_default();
        Position { x: (pixel % width) as u32, y: (pixel / width) as u32, slice, sample }
    }
}

/// A digest of the values of a view.
pub fn digest(view: &View, read: &dyn Fn(u64, &mut [u8]) -> bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    let planes: Vec<_> = view.planes().collect();
    (view.format(), view.level.width, view.level.height, planes.len()).hash(&mut hasher);
    each(view, &planes, read, &mut |value| hasher.write(value));
    hasher.finish()
}

/// Passes the values of all samples to `value`, plane by plane and row by row.
fn each(
    view: &View,
    planes: &[(u32, u32)],
    read: &dyn Fn(u64, &mut [u8]) -> bool,
    value: &mut dyn FnMut(&[u8]),
) {
    let auxiliary = view.auxiliary();
    let mut element = [0; MOST_BYTES];
    for &(slice, sample) in planes {
        for y in 0..view.level.height {
            for x in 0..view.level.width {
                let found =
                    view.element(auxiliary.as_ref(), slice, [x, y], sample, read, &mut element);
                match found {
                    Some((range, _)) => value(element.get(range).unwrap_or_default()),
                    None => {
                        element.fill(0);
                        value(&element[..view.value_bytes()]);
                    }
                }
            }
        }
    }
}
