//! Probes the batches of a process. The rows of the job's list are checked; fields without a row,
//! or of class [`Class::Unused`] in an update, are probed in every batch that has them.

use super::list::{Class, Key, Row};
use super::places::{Instance, instances};
use super::subject::{Changes, Found, Outcome, Subject};
use super::{JOB, UPDATE, values};
use genxml_sim::mem::Frames;
use genxml_sim::{ContextId, EngineId, Gpu};
use genxml_testkit::Random;
use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Maximum number of batches of a case that are probed.
const BATCHES: usize = 4000;
/// Number of records in which an update probes a field without effect before it gives up.
const TRIES: usize = 400;
/// As `TRIES`, for a field that is listed as void: it has no effect on results by its nature.
const TRIES_IF_VOID: usize = 3;
/// Maximum number of records of a module's cases in which an update probes a field. Some structures
/// are in almost all cases of a module.
const TRIES_PER_MODULE: usize = 16;
/// Maximum number of records of a case in which an update probes a field.
const TRIES_PER_CASE: usize = 6;
/// An update with a seed probes a field in one out of this number of cases.
const SAMPLE: u64 = 3;
/// Number of batches at the start of a selected case in which an update with a seed may probe any
/// field. In later batches, it selects fields at random.
const FEW_BATCHES: usize = 8;
/// Number of random changes to other fields with which an update probes a field without effect.
const PREPARATIONS: u64 = 6;
/// As `TRIES`, for a field whose other values caused a fault, but no other difference.
const TRIES_AFTER_FAULT: usize = 12;
/// Maximum number of values that a check tries for a field without effect.
const CHECKED_VALUES: usize = 4;

/// Time after which an update goes on to the next batch.
const MOST_TIME: Duration = Duration::from_secs(4);

thread_local! {
    /// Number of batches that the case of this thread has run so far.
    static BATCH: Cell<usize> = const { Cell::new(0) };
}

/// The job of this process; `None` if the environment has none.
static JOB_OF_PROCESS: LazyLock<Option<Job>> = LazyLock::new(|| {
    let folder = PathBuf::from(std::env::var_os(JOB)?);
    Some(Job::open(&folder).expect("a job of the field list"))
});

/// What an update has found about a field.
struct Known {
    class: Option<Class>,
    /// Hashes of the records in which the field was probed.
    records: HashSet<u64>,
    /// Number of these records by case and by module.
    cases: HashMap<String, usize>,
}

impl Known {
    fn new(class: Option<Class>) -> Self {
        Known { class, records: HashSet::new(), cases: HashMap::new() }
    }
}

struct Job {
    update: bool,
    rows: HashMap<String, Vec<Row>>,
    /// Fields that are listed as void.
    void: HashSet<Key>,
    /// Makes the random preparations of updates differ.
    seed: u64,
    known: Mutex<HashMap<Key, Known>>,
    results: Mutex<File>,
}

impl Job {
    fn open(folder: &Path) -> std::io::Result<Job> {
        let mut rows: HashMap<String, Vec<Row>> = HashMap::new();
        let mut known = HashMap::new();
        for line in std::fs::read_to_string(folder.join("list.tsv"))?.lines() {
            let row = Row::parse(line).map_err(std::io::Error::other)?;
            known.insert(row.key.clone(), Known::new(Some(row.class)));
            rows.entry(row.subject.clone()).or_default().push(row);
        }
        let results = folder.join("results.tsv");
        let results = OpenOptions::new().create(true).append(true).open(results)?;
        let void = std::fs::read_to_string(folder.join("void.tsv"))?;
        let seed = std::env::var(UPDATE).ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        Ok(Job {
            void: void.lines().map(str::to_owned).collect(),
            seed,
            update: std::env::var_os(UPDATE).is_some(),
            rows,
            known: Mutex::new(known),
            results: Mutex::new(results),
        })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Key, Known>> {
        self.known.lock().expect("no case panics while it holds the lock")
    }

    /// Writes a result.
    fn tell(&self, row: &Row) {
        let mut file = self.results.lock().expect("no case panics while it holds the lock");
        writeln!(file, "{row}").expect("room for the results");
    }
}

/// A field of a record of a batch.
struct Candidate<'a> {
    key: Key,
    /// Number among the fields of this key.
    number: usize,
    instance: Instance,
    found: &'a Found,
}

/// A batch that is probed, and the outcome of the unchanged batch.
struct Bench<'a> {
    name: &'a str,
    subject: &'a Subject,
    base: Outcome,
}

/// Probes a batch that is about to run, if the process has a job.
pub fn visit(
    gpu: &Gpu,
    context: ContextId,
    mapped: &[(u64, Frames)],
    engine: EngineId,
    address: u64,
) {
    let Some(job) = &*JOB_OF_PROCESS else { return };
    let number = BATCH.replace(BATCH.get() + 1);
    let thread = std::thread::current();
    let Some(case) = thread.name().filter(|name| *name != "main" && number < BATCHES) else {
        return;
    };
    let name = format!("{case}#{number}");
    let rows = job.rows.get(&name).map_or(&[][..], Vec::as_slice);
    if rows.is_empty() && !job.update {
        return;
    }
    let Some(subject) = Subject::new(gpu, context, mapped, engine, address) else { return };
    let found = subject.records();
    let candidates = candidates(&found);
    // Each call of `wants` counts as a try, so it is made only for fields that there is time for.
    let wanted = |candidate: &&Candidate<'_>| job.update && job.wants(candidate, case, number);
    let mut chosen = candidates.iter().filter(wanted).peekable();
    if chosen.peek().is_none() && rows.is_empty() {
        return;
    }
    let Some(base) = subject.base() else { return };
    let start = Instant::now();
    let bench = Bench { name: &name, subject: &subject, base };
    for row in rows {
        if let Some(row) = bench.check(&candidates, row) {
            job.tell(&row);
        }
    }
    // If a batch takes long, only some of its fields are probed.
    for candidate in chosen.take_while(|_| start.elapsed() < MOST_TIME) {
        job.probe(&bench, &candidates, candidate);
    }
}

/// All fields of the records of a batch.
fn candidates(found: &[Found]) -> Vec<Candidate<'_>> {
    let mut counts: HashMap<Key, usize> = HashMap::new();
    let mut candidates = Vec::new();
    for found in found {
        for instance in instances(found.container, &found.record) {
            let key = instance.place.to_string();
            let count = counts.entry(key.clone()).or_default();
            let number = *count;
            *count += 1;
            candidates.push(Candidate { key, number, instance, found });
        }
    }
    candidates
}

impl Job {
    /// True if an update has to probe this field in this record.
    fn wants(&self, candidate: &Candidate<'_>, case: &str, number: usize) -> bool {
        let mut hash = DefaultHasher::new();
        candidate.found.record.dwords.hash(&mut hash);
        candidate.instance.start.hash(&mut hash);
        if self.seed != 0 {
            // The same packet may have an effect in another batch.
            number.hash(&mut hash);
        }
        // Each seed chooses other cases and, in cases with many batches, other batches.
        let sample = |what: &str| {
            let mut sample = DefaultHasher::new();
            (self.seed, &candidate.key, what).hash(&mut sample);
            sample.finish().is_multiple_of(SAMPLE)
        };
        let few = number < FEW_BATCHES;
        if self.seed != 0 && !(sample(case) && (few || sample(&format!("{case}#{number}")))) {
            return false;
        }
        let mut known = self.known();
        let known = known.entry(candidate.key.clone()).or_insert_with(|| Known::new(None));
        let most = match known.class {
            Some(Class::Honoured) => 0,
            Some(Class::Faulted) => TRIES_AFTER_FAULT,
            _ if self.void.contains(&candidate.key) => TRIES_IF_VOID,
            Some(Class::Unused) | None => TRIES,
        };
        let module = case.split("::").next().unwrap_or_default();
        let count = |name: &str| known.cases.get(name).copied().unwrap_or(0);
        let wanted = known.records.len() < most
            && count(case) < TRIES_PER_CASE
            && count(module) < TRIES_PER_MODULE
            && known.records.insert(hash.finish());
        if wanted {
            *known.cases.entry(case.to_owned()).or_default() += 1;
            *known.cases.entry(module.to_owned()).or_default() += 1;
        }
        wanted
    }

    fn probe(&self, bench: &Bench<'_>, all: &[Candidate<'_>], candidate: &Candidate<'_>) {
        let Some(mut best) = bench.plain(candidate) else { return };
        if best.class == Class::Unused && !self.void.contains(&candidate.key) {
            for number in 0..PREPARATIONS {
                if let Some(row) = bench.prepared(all, candidate, self.seed + number) {
                    best = row;
                    break;
                }
            }
        }
        let better = match self.known().entry(candidate.key.clone()) {
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                let better = known.class.is_none_or(|class| class < best.class);
                known.class = known.class.max(Some(best.class));
                better
            }
            Entry::Vacant(_) => true,
        };
        if better {
            self.tell(&best);
        }
    }
}

impl Candidate<'_> {
    fn stored(&self) -> u64 {
        self.instance.stored(&self.found.record.dwords)
    }

    fn others(&self) -> Vec<u64> {
        values::others(&self.instance, self.stored())
    }

    /// Replaces the field in `changes`.
    fn change(&self, changes: &mut Changes, value: u64) {
        let record = &self.found.record;
        let dwords = changes.entry(record.address).or_insert_with(|| record.dwords.clone());
        self.instance.put(dwords, value);
    }

    /// Addresses of the dwords of the field.
    fn addresses(&self) -> Range<u64> {
        let at = |bit: u32| self.found.record.address + 4 * u64::from(bit / 32);
        at(self.instance.start)..at(self.instance.end) + 4
    }

    /// Name of a change of this field, in rows of the list.
    fn name(&self, value: u64) -> String {
        format!("{}#{}={value:#x}", self.key.replace('\t', "/"), self.number)
    }
}

impl Bench<'_> {
    /// Runs the batch with another value of a field, and compares it with `base`. Both have the
    /// `changes`, whose text is `with`.
    fn row(
        &self,
        candidate: &Candidate<'_>,
        value: u64,
        (base, changes, with): (&Outcome, &Changes, &str),
    ) -> Row {
        let mut changes = changes.clone();
        candidate.change(&mut changes, value);
        let outcome = self.subject.run(&changes);
        let difference = outcome.difference(base, self.subject, &candidate.addresses());
        let (class, difference) = difference.unwrap_or((Class::Unused, String::new()));
        Row {
            key: candidate.key.clone(),
            class,
            subject: self.name.to_owned(),
            instance: candidate.number,
            with: with.to_owned(),
            value,
            difference,
        }
    }

    /// Runs the batch with other values of a field. Returns the first row that shows an effect,
    /// otherwise one that shows a fault or nothing. `None` if there is no other value.
    fn plain(&self, candidate: &Candidate<'_>) -> Option<Row> {
        let mut best: Option<Row> = None;
        for value in candidate.others() {
            let row = self.row(candidate, value, (&self.base, &Changes::new(), ""));
            if best.as_ref().is_none_or(|best| best.class < row.class) {
                best = Some(row);
            }
            if best.as_ref().is_some_and(|best| best.class == Class::Honoured) {
                break;
            }
        }
        best
    }

    /// Changes one to three other fields at random, and then probes a field. Returns a row that
    /// shows an effect.
    fn prepared(&self, all: &[Candidate<'_>], candidate: &Candidate<'_>, seed: u64) -> Option<Row> {
        let mut hash = DefaultHasher::new();
        (self.name, &candidate.key, seed).hash(&mut hash);
        let mut random = Random::new(hash.finish());
        let near: Vec<&Candidate<'_>> = all
            .iter()
            .filter(|other| other.found.record.address == candidate.found.record.address)
            .collect();
        let (mut changes, mut with) = (Changes::new(), Vec::new());
        for _ in 0..=random.index(3) {
            let other = match random.below(3) {
                0 => &all[random.index(all.len())],
                _ => random.pick(&near),
            };
            let values = other.others();
            if other.key == candidate.key || values.is_empty() {
                continue;
            }
            let value = random.pick(&values);
            other.change(&mut changes, value);
            with.push(other.name(value));
        }
        let base = self.subject.run(&changes);
        if !base.is_ok() || changes.is_empty() {
            return None;
        }
        let values = candidate.others();
        let value = if values.len() > 1 { random.pick(&values) } else { *values.first()? };
        let row = self.row(candidate, value, (&base, &changes, &with.join("; ")));
        (row.class == Class::Honoured).then_some(row)
    }

    /// Runs a row of the list again. `None` if the batch does not have the fields of the row.
    fn check(&self, all: &[Candidate<'_>], row: &Row) -> Option<Row> {
        let of_row = |c: &&Candidate<'_>| c.key == row.key && c.number == row.instance;
        let candidate = all.iter().find(of_row)?;
        if row.class == Class::Unused {
            let plain = (&self.base, &Changes::new(), "");
            let values = candidate.others().into_iter().take(CHECKED_VALUES);
            let rows = values.map(|value| self.row(candidate, value, plain));
            return rows.max_by_key(|row| row.class);
        }
        let mut changes = Changes::new();
        for change in row.with.split("; ").filter(|change| !change.is_empty()) {
            let (name, value) = change.rsplit_once("=0x")?;
            let value = u64::from_str_radix(value, 16).ok()?;
            let is = |c: &&Candidate<'_>| c.name(value) == change && change.starts_with(name);
            all.iter().find(is)?.change(&mut changes, value);
        }
        if changes.is_empty() {
            return Some(self.row(candidate, row.value, (&self.base, &changes, "")));
        }
        let base = self.subject.run(&changes);
        Some(self.row(candidate, row.value, (&base, &changes, &row.with)))
    }
}
