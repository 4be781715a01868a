"""The command line: build, list, check, run, report, self-test."""

import argparse
import json
import os
import pathlib
import re
import signal
import sys
import time

from . import Problem, build, choose, engine, report, tables
from .process import STOP
from .suites import LIVE, SUITES, Target

ABOUT = """Runs conformance suites of drivers on the model, and tracks the results.

suites:
  piglit        piglit's profile "gpu": programs, shader tests; iris (Debian's package)
  igt           IGT's tests of the kernel interface; a case is a subtest
  deqp-gles2    VK-GL-CTS, OpenGL ES 2, iris
  deqp-gles3    VK-GL-CTS, OpenGL ES 3, iris
  deqp-gles31   VK-GL-CTS, OpenGL ES 3.1, iris
  khr-gl        VK-GL-CTS, OpenGL 4.6, iris
  deqp-vk       VK-GL-CTS, Vulkan, hasvk
  opencl-cts    OpenCL-CTS, NEO

examples:
  conformance build deqp-gles2 --sources cts --build cts-build
  conformance check deqp-gles2 --sources cts --build cts-build
  conformance list igt --build igt-build --include '^gem_exec_'
  conformance run piglit --seed 1 --count 600 --reference --out out
  conformance run deqp-gles2 --sources cts --build cts-build --shard 2/8 --out out2
  conformance run deqp-gles2 --sources cts --build cts-build --shard 2/8 --out out2 --resume
  conformance report out1 out2
  conformance self-test

statuses: Pass, Warn (a pass with lower quality), Skip (a feature is missing), Fail, Crash (a signal
ended the program), Timeout (--timeout is over), Fault (the model refused something, whatever the
case reports), Missing (the suite does not have the case, or printed no result).

exit code: 0 if all failures are expected; 1 after new failures; 2 if the suite cannot be built or
run; 130 if the run was stopped.
"""


def add_suite(parser):
    """Options that name a suite and its files."""
    parser.add_argument("suite", choices=sorted(SUITES), metavar="SUITE",
                        help=", ".join(SUITES))
    parser.add_argument("--sources", type=pathlib.Path, metavar="DIR",
                        help="sources of the suite (VK-GL-CTS: lists of cases are there)")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        help="build of the suite; default for piglit: Debian's package")
    parser.add_argument("--no-isolation", action="store_true",
                        help="run IGT's tests with all rights of the caller. Use it only on a "
                        "machine of its own, with --jobs 1: they change settings of the kernel")


def add_choice(parser):
    """Options that choose cases."""
    parser.add_argument("--include", metavar="REGEX", help="only cases with a match in their name")
    parser.add_argument("--exclude", metavar="REGEX", help="no cases with a match in their name")
    parser.add_argument("--seed", type=int, default=2026, metavar="S",
                        help="another seed draws another sample (default: 2026)")
    parser.add_argument("--count", type=positive, metavar="N",
                        help="draw a random sample of N cases")
    parser.add_argument("--shard", default="1/1", metavar="I/N",
                        help="run part I of N, on one of N machines")
    parser.add_argument("--expectations", type=pathlib.Path, default=LIVE / "expectations",
                        metavar="DIR", help="folder of SUITE-fails.txt, SUITE-skips.txt and "
                        "SUITE-flakes.txt (default: tests/live/expectations)")


def positive(text):
    """A number of at least 1."""
    if not re.fullmatch(r"[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def arguments(words):
    """Parses the command line."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("conformance", description=ABOUT, formatter_class=raw)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    new = lambda name, text: commands.add_parser(name, help=text, description=text + ".")
    listing = new("list", "print the cases that `run` would run")
    add_suite(listing)
    add_choice(listing)
    building = new("build", "build a suite from its sources, with CMake or Meson, and Ninja")
    add_suite(building)
    building.add_argument("--jobs", type=positive, default=os.cpu_count(), metavar="N",
                          help="number of parallel compilers (default: all cores)")
    building.add_argument("--option", action="append", default=[], metavar="OPTION", dest="extra",
                          help="option of the configuration, for example "
                          "--option=-DCMAKE_CXX_FLAGS=-O1; repeat for more")
    check = new("check", "say whether a suite can be run, and what is missing")
    add_suite(check)
    run = new("run", "run a suite on the model")
    add_suite(run)
    add_choice(run)
    run.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR",
                     help="folder of the results: results.csv, failures.csv, causes.csv, logs")
    run.add_argument("--resume", action="store_true", help="continue the run of --out")
    run.add_argument("--jobs", type=positive, default=os.cpu_count(), metavar="N",
                     help="number of parallel processes (default: all cores)")
    run.add_argument("--timeout", type=positive, default=120, metavar="SECONDS",
                     help="time limit of a case (default: 120)")
    run.add_argument("--minutes", type=positive, metavar="M",
                     help="begin no new case after M minutes; --resume runs the rest")
    run.add_argument("--reference", nargs="?", const="", metavar="FILE",
                     help="run the cases with llvmpipe, lavapipe or pocl, too. FILE caches the "
                     "results (default: reference.csv in --out)")
    built = LIVE / "../../target/release/genx"
    run.add_argument("--genx", default=os.environ.get("GENX", str(built.resolve())),
                     metavar="FILE", help="path of genx (also: GENX)")
    run.add_argument("--shim", action="append", default=[], metavar="OPTION",
                     help="option of `genx shim`, for example --shim=--async; repeat for more")
    run.add_argument("--argument", action="append", default=[], metavar="WORD", dest="words",
                     help="pass this argument to every program of opencl-cts, for example "
                     "--argument=--wimpy. Repeat the option to pass more arguments")
    run.add_argument("--no-logs", action="store_true", help="do not keep outputs of failures")
    reports = new("report", "merge results of shards and machines, one table for each suite")
    reports.add_argument("folders", nargs="+", type=pathlib.Path, metavar="DIR",
                         help="folder that `run --out` wrote")
    reports.add_argument("--expectations", type=pathlib.Path, default=LIVE / "expectations",
                         metavar="DIR", help="folder of the expectation files")
    new("self-test", "test this program with fake suites; needs no suite and no driver")
    return parser.parse_args(words)


def suite_of(options):
    """The suite, if it can be run."""
    suite = SUITES[options.suite](options.sources, options.build, not options.no_isolation)
    problems = suite.problems()
    if problems:
        raise Problem(f"{options.suite} cannot be run: " + "; ".join(problems) + ". README.md "
                      "has a table of the files that each suite needs")
    return suite


def cases_of(options, suite):
    """The cases of a run, without those of SUITE-skips.txt."""
    expectations = tables.Expectations(options.expectations, options.suite)
    names = [name for name in suite.cases() if not expectations.skipped(name)]
    chosen = choose.select(names, options.include, options.exclude, options.seed, options.count,
                           options.shard)
    if not chosen:
        raise Problem(f"no case of {options.suite} is left: check --include, --exclude and --shard")
    return chosen


def run_parameters(options, names):
    """What must be equal when a run is resumed."""
    return {"suite": options.suite, "shard": options.shard, "include": options.include,
            "exclude": options.exclude, "count": options.count, "cases": len(names),
            "seed": options.seed if options.count else None, "shim": options.shim,
            "arguments": options.words or None}


def run(options):
    """Runs a suite and prints its report."""
    suite = suite_of(options)
    if not os.access(options.genx, os.X_OK):
        raise Problem(f"no genx at {options.genx}: run `cargo build --release -p genx -p "
                      "genxml-drm-shim`, or name it with --genx or GENX")
    if options.reference is not None and not suite.reference:
        raise Problem(f"{options.suite} has no software driver to compare with: leave out "
                      "--reference")
    if options.words and not suite.takes_arguments:
        raise Problem(f"--argument works only with opencl-cts, not with {options.suite}")
    suite.words = options.words
    names = cases_of(options, suite)
    parameters = run_parameters(options, names)
    old = engine.prepare(options.out, parameters, options.resume)
    threads = max(1, (os.cpu_count() or 1) // options.jobs)
    errors = options.out / "errors"
    errors.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        # Isolated programs have another user.
        errors.chmod(0o777)
    shim = ("--threads", str(threads), "--errors", str(errors.resolve()), *suite.shim,
            *options.shim)
    end = time.monotonic() + 60 * options.minutes if options.minutes else None
    if options.reference is not None:
        known = pathlib.Path(options.reference or options.out / "reference.csv")
        target = Target(options.genx, model=False)
        rows = engine.reference(suite, names, target, options.timeout, options.jobs, known)
        lines = [f"{name},{status},{seconds:.3f}\n" for name, (status, seconds) in rows.items()]
        (options.out / "reference.csv").write_text("".join(lines))
        parameters["reference"] = suite.reference
        (options.out / tables.RUN).write_text(json.dumps(parameters, indent=1) + "\n")
    left = [name for name in names if name not in old]
    writer = engine.Writer(options.out, not options.no_logs)
    progress = engine.Progress(options.suite, len(left))
    def emit(result):
        writer.add(result)
        with writer.lock:
            progress.add(result.status)
    target = Target(options.genx, shim=shim, isolate=not options.no_isolation)
    complete = engine.execute(suite, left, target, options.timeout, options.jobs, emit, end)
    progress.end()
    writer.close()
    tables.write_failures(options.out, tables.read_results(options.out / tables.RESULTS))
    code = print_report([options.out], options.expectations)
    if not complete:
        print(f"stopped: run the same command with --resume to continue {options.out}",
              file=sys.stderr)
        return 130 if STOP.is_set() else code
    return code


def print_report(folders, expectations):
    """Prints the report of folders. Returns 1 if there are regressions."""
    bad = False
    for name, merged in sorted(report.merge(folders).items()):
        bad |= report.print_suite(merged, tables.Expectations(expectations, name), sys.stdout)
    return int(bad)


def interrupt(_number, _frame):
    """Ends the run: programs are ended, results stay."""
    STOP.set()
    raise KeyboardInterrupt


def main(words):
    """Runs the command. Returns the exit code."""
    options = arguments(words)
    STOP.clear()
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)
    try:
        if options.command == "self-test":
            from . import selftest
            return selftest.main()
        if options.command == "run":
            return run(options)
        if options.command == "report":
            return print_report(options.folders, options.expectations)
        if options.command == "build":
            build.build(options.suite, options.sources, options.build, options.jobs, options.extra)
            options.command = "check"
        suite = suite_of(options)
        if options.command == "check":
            print(f"{options.suite}: {len(set(suite.cases()))} cases")
            return 0
        print("\n".join(cases_of(options, suite)))
        return 0
    except Problem as problem:
        print(f"conformance: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("stopped: run the same command with --resume to continue", file=sys.stderr)
        return 130
