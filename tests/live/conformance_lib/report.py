"""Merges the results of shards and machines, and compares them with the expectations."""

import collections
import pathlib

from . import Problem, tables
from .engine import clock


class Merged:
    """Results of one suite from several folders."""

    def __init__(self, suite):
        self.suite = suite
        self.results, self.causes, self.reference = {}, {}, {}
        self.reference_name, self.runs, self.twice = "", [], set()

    def add(self, folder, run):
        """Adds a folder. Of two results of a test, the worse one counts."""
        self.runs.append(run)
        self.reference_name = run.get("reference") or self.reference_name
        causes = tables.read_causes(folder / tables.CAUSES)
        for name, result in tables.read_results(folder / tables.RESULTS).items():
            old = self.results.get(name)
            if old:
                self.twice.add(name)
                if tables.STATUSES.index(old[0]) >= tables.STATUSES.index(result[0]):
                    continue
            self.results[name] = result
            self.causes[name] = causes.get(name, "")
        self.reference.update(tables.read_results(folder / "reference.csv"))

    def missing_shards(self):
        """Shards that no folder has, and shards that did not end, as sentences."""
        found = collections.defaultdict(set)
        for run in self.runs:
            index, total = run["shard"].split("/")
            found[int(total)].add(int(index))
        lines = []
        for total, indices in found.items():
            absent = [str(i) for i in range(1, total + 1) if i not in indices]
            if absent:
                lines.append(f"shards {', '.join(absent)} of {total} are missing")
        wanted = sum(run.get("cases", 0) for run in self.runs)
        have = len(self.results) + len(self.twice)
        if have < wanted:
            lines.append(f"{wanted - have} of {wanted} cases have no result: continue with "
                         "--resume")
        return lines


def merge(folders):
    """Suite -> merged results."""
    merged = {}
    for folder in map(pathlib.Path, folders):
        run = tables.read_run(folder)
        merged.setdefault(run["suite"], Merged(run["suite"])).add(folder, run)
    if not merged:
        raise Problem("no folder is given: name the folders of `conformance run --out`")
    return merged


def table(rows):
    """Text of a table; the first row is the head. Numbers are at the right."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def group(name):
    """The group of a case in the table: its test program, or the first parts of its name."""
    if "@" in name:
        name = name.partition("@")[0]
        return "_".join(name.split("_")[:2])
    if "/" in name:
        parts = name.split("/")
        return "/".join(parts[:3]) if parts[0] != "bin" else "bin"
    return ".".join(name.split(".")[:3])


def groups(results):
    """Rows of a table: counts of the statuses of each group, and of all."""
    used = [s for s in tables.STATUSES if any(status == s for status, _ in results.values())]
    counts = collections.defaultdict(collections.Counter)
    for name, (status, _) in results.items():
        for key in (group(name), "all"):
            counts[key][status] += 1
    keys = sorted(key for key in counts if key != "all") + ["all"]
    rows = [["", *used, "sum"]]
    for key in keys:
        rows.append([key, *(counts[key][s] or "" for s in used), sum(counts[key].values())])
    return rows


def against(results, reference, name):
    """Rows of a table: statuses on the model (down) and on the software driver (across)."""
    both = [test for test in results if test in reference]
    model = [s for s in tables.STATUSES if any(results[test][0] == s for test in both)]
    other = [s for s in tables.STATUSES if any(reference[test][0] == s for test in both)]
    counts = collections.Counter((results[test][0], reference[test][0]) for test in both)
    return [["model \\ " + name, *other]] + [
        [row, *(counts[(row, column)] or "" for column in other)] for row in model]


def print_suite(merged, expectations, out):
    """Prints the report of a suite. Returns whether there are regressions."""
    results, reference = merged.results, merged.reference
    seconds = sum(seconds for _, seconds in results.values())
    print(f"\n{merged.suite}: {len(results)} cases, {clock(seconds)} of processes\n", file=out)
    if not results:
        return False
    print(table(groups(results)), file=out)
    if any(test in reference for test in results):
        print("\n" + table(against(results, reference, merged.reference_name)), file=out)
    verdicts = collections.defaultdict(list)
    for name in sorted(results):
        verdicts[expectations.verdict(name, results[name][0])].append(name)
    print("\n" + ", ".join(f"{len(verdicts[v])} {v}" for v in VERDICTS if verdicts[v]), file=out)
    for verdict, title in SHOWN.items():
        for name in verdicts[verdict]:
            status = results[name][0]
            if verdict == "Regression" and name in expectations.fails:
                status = f"{status}, expected {expectations.fails[name]}"
            line = f"{title}: {name}: {status}"
            if name in reference:
                line += f", {merged.reference_name}: {reference[name][0]}"
            cause = merged.causes.get(name)
            print(line + (f": {cause}" if cause else ""), file=out)
    for line in merged.missing_shards():
        print(f"incomplete: {line}", file=out)
    return bool(verdicts["Regression"])


VERDICTS = ("Pass", "Skip", "ExpectedFail", "KnownFlake", "UnexpectedPass", "Regression")
SHOWN = {"Regression": "new failure", "UnexpectedPass": "unexpected pass"}
