#!/usr/bin/env python3
"""Runs a random sample of piglit's shader tests on the model, as Mesa's iris driver sees it, or with
--device g45 as Mesa's crocus driver sees it.

The sample is drawn with a fixed seed from tests/spec and generated_tests/spec, or with --programs
from the programs that need no arguments. Tests that do not pass on llvmpipe are replaced by the
next tests of the draw. --out writes a table: test, result, cause. --expect compares the results
with such a table. Results are those of piglit, and crash (ended by a signal), timeout, fault (the
model refused something), none (no result was printed). The exit code is 1 after a crash, a timeout,
a fault, or a result that is worse than expected.

With --sanitize, each test runs under sanitizers (see genx shim --help). --findings is a table of
known findings: lines with a test, a tab and a rule; comments (#) have the cause. In a test, *
stands for any text. A finding that is not in the table is printed, and the exit code is 1.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

PIGLIT = pathlib.Path("/usr/lib/x86_64-linux-gnu/piglit")
RESULT = re.compile(r"PIGLIT: (\{.*\})")
# Programs that need a file, a display, or another interface than OpenGL.
OTHERS = re.compile(r"shader_runner|glx-|egl|cl-|vk-|glslparsertest|asmparser")
# Messages of the device when the model refuses something. The client may still pass.
FAULT = re.compile(r"^genx shim: .*(submission( \d+)?:|panicked|not implemented)", re.M)
# A finding of a sanitizer.
FINDING = re.compile(r"^genx shim: \w+: \w+: ([A-Z]+(?:-[A-Z0-9]+)+): (.*(?:\n  .*)*)", re.M)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    built = here / "../../target/release/genx"
    parser.add_argument("--genx", default=os.environ.get("GENX", str(built)), help="path of genx (also: GENX)")
    parser.add_argument("--piglit", type=pathlib.Path, default=PIGLIT, help="where piglit is installed")
    parser.add_argument("--count", type=int, default=600, help="number of tests")
    parser.add_argument("--device", help="the GPU, for genx shim; g45 needs --glsl 1.20")
    parser.add_argument("--glsl", type=float, help="run only tests that require at most this version of GLSL, and no OpenGL ES 3")
    parser.add_argument("--programs", action="store_true", help="run programs of piglit's bin folder instead of shader tests")
    parser.add_argument("--seed", type=int, default=2026, help="another seed draws another sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of parallel tests")
    parser.add_argument("--timeout", type=int, default=120, help="time limit of a test in seconds")
    parser.add_argument("--out", type=pathlib.Path, help="table of results to write")
    parser.add_argument("--expect", type=pathlib.Path, help="table of results to compare with")
    parser.add_argument("--tests", type=pathlib.Path, help="run the tests of this table instead of a sample")
    parser.add_argument("--sanitize", help="list of sanitizers, such as flush,bounds,race")
    parser.add_argument("--findings", type=pathlib.Path, help="table of known findings of sanitizers")
    parser.add_argument("--logs", type=pathlib.Path, help="folder for the outputs of tests that do not pass")
    parser.add_argument("--reference", type=pathlib.Path, help="table that caches results of llvmpipe")
    return parser.parse_args()


def runner(piglit, test):
    """The program for a test; the required dialect of GLSL selects it."""
    for line in test.read_text(errors="replace").splitlines():
        match = re.match(r"\s*GLSL\s+(ES\s+)?[<>=]+\s*([\d.]+)(\s+es)?", line, re.I)
        if match:
            if match.group(1) or match.group(3):
                return piglit / "bin" / ("shader_runner_gles2" if match.group(2).startswith("1") else "shader_runner_gles3")
            break
        if line.startswith("[") and "require" not in line:
            break
    return piglit / "bin" / "shader_runner"


def version(piglit, test):
    """The version of GLSL that a test requires: 1.10 without one, 9 for OpenGL ES 3."""
    for line in (piglit / test).read_text(errors="replace").splitlines():
        match = re.match(r"\s*GLSL\s+(ES\s+)?[<>=]+\s*([\d.]+)(\s+es)?", line, re.I)
        if match:
            if match.group(1) or match.group(3):
                return 1.0 if float(match.group(2)) <= 1.0 else 9.0
            return float(match.group(2))
        if line.startswith("[") and "require" not in line:
            break
    return 1.1


def run(options, test, model):
    """Result, seconds and output of a test."""
    path = options.piglit / test
    environment = dict(
        os.environ, PIGLIT_PLATFORM="surfaceless_egl", PIGLIT_SOURCE_DIR=str(options.piglit), MESA_SHADER_CACHE_DISABLE="true"
    )
    program = [str(path)] if path.parent.name == "bin" else [str(runner(options.piglit, path)), str(path)]
    command = program + ["-auto", "-fbo"]
    if model:
        device = ["--device", options.device] if options.device else []
        sanitize = ["--sanitize", options.sanitize] if options.sanitize else []
        command = [options.genx, "shim", *device, *sanitize, "--"] + command
    else:
        environment["LIBGL_ALWAYS_SOFTWARE"] = "1"
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        try:
            status = process.wait(options.timeout if model else min(options.timeout, 20))
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read(1 << 20).decode(errors="replace")
    seconds = time.monotonic() - start
    found = RESULT.findall(text)
    if status is None:
        result = "timeout"
    elif status < 0 or status >= 128:
        result = "crash"
    elif model and FAULT.search(text):
        result = "fault"
    elif found:
        result = json.loads(found[-1]).get("result", "none")
    else:
        result = "none"
    return result, seconds, text


def cause(result, text):
    """The message of a failed test, without numbers, so that equal causes can be counted."""
    if result == "pass":
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # Messages of the device come first, because faults name the packet or message.
    for line in lines:
        if FAULT.match(line):
            return re.sub(r"0x[0-9a-f_]+|\d+", "N", line)[:160]
    for line in lines:
        if re.match(r"Probe|Expected|Failed|Error|shader_runner|Segmentation", line, re.I):
            return re.sub(r"-?\d+(\.\d+)?", "N", line)[:100]
    return re.sub(r"-?\d+(\.\d+)?", "N", lines[0])[:100] if lines else ""


def read_table(path):
    if not path or not path.exists():
        return {}
    rows = (line.rstrip("\n").split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return {row[0]: row[1] for row in rows}


def known_findings(path):
    """Pairs of a pattern of tests and a rule, from lines "test<tab>rule"."""
    lines = path.read_text().splitlines() if path else []
    return [tuple(line.split("\t")[:2]) for line in lines if line and not line.startswith("#")]


def progress(line):
    """Replaces the previous line of the terminal; None ends it. Files and pipes get no lines."""
    if sys.stderr.isatty():
        print("" if line is None else f"\r{line}", end="\n" if line is None else "", file=sys.stderr, flush=True)


def sample(options):
    """Returns tests that pass on llvmpipe, in random order."""
    if options.tests:
        return list(read_table(options.tests))
    if options.programs:
        names = sorted(f"bin/{path.name}" for path in (options.piglit / "bin").iterdir() if not OTHERS.match(path.name))
    else:
        names = sorted(
            str(path.relative_to(options.piglit))
            for part in ("tests/spec", "generated_tests/spec")
            for path in (options.piglit / part).rglob("*.shader_test")
        )
    if options.glsl and not options.programs:
        names = [name for name in names if version(options.piglit, name) <= options.glsl]
    if not names:
        sys.exit(f"no tests below {options.piglit}: is piglit installed?")
    random.Random(options.seed).shuffle(names)
    known = read_table(options.reference)
    passing = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for start in range(0, len(names), 64):
            part = names[start:start + 64]
            new = [name for name in part if name not in known]
            for name, (result, _, _) in zip(new, pool.map(lambda name: run(options, name, False), new)):
                known[name] = result
            passing += [name for name in part if known[name] == "pass"]
            progress(f"llvmpipe: {len(passing)} of {options.count}")
            if len(passing) >= options.count:
                break
    progress(None)
    if options.reference:
        options.reference.write_text("".join(f"{name}\t{result}\n" for name, result in sorted(known.items())))
    return passing[:options.count]


def main():
    options = arguments()
    tests = sample(options)
    results = {}
    causes = collections.defaultdict(list)
    known = known_findings(options.findings)
    findings = collections.defaultdict(list)
    new = 0
    if options.logs:
        options.logs.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, (result, seconds, text) in zip(tests, pool.map(lambda name: run(options, name, True), tests)):
            why = cause(result, text)
            results[name] = (result, seconds, why)
            if result not in ("pass", "skip"):
                causes[(result, why)].append(name)
                if options.logs:
                    (options.logs / (name.replace("/", "_") + ".txt")).write_text(text)
            for rule, details in sorted(dict(FINDING.findall(text)).items()) if options.sanitize else ():
                expected = any(rule == other and fnmatch.fnmatchcase(name, tests) for tests, other in known)
                new += not expected
                findings[(rule, expected)].append((name, details))
                if options.logs:
                    (options.logs / (name.replace("/", "_") + ".txt")).write_text(text)
            passed = sum(1 for result, _, _ in results.values() if result == "pass")
            progress(f"model: {passed} pass of {len(results)} of {len(tests)}")
    progress(None)
    if options.out:
        rows = (f"{name}\t{result}\t{why}\n" for name, (result, _, why) in sorted(results.items()))
        options.out.write_text("".join(rows))
    counts = collections.Counter(result for result, _, _ in results.values())
    print(", ".join(f"{count} {result}" for result, count in counts.most_common()))
    print(f"{100 * counts['pass'] / max(1, len(results)):.1f} % pass; slowest: ", end="")
    print(", ".join(f"{name} {seconds:.0f} s" for name, (_, seconds, _) in sorted(results.items(), key=lambda row: -row[1][1])[:3]))
    for (result, why), names in sorted(causes.items(), key=lambda row: -len(row[1])):
        print(f"{len(names):4} {result:8} {why}\n              {names[0]}")
    for (rule, expected), found in sorted(findings.items()):
        print(f"{len(found):4} {'known' if expected else 'new'} finding {rule}")
        if not expected:
            for name, details in found[:10]:
                print(f"     {name}\n       {details}")
    worse = [name for name, result in read_table(options.expect).items() if result == "pass" and results.get(name, ("?",))[0] != "pass"]
    for name in worse:
        print(f"expected to pass: {name} ({results.get(name, ('not run',))[0]})")
    bad = counts["crash"] + counts["timeout"] + counts["fault"]
    sys.exit(1 if worse or bad or new else 0)


if __name__ == "__main__":
    main()
