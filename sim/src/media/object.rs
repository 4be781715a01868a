//! MEDIA_OBJECT and similar packets, which start root threads.

use super::descriptor::{Dispatch, REGISTER};
use super::pool::{self, GroupKey, Root};
use super::scoreboard::Position;
use super::walker::{Step, Walk};
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;
use genxml::gen8::media::{
    MediaObject, MediaObjectGrpid, MediaObjectGrpidUseScoreboard, MediaObjectPrt,
    MediaObjectThreadSynchronization, MediaObjectUseScoreboard, MediaObjectWalker,
    MediaObjectWalkerGroupIdLoopSelect as GroupLoop, MediaObjectWalkerThreadSynchronization,
    MediaObjectWalkerUseScoreboard,
};
use std::sync::Arc;

/// Maximum number of dwords of inline data (2a p.489).
const MAX_INLINE: usize = 504;
/// Maximum number of dwords of indirect data (2a p.491).
const MAX_INDIRECT: u64 = 496;
/// Maximum number of registers of inline and indirect data together (2a p.489).
const MAX_DATA: usize = 111;
/// Maximum number of registers of inline and indirect data together for a walker (2a p.501).
const MAX_WALKER_DATA: usize = 63;

/// Indirect data of a packet.
#[derive(Clone, Copy)]
struct Indirect {
    length: u64,
    address: u64,
}

impl Indirect {
    /// Reads the data from memory.
    fn read(self, exec: &mut Exec<'_>) -> Result<Vec<u8>, Fault> {
        let Indirect { length, address } = self;
        if !length.is_multiple_of(REGISTER as u64) || length > 4 * MAX_INDIRECT {
            let why = format!(
                "the length must be a multiple of 32 bytes, at most {MAX_INDIRECT} dwords \
                 (2a p.491)"
            );
            return Err(exec.bad_field("Indirect Data Length", length, why));
        }
        let mut data = vec![0; length as usize];
        if length > 0 {
            let address = exec.state.base.indirect.wrapping_add(address);
            exec.vm
                .read(address, &mut data)
                .map_err(|fault| exec.page(fault, "Indirect Data Start Address"))?;
            exec.stats.bytes_read += length;
        }
        Ok(data)
    }
}

/// The bytes of inline data, padded with zeros to whole registers.
fn inline(exec: &Exec<'_>, dwords: impl Iterator<Item = u64>) -> Result<Vec<u8>, Fault> {
    let mut data: Vec<u8> = dwords.flat_map(|dword| (dword as u32).to_le_bytes()).collect();
    if data.len() > 4 * MAX_INLINE {
        let why = format!("a packet has at most {MAX_INLINE} dwords of inline data (2a p.489)");
        return Err(exec.bad_field("DWord Length", data.len() as u64 / 4, why));
    }
    data.resize(data.len().next_multiple_of(REGISTER), 0);
    Ok(data)
}

/// The bytes of inline data, then those of indirect data. If a packet has both kinds, they may have
/// at most `most` registers together.
fn both(
    exec: &mut Exec<'_>,
    dwords: impl Iterator<Item = u64>,
    (length, address): (u64, u64),
    most: usize,
) -> Result<Vec<u8>, Fault> {
    let mut data = inline(exec, dwords)?;
    let indirect = Indirect { length, address }.read(exec)?;
    let both = !data.is_empty() && !indirect.is_empty();
    data.extend(indirect);
    if both && data.len() / REGISTER > most {
        let why = format!(
            "inline and indirect data together have at most {most} registers (2a p.491, p.501)"
        );
        return Err(exec.bad_field("Indirect Data Length", (data.len() / REGISTER) as u64, why));
    }
    Ok(data)
}

/// A root thread without dependencies, group or fence.
fn root(exec: &Exec<'_>, dispatch: Dispatch, data: Vec<u8>, split: bool) -> Result<Root, Fault> {
    let descriptor = &dispatch.descriptor;
    let shared = if split { descriptor.cross_thread_constant_data_read_length.get() } else { 0 };
    let own = descriptor.constant_indirect_urb_entry_read_length.get();
    dispatch.check_payload(exec, 1 + (shared + own) as usize + data.len() / REGISTER)?;
    dispatch.scratch(exec, dispatch.scratch_slots().max(1) - 1)?;
    Ok(Root {
        dispatch: Arc::new(dispatch),
        position: Position::default(),
        dependencies: None,
        data: Arc::new(data),
        synchronized: false,
        children: None,
        fence: false,
        group: None,
        split,
        last: false,
        at: exec.at,
    })
}

/// Starts the thread of a packet and emits [`Event::Dispatch`].
fn submit(exec: &mut Exec<'_>, root: Root) -> Result<(), Fault> {
    let kernel = root.dispatch.program.kernel.address;
    exec.emit(&Event::Dispatch { kernel });
    pool::submit(exec, root)?;
    submitted(exec, kernel);
    Ok(())
}

/// Emits [`Event::DispatchEnd`] if all threads have ended. If threads outlive their packet, the
/// event is never emitted for that packet.
fn submitted(exec: &mut Exec<'_>, kernel: u64) {
    if pool::is_idle(exec) {
        exec.emit(&Event::DispatchEnd { kernel });
    }
}

/// MEDIA_OBJECT: one thread.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the packet names.
pub fn object(exec: &mut Exec<'_>, packet: &MediaObject<'_>) -> Result<(), Fault> {
    let index = packet.interface_descriptor_offset.get();
    let dispatch = Dispatch::resolve(exec, index)?;
    let inline = packet.inline_data.iter().map(|dword| dword.get());
    let indirect = (packet.indirect_data_length.get(), packet.indirect_data_start_address.get());
    let data = both(exec, inline, indirect, MAX_DATA)?;
    let uses = packet.use_scoreboard == MediaObjectUseScoreboard::USING_SCOREBOARD;
    let root = Root {
        position: Position {
            x: packet.scoreboard_x.get() as i32,
            y: packet.scoredboard_y.get() as i32,
            color: packet.scoreboard_color.get() as u8,
        },
        dependencies: uses.then_some(packet.scoreboard_mask.get() as u8),
        synchronized: packet.thread_synchronization
            != MediaObjectThreadSynchronization::NO_THREAD_SYNCHRONIZATION,
        children: packet.children_present.then_some(index),
        ..root(exec, dispatch, data, false)?
    };
    submit(exec, root)
}

/// MEDIA_OBJECT_GRPID: one thread of a group. The constants are divided among the threads of the
/// group.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the packet names.
pub fn grpid(exec: &mut Exec<'_>, packet: &MediaObjectGrpid<'_>) -> Result<(), Fault> {
    let mut dispatch = Dispatch::resolve(exec, packet.interface_descriptor_offset.get())?;
    let descriptor = &dispatch.descriptor;
    let threads = descriptor.number_of_threads_in_gpgpu_thread_group.get();
    if descriptor.barrier_enable && threads == 0 {
        let why = "the barrier of the group needs the number of threads";
        return Err(exec.bad_field("Number of Threads in GPGPU Thread Group", threads, why));
    }
    let data = inline(exec, packet.inline_data.iter().map(|dword| dword.get()))?;
    let indirect = Indirect {
        length: packet.indirect_data_length.get(),
        address: packet.indirect_data_start_address.get(),
    };
    if indirect.length > 0 {
        if !data.is_empty() {
            let why = "the packet cannot have both inline data and indirect data (2a p.494)";
            return Err(exec.bad_field("Indirect Data Length", indirect.length, why));
        }
        dispatch.replace_constants(indirect.read(exec)?);
    }
    let uses = packet.use_scoreboard == MediaObjectGrpidUseScoreboard::USING_SCOREBOARD;
    let root = Root {
        position: Position {
            x: packet.scoreboard_x.get() as i32,
            y: packet.scoreboard_y.get() as i32,
            color: packet.scoreboard_color.get() as u8,
        },
        dependencies: uses.then_some(packet.scoreboard_mask.get() as u8),
        group: Some(GroupKey::Id(packet.group_id.get() as u32)),
        last: packet.end_of_thread_group,
        ..root(exec, dispatch, data, true)?
    };
    submit(exec, root)
}

/// MEDIA_OBJECT_PRT: a persistent root thread. The model never interrupts it, so it is dispatched
/// only once.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the packet names.
pub fn prt(exec: &mut Exec<'_>, packet: &MediaObjectPrt) -> Result<(), Fault> {
    let index = packet.interface_descriptor_offset.get();
    let dispatch = Dispatch::resolve(exec, index)?;
    let data = inline(exec, packet.inline_data.iter().map(|dword| dword.get()))?;
    let root = Root {
        children: packet.children_present.then_some(index),
        // The field that positions the fence is ignored: threads after the fence start when the
        // fence is lifted.
        fence: packet.prt_fence_needed,
        ..root(exec, dispatch, data, false)?
    };
    submit(exec, root)
}

/// MEDIA_OBJECT_WALKER: a thread for each step of a walk.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the packet names.
pub fn walker(exec: &mut Exec<'_>, packet: &MediaObjectWalker<'_>) -> Result<(), Fault> {
    let walk = Walk::new(packet);
    if let Some(field) = walk.endless() {
        return Err(exec.bad_field(field, 0, "a loop with a step of 0 never ends"));
    }
    let loops = match packet.group_id_loop_select {
        GroupLoop::NO_GROUPS => None,
        GroupLoop::COLOR_LOOP_GROUPS => Some(5),
        GroupLoop::INNER_LOCAL_GROUPS => Some(4),
        GroupLoop::MID_LOCAL_GROUPS => Some(3),
        GroupLoop::OUTER_LOCAL_GROUPS => Some(2),
        GroupLoop::INNER_GLOBAL_GROUPS => Some(1),
        other => {
            return Err(exec.bad_field(
                "Group ID Loop Select",
                other.bits(),
                "the value must be 0 to 5",
            ));
        }
    };
    let index = packet.interface_descriptor_offset.get();
    let dispatch = Dispatch::resolve(exec, index)?;
    let inline = packet.inline_data.iter().map(|dword| dword.get());
    let indirect = (packet.indirect_data_length.get(), packet.indirect_data_start_address.get());
    let data = both(exec, inline, indirect, MAX_WALKER_DATA)?;
    let uses = packet.use_scoreboard == MediaObjectWalkerUseScoreboard::USING_SCOREBOARD;
    let model = Root {
        dependencies: uses.then_some(packet.scoreboard_mask.get() as u8),
        synchronized: packet.thread_synchronization
            != MediaObjectWalkerThreadSynchronization::NO_THREAD_SYNCHRONIZATION,
        children: packet.children_present.then_some(index),
        ..root(exec, dispatch, data, false)?
    };
    let thread = |step: Step| Root {
        position: Position { x: step.at.x, y: step.at.y, color: step.color as u8 },
        group: loops.map(|loops| group_of(step, loops)),
        ..model.clone()
    };
    let kernel = model.dispatch.program.kernel.address;
    exec.emit(&Event::Dispatch { kernel });
    pool::with(exec, |pool, exec| {
        // A thread is the last one of its group if the next thread has another group.
        let mut newest: Option<Root> = None;
        walk.each(|step| {
            exec.spend(watchdog::PIXEL)?;
            let Some(step) = step else { return Ok(()) };
            exec.spend(watchdog::PACKET)?;
            let root = thread(step);
            let group = root.group;
            match newest.replace(root) {
                Some(before) => pool.push(exec, Root { last: before.group != group, ..before }),
                None => Ok(()),
            }
        })?;
        if let Some(root) = newest {
            pool.push(exec, Root { last: true, ..root })?;
        }
        pool.settle(exec)
    })?;
    submitted(exec, kernel);
    Ok(())
}

/// The key of a step's group: the counts of the loops outside the group's own loops (2a p.502).
fn group_of(step: Step, loops: usize) -> GroupKey {
    let mut key = [0; 6];
    key[..loops].copy_from_slice(&step.counts[..loops]);
    key[5] = loops as u32;
    GroupKey::Walk(key)
}
