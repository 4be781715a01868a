//! Context images: the registers of a context in memory, in the form of commands that load them
//! (gen8_facts 1.4).
//!
//! The page after the status page of a context holds MI_LOAD_REGISTER_IMM commands and MI_NOOPs. A
//! load executes these commands. A save writes the current values of their registers back into
//! them. The model keeps all other state of a context outside the image, under the image's address:
//! latched packets, general registers, the position in batches. The format of that state in memory
//! is private to the hardware.

use crate::mem::{PAGE, PageFault, Vm};
use genxml::engine::EngineId;
use genxml::gen8::ENGINES;
use genxml::gen8::RenderPacket;
use genxml::gen8::context::{
    Gen8LrContextRegisterStatePage, Gen8LrContextRegisterStatePageOtherEngines,
};

/// A register in an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Byte offset of the register in the register space.
    pub register: u32,
    /// Byte offset of the register's value from the start of the register page.
    pub at: u64,
    /// The value of the register in the image.
    pub value: u32,
    /// True if the register comes after the ring registers in the image. Ring registers are always
    /// loaded; the registers after them are engine state, which is not loaded while the image
    /// inhibits the restore.
    pub engine_state: bool,
}

/// The registers of the image whose register page is at `page` in the global table, up to the first
/// command that is neither MI_LOAD_REGISTER_IMM nor MI_NOOP.
///
/// Mesa's AUB writer puts registers of the second video engine into images of the video engine
/// (gen8_facts 1.5). This function returns them as registers of the first video engine.
///
/// # Errors
/// [`PageFault`] if the page is not mapped.
pub fn entries(vm: &Vm<'_>, page: u64, engine: EngineId) -> Result<Vec<Entry>, PageFault> {
    let mut dwords = vec![0u32; (PAGE / 4) as usize];
    vm.read(page, bytemuck::must_cast_slice_mut(&mut dwords))?;
    let ring_part = match engine {
        EngineId::Render => Gen8LrContextRegisterStatePage::DWORDS,
        _ => Gen8LrContextRegisterStatePageOtherEngines::DWORDS,
    };
    let mut entries = Vec::new();
    let mut at = 0;
    while at < dwords.len() {
        // MI commands are the same on all engines.
        let Ok((packet, length)) = RenderPacket::parse(&dwords[at..]) else { break };
        match packet {
            RenderPacket::MiNoop(_) => {}
            RenderPacket::MiLoadRegisterImm(load) => {
                for (index, register) in load.unpack_lossy().register.iter().enumerate() {
                    let value = at + 2 + 2 * index;
                    entries.push(Entry {
                        register: first_video(register.register_offset.get() as u32),
                        at: 4 * value as u64,
                        value: register.data_dword.get() as u32,
                        engine_state: value >= ring_part,
                    });
                }
            }
            _ => break,
        }
        at += length;
    }
    Ok(entries)
}

/// Maps a register of the second video engine to that of the first; returns others unchanged.
fn first_video(register: u32) -> u32 {
    let base = |name| ENGINES.iter().find(|engine| engine.name == name).map(|engine| engine.base);
    match (base("VCS2"), base("VCS")) {
        (Some(second), Some(first))
            if register.wrapping_sub(second) < crate::machine::registers::ENGINE_BYTES =>
        {
            register - second + first
        }
        _ => register,
    }
}
