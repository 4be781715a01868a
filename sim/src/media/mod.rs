//! Media and GPGPU front end: it turns walkers and media objects into threads.
//!
//! The command streamer calls one function for each packet that dispatches threads. State packets
//! were latched before ([`crate::machine::state::State`]). [`descriptor`] resolves the interface
//! descriptor that a packet names. [`gpgpu`] starts thread groups, which run to their end.
//! [`object`] starts media threads: one, or many along the walk of a [`walker`]. Media threads live
//! in a [`pool`] and depend on each other through the [`scoreboard`]. In
//! [`slots`](crate::unit::slots), the threads take turns.

pub mod descriptor;
pub mod gpgpu;
pub mod object;
pub mod pool;
pub mod scoreboard;
pub mod walker;

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::InterfaceDescriptors;
use genxml::gen8::media::{
    GpgpuWalker, MediaObject, MediaObjectGrpid, MediaObjectPrt, MediaObjectWalker, MediaStateFlush,
    MediaVfeState, MediaVfeStateResetGatewayTimer as Timer,
};
use pool::{Pool, URB_ROWS};

pub use pool::is_idle;

/// Number of URB registers that hold interface descriptors (2a p.512).
const DESCRIPTOR_ROWS: u64 = 64;

/// Runs all threads of a GPGPU_WALKER to their end.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the walker names.
pub fn dispatch_walker(exec: &mut Exec<'_>, walker: &GpgpuWalker) -> Result<(), Fault> {
    drain(exec)?;
    gpgpu::walk(exec, walker)
}

/// Starts the thread of a MEDIA_OBJECT.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the object names.
pub fn dispatch_object(exec: &mut Exec<'_>, object: &MediaObject<'_>) -> Result<(), Fault> {
    object::object(exec, object)
}

/// Starts the thread of a MEDIA_OBJECT_GRPID.
///
/// # Errors
/// Those of [`dispatch_object`].
pub fn dispatch_grpid(exec: &mut Exec<'_>, object: &MediaObjectGrpid<'_>) -> Result<(), Fault> {
    object::grpid(exec, object)
}

/// Starts the thread of a MEDIA_OBJECT_PRT.
///
/// # Errors
/// Those of [`dispatch_object`].
pub fn dispatch_prt(exec: &mut Exec<'_>, object: &MediaObjectPrt) -> Result<(), Fault> {
    object::prt(exec, object)
}

/// Starts the threads of a MEDIA_OBJECT_WALKER.
///
/// # Errors
/// Those of [`dispatch_object`].
pub fn dispatch_object_walker(
    exec: &mut Exec<'_>,
    walker: &MediaObjectWalker<'_>,
) -> Result<(), Fault> {
    object::walker(exec, walker)
}

/// Executes MEDIA_VFE_STATE: waits until all media threads have ended, then frees all URB entries
/// and latches the packet.
///
/// # Errors
/// [`Fault::BadPacket`] for sizes that do not fit the URB, or a stack that does not fit the
/// scratch space of a thread; any [`Fault`] of the threads.
pub fn vfe_state(exec: &mut Exec<'_>, packet: &MediaVfeState) -> Result<(), Fault> {
    drain(exec)?;
    let (entries, size) =
        (packet.number_of_urb_entries.get(), packet.urb_entry_allocation_size.get());
    let rows = entries * size + packet.curbe_allocation_size.get() + DESCRIPTOR_ROWS;
    if rows > URB_ROWS {
        let why = format!(
            "{entries} entries of this size, the CURBE and {DESCRIPTOR_ROWS} descriptors need \
             {rows} registers, the URB has {URB_ROWS} (2a p.512)"
        );
        return Err(exec.bad_field("URB Entry Allocation Size", size, why));
    }
    if packet.stack_size > packet.per_thread_scratch_space {
        let why = "the stack must fit the scratch space (2a p.510)";
        return Err(exec.bad_field("Stack Size", packet.stack_size.get(), why));
    }
    if packet.reset_gateway_timer
        == Timer::RESETTING_RELATIVE_TIMER_AND_LATCHING_THE_GLOBAL_TIMESTAMP
    {
        exec.state.gateway_epoch = exec.budget.clock();
    }
    exec.state.slots.get_mut::<Pool>().reset();
    exec.state.vfe = Some(*packet);
    Ok(())
}

/// Executes MEDIA_STATE_FLUSH: waits until all root threads have started. After that, packets may
/// change the state that these threads started with. The packet's watermark, which makes hardware
/// wait for free room, is ignored: the model always has room.
///
/// # Errors
/// Any [`Fault`] of the threads.
pub fn state_flush(exec: &mut Exec<'_>, _: &MediaStateFlush) -> Result<(), Fault> {
    pool::flush(exec)
}

/// Clears the media state, which PIPE_CONTROL can request.
pub fn clear(exec: &mut Exec<'_>) {
    exec.state.vfe = None;
    exec.state.curbe.clear();
    exec.state.interface_descriptors = InterfaceDescriptors::default();
    exec.state.slots.get_mut::<Pool>().reset();
}

/// Starts the media threads that can start, and gives each thread that does not wait one turn;
/// called while the command streamer waits. True if a thread started or made progress.
///
/// # Errors
/// Any [`Fault`] of the threads.
pub fn go_on(exec: &mut Exec<'_>) -> Result<bool, Fault> {
    pool::go_on(exec)
}

/// Runs media threads until all have ended.
///
/// # Errors
/// Any [`Fault`] of the threads.
pub fn drain(exec: &mut Exec<'_>) -> Result<(), Fault> {
    pool::drain(exec)
}
