//! Engines as a kernel driver uses them: rings, execution lists, context images, semaphores, hangs
//! and faults.
//!
//! Oracles: gen8_facts 1.2-1.4 (registers, events, images), 2.1 and 2.2 (levels, semaphores); 2d
//! p.107-111 (descriptors, events), p.198 (errors), p.199 and p.305 (status pages).

mod global;
mod lists;
mod machine;
mod rings;
mod switches;
mod trouble;

use genxml::core::U;
use genxml::gen8::mi::*;
use genxml_cases::{at, u};

/// MI_STORE_DATA_IMM of one dword to `DATA + 4 * dword` of the context.
fn store(dword: u64, data: &[U<32>; 1]) -> MiStoreDataImm<'_> {
    MiStoreDataImm { data_dword: data.into(), ..MiStoreDataImm::new(at(machine::DATA + 4 * dword)) }
}

/// MI_SEMAPHORE_WAIT until the dword at `DATA + 4 * dword` is `value`.
fn wait(dword: u64, value: u64) -> MiSemaphoreWait {
    MiSemaphoreWait {
        wait_mode: MiSemaphoreWaitWaitMode::POLLING_MODE,
        compare_operation: MiSemaphoreWaitCompareOperation::SAD_EQUAL_SDD,
        semaphore_data_dword: u(value),
        semaphore_address: at(machine::DATA + 4 * dword),
        ..MiSemaphoreWait::new()
    }
}

/// MI_BATCH_BUFFER_START to `BATCH + offset` of the context.
fn start(offset: u64) -> MiBatchBufferStart {
    MiBatchBufferStart {
        address_space_indicator: MiBatchBufferStartAddressSpaceIndicator::PPGTT,
        ..MiBatchBufferStart::new(at(machine::BATCH + offset))
    }
}

fn load(registers: &[MiLoadRegisterImmRegister]) -> MiLoadRegisterImm<'_> {
    MiLoadRegisterImm { register: registers.into(), ..MiLoadRegisterImm::new() }
}

fn register(offset: u32, value: u32) -> MiLoadRegisterImmRegister {
    MiLoadRegisterImmRegister { register_offset: at(offset.into()), data_dword: u(value.into()) }
}

/// MI_STORE_REGISTER_MEM to `DATA + 4 * dword`.
fn save(offset: u32, dword: u64) -> MiStoreRegisterMem {
    MiStoreRegisterMem {
        register_address: at(offset.into()),
        memory_address: at(machine::DATA + 4 * dword),
        ..MiStoreRegisterMem::new()
    }
}
