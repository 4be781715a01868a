"""Runs the cases of a suite: jobs, resuming, results on disk while the run goes on."""

import concurrent.futures
import csv
import json
import pathlib
import re
import sys
import threading
import time

from . import Problem, tables
from .process import STOP, Stopped


class Progress:
    """A line about the run: on a terminal it is replaced, otherwise one is written each minute."""

    def __init__(self, title, total):
        self.title, self.total, self.stream = title, total, sys.stderr
        self.start, self.last, self.counts, self.done = time.monotonic(), 0, {}, 0

    def add(self, status):
        """Counts a result."""
        self.done += 1
        self.counts[status] = self.counts.get(status, 0) + 1
        now = time.monotonic()
        if now - self.last >= (0.2 if self.stream.isatty() else 60) or self.done == self.total:
            self.last = now
            self.write(now - self.start)

    def write(self, seconds):
        """Writes the line."""
        counts = ", ".join(f"{self.counts[s]} {s}" for s in tables.STATUSES if s in self.counts)
        left = seconds / self.done * (self.total - self.done)
        text = f"{self.title}: {self.done} of {self.total}: {counts}; {clock(left)} left"
        terminal = self.stream.isatty()
        print(f"\r{text}\x1b[K" if terminal else text, end="" if terminal else "\n",
              file=self.stream, flush=True)

    def end(self):
        """Ends the line of a terminal."""
        if self.stream.isatty() and self.done:
            print(file=self.stream)


def clock(seconds):
    """Seconds as h:mm:ss or m:ss."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Writer:
    """Appends results to the files of a folder. Each result is on disk when `add` returns."""

    def __init__(self, folder, logs):
        self.folder, self.logs, self.lock = folder, folder / "logs", threading.Lock()
        self.keep = logs
        path = folder / tables.RESULTS
        # A result that was cut off by the end of the machine is run again.
        text = path.read_text() if path.exists() else "test,status,duration\n"
        path.write_text(text[:text.rindex("\n") + 1] if "\n" in text else "test,status,duration\n")
        self.results = path.open("a")
        self.causes = (folder / tables.CAUSES).open("a", newline="")

    def add(self, result):
        """Writes a result, and the output of a case that is not good."""
        with self.lock:
            self.results.write(f"{result.test},{result.status},{result.seconds:.3f}\n")
            self.results.flush()
            if result.cause:
                csv.writer(self.causes, lineterminator="\n").writerow((result.test, result.cause))
                self.causes.flush()
            if result.status not in tables.GOOD and self.keep:
                self.logs.mkdir(exist_ok=True)
                name = re.sub(r"[^\w.@+-]", "_", result.test)[-200:]
                (self.logs / f"{name}.txt").write_text(result.text)

    def close(self):
        """Closes the files."""
        self.results.close()
        self.causes.close()


def prepare(folder, run, resume):
    """Makes the folder of a run, or checks that it belongs to the same run. Returns its results."""
    folder = pathlib.Path(folder)
    old = tables.read_results(folder / tables.RESULTS)
    if (folder / tables.RUN).exists():
        if not resume:
            raise Problem(f"{folder} has {len(old)} results: add --resume to continue, or name "
                          "another folder with --out")
        before = tables.read_run(folder)
        changed = [key for key in run if before.get(key) != run[key]]
        if changed:
            key = changed[0]
            raise Problem(f"{folder} is of a run with {key} {before.get(key)}, not {run[key]}: "
                          "repeat its options, or name another folder with --out")
        run = {**before, **run}
    elif folder.exists() and any(folder.iterdir()):
        raise Problem(f"{folder} has other files: name a new folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / tables.RUN).write_text(json.dumps(run, indent=1) + "\n")
    return old


def batches(names, size, jobs):
    """Divides cases into batches, small enough that all jobs have work."""
    size = max(1, min(size, -(-len(names) // (4 * jobs))))
    return [names[start:start + size] for start in range(0, len(names), size)]


def execute(suite, names, target, limit, jobs, emit, end=None):
    """Runs cases. `emit` gets each result. No batch begins after the time `end`.

    Returns whether all cases were run.
    """
    def work(batch):
        if STOP.is_set() or (end and time.monotonic() > end):
            return False
        suite.run(batch, target, limit, emit)
        return True

    # The end is checked between batches, so they are small if there is one.
    size = min(suite.batch, 20) if end else suite.batch
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    futures = [pool.submit(work, batch) for batch in batches(names, size, jobs)]
    try:
        return all([future.result() for future in concurrent.futures.as_completed(futures)])
    except (KeyboardInterrupt, Stopped):
        return False
    finally:
        unfinished = any(not future.done() for future in futures)
        if unfinished:
            STOP.set()
        pool.shutdown(wait=True, cancel_futures=True)


def reference(suite, names, target, limit, jobs, path):
    """Results of the software driver for these cases. The table at `path` caches them."""
    known = tables.read_results(path)
    new = [name for name in names if name not in known]
    if new:
        path.parent.mkdir(parents=True, exist_ok=True)
        progress = Progress(f"{suite.name} on {suite.reference}", len(new))
        lock = threading.Lock()
        with path.open("a") as file:
            def emit(result):
                with lock:
                    file.write(f"{result.test},{result.status},{result.seconds:.3f}\n")
                    file.flush()
                    progress.add(result.status)
            complete = execute(suite, new, target, limit, jobs, emit)
        progress.end()
        if not complete:
            raise KeyboardInterrupt
    results = tables.read_results(path)
    return {name: results[name] for name in names if name in results}
