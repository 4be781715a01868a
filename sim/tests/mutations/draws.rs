//! Damaged draws: submissions of real programs, with damage in their packets, in the state, kernels
//! and data that the packets point to, and in the page mappings. With any damage, the submission
//! ends with a result or a fault, within its budget of work, uses little memory of the host, and
//! writes nothing that is not mapped.
//!
//! Two hundred damaged draws run by default. This command runs one hundred thousand and takes some
//! minutes:
//!
//!     GENXML_MUTATIONS=100000 cargo test -p genxml-sim --test mutations draws -- --nocapture
//!
//! (the test profile optimises the model, and has debug assertions and overflow checks on).
//! GENXML_MUTATION=N sets the number of the first damaged draw; the default is 0. To run a failed
//! draw again, set GENXML_MUTATION to its number and GENXML_MUTATIONS=1.

use crate::mutate::{Damage, Region, Target};
use genxml::capture::{Capture, Event, Exec, Playback};
use genxml::decode::{Decoder, Kind, Options, Record, Tables};
use genxml_sim::machine::state::State;
use genxml_sim::mem::Frames;
use genxml_sim::{ContextId, Fault, Gpu};
use genxml_testkit::{Random, corpus};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Units of work of a run. LIMIT is enough for most of these draws. LARGE_LIMIT, used by one of
/// eight runs, is enough for all of them. Default runs use SMALL_LIMIT.
const LIMIT: u64 = 1 << 20;
const LARGE_LIMIT: u64 = 1 << 22;
const SMALL_LIMIT: u64 = 1 << 18;
/// Maximum time of a run. It is much longer than the time of its units of work, so that only work
/// that is not charged exceeds it.
const TIME: Duration = Duration::from_millis(1000);
/// Maximum number of bytes that a run may add to the memory of the process.
const MEMORY: u64 = 64 << 20;
/// Number of runs by default.
const FEW: u64 = 200;
/// Maximum number of dwords that are damaged in a piece of data (vertices, constants, pictures).
const DATA: usize = 64;

/// Captures of draws.
const CAPTURES: [&str; 12] = [
    "drivers/gl_iris",
    "drivers/kmscube",
    "drivers/pg_depthstencil",
    "drivers/pg_gs_clip",
    "drivers/pg_tess_barrier",
    "drivers/pg_xfb",
    "drivers/vk_triangle",
    "images/igt_render_copy",
    "images/syn_rendercopy_00_L16x16_to_L16x16",
    "images/syn_rendercopy_13_Y64x96_to_X256x32",
    "images/syn_rendercopy_14_L64x64_to_L64x64",
    "images/syn_rendercopy_16_L64x64_to_L64x64",
];

/// A buffer of a submission, with its bytes before the submission.
struct Buffer {
    address: u64,
    frames: Frames,
    before: Vec<u8>,
}

/// The machine that a submission runs on.
struct Machine {
    gpu: Gpu,
    context: ContextId,
    buffers: Vec<Buffer>,
    /// Memory of another owner: in use, and not mapped in this context.
    other: Frames,
}

/// A submission that can run many times.
struct Subject {
    name: String,
    exec: Exec,
    state: State,
    target: Target,
    machine: Machine,
}

impl Machine {
    fn new(memory: impl Iterator<Item = (u64, Vec<u8>)>) -> Machine {
        let mut gpu = Gpu::new();
        let context = gpu.create_context().unwrap();
        let load = |(address, mut before): (u64, Vec<u8>)| {
            let frames = gpu.load(context, address, &before).unwrap();
            before.resize(frames.bytes() as usize, 0);
            Buffer { address, frames, before }
        };
        let buffers = memory.map(load).collect();
        let other = gpu.alloc(4096 * 16).unwrap();
        gpu.memory.bytes_mut(other).fill(0xa5);
        Machine { gpu, context, buffers, other }
    }

    /// Replaces the machine by a new one with the same buffers.
    fn renew(&mut self) {
        let buffers = std::mem::take(&mut self.buffers);
        *self = Machine::new(buffers.into_iter().map(|buffer| (buffer.address, buffer.before)));
    }

    /// Runs a submission from `state`. Returns the state of its context afterwards.
    fn submit(&mut self, exec: &Exec, state: &State) -> Result<State, Fault> {
        self.gpu.context_mut(self.context).state = state.clone();
        self.gpu.submit(self.context, exec.engine, exec.batch_address, exec.batch_length)?;
        Ok(self.gpu.context(self.context).state.clone())
    }

    /// Restores the bytes of all buffers.
    fn restore(&mut self) {
        for Buffer { frames, before, .. } in &self.buffers {
            let bytes = self.gpu.memory.bytes_mut(*frames);
            for (now, before) in bytes.chunks_mut(1 << 14).zip(before.chunks(1 << 14)) {
                if now != before {
                    now.copy_from_slice(before);
                }
            }
        }
    }

    fn buffer(&self, address: u64) -> Option<&Buffer> {
        self.buffers
            .iter()
            .find(|b| (b.address..b.address + b.before.len() as u64).contains(&address))
    }

    /// The dword at an address before the submission; 0 if there is no buffer.
    fn read(&self, address: u64) -> u32 {
        let bytes =
            self.buffer(address).and_then(|b| b.before.get((address - b.address) as usize..));
        bytes.and_then(|b| b.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn damage(&mut self, damage: &[Damage]) {
        for damage in damage {
            let (Damage::Dword(at, _) | Damage::Unmapped(at)) = *damage;
            let Some((frames, skip)) = self.buffer(at).map(|b| (b.frames, at - b.address)) else {
                continue;
            };
            match *damage {
                Damage::Dword(_, value) => {
                    let bytes = self.gpu.memory.bytes_mut(frames);
                    bytes[skip as usize..][..4].copy_from_slice(&value.to_le_bytes());
                }
                Damage::Unmapped(_) => {
                    let skip = skip / 4096;
                    self.gpu.unmap(self.context, at & !4095, frames.count - skip);
                }
            }
        }
    }

    /// Maps each buffer again of which `damage` unmapped pages.
    fn repair(&mut self, damage: &[Damage]) {
        for damage in damage {
            let Damage::Unmapped(at) = *damage else { continue };
            let Some((address, frames)) = self.buffer(at).map(|b| (b.address, b.frames)) else {
                continue;
            };
            self.gpu.map(self.context, address, frames).unwrap();
        }
    }
}

/// The target of damage: all regions that the decoder finds, packets and what they point to.
fn target(playback: &Playback<'_>, exec: &Exec, decoder: &mut genxml::decode::State) -> Target {
    let mut regions = Vec::new();
    let mut sink = |record: &Record| {
        let dwords = match record.kind {
            Kind::Note | Kind::Register => 0,
            Kind::Data | Kind::Row => record.dwords.len().min(DATA),
            _ => record.dwords.len(),
        };
        let name = if record.kind == Kind::Kernel { "kernel" } else { record.name };
        regions.push(Region { name, address: record.address, dwords: dwords as u64 });
        Ok(())
    };
    let options = Options { kernels: true, data: true, ..Options::default() };
    Decoder::new(Tables::gen8(), options)
        .batch(
            decoder,
            exec.engine,
            &playback.memory(exec),
            exec.batch_address,
            exec.batch_length,
            &mut sink,
        )
        .unwrap();
    Target::new(regions)
}

/// The submissions of a capture that draw.
fn subjects(capture: &Capture) -> Vec<Subject> {
    let mut targets: BTreeMap<u64, Target> = BTreeMap::new();
    let mut decoders: BTreeMap<u32, genxml::decode::State> = BTreeMap::new();
    let mut playback = Playback::new(capture);
    while let Some(event) = playback.step() {
        let Event::Exec(exec) = event else { continue };
        let target = target(&playback, exec, decoders.entry(exec.context).or_default());
        if target.names().any(|name| name == "3DPRIMITIVE") {
            targets.insert(exec.seq, target);
        }
    }
    let mut subjects = Vec::new();
    let mut states: BTreeMap<u32, State> = BTreeMap::new();
    let mut playback = Playback::new(capture);
    while let Some(event) = playback.step() {
        let Event::Exec(exec) = event else { continue };
        let before = states.entry(exec.context).or_default();
        let mut machine = machine(&playback, exec);
        let target = targets.remove(&exec.seq);
        // Later submissions may use the result of this one, so it has to run.
        let after = if targets.is_empty() {
            State::default()
        } else {
            machine.submit(exec, before).unwrap()
        };
        for (object, buffer) in exec.objects.iter().zip(&machine.buffers) {
            let bytes = playback.bytes_mut(object.object);
            bytes.copy_from_slice(&machine.gpu.memory.bytes(buffer.frames)[..object.size as usize]);
        }
        let state = std::mem::replace(before, after);
        if let Some(target) = target {
            machine.restore();
            let name = format!("{} exec {}", capture.name(), exec.seq);
            subjects.push(Subject { name, exec: exec.clone(), state, target, machine });
        }
        if targets.is_empty() {
            break;
        }
    }
    subjects
}

/// A machine with the memory of a submission.
fn machine(playback: &Playback<'_>, exec: &Exec) -> Machine {
    Machine::new(exec.objects.iter().map(|o| (o.address, playback.bytes(o.object).to_vec())))
}

/// Results of all runs.
#[derive(Default)]
struct Tally {
    /// True if every run is printed.
    tells: bool,
    runs: u64,
    outcomes: BTreeMap<String, u64>,
    slowest: (Duration, String),
    failures: BTreeMap<String, (u64, String)>,
}

impl Tally {
    fn fail(&mut self, what: String, which: &str) {
        self.failures.entry(what).or_insert_with(|| (0, which.to_owned())).0 += 1;
    }
}

/// The name of a fault's variant. For `Unimplemented` also what is not implemented.
fn kind(result: &Result<genxml_sim::Stats, Fault>) -> String {
    match result {
        Ok(_) => "Ok".to_owned(),
        Err(Fault::Unimplemented { what, .. }) => format!("Unimplemented: {what}"),
        Err(fault) => {
            let text = format!("{fault:?}");
            text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
        }
    }
}

/// The CPU time of this thread so far, if the system reports it; otherwise the time since `since`.
fn worked(since: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// Peak memory of the process in bytes; 0 if the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) << 10
}

impl Subject {
    fn run(&mut self, seed: u64, limit: u64, tally: &mut Tally) {
        let Subject { name, exec, state, target, machine } = self;
        let mut random = Random::new(seed);
        let damage = target.damage(&mut random, &|at| machine.read(at));
        let which = format!("{name}, GENXML_MUTATION={seed}");
        machine.damage(&damage);
        machine.gpu.context_mut(machine.context).state = state.clone();
        machine.gpu.set_work_limit(limit);
        let (clock, start, had) = (Instant::now(), worked(Instant::now()), peak());
        PANIC.set(Some(String::new()));
        let result = catch_unwind(AssertUnwindSafe(|| {
            machine.gpu.submit(machine.context, exec.engine, exec.batch_address, exec.batch_length)
        }));
        let panic = PANIC.take();
        if tally.tells {
            println!("{which}: {damage:x?}\n{result:?}");
        }
        let took = worked(clock).saturating_sub(start);
        tally.runs += 1;
        if took > tally.slowest.0 {
            tally.slowest = (took, which.clone());
        }
        if took > TIME {
            tally.fail("slow".to_owned(), &format!("{which} took {took:?}"));
        }
        // Linux counts pages loosely: the peak may even go down a little.
        let grown = peak().saturating_sub(had);
        if grown > MEMORY {
            tally.fail("memory".to_owned(), &format!("{which} took {} MiB", grown >> 20));
        }
        let Ok(result) = result else {
            tally.fail(panic.unwrap_or_default(), &format!("{which}: {damage:x?}"));
            machine.renew();
            return;
        };
        if result.as_ref().is_err_and(|fault| fault.to_string().is_empty()) {
            tally.fail("a fault without text".to_owned(), &which);
        }
        if machine.gpu.memory.bytes(machine.other).iter().any(|&byte| byte != 0xa5) {
            tally.fail("memory that is not mapped was written".to_owned(), &which);
            machine.renew();
            return;
        }
        *tally.outcomes.entry(kind(&result)).or_default() += 1;
        machine.repair(&damage);
        machine.restore();
    }
}

thread_local! {
    /// Location and message of the newest panic of this thread. `None` if panics are printed as
    /// usual.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn number(name: &str, otherwise: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}: {text} is not a number")),
        Err(_) => otherwise,
    }
}

#[test]
fn damaged_draws_end() {
    let Some(corpus) = corpus::folder() else { return };
    let (first, count) = (number("GENXML_MUTATION", 0), number("GENXML_MUTATIONS", FEW));
    let limit = |seed: u64| match seed / 12 % 8 {
        _ if count == FEW => SMALL_LIMIT,
        0 => LARGE_LIMIT,
        _ => LIMIT,
    };
    let mut subjects: Vec<Vec<Subject>> = CAPTURES
        .iter()
        .map(|name| subjects(&Capture::open(corpus.join(name)).unwrap()))
        .filter(|subjects| !subjects.is_empty())
        .collect();
    assert_eq!(subjects.len(), CAPTURES.len(), "some captures have no draw");
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANIC.with_borrow_mut(|kept| match kept {
            Some(text) => *text = info.to_string(),
            None => tell(info),
        });
    }));
    let mut tally = Tally { tells: count == 1, ..Tally::default() };
    for seed in first..first + count {
        let captures = subjects.len();
        let execs = &mut subjects[seed as usize % captures];
        let exec = (seed as usize / captures) % execs.len();
        execs[exec].run(seed, limit(seed), &mut tally);
    }
    _ = std::panic::take_hook();
    let Tally { runs, outcomes, slowest, failures, .. } = &tally;
    println!(
        "{runs} damaged draws; slowest {:?} ({}); peak memory {} MiB",
        slowest.0,
        slowest.1,
        peak() >> 20
    );
    for (outcome, count) in outcomes {
        println!("{count:8}  {outcome}");
    }
    for (what, (count, example)) in failures {
        println!("FAILED {count} times: {what}\n    {example}");
    }
    assert!(failures.is_empty(), "{} kinds of failure, listed above", failures.len());
    // Damage must have an effect in some runs, but not in all.
    assert!(count < FEW || outcomes.len() > 4 && outcomes.contains_key("Ok"), "{outcomes:?}");
}
