//! Probes the batches of a process. The rows of the job's list are checked; fields without a row,
//! or of class [`Class::Unused`] in an update, are probed in every batch that has them.

use super::list::{Class, Key, Row};
use super::places::{Instance, instances};
use super::subject::{Found, Outcome, Subject};
use super::{JOB, UPDATE, values};
use genxml_sim::EngineId;
use genxml_sim::mem::Frames;
use genxml_sim::{ContextId, Gpu};
use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard};

/// Batches of a case that are probed.
const BATCHES: usize = 64;
/// Records in which an update looks for a difference before it gives a field up.
const TRIES: usize = 60;
/// The same for a field for which a fault was found.
const TRIES_AFTER_FAULT: usize = 12;
/// Values of a field without effect that a check tries again.
const CHECKED_VALUES: usize = 4;

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
}

struct Job {
    update: bool,
    rows: HashMap<String, Vec<Row>>,
    known: Mutex<HashMap<Key, Known>>,
    results: Mutex<File>,
}

impl Job {
    fn open(folder: &Path) -> std::io::Result<Job> {
        let mut rows: HashMap<String, Vec<Row>> = HashMap::new();
        let mut known = HashMap::new();
        for line in std::fs::read_to_string(folder.join("list.tsv"))?.lines() {
            let row = Row::parse(line).map_err(std::io::Error::other)?;
            let class = Some(row.class);
            known.insert(row.key.clone(), Known { class, records: HashSet::new() });
            rows.entry(row.subject.clone()).or_default().push(row);
        }
        let results = folder.join("results.tsv");
        let results = OpenOptions::new().create(true).append(true).open(results)?;
        Ok(Job {
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
    let chosen: Vec<&Candidate<'_>> = match job.update {
        true => candidates.iter().filter(|candidate| job.wants(candidate)).collect(),
        false => Vec::new(),
    };
    if chosen.is_empty() && rows.is_empty() {
        return;
    }
    let base = subject.run(None);
    if base.hangs() {
        return;
    }
    let bench = Bench { name: &name, subject: &subject, base };
    for row in rows {
        let of_row = |c: &&Candidate<'_>| c.key == row.key && c.number == row.instance;
        if let Some(candidate) = candidates.iter().find(of_row) {
            job.tell(&bench.check(row, candidate));
        }
    }
    for candidate in chosen {
        job.probe(&bench, candidate);
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
    fn wants(&self, candidate: &Candidate<'_>) -> bool {
        let mut hash = DefaultHasher::new();
        candidate.found.record.dwords.hash(&mut hash);
        candidate.instance.start.hash(&mut hash);
        let mut known = self.known();
        let known = known
            .entry(candidate.key.clone())
            .or_insert_with(|| Known { class: None, records: HashSet::new() });
        let most = match known.class {
            Some(Class::Honoured) => 0,
            Some(Class::Faulted) => TRIES_AFTER_FAULT,
            Some(Class::Unused) | None => TRIES,
        };
        known.records.len() < most && known.records.insert(hash.finish())
    }

    fn probe(&self, bench: &Bench<'_>, candidate: &Candidate<'_>) {
        let stored = candidate.stored();
        let mut best: Option<Row> = None;
        for value in values::others(&candidate.instance, stored) {
            let row = bench.row(candidate, value);
            if best.as_ref().is_none_or(|best| best.class < row.class) {
                best = Some(row);
            }
            if best.as_ref().is_some_and(|best| best.class == Class::Honoured) {
                break;
            }
        }
        let Some(best) = best else { return };
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
}

impl Bench<'_> {
    /// Runs the batch with another value of a field.
    fn row(&self, candidate: &Candidate<'_>, value: u64) -> Row {
        let record = &candidate.found.record;
        let mut dwords = record.dwords.clone();
        candidate.instance.put(&mut dwords, value);
        let (first, last) = (candidate.instance.start / 32, candidate.instance.end / 32);
        let dwords = &dwords[first as usize..=last as usize];
        let address = record.address + 4 * u64::from(first);
        let changed = address..address + 4 * dwords.len() as u64;
        let outcome = self.subject.run(Some((address, dwords)));
        let difference = outcome.difference(&self.base, self.subject, &changed);
        let (class, difference) = difference.unwrap_or((Class::Unused, String::new()));
        Row {
            key: candidate.key.clone(),
            class,
            subject: self.name.to_owned(),
            instance: candidate.number,
            value,
            difference,
        }
    }

    /// Runs a row of the list again.
    fn check(&self, row: &Row, candidate: &Candidate<'_>) -> Row {
        if row.class != Class::Unused {
            return self.row(candidate, row.value);
        }
        let values = values::others(&candidate.instance, candidate.stored());
        let runs = values.into_iter().take(CHECKED_VALUES);
        let rows = runs.map(|value| self.row(candidate, value));
        rows.max_by_key(|row| row.class).unwrap_or_else(|| row.clone())
    }
}
