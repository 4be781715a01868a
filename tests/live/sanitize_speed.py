#!/usr/bin/env python3
"""Measures how much slower `genx run --sanitize NAME` is than `genx run` with one thread.

A row is a capture, a column a sanitizer: the ratio of CPU times (user and system) of the processes.
Each time is the least of --runs runs, because other work on the machine only adds to it. The time of
`genx --version` is subtracted from all times, so that the start of the process does not count. The
maximum of a column leaves out captures that take less than --least milliseconds.

First build: cargo build --release -p genx (or set GENX to the path of genx).
"""

import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = {"flush": 1.5, "race": 5, "uninit": 5, "bounds": None, "state": None}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    built = HERE / "../../target/release/genx"
    parser.add_argument("captures", nargs="+", type=pathlib.Path, help="capture directories")
    parser.add_argument("--genx", default=os.environ.get("GENX", str(built)), help="path of genx (also: GENX)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each capture with each sanitizer (default 5)")
    parser.add_argument("--least", type=float, default=20, help="shortest run in ms that counts for the maximum (default 20)")
    parser.add_argument("--sanitizers", default=",".join(LIMITS), metavar="LIST", help="names separated by commas")
    return parser.parse_args()


def cpu(command):
    """CPU time of a command in milliseconds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return 1000 * (usage.ru_utime + usage.ru_stime)


def main():
    options = arguments()
    names = options.sanitizers.split(",")
    least = lambda command: min(cpu(command) for _ in range(options.runs))
    start = least([options.genx, "--version"])
    worst = dict.fromkeys(names, 0.0)
    print(f"{'capture':24} {'ms':>9}  " + "  ".join(f"{name:>7}" for name in names))
    for capture in options.captures:
        run = [options.genx, "run", str(capture), "--threads", "1"]
        plain = max(least(run) - start, 0.1)
        ratios = {name: max(least([*run, "--sanitize", name]) - start, 0.1) / plain for name in names}
        if plain >= options.least:
            worst = {name: max(worst[name], ratios[name]) for name in names}
        print(f"{capture.name[:24]:24} {plain:9.1f}  " + "  ".join(f"{ratios[name]:7.2f}" for name in names), flush=True)
    print(f"{'worst':24} {'':9}  " + "  ".join(f"{worst[name]:7.2f}" for name in names))
    over = [name for name in names if LIMITS[name] is not None and worst[name] > LIMITS[name]]
    if over:
        sys.exit("above the limit: " + ", ".join(f"{name} ({LIMITS[name]}x)" for name in over))


if __name__ == "__main__":
    main()
