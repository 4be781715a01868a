//! The state of the resource streamer.

use super::pool::Pool;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::slots::UnitState;
use genxml::gen8::structures::HwGeneratedBindingTableState;

/// Entries of a binding table (2d p.23).
pub const ENTRIES: usize = 256;

/// A stage that has constant registers of DX9.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dx9Stage {
    /// Vertex shader.
    Vertex,
    /// Pixel shader.
    Pixel,
}

/// A set of constant registers of DX9. Each register holds dwords, which the streamer copies
/// unchanged unless it clamps floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Registers of four floats.
    pub floats: [[u32; 4]; 256],
    /// Registers of four integers.
    pub integers: [[u32; 4]; 32],
    /// Booleans.
    pub booleans: [u32; 16],
}

impl Default for Registers {
    fn default() -> Registers {
        Registers { floats: [[0; 4]; 256], integers: [[0; 4]; 32], booleans: [0; 16] }
    }
}

/// Which local registers are valid: a bit for each register, the first register in bit 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Valid {
    /// Registers of floats: 32 bits in each of 8 elements.
    pub floats: [u32; 8],
    /// Registers of integers.
    pub integers: u32,
    /// Booleans.
    pub booleans: u32,
}

/// The constants of DX9 of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dx9 {
    /// Constants that the application sets.
    pub global: Registers,
    /// Constants that a shader defines.
    pub local: Registers,
    /// The local registers that hide global ones.
    pub valid: Valid,
}

/// What the resource streamer stores inside the GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// The binding table of each [`Stage`](crate::unit::stage::Stage).
    pub tables: [[HwGeneratedBindingTableState; ENTRIES]; 5],
    /// The constants of each [`Dx9Stage`].
    pub dx9: [Dx9; 2],
    /// Pool for binding tables, if it is enabled.
    pub table_pool: Option<Pool>,
    /// Pool for gathered constants, if it is enabled.
    pub gather_pool: Option<Pool>,
    /// Pool for the constant buffers of DX9, if it is enabled.
    pub dx9_pool: Option<Pool>,
}

impl Default for Chip {
    fn default() -> Chip {
        Chip {
            tables: [[HwGeneratedBindingTableState::new(); ENTRIES]; 5],
            dx9: Default::default(),
            table_pool: None,
            gather_pool: None,
            dx9_pool: None,
        }
    }
}

/// The resource streamer of a context: its state, and the copy that MI_RS_CONTEXT saved. The state
/// exists once a packet needs it; before, all of it is 0 and no pool is enabled.
#[derive(Clone, Debug, Default)]
pub struct ResourceStreamer {
    chip: Option<Box<Chip>>,
    saved: Option<Box<Chip>>,
}

impl UnitState for ResourceStreamer {
    /// A worker gets a streamer without state, because workers only execute threads, and no thread
    /// uses the resource streamer.
    fn for_worker(&self) -> ResourceStreamer {
        ResourceStreamer::default()
    }
}

impl ResourceStreamer {
    /// The state of the context's resource streamer.
    pub fn chip<'e>(exec: &'e mut Exec<'_>) -> &'e mut Chip {
        exec.state.slots.get_mut::<ResourceStreamer>().chip.get_or_insert_default()
    }
}

/// MI_RS_CONTEXT, Save: copies the state (assumptions::RS_CONTEXT_IS_A_COPY).
pub fn save(exec: &mut Exec<'_>) {
    let streamer = exec.state.slots.get_mut::<ResourceStreamer>();
    streamer.saved = Some(streamer.chip.clone().unwrap_or_default());
}

/// MI_RS_CONTEXT, Restore: sets the state to the copy that was saved last.
///
/// # Errors
/// [`Fault::BadPacket`] if nothing was saved in this context.
pub fn restore(exec: &mut Exec<'_>) -> Result<(), Fault> {
    let streamer = exec.state.slots.get_mut::<ResourceStreamer>();
    let Some(saved) = streamer.saved.clone() else {
        let why = "no MI_RS_CONTEXT saved a state in this context: send one with Save first";
        return Err(exec.bad_field("Resource Streamer Save", 0, why));
    };
    streamer.chip = Some(saved);
    Ok(())
}

/// Refuses a packet that only the resource streamer executes, if the streamer does not follow the
/// batch.
///
/// # Errors
/// [`Fault::BadPacket`] that says how to start the streamer.
pub fn running(exec: &Exec<'_>) -> Result<(), Fault> {
    if exec.mode.resource_streamer {
        return Ok(());
    }
    Err(exec.bad_field(
        "Resource Streamer Enable",
        0,
        "only the resource streamer executes this packet, and it does not follow this batch: set \
         Resource Streamer Enable in the MI_BATCH_BUFFER_START of the batch, or send MI_RS_CONTROL \
         with Start",
    ))
}

/// Counts a packet that has no effect because its pool is disabled.
pub fn switched_off(exec: &mut Exec<'_>) {
    exec.stats.without_effect += 1;
    exec.emit(&crate::machine::events::Event::WithoutEffect { at: exec.at });
}
