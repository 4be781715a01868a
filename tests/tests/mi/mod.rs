//! The expression builder against the model: batches compute the same as Rust.
//!
//! Oracle: Rust's arithmetic of `u64`. The operations of MI_MATH are few and simple in the model
//! (`sim/src/cs/math.rs`), and were written from other sources than the builder.

mod expressions;
mod operations;

use genxml::batch::{Batch, Submission};
use genxml::core::Address;
use genxml::mi::{Builder, Dword, Mem, MemoryAddress, MiEngine, MiError, Qword, mem32, mem64};
use genxml_sim::{ContextId, Fault, Gpu};
use proptest::prelude::*;

const BATCH: u64 = 0x10_0000;
const BATCH_SIZE: usize = 1 << 20;
const INPUT: u64 = 0x40_0000;
const OUTPUT: u64 = 0x41_0000;
const CANARY: u64 = 0xcccc_cccc_cccc_cccc;

fn at(address: u64) -> MemoryAddress {
    Address::new(address).unwrap()
}

fn input(index: u64) -> Mem<Qword> {
    mem64(at(INPUT + 8 * index))
}

fn input32(index: u64) -> Mem<Dword> {
    mem32(at(INPUT + 4 * index))
}

fn output(index: u64) -> Mem<Qword> {
    mem64(at(OUTPUT + 8 * index))
}

fn output32(index: u64) -> Mem<Dword> {
    mem32(at(OUTPUT + 4 * index))
}

type Mi<'b, E> = Builder<'b, E, Batch<E>>;

/// A GPU after it ran a batch.
struct Run {
    gpu: Gpu,
    context: ContextId,
}

impl Run {
    /// Builds a batch and runs it, with `inputs` in memory.
    fn new<E: MiEngine>(
        inputs: &[u64],
        build: impl FnOnce(&mut Mi<'_, E>) -> Result<(), MiError>,
    ) -> Result<Run, Fault> {
        let mut batch = Batch::<E>::new("batch", BATCH, BATCH_SIZE).unwrap();
        build(&mut Builder::new(&mut batch)).unwrap();
        let submission = Submission::new(batch.finish().unwrap(), []);
        let mut gpu = Gpu::new();
        let context = gpu.create_context().unwrap();
        for buffer in &submission.buffers {
            gpu.load(context, buffer.address(), buffer.bytes()).unwrap();
        }
        let mut bytes = vec![0; 4096];
        for (place, value) in bytes.as_chunks_mut().0.iter_mut().zip(inputs) {
            *place = value.to_le_bytes();
        }
        gpu.load(context, INPUT, &bytes).unwrap();
        gpu.load(context, OUTPUT, &CANARY.to_le_bytes().repeat(512)).unwrap();
        gpu.submit(context, E::ID, BATCH, submission.batch_length)?;
        Ok(Run { gpu, context })
    }

    fn get(&mut self, address: u64) -> u64 {
        let vm = self.gpu.vm(self.context);
        let [low, high] = [0, 4].map(|offset| u64::from(vm.read_u32(address + offset).unwrap()));
        low | high << 32
    }

    fn output(&mut self, index: u64) -> u64 {
        self.get(OUTPUT + 8 * index)
    }
}

/// Numbers that often reveal errors: small ones, near powers of two, and random ones.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        any::<u32>().prop_map(u64::from),
        0u64..4,
        (0u64..4).prop_map(|x| !x),
        (0u32..64, -1i64..2).prop_map(|(bit, more)| (1u64 << bit).wrapping_add_signed(more)),
    ]
}
