//! A cache of decoded kernels. An entry is valid until the memory that it was read from changes.

use crate::eu::Kernel;
use crate::eu::decode;
use crate::eu::decode::Fetched;
use crate::machine::exec::Exec;
use crate::machine::slots::UnitState;
use crate::mem::{Client, PageFault, Vm};
use genxml::eu::Generation;
use genxml::eu::decode::{decode_on as decode_instruction, length};
use std::sync::Arc;

/// Kernels that a context has decoded. The cache changes the speed, not the results: an entry is
/// used only while the memory that it was read from holds the same bytes.
#[derive(Clone, Debug, Default)]
pub struct KernelCache(Vec<Entry>);

impl UnitState for KernelCache {
    /// A worker starts with the same kernels, so that it shares their machine code.
    fn for_worker(&self) -> Self {
        self.clone()
    }
}

/// Maximum number of kernels in the cache. A full cache drops the kernel that was added or extended
/// longest ago.
const CAPACITY: usize = 64;

#[derive(Clone, Debug)]
struct Entry {
    kernel: Arc<Kernel>,
    /// Byte offset and result of each instruction fetch, in the order of the fetches.
    source: Arc<Vec<(i32, Fetch)>>,
    /// The bytes of all fetches, joined where they are neighbours: each with its byte offset.
    bytes: Arc<Vec<(i32, Vec<u8>)>>,
}

impl Entry {
    /// True if all fetches would have the same results now.
    fn is_current(&self, vm: &Vm<'_>) -> bool {
        let address = |offset: i32| self.kernel.address.wrapping_add_signed(offset.into());
        let mut now = Vec::new();
        let same = self.bytes.iter().all(|(offset, bytes)| {
            now.resize(bytes.len(), 0);
            vm.read(address(*offset), &mut now).is_ok() && now == *bytes
        });
        let faults = || self.source.iter().filter(|(_, result)| result.is_err());
        same && faults().all(|(offset, fault)| fetch(vm, self.kernel.address, *offset) == *fault)
    }
}

/// The bytes of fetches in ascending order of their offsets, joined where they are neighbours.
fn joined(source: &[(i32, Fetch)]) -> Vec<(i32, Vec<u8>)> {
    let mut fetches: Vec<(i32, &[u8])> = source
        .iter()
        .filter_map(|(offset, result)| {
            let (dwords, compact) = result.as_ref().ok()?;
            let dwords = if *compact { &dwords[..2] } else { &dwords[..] };
            Some((*offset, bytemuck::cast_slice(dwords)))
        })
        .collect();
    fetches.sort_by_key(|(offset, _)| *offset);
    let mut joined: Vec<(i32, Vec<u8>)> = Vec::new();
    for (offset, bytes) in fetches {
        match joined.last_mut() {
            Some((start, last)) if i64::from(*start) + last.len() as i64 == i64::from(offset) => {
                last.extend_from_slice(bytes);
            }
            _ => joined.push((offset, bytes.to_vec())),
        }
    }
    joined
}

/// Result of an instruction fetch: the dwords, and true if the instruction is compacted. Then the
/// upper two dwords are zero.
type Fetch = Result<([u32; 4], bool), PageFault>;

fn fetch(vm: &Vm<'_>, address: u64, offset: i32) -> Fetch {
    let at = address.wrapping_add_signed(offset.into());
    let mut dwords = [0u32; 4];
    vm.read(at, bytemuck::must_cast_slice_mut(&mut dwords[..2]))?;
    let compact = length(dwords[0]) == 8;
    if !compact {
        vm.read(at, bytemuck::must_cast_slice_mut(&mut dwords))?;
    }
    Ok((dwords, compact))
}

/// The kernel at `address`, whose offset from Instruction Base Address is `ip_base`. Memory that
/// cannot be read and bytes that are not an instruction are reported when a thread reaches them.
pub fn decode(exec: &mut Exec<'_>, address: u64, ip_base: u32) -> Arc<Kernel> {
    decode_on(Generation::Gen8, exec, address, ip_base)
}

/// As [`decode()`], for instructions of `generation`. On G45, `ip_base` is the offset from General
/// State Base Address.
pub fn decode_on(
    generation: Generation,
    exec: &mut Exec<'_>,
    address: u64,
    ip_base: u32,
) -> Arc<Kernel> {
    let _client = exec.vm.client(Client::Instructions);
    let vm = &exec.vm;
    let cache = &mut exec.state.slots.get_mut::<KernelCache>().0;
    let same = |kernel: &Kernel| {
        kernel.address == address && kernel.ip_base == ip_base && kernel.generation == generation
    };
    if let Some(at) = cache.iter().position(|entry| same(&entry.kernel)) {
        if cache[at].is_current(vm) {
            return cache[at].kernel.clone();
        }
        cache.remove(at);
    }
    let kernel = Kernel::new(generation, address, ip_base);
    let mut entry =
        Entry { kernel: Arc::new(kernel), source: Arc::default(), bytes: Arc::default() };
    grow(vm, &mut entry, 0);
    let kernel = entry.kernel.clone();
    keep(cache, entry);
    kernel
}

/// Decodes the code that a thread reaches by a computed jump to byte `offset`.
pub fn extend(exec: &mut Exec<'_>, kernel: &mut Arc<Kernel>, offset: i32) {
    exec.vm.keep_order();
    let _client = exec.vm.client(Client::Instructions);
    let cache = &mut exec.state.slots.get_mut::<KernelCache>().0;
    let known = cache.iter().position(|entry| Arc::ptr_eq(&entry.kernel, kernel));
    // Take the caller's reference away, so that `Arc::make_mut` does not have to copy the kernel.
    let own = std::mem::take(kernel);
    let mut entry = match known {
        Some(at) => {
            drop(own);
            cache.remove(at)
        }
        None => Entry { kernel: own, source: Arc::default(), bytes: Arc::default() },
    };
    grow(&exec.vm, &mut entry, offset);
    *kernel = entry.kernel.clone();
    // A kernel that was not in the cache has an incomplete `source`. It must not be cached.
    if known.is_some() {
        keep(cache, entry);
    }
}

fn grow(vm: &Vm<'_>, Entry { kernel, source, bytes }: &mut Entry, start: i32) {
    let (address, generation) = (kernel.address, kernel.generation);
    let source = Arc::make_mut(source);
    decode::extend(Arc::make_mut(kernel), start, |offset| {
        let bytes = fetch(vm, address, offset);
        source.push((offset, bytes));
        decoded(generation, bytes)
    });
    *bytes = Arc::new(joined(source));
}

fn decoded(generation: Generation, bytes: Fetch) -> Fetched {
    match bytes {
        Err(fault) => Fetched::Garbage(format!("instruction fetch: {fault}")),
        Ok((dwords, compact)) => {
            let dwords = if compact { &dwords[..2] } else { &dwords[..] };
            match decode_instruction(generation, dwords) {
                Ok(instruction) => Fetched::Instruction(Box::new(instruction)),
                Err(error) => Fetched::Garbage(error.problem.to_string()),
            }
        }
    }
}

/// Reads and decodes the instruction at byte `offset` of the kernel at `address`, without the
/// cache.
pub fn fetched(vm: &Vm<'_>, generation: Generation, address: u64, offset: i32) -> Fetched {
    decoded(generation, fetch(vm, address, offset))
}

fn keep(cache: &mut Vec<Entry>, entry: Entry) {
    if cache.len() >= CAPACITY {
        cache.remove(0);
    }
    cache.push(entry);
}
