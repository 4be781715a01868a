//! GPGPU_WALKER: a three-dimensional grid of thread groups; each group is a grid of threads.

use super::descriptor::{Dispatch, REGISTER};
use crate::assumptions::{
    BARRIERS, CS_INVOCATIONS_ARE_CHANNELS, INDIRECT_DATA_REPLACES_CURBE, SHARED_LOCAL_MEMORY_FILL,
    THREADS_WITHOUT_CHANNELS_START,
};
use crate::eu::Launch;
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::parallel;
use crate::machine::parallel::Work;
use crate::machine::state::State;
use crate::machine::watchdog;
use crate::unit::Program;
use crate::unit::dataport;
use crate::unit::local::Barrier;
use crate::unit::slots::Slots;
use genxml::gen8::media::{GpgpuWalker, GpgpuWalkerSimdSize};
use genxml::gen8::registers::{
    CsInvocationCount, GpgpuDispatchdimx, GpgpuDispatchdimy, GpgpuDispatchdimz,
};
use genxml::gen8::thread_payloads::GpgpuThreadPayloadHeader;
use genxml_core::{Address, U};
use genxml_eu::instruction::Descriptor;
use std::ops::Range;

/// Maximum number of threads of a barrier (2d p.233, which states it only for barriers across
/// subslices).
const MAX_BARRIER: u64 = 511;
/// Maximum number of threads of a group: a field of 10 bits in the descriptor must hold it (2a
/// p.455, 2d p.233).
const MAX_THREADS: u64 = 1023;
/// Indirect data must have fewer bytes than this: the URB without its interface descriptors (2a
/// p.454).
const MAX_INDIRECT: u64 = 63_488;

/// Minimum number of runs of groups for each host thread, if host threads write memory directly.
const RUNS: u64 = 6;
/// Maximum number of runs that are cut at once.
const MAX_RUNS: usize = 1024;
/// Minimum number of rows of groups in a run. Runs with fewer rows probably share pages: a page of
/// a tiled surface has up to 64 rows of pixels. Runs are only shorter if there would be fewer than
/// [`RUNS`] for each host thread.
const MIN_ROWS: u64 = 64;
/// Minimum number of groups in a run if the walker has a single row of groups.
const MIN_GROUPS: u64 = 256;

/// Groups from `first` up to, and not including, `end`, in X, Y and Z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// First group.
    pub first: [u32; 3],
    /// One past the last group in each dimension: the packet's dimensions are end bounds
    /// (gen8_facts 12.2).
    pub end: [u32; 3],
}

impl Walk {
    fn sizes(self) -> [u64; 3] {
        [0, 1, 2].map(|axis: usize| self.end[axis].saturating_sub(self.first[axis]).into())
    }

    /// Number of groups.
    pub fn count(self) -> u64 {
        self.sizes().into_iter().fold(1, u64::saturating_mul)
    }

    /// X, Y and Z of group number `index` in the order of dispatch: X changes fastest, then Y, then
    /// Z. `index` must be less than [`count`](Self::count).
    pub fn group(self, index: u64) -> [u32; 3] {
        let [width, height, _] = self.sizes();
        let [x, y, z] = [index % width, index / width % height, index / width / height];
        [self.first[0] + x as u32, self.first[1] + y as u32, self.first[2] + z as u32]
    }
}

/// The threads of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Threads in X, Y and Z.
    pub threads: [u32; 3],
    /// Channels of a thread: 8, 16 or 32.
    pub channels: u32,
    /// Mask of the live channels of the last threads in X.
    pub right: u32,
    /// Mask of the live channels of the last threads in Y.
    pub bottom: u32,
}

impl Group {
    /// Number of threads.
    pub fn count(self) -> u64 {
        self.threads.into_iter().map(u64::from).fold(1, u64::saturating_mul)
    }

    /// Masks of the live channels of all threads: X changes fastest, then Y, then Z.
    pub fn masks(self) -> impl Iterator<Item = u32> {
        let [width, height, _] = self.threads;
        let all = u32::MAX >> (32 - self.channels.clamp(1, 32));
        (0..self.count()).map(move |thread| {
            let (x, y) = (thread % u64::from(width), thread / u64::from(width) % u64::from(height));
            let right = if x + 1 == u64::from(width) { self.right } else { u32::MAX };
            let bottom = if y + 1 == u64::from(height) { self.bottom } else { u32::MAX };
            all & right & bottom
        })
    }
}

/// A GPGPU_WALKER, resolved with all state that it names. Its groups can run in any order and on
/// any worker.
#[derive(Clone, Debug)]
pub struct Grid {
    dispatch: Dispatch,
    walk: Walk,
    /// Masks of the live channels of the threads of a group.
    masks: Vec<u32>,
}

/// The state that a host thread needs to run groups one after the other.
pub struct Worker {
    slots: Slots,
    launch: Launch,
    /// Scratch slot of each thread of the group, by thread number. Used only if there are fewer
    /// scratch slots than threads.
    taken: Vec<u64>,
}

impl Worker {
    /// A worker for the groups of `grid`.
    pub fn new(grid: &Grid) -> Worker {
        let mut slots: Slots = Slots::new(grid.dispatch.program.clone());
        slots.local.slm = vec![0; grid.dispatch.slm];
        Worker { slots, launch: Launch::default(), taken: Vec::new() }
    }
}

impl Grid {
    /// Resolves all state that the walker names.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for field values with which no group can run; page faults when the
    /// state is read.
    pub fn resolve(exec: &mut Exec<'_>, walker: &GpgpuWalker) -> Result<Grid, Fault> {
        let channels = match walker.simd_size {
            GpgpuWalkerSimdSize::SIMD8 => 8,
            GpgpuWalkerSimdSize::SIMD16 => 16,
            GpgpuWalkerSimdSize::SIMD32 => 32,
            other => {
                return Err(exec.bad_field(
                    "SIMD Size",
                    other.bits(),
                    "the value must be 0, 1 or 2",
                ));
            }
        };
        let end = if walker.indirect_parameter_enable {
            [GpgpuDispatchdimx::OFFSET, GpgpuDispatchdimy::OFFSET, GpgpuDispatchdimz::OFFSET]
                .map(|register| exec.state.registers.read(register))
        } else {
            [
                walker.thread_group_id_x_dimension.get() as u32,
                walker.thread_group_id_y_dimension.get() as u32,
                walker.thread_group_id_z_dimension.get() as u32,
            ]
        };
        let first = [
            walker.thread_group_id_starting_x.get() as u32,
            walker.thread_group_id_starting_y.get() as u32,
            walker.thread_group_id_starting_resume_z.get() as u32,
        ];
        let group = Group {
            threads: [
                walker.thread_width_counter_maximum.get() as u32,
                walker.thread_height_counter_maximum.get() as u32,
                walker.thread_depth_counter_maximum.get() as u32,
            ],
            channels,
            right: walker.right_execution_mask.get() as u32,
            bottom: walker.bottom_execution_mask.get() as u32,
        };
        if group.count() > MAX_THREADS {
            let why = format!(
                "the group has {} threads, but Number of Threads in GPGPU Thread Group is at most \
                 {MAX_THREADS} (2a p.455)",
                group.count()
            );
            return Err(exec.bad_field(
                "Thread Depth Counter Maximum",
                group.threads[2].into(),
                why,
            ));
        }
        let mut dispatch = Dispatch::resolve(exec, walker.interface_descriptor_offset.get())?;
        let length = walker.indirect_data_length.get();
        if length > 0 && INDIRECT_DATA_REPLACES_CURBE {
            dispatch.replace_constants(indirect_data(exec, walker)?);
        }
        let grid = Grid { dispatch, walk: Walk { first, end }, masks: group.masks().collect() };
        grid.check(exec)?;
        Ok(grid)
    }

    /// Refuses field values with which no group can run.
    fn check(&self, exec: &Exec<'_>) -> Result<(), Fault> {
        let Grid { dispatch, masks, .. } = self;
        let descriptor = &dispatch.descriptor;
        let shared = descriptor.cross_thread_constant_data_read_length.get();
        let own = descriptor.constant_indirect_urb_entry_read_length.get();
        dispatch.check_payload(exec, (1 + shared + own) as usize)?;
        dispatch.scratch(
            exec,
            dispatch.scratch_slots().min(self.groups().saturating_mul(masks.len() as u64)).max(1)
                - 1,
        )?;
        // The IGT test gem_gpgpu_fill leaves the count 0 and runs on hardware, so only barriers use
        // the count.
        let count = descriptor.number_of_threads_in_gpgpu_thread_group.get();
        if descriptor.barrier_enable && (count != masks.len() as u64 || count > MAX_BARRIER) {
            let why = format!(
                "with a barrier, this must be the number of threads in a group of the walker, {}, \
                 and at most {MAX_BARRIER}",
                masks.len()
            );
            return Err(exec.bad_field("Number of Threads in GPGPU Thread Group", count, why));
        }
        Ok(())
    }

    /// Number of groups.
    pub fn groups(&self) -> u64 {
        self.walk.count()
    }

    /// Number of live channels in one group, over all its threads.
    fn channels(&self) -> u64 {
        self.masks.iter().map(|mask| u64::from(mask.count_ones())).sum()
    }

    fn run_group(&self, exec: &mut Exec<'_>, worker: &mut Worker, index: u64) -> Result<(), Fault> {
        let Grid { dispatch, masks, walk } = self;
        let Worker { slots, launch, taken } = worker;
        let id = walk.group(index);
        exec.emit(&Event::Group { id, threads: masks.len() as u32 });
        let descriptor = &dispatch.descriptor;
        slots.local.slm.fill(SHARED_LOCAL_MEMORY_FILL);
        // Drop messages of the previous group that were not delivered.
        slots.local.mail.clear();
        let barrier = (index % BARRIERS) as u8;
        slots.local.barrier = descriptor.barrier_enable.then(|| Barrier {
            id: barrier,
            threads: masks.len() as u32,
            ..Barrier::default()
        });
        let stuck = |exec: &mut Exec<'_>, slots: &Slots| {
            let [x, y, z] = id;
            let waiting = slots.waiting(|_| slots.local.barrier.as_ref());
            exec.stuck(format!("thread group ({x}, {y}, {z})"), waiting)
        };
        let first_slot = index.wrapping_mul(masks.len() as u64);
        taken.clear();
        for (thread, &mask) in masks.iter().enumerate() {
            if mask == 0 && !THREADS_WITHOUT_CHANNELS_START {
                continue;
            }
            let mut slot = first_slot.wrapping_add(thread as u64) % dispatch.scratch_slots();
            // If there are fewer scratch slots than threads, a running thread keeps its slot. The
            // next thread starts when another one has ended.
            if dispatch.scratch_slots() < masks.len() as u64 {
                while slots.residents().len() as u64 >= dispatch.scratch_slots() {
                    if !slots.round(exec)? {
                        return Err(stuck(exec, slots));
                    }
                }
                let used =
                    |slot| slots.local.present.iter().any(|number| taken[*number as usize] == slot);
                while used(slot) {
                    slot = (slot + 1) % dispatch.scratch_slots();
                }
                taken.resize(thread, 0);
                taken.push(slot);
            }
            let header = GpgpuThreadPayloadHeader {
                thread_group_id_x: U::from_bits(id[0].into()),
                thread_group_id_y: U::from_bits(id[1].into()),
                thread_group_id_z: U::from_bits(id[2].into()),
                barrier_id: U::from_bits(if descriptor.barrier_enable {
                    barrier.into()
                } else {
                    0
                }),
                per_thread_scratch_space: dispatch.vfe.per_thread_scratch_space,
                sampler_state_pointer: descriptor.sampler_state_pointer,
                binding_table_pointer: Address::from_bits(descriptor.binding_table_pointer.get()),
                fftid: U::from_bits(slot),
                scratch_space_pointer: dispatch.scratch(exec, slot)?,
            };
            self.payload(&mut launch.payload, &header, thread);
            dispatch.launch(launch, mask, thread as u32, slot);
            exec.device.observed.add(Counter::GpgpuThreads, 1);
            slots.run(exec, 0, thread as u32, launch, None)?;
        }
        while !slots.is_empty() {
            if !slots.round(exec)? {
                return Err(stuck(exec, slots));
            }
        }
        exec.stats.groups += 1;
        exec.emit(&Event::GroupEnd { id });
        Ok(())
    }

    /// Builds a thread's payload: r0, then the constants that the thread gets (gen8_facts 3.7).
    /// `payload` is empty, or the payload of another thread of the grid.
    fn payload(&self, payload: &mut Vec<u8>, header: &GpgpuThreadPayloadHeader, thread: usize) {
        let header = header.pack();
        let header: &[u8] = bytemuck::must_cast_slice(&header);
        if let Some((r0, shares)) = payload.split_at_mut_checked(header.len()) {
            r0.copy_from_slice(header);
            self.dispatch.replace_own(shares, thread);
        } else {
            payload.extend_from_slice(header);
            self.dispatch.push_shares(payload, thread);
        }
    }
}

impl Work for Grid {
    type Worker = Worker;
    type Report = Vec<Program>;

    fn items(&self) -> u64 {
        self.groups()
    }

    /// The address of the kernel.
    fn kind(&self) -> Option<u64> {
        Some(self.dispatch.program.kernel.address)
    }

    /// A run has a power of two of rows, or of groups if the walker has one row. It begins at a
    /// multiple of this number: there, the memory that it writes probably begins at a page
    /// boundary. Only the first and the last run can be shorter.
    fn exclusive(
        &self,
        exec: &Exec<'_>,
        _: &mut Worker,
        groups: Range<u64>,
        enough: u64,
    ) -> Option<Vec<Range<u64>>> {
        let mut sends = self.dispatch.program.kernel.uops.iter().filter_map(|uop| uop.send);
        let shared = sends.any(|send| match send.descriptor {
            Descriptor::Immediate(bits) => dataport::shares_memory(send.function, bits),
            _ => true,
        });
        let [width, height, depth] = self.walk.sizes();
        let (row, least) = if height * depth > 1 { (width, MIN_ROWS) } else { (1, MIN_GROUPS) };
        let most = (groups.end - groups.start) / row / (RUNS * exec.device.threads as u64);
        let rows = (enough / row).max(least).min(most);
        if shared || rows == 0 {
            return None;
        }
        let size = row << rows.ilog2();
        let starts = (groups.start / size..groups.end.div_ceil(size)).map(|run| run * size);
        let run = |start: u64| start.max(groups.start)..start.saturating_add(size).min(groups.end);
        Some(starts.map(run).take(MAX_RUNS).collect())
    }

    /// Runs the groups with the numbers `groups`, in the order of dispatch.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread; [`Fault::Stuck`] if threads of a group wait forever.
    fn run(
        &self,
        exec: &mut Exec<'_>,
        worker: &mut Worker,
        groups: Range<u64>,
    ) -> Result<(), Fault> {
        for index in groups {
            exec.spend(watchdog::PACKET)?;
            self.run_group(exec, worker, index)?;
        }
        Ok(())
    }

    fn fork(&self, worker: &Worker) -> Worker {
        let mut slots: Slots = Slots::default();
        slots.local.slm = vec![0; worker.slots.local.slm.len()];
        Worker { slots, launch: Launch::default(), taken: Vec::new() }
    }

    fn inherit(worker: &mut Worker, other: &Worker) {
        worker.slots.programs.clone_from(&other.slots.programs);
    }

    fn report(worker: &mut Worker) -> Vec<Program> {
        std::mem::take(&mut worker.slots.programs)
    }

    fn merge(worker: &mut Worker, _: &mut State, programs: Vec<Program>) {
        for (own, other) in worker.slots.programs.iter_mut().zip(&programs) {
            own.bindings.merge(&other.bindings);
        }
    }
}

/// The indirect data of a walker, which is divided among its threads.
fn indirect_data(exec: &mut Exec<'_>, walker: &GpgpuWalker) -> Result<Vec<u8>, Fault> {
    let length = walker.indirect_data_length.get();
    if !length.is_multiple_of(REGISTER as u64) || length >= MAX_INDIRECT {
        let why =
            format!("the length must be a multiple of 32 and below {MAX_INDIRECT} (2a p.454)");
        return Err(exec.bad_field("Indirect Data Length", length, why));
    }
    let address = exec.state.base.indirect.wrapping_add(walker.indirect_data_start_address.get());
    let mut data = vec![0; length as usize];
    exec.vm
        .read(address, &mut data)
        .map_err(|fault| exec.page(fault, "Indirect Data Start Address"))?;
    exec.stats.bytes_read += length;
    Ok(data)
}

/// Runs all groups of a walker. The result is the same as if they ran one after the other.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the walker names.
pub fn walk(exec: &mut Exec<'_>, walker: &GpgpuWalker) -> Result<(), Fault> {
    let grid = Grid::resolve(exec, walker)?;
    let groups = grid.groups();
    let kernel = grid.dispatch.program.kernel.address;
    exec.emit(&Event::Descriptor {
        at: exec.at,
        kernel,
        descriptor: &grid.dispatch.descriptor,
        threads: grid.masks.len() as u64,
        constants: grid.dispatch.loaded(),
    });
    exec.emit(&Event::Dispatch { kernel });
    parallel::run(exec, &grid, &mut Worker::new(&grid))?;
    exec.emit(&Event::DispatchEnd { kernel });
    if CS_INVOCATIONS_ARE_CHANNELS {
        let before = exec.state.registers.read_u64(CsInvocationCount::OFFSET);
        let after = before.wrapping_add(groups.wrapping_mul(grid.channels()));
        exec.state.registers.write(CsInvocationCount::OFFSET, after as u32);
        exec.state.registers.write(CsInvocationCount::OFFSET + 4, (after >> 32) as u32);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: gen8_facts 12.2, dimensions are end bounds and X goes fastest.
    #[test]
    fn groups_in_order() {
        let walk = Walk { first: [1, 0, 0], end: [3, 2, 1] };
        let groups: Vec<_> = (0..walk.count()).map(|index| walk.group(index)).collect();
        assert_eq!(groups, [[1, 0, 0], [2, 0, 0], [1, 1, 0], [2, 1, 0]]);
        assert_eq!(Walk { first: [2, 0, 0], end: [2, 9, 9] }.count(), 0);
        assert_eq!(Walk { first: [3, 0, 0], end: [2, 9, 9] }.count(), 0);
    }

    /// Oracle: gen8_facts 12.2, masks of the last threads.
    #[test]
    fn masks_of_the_edges() {
        let group = Group { threads: [2, 2, 1], channels: 8, right: 0x3, bottom: 0xffff_fff6 };
        assert_eq!(group.masks().collect::<Vec<_>>(), [0xff, 0x03, 0xf6, 0x02]);
    }
}
