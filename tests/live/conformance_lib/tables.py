"""Statuses, and the file formats of deqp-runner: results, failures and expectations."""

import csv
import json
import pathlib
import re

from . import Problem

# Statuses of deqp-runner, and Fault: the model refused something, whatever the case reports.
STATUSES = ("Pass", "Warn", "Skip", "Fail", "Crash", "Timeout", "Fault", "Missing")
# Statuses that are not failures. Warn is a pass with lower quality. Skip is a missing feature.
GOOD = ("Pass", "Warn", "Skip")
# Files of a folder of results.
RESULTS, FAILURES, CAUSES, RUN = "results.csv", "failures.csv", "causes.csv", "run.json"


def read_rows(path, columns):
    """Rows of a table whose last columns have no commas. A line that is cut off is left out."""
    try:
        text = path.read_text(errors="replace")
    except FileNotFoundError:
        return []
    lines = text.splitlines()
    if text and not text.endswith("\n"):
        lines.pop()
    rows = (line.rsplit(",", columns - 1) for line in lines if line and not line.startswith("#"))
    return [row for row in rows if len(row) == columns and row[1] != "status"]


def read_results(path):
    """Test -> (status, seconds). If a test is there twice, the later line counts."""
    results = {}
    for name, status, seconds in read_rows(path, 3):
        if status not in STATUSES:
            raise Problem(f"{path}: {name} has the status {status!r}, which is not one of "
                          f"{', '.join(STATUSES)}: correct or remove the line")
        try:
            results[name] = (status, float(seconds))
        except ValueError:
            raise Problem(f"{path}: {name}: the duration {seconds!r} is not a number of seconds: "
                          "correct or remove the line") from None
    return results


def read_causes(path):
    """Test -> cause. Causes can have commas, so the table is quoted."""
    try:
        with path.open(newline="", errors="replace") as file:
            return {row[0]: row[1] for row in csv.reader(file) if len(row) == 2}
    except FileNotFoundError:
        return {}


def write_failures(folder, results):
    """Writes the tests that are not good, in the format of an expectation file."""
    rows = (f"{name},{status}\n" for name, (status, _) in sorted(results.items())
            if status not in GOOD)
    (folder / FAILURES).write_text("".join(rows))


def read_run(folder):
    """The parameters of the run whose results are in a folder."""
    path = folder / RUN
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        raise Problem(f"{path} is missing: name a folder that `conformance run --out` "
                      "wrote") from None
    except ValueError as error:
        raise Problem(f"{path}: {error}: run the shard again in a new folder") from None


class Expectations:
    """The files SUITE-fails.txt, SUITE-skips.txt and SUITE-flakes.txt of a folder.

    fails: lines `test,Status`. skips and flakes: a regular expression on each line, which must
    match the whole name. Lines that begin with # are comments; they give the causes.
    """

    def __init__(self, folder, suite):
        self.fails = {}
        path = pathlib.Path(folder) / f"{suite}-fails.txt"
        for number, line in lines_of(path):
            name, _, status = line.rpartition(",")
            if not name or status not in STATUSES or status in GOOD:
                raise Problem(f"{path}:{number}: {line!r} is not TEST,STATUS with a status of "
                              f"{', '.join(s for s in STATUSES if s not in GOOD)}")
            self.fails[name] = status
        self.skips = self.patterns(folder, f"{suite}-skips.txt")
        self.flakes = self.patterns(folder, f"{suite}-flakes.txt")

    @staticmethod
    def patterns(folder, name):
        """One regular expression for all lines of a file, or None."""
        path = pathlib.Path(folder) / name
        parts = []
        for number, line in lines_of(path):
            try:
                re.compile(line)
            except re.error as error:
                raise Problem(f"{path}:{number}: {line!r} is not a regular expression: "
                              f"{error}") from None
            parts.append(f"(?:{line})")
        return re.compile("|".join(parts)) if parts else None

    def skipped(self, name):
        """Whether a test is left out of runs."""
        return bool(self.skips and self.skips.fullmatch(name))

    def verdict(self, name, status):
        """Pass, Skip, ExpectedFail, KnownFlake, UnexpectedPass, or Regression.

        A result that is older than the line of the skips that leaves it out is a Skip, too.
        """
        expected = self.fails.get(name)
        if status == "Skip" or self.skipped(name):
            return "Skip"
        if status in GOOD:
            flaky = self.flakes and self.flakes.fullmatch(name)
            return "UnexpectedPass" if expected and not flaky else "Pass"
        if self.flakes and self.flakes.fullmatch(name):
            return "KnownFlake"
        return "ExpectedFail" if expected == status else "Regression"


def lines_of(path):
    """Number and text of the lines of a file that are neither empty nor comments."""
    if not path.exists():
        return []
    lines = enumerate(path.read_text().splitlines(), 1)
    return [(n, line.strip()) for n, line in lines if line.strip() and line.strip()[0] != "#"]
