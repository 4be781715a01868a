//! Runs AUB files on the model. An AUB file records a driver's writes to memory, page tables and
//! registers.
//!
//! All physical addresses of the machine (39 bits) are memory; memory that was never written reads
//! 0. Engines start when the file writes the registers that start them (ELSP, or the tail of a
//! ring). Before the file polls or compares a register or memory, or writes memory again, the
//! engines run until they have nothing to do. An engine that waits for a semaphore continues after
//! the file has written the semaphore. A file of the classic kind (see `genxml::aub`) does not
//! write these registers: its commands are put into a ring of the engine, and every address goes
//! through the global table.

use crate::gpu::Gpu;
use crate::gpu::schedule::Progress;
use crate::machine::events::{Listener, Observer};
use crate::machine::fault::Fault;
use crate::machine::registers::mmio_base;
use crate::machine::stats::Stats;
use crate::mem::PAGE;
use crate::mem::Va;
use crate::mem::physical::FIRST_OWN_FRAME;
use genxml::aub::{AubError, Contents, Event, Header, MAX_COMMANDS, Reader, Space};
use genxml::core::{MinusOne, Shifted};
use genxml::engine::EngineId;
use genxml::gen8::engine_registers::{RingCtl, RingHead, RingStart, RingTail};

/// The run of an AUB file, step by step.
///
/// ```no_run
/// use genxml::aub::Reader;
/// use genxml_sim::aub::{AubReplay, Step};
///
/// let mut replay = AubReplay::new(Reader::open("saxpy.aub.xz")?);
/// while let Some(step) = replay.step()? {
///     if let Step::Ran { result: Err(fault), .. } = step {
///         return Err(fault.into());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AubReplay<'a> {
    reader: Reader<'a>,
    gpu: Gpu,
    /// True if the file wrote a register since the engines ran, or memory while an engine waits.
    pending: bool,
    /// True if an engine waits for memory to change. The file may still change this memory.
    waiting: bool,
    /// The block that is processed after the engines have run.
    held: Option<Held>,
    ended: bool,
    /// True after an error: nothing comes after it.
    failed: bool,
}

/// The result of a step.
#[derive(Debug)]
pub enum Step {
    /// The head of the file was read.
    Header(Header),
    /// Engines ran until they had nothing to do or waited for semaphores, or until a fault.
    Ran {
        /// Byte offset in the decompressed file: where the run continues, or the block whose write
        /// caused the fault.
        position: u64,
        /// Counts of the engines' work, or the fault that stopped them. After a fault, results of
        /// later steps are unreliable.
        result: Result<Stats, Fault>,
    },
    /// The file waits for a register or memory that no engine will change.
    Stuck(Stuck),
    /// The file states the value of a register or the contents of memory. The error is the first
    /// difference.
    Compared(Result<(), Difference>),
}

/// A block that was read and is processed after the engines have run.
#[derive(Debug)]
enum Held {
    Memory { position: u64, space: Space, address: u64, bytes: Vec<u8> },
    Entries { position: u64, first: u64, entries: Vec<u64> },
    Commands { position: u64, engine: EngineId, address: u64, bytes: Vec<u8> },
    MemoryPoll { position: u64, space: Space, address: u64, size: u8, poll: Poll },
    Compare { position: u64, space: Space, address: u64, bytes: Vec<u8>, equal: bool },
    RegisterCompare { position: u64, offset: u32, mask: u32, value: u32 },
    Error(AubError),
}

/// The condition of a poll.
#[derive(Clone, Copy, Debug)]
struct Poll {
    mask: u64,
    value: u64,
    equal: bool,
}

impl Poll {
    fn is_met(&self, found: u64) -> bool {
        (found & self.mask == self.value & self.mask) == self.equal
    }
}

/// A register, or a value in memory, that never gets the value that a file waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "byte {position:#x}: the file waits for {} {address:#x} & {mask:#x} to {} {value:#x}; it is {found:#x}, and no engine has anything to do",
    Polled(*space),
    if *equal { "become" } else { "differ from" }
)]
pub struct Stuck {
    /// Byte offset of the poll in the decompressed file.
    pub position: u64,
    /// The address space; `None` if the file polls a register.
    pub space: Option<Space>,
    /// Byte offset of the register, or address in the space.
    pub address: u64,
    /// Bits that are compared.
    pub mask: u64,
    /// Value that the file expects.
    pub value: u64,
    /// True if the file waits for `value`, false if it waits for another value.
    pub equal: bool,
    /// Value of the masked bits now.
    pub found: u64,
}

/// What a file polls or compares, for messages.
struct Polled(Option<Space>);

impl std::fmt::Display for Polled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            None => "register",
            Some(Space::Global) => "global memory at",
            Some(_) => "physical memory at",
        })
    }
}

/// A register or memory that differs from the value that a file states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// Byte offset of the block in the decompressed file.
    pub position: u64,
    /// The address space; `None` for a register.
    pub space: Option<Space>,
    /// Byte offset of the register, or address of the first different byte.
    pub address: u64,
    /// Value that the file states; `None` if it states that memory differs from its bytes.
    pub expected: Option<u64>,
    /// Value of the register or byte.
    pub found: u64,
}

genxml_core::debug_as_display!(Difference);

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference { position, space, address, expected, found } = *self;
        write!(f, "byte {position:#x}: {} {address:#x} is {found:#x}; ", Polled(space))?;
        match expected {
            Some(expected) => write!(f, "the file expects {expected:#x}"),
            None => f.write_str("the file expects that memory differs from the bytes of the block"),
        }
    }
}

impl std::error::Error for Difference {}

/// Why the run of a file cannot continue.
#[derive(thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] AubError),
    /// A block needs something that the model does not have.
    #[error("byte {position:#x}: {problem}")]
    Unusable {
        /// Byte offset of the block in the decompressed file.
        position: u64,
        /// What is wrong, and in some cases what to do.
        problem: String,
    },
}

genxml_core::debug_as_display!(ReplayError);

impl<'a> AubReplay<'a> {
    /// A run on a new GPU, before the first block.
    pub fn new(reader: Reader<'a>) -> Self {
        let mut gpu = Gpu::new();
        gpu.memory.install(FIRST_OWN_FRAME * PAGE);
        AubReplay {
            reader,
            gpu,
            pending: false,
            waiting: false,
            held: None,
            ended: false,
            failed: false,
        }
    }

    /// The GPU, to set limits or to look at memory.
    pub fn gpu(&mut self) -> &mut Gpu {
        &mut self.gpu
    }

    /// Numbers of the blocks that were read so far.
    pub fn contents(&self) -> Contents {
        self.reader.contents()
    }

    /// Bytes of the decompressed file that were read so far.
    pub fn position(&self) -> u64 {
        self.reader.position()
    }

    /// Runs to the next step; `None` at the end.
    ///
    /// # Errors
    /// [`ReplayError`] if the rest of the file cannot be used. If the file cannot be read at some
    /// position, the engines have run with everything before that position.
    pub fn step(&mut self) -> Result<Option<Step>, ReplayError> {
        self.step_with(Listener::default())
    }

    /// Like [`step`](Self::step), and passes events to `observer`.
    ///
    /// # Errors
    /// The errors of `step`.
    pub fn step_observed(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Option<Step>, ReplayError> {
        self.step_with(Listener::new(Some(observer)))
    }

    fn step_with(&mut self, mut listener: Listener<'_>) -> Result<Option<Step>, ReplayError> {
        if self.failed {
            return Ok(None);
        }
        let step = self.advance(&mut listener);
        self.failed = step.is_err();
        step
    }

    fn advance(&mut self, listener: &mut Listener<'_>) -> Result<Option<Step>, ReplayError> {
        loop {
            match self.held.take() {
                None => {}
                Some(Held::Error(error)) => return Err(error.into()),
                Some(Held::Memory { position, space, address, bytes }) => {
                    write(&mut self.gpu, position, space, address, &bytes)?;
                    self.pending = self.waiting;
                }
                Some(Held::Entries { position, first, entries }) => {
                    map(&mut self.gpu, position, first, &entries)?;
                }
                Some(Held::Commands { position, engine, address, bytes }) => {
                    if let Err(fault) = self.ring(position, engine, address, &bytes)? {
                        return Ok(Some(Step::Ran { position, result: Err(fault) }));
                    }
                }
                Some(Held::MemoryPoll { position, space, address, size, poll }) => {
                    let mut bytes = [0; 8];
                    read(&mut self.gpu, position, space, address, &mut bytes[..size as usize])?;
                    let found = u64::from_le_bytes(bytes);
                    if !poll.is_met(found) {
                        let stuck = stuck(position, Some(space), address, poll, found);
                        return Ok(self.deadlock(listener).or(Some(stuck)));
                    }
                }
                Some(Held::Compare { position, space, address, bytes, equal }) => {
                    let result = compare(&mut self.gpu, position, space, address, &bytes, equal)?;
                    return Ok(Some(Step::Compared(result)));
                }
                Some(Held::RegisterCompare { position, offset, mask, value }) => {
                    let found = u64::from(self.gpu.mmio_read(offset) & mask);
                    let difference = Difference {
                        position,
                        space: None,
                        address: offset.into(),
                        expected: Some(u64::from(value & mask)),
                        found,
                    };
                    let is_met = found == u64::from(value & mask);
                    return Ok(Some(Step::Compared(if is_met { Ok(()) } else { Err(difference) })));
                }
            }
            if let Some(step) = self.read(listener)? {
                return Ok(Some(step));
            }
            if let Some(step) = self.run(listener) {
                return Ok(Some(step));
            }
            if self.ended {
                return Ok(self.deadlock(listener));
            }
        }
    }

    /// Processes blocks of the file until there is a step to return, a block must be held until the
    /// engines have run, or the file ends. At a poll, runs the engines itself.
    fn read(&mut self, listener: &mut Listener<'_>) -> Result<Option<Step>, ReplayError> {
        while self.held.is_none() && !self.ended {
            let block = match self.reader.next_block() {
                Ok(Some(block)) => block,
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(error) => {
                    // Run the engines with the earlier writes before the error is reported.
                    self.held = Some(Held::Error(error));
                    break;
                }
            };
            let position = block.position;
            let unusable =
                |problem: &str| ReplayError::Unusable { position, problem: problem.to_owned() };
            match block.event {
                Event::Header(header) => {
                    check(position, &header)?;
                    return Ok(Some(Step::Header(header)));
                }
                Event::RegisterWrite { offset, mask, value } => {
                    let value = if mask == u32::MAX {
                        value
                    } else {
                        self.gpu.mmio_read(offset) & !mask | value & mask
                    };
                    self.pending = true;
                    if let Err(fault) = self.gpu.mmio_write(offset, value) {
                        return Ok(Some(Step::Ran { position, result: Err(fault) }));
                    }
                }
                Event::RegisterPoll { offset, mask, value, equal } => {
                    let poll = Poll { mask: mask.into(), value: value.into(), equal };
                    if let Some(step) = self.poll_register(position, offset, poll, listener) {
                        return Ok(Some(step));
                    }
                }
                Event::MemoryPoll { space, address, size, mask, value, equal } => {
                    let poll = Poll { mask, value, equal };
                    self.held = Some(Held::MemoryPoll { position, space, address, size, poll });
                }
                Event::MemoryCompare { space, address, bytes, equal } => {
                    let bytes = bytes.to_vec();
                    self.held = Some(Held::Compare { position, space, address, bytes, equal });
                }
                Event::RegisterCompare { offset, mask, value } => {
                    self.held = Some(Held::RegisterCompare { position, offset, mask, value });
                }
                Event::Memory { space, address, bytes } if !self.pending => {
                    write(&mut self.gpu, position, space, address, bytes)?;
                    self.pending = self.waiting;
                }
                Event::Memory { space, address, bytes } => {
                    self.held =
                        Some(Held::Memory { position, space, address, bytes: bytes.to_vec() });
                }
                Event::GlobalEntries { first, entries } if !self.pending => {
                    map(&mut self.gpu, position, first, entries)?;
                }
                Event::GlobalEntries { first, entries } => {
                    self.held = Some(Held::Entries { position, first, entries: entries.to_vec() });
                }
                Event::Commands { engine, address, bytes } => {
                    self.held =
                        Some(Held::Commands { position, engine, address, bytes: bytes.to_vec() });
                }
                // A bitmap block asks a simulator for a picture; a comment is for people. None of
                // these changes the machine.
                Event::Bitmap(_) | Event::Comment(_) | Event::Named { why: None, .. } => {}
                Event::Named { block, why: Some(why), .. } => {
                    return Err(unusable(&format!("a {block} block cannot be executed: {why}")));
                }
                Event::Other { opcode, sub_opcode, .. } => {
                    return Err(unusable(&format!(
                        "a block with opcode {opcode:#x} and number {sub_opcode:#x}; no source describes such blocks"
                    )));
                }
                _ => return Err(unusable("a kind of block that the model does not support")),
            }
        }
        Ok(None)
    }

    /// Runs the engines, then compares a register that the file polls. `None` if no engine did any
    /// work and the condition is met.
    fn poll_register(
        &mut self,
        position: u64,
        offset: u32,
        poll: Poll,
        listener: &mut Listener<'_>,
    ) -> Option<Step> {
        let ran = self.run(listener);
        let found = u64::from(self.gpu.mmio_read(offset));
        match ran {
            // After a fault, the value of the polled register means nothing.
            Some(Step::Ran { result: Err(_), .. }) => ran,
            _ if poll.is_met(found) => ran,
            _ => {
                let stuck = stuck(position, None, offset.into(), poll, found);
                self.deadlock(listener).or(Some(stuck))
            }
        }
    }

    /// Runs the engines, if the file may have started them. `None` if no engine did any work.
    fn run(&mut self, listener: &mut Listener<'_>) -> Option<Step> {
        if !std::mem::take(&mut self.pending) {
            return None;
        }
        let position = self.reader.position();
        let progress = self.gpu.advance_with(listener.reborrow(), u64::MAX);
        self.waiting = progress == Ok(Progress::Waiting);
        match progress.map(|_| self.gpu.last_stats()) {
            Ok(stats) if stats == Stats::default() => None,
            result => Some(Step::Ran { position, result }),
        }
    }

    /// Abandons the work of engines that wait, because nothing will change the memory that they
    /// wait for. The returned step reports the deadlock. `None` if no engine waits.
    fn deadlock(&mut self, listener: &mut Listener<'_>) -> Option<Step> {
        let position = self.reader.position();
        let waiting = std::mem::take(&mut self.waiting);
        let result = waiting.then(|| self.gpu.run_with(listener.reborrow()))?;
        Some(Step::Ran { position, result })
    }

    /// Writes the commands of a classic file to memory, makes a ring at their address, and starts
    /// the ring. The inner error is the fault of a register write.
    fn ring(
        &mut self,
        position: u64,
        engine: EngineId,
        address: u64,
        bytes: &[u8],
    ) -> Result<Result<(), Fault>, ReplayError> {
        write(&mut self.gpu, position, Space::Global, address, bytes)?;
        let (start, head) = (address & !(PAGE - 1), address % PAGE);
        // The tail is a multiple of 8 bytes; zeros, which are MI_NOOPs, fill the gap.
        let end = head + bytes.len() as u64;
        let tail = end.next_multiple_of(8);
        if tail > end {
            write(
                &mut self.gpu,
                position,
                Space::Global,
                start + end,
                &[0; 8][..(tail - end) as usize],
            )?;
        }
        // The ring is larger than its commands: in a full ring the tail would equal the head.
        let pages = tail / PAGE + 1;
        let unusable = || ReplayError::Unusable {
            position,
            problem: format!(
                "commands at {} do not fit a ring, which has at most {MAX_COMMANDS} bytes below \
                 4 GiB",
                Va(address)
            ),
        };
        let base = mmio_base(engine);
        let start = u32::try_from(start).map_err(|_| unusable())?;
        let [control] = RingCtl {
            ring_nr_pages: MinusOne::new(pages).map_err(|_| unusable())?,
            ring_valid: true,
            ..RingCtl::new()
        }
        .pack();
        let [head] =
            RingHead { head_addr: Shifted::new(head).map_err(|_| unusable())?, ..RingHead::new() }
                .pack();
        let [tail] = RingTail { tail_addr: Shifted::new(tail).map_err(|_| unusable())? }.pack();
        for (register, value) in [
            (RingCtl::OFFSET, 0),
            (RingTail::OFFSET, head),
            (RingHead::OFFSET, head),
            (RingStart::OFFSET, start),
            (RingCtl::OFFSET, control),
            (RingTail::OFFSET, tail),
        ] {
            if let Err(fault) = self.gpu.mmio_write(base + register, value) {
                return Ok(Err(fault));
            }
        }
        self.pending = true;
        Ok(Ok(()))
    }
}

/// Refuses files for other machines.
fn check(position: u64, header: &Header) -> Result<(), ReplayError> {
    if header.is_gen8() != Some(false) {
        return Ok(());
    }
    let problem = format!("recorded for {}; the model is a Broadwell", header.gpu());
    Err(ReplayError::Unusable { position, problem })
}

fn stuck(position: u64, space: Option<Space>, address: u64, poll: Poll, found: u64) -> Step {
    let Poll { mask, value, equal } = poll;
    Step::Stuck(Stuck { position, space, address, mask, value, equal, found: found & mask })
}

/// Compares memory with bytes. The inner error is the first difference.
fn compare(
    gpu: &mut Gpu,
    position: u64,
    space: Space,
    address: u64,
    bytes: &[u8],
    equal: bool,
) -> Result<Result<(), Difference>, ReplayError> {
    let mut found = vec![0; bytes.len()];
    read(gpu, position, space, address, &mut found)?;
    let first = found.iter().zip(bytes).position(|(found, expected)| found != expected);
    let difference = |index: usize, expected| Difference {
        position,
        space: Some(space),
        address: address.wrapping_add(index as u64),
        expected,
        found: found.get(index).copied().unwrap_or(0).into(),
    };
    Ok(match (first, equal) {
        (Some(index), true) => Err(difference(index, Some(bytes[index].into()))),
        (None, false) => Err(difference(0, None)),
        _ => Ok(()),
    })
}

/// Reads memory as the host does, into zeros. Physical memory that was never written stays 0.
fn read(
    gpu: &mut Gpu,
    position: u64,
    space: Space,
    address: u64,
    out: &mut [u8],
) -> Result<(), ReplayError> {
    let unusable = |problem: String| ReplayError::Unusable { position, problem };
    match space {
        Space::Physical => {
            let last = address.checked_add((out.len() as u64).saturating_sub(1));
            last.ok_or_else(|| {
                unusable(format!("physical memory at {address:#x} ends beyond 64 bits"))
            })?;
            let (mut at, mut rest) = (address, out);
            while !rest.is_empty() {
                let here = rest.len().min((PAGE - at % PAGE) as usize);
                let (piece, after) = rest.split_at_mut(here);
                // A page that does not exist was never written.
                _ = gpu.memory.read_physical(at, piece);
                (at, rest) = (at.wrapping_add(here as u64), after);
            }
            Ok(())
        }
        Space::Global => gpu.global().read(address, out).map_err(|fault| {
            unusable(format!("{fault}: the global table has no entry for memory that is compared"))
        }),
        Space::Local | Space::NonLocal | Space::Pci => {
            Err(other_memory(position, space, out.len()))
        }
    }
}

/// The error of memory that Broadwell does not have.
fn other_memory(position: u64, space: Space, bytes: usize) -> ReplayError {
    let problem =
        format!("{bytes} bytes for the address space {space:?}, which Broadwell does not have");
    ReplayError::Unusable { position, problem }
}

/// Writes memory as the host does.
fn write(
    gpu: &mut Gpu,
    position: u64,
    space: Space,
    address: u64,
    bytes: &[u8],
) -> Result<(), ReplayError> {
    let unusable = |problem: String| ReplayError::Unusable { position, problem };
    match space {
        Space::Physical => {
            gpu.memory.write_physical(address, bytes).map_err(|e| unusable(e.to_string()))
        }
        Space::Global => gpu.global().write(address, bytes).map_err(|fault| {
            unusable(format!(
                "{fault}: the file must write the entry of the global table before this block"
            ))
        }),
        Space::Local | Space::NonLocal | Space::Pci => {
            Err(other_memory(position, space, bytes.len()))
        }
    }
}

/// Writes consecutive entries of the global table, from index `first` on.
fn map(gpu: &mut Gpu, position: u64, first: u64, entries: &[u64]) -> Result<(), ReplayError> {
    for (index, entry) in (first..).zip(entries) {
        gpu.ggtt
            .write_global_entry(index, *entry)
            .map_err(|error| ReplayError::Unusable { position, problem: error.to_string() })?;
    }
    Ok(())
}
