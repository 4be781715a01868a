//! The steps that were looked at last.

use genxml_sim::inspect::frame::Seen;
use std::sync::Arc;

/// Maximum bytes of all steps. The newest one stays even if it alone has more.
const MOST: usize = 160 << 20;

/// The newest steps, oldest first.
#[derive(Default)]
pub struct Cache {
    list: Vec<(u64, Arc<Seen>)>,
}

impl Cache {
    /// A step by its number. It becomes the newest one.
    pub fn get(&mut self, step: u64) -> Option<Arc<Seen>> {
        let at = self.list.iter().position(|(number, _)| *number == step)?;
        let found = self.list.remove(at);
        let seen = Arc::clone(&found.1);
        self.list.push(found);
        Some(seen)
    }

    /// Adds a step, and forgets the oldest ones if there are too many bytes.
    pub fn add(&mut self, step: u64, seen: Arc<Seen>) {
        self.list.push((step, seen));
        let mut sum: usize = self.list.iter().map(|(_, seen)| bytes(seen)).sum();
        while sum > MOST && self.list.len() > 1 {
            sum -= bytes(&self.list.remove(0).1);
        }
    }
}

/// The bytes of the large parts.
fn bytes(seen: &Seen) -> usize {
    let targets = seen.targets.iter().map(|target| {
        let texels = target.texels.iter().map(|texels| texels.values.len()).sum::<usize>();
        texels + target.images.iter().flatten().map(|image| image.rgba.len()).sum::<usize>()
    });
    let heat =
        seen.heat.as_ref().map_or(0, |heat| size_of_val(&*heat.shaded) + size_of_val(&*heat.cost));
    let mesh = size_of_val(&*seen.mesh.received) + size_of_val(&*seen.mesh.primitives);
    let code = seen.kernels.iter().map(|code| code.bytes.len()).sum::<usize>();
    let runs = seen.buffers.iter().map(|buffer| size_of_val(&*buffer.runs)).sum::<usize>();
    targets.sum::<usize>() + heat + mesh + code + runs
}
