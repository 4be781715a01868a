//! MI commands, each on every engine that has it.
//!
//! Oracles: gen8_facts 2.1-2.7 (what each command does), in plain Rust; positions of fields as in
//! spec-xml/gen8/mi.xml.

mod arithmetic;
mod flow;
mod moves;
mod quiet;
mod urb;

use genxml::engine::EngineId;
use genxml::gen8::mi::*;
use genxml_cases::{Model, at, u};

/// Address of the data, 64 KiB.
const DATA: u64 = 0x40_0000;

/// Base of an engine's registers (gen8_facts 1.2).
fn base(engine: EngineId) -> u32 {
    match engine {
        EngineId::Render => 0x2000,
        EngineId::Video => 0x12000,
        EngineId::VideoEnhance => 0x1a000,
        EngineId::Blitter => 0x22000,
    }
}

/// Offset of the low half of general register `index` of an engine.
fn gpr(engine: EngineId, index: u32) -> u32 {
    base(engine) + 0x600 + 8 * index
}

fn model() -> Model {
    let mut model = Model::new();
    model.map(DATA, 0x1_0000);
    model
}

fn load(registers: &[MiLoadRegisterImmRegister]) -> MiLoadRegisterImm<'_> {
    MiLoadRegisterImm { register: registers.into(), ..MiLoadRegisterImm::new() }
}

fn register(offset: u32, value: u32) -> MiLoadRegisterImmRegister {
    MiLoadRegisterImmRegister { register_offset: at(offset.into()), data_dword: u(value.into()) }
}

/// MI_LOAD_REGISTER_IMM of both halves of a general register.
fn wide(engine: EngineId, index: u32, value: u64) -> [MiLoadRegisterImmRegister; 2] {
    let offset = gpr(engine, index);
    [register(offset, value as u32), register(offset + 4, (value >> 32) as u32)]
}

/// MI_STORE_REGISTER_MEM to `DATA + 4 * dword`.
fn save(offset: u32, dword: u64) -> MiStoreRegisterMem {
    MiStoreRegisterMem {
        register_address: at(offset.into()),
        memory_address: at(DATA + 4 * dword),
        ..MiStoreRegisterMem::new()
    }
}

/// The value of one of the model's registers.
fn value(model: &Model, offset: u32) -> u32 {
    model.gpu.context(model.context).state.registers.read(offset)
}
