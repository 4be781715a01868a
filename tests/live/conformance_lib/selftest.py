"""Tests of the program with fake suites: small programs that pass, fail, crash and hang.

The fakes print what the real suites print, so the classes of the real suites read them. The oracle
is the name of a case: `pass_1` passes, `crash_2` crashes.
"""

import contextlib
import gzip
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

from . import command, tables

# Ends as the name of a case says. `say` prints what the suite prints for a result.
BEHAVE = '''
import os, signal, subprocess, sys, time
def behave(name, say):
    kind = name.split("_")[0].split("/")[-1].split(".")[-1]
    with open(os.path.join(FOLDER, "started"), "a") as file:
        file.write(f"{name} {os.environ.get('LIBGL_ALWAYS_SOFTWARE', '')}\\n")
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "hang":
        child = subprocess.Popen(["sleep", "600"])
        with open(os.path.join(FOLDER, "sleeping"), "a") as file:
            file.write(f"{child.pid}\\n")
        time.sleep(600)
    if kind == "fault":
        print("genx shim: submission 3: MI_FAKE is not implemented", flush=True)
    if kind == "software" and not os.environ.get("LIBGL_ALWAYS_SOFTWARE"):
        kind = "fail"
    say({"fault": "pass", "software": "pass", "flake": "fail"}.get(kind, kind))
'''

IGT = '''
names = CASES
if "--list-subtests" in sys.argv:
    print("\\n".join(names))
    sys.exit(0)
name = sys.argv[sys.argv.index("--run-subtest") + 1]
code = 0
if name == "skip_unknown":
    print(f"(gem_basic:1) igt_core-CRITICAL: Unknown subtest: {name}", flush=True)
    sys.exit(98)
def say(kind):
    global code
    code = {"pass": 0, "skip": 77, "fail": 98}[kind]
    if kind == "fail":
        print("(gem_basic:1) CRITICAL: Failed assertion: a == b", flush=True)
        print("(gem_basic:1) CRITICAL: error: 1 != -22", flush=True)
    word = {"pass": "SUCCESS", "skip": "SKIP", "fail": "FAIL"}[kind]
    print(f"Subtest {name}: {word} (0.000s)", flush=True)
behave(name, say)
sys.exit(code)
'''

DEQP = '''
path = [word for word in sys.argv if word.startswith("--deqp-caselist-file=")][0]
for name in open(path.partition("=")[2]).read().split():
    print(f"\\nTest case '{name}'..", flush=True)
    word = {"pass": "Pass", "fail": "Fail", "skip": "NotSupported", "warn": "QualityWarning"}
    behave(name, lambda kind: print(f"  {word[kind]} ({kind}ed)", flush=True))
'''

PIGLIT = '''
name = os.path.basename(sys.argv[1]).partition(".")[0]
with open(os.path.join(FOLDER, "arguments"), "a") as file:
    file.write(f"{sys.argv[1:]}\\n")
behave(name, lambda kind: print('PIGLIT: {"result": "%s" }' % kind, flush=True))
'''

OPENCL = '''
import json
if sys.argv[1] == "--help":
    print("Usage: fake\\n\\nTest names:\\n" + "".join(f"\\t{name}\\n" for name in CASES))
    sys.exit(0)
assert os.listdir(os.environ["cl_cache_dir"]) == []
def say(kind):
    with open(os.environ["CL_CONFORMANCE_RESULTS_FILENAME"], "w") as file:
        json.dump({"cmd": "fake", "results": {sys.argv[-1]: kind}}, file)
    sys.exit(1 if kind == "fail" else 0)
with open("arguments", "a") as file:
    file.write(f"{sys.argv[1:]}\\n")
behave(sys.argv[-1], say)
'''

CONVERSIONS = '''
import json
if sys.argv[1] == "--help":
    print("Test names:\\n  to<_sat>_from\\n  Possible format types are:\\n    int, float, \\n  Examples:")
    sys.exit(0)
with open(os.environ["CL_CONFORMANCE_RESULTS_FILENAME"], "w") as file:
    kind = "fail" if sys.argv[-1] == "int_sat_rte_float" else "pass"
    json.dump({"results": {"conversions": kind}}, file)
'''

KINDS = ["pass_1", "fail_1", "skip_1", "crash_1", "pass_2", "hang_1", "pass_3", "fault_1", "pass_4"]
WANTED = {"pass": "Pass", "fail": "Fail", "skip": "Skip", "crash": "Crash", "hang": "Timeout",
          "fault": "Fault", "flake": "Fail", "warn": "Warn", "software": "Fail"}


def wanted(name):
    """The status that the name of a case says."""
    return WANTED[name.split("@")[-1].split("/")[-1].split(".")[-1].split("_")[0]]


class Fakes(unittest.TestCase):
    """Tests with a temporary folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="conformance-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "out"
        self.genx = self.script("genx", '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\n'
                                'exec "$@"\n')

    def script(self, path, text):
        """Writes a program."""
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def fake(self, path, text, cases=()):
        """Writes a fake program of a suite."""
        head = f"#!{sys.executable}\nFOLDER = {str(self.folder)!r}\nCASES = {list(cases)!r}\n"
        return self.script(path, head + textwrap.dedent(BEHAVE) + text)

    def igt(self, cases=KINDS):
        """A fake build of IGT. Returns the words that name it."""
        self.fake("igt/tests/gem_basic", IGT, cases)
        (self.folder / "igt/lib").mkdir(exist_ok=True)
        (self.folder / "igt/lib/libigt.so.0").write_text("")
        return ["igt", "--build", str(self.folder / "igt"), "--no-isolation"]

    def deqp(self, names):
        """A fake build of dEQP. Returns the words that name it."""
        self.fake("deqp/modules/gles2/deqp-gles2", DEQP)
        mustpass = self.folder / "cts/external/openglcts/data/gl_cts/data/mustpass/gles/" \
            "aosp_mustpass/1.0/gles2-main.txt"
        mustpass.parent.mkdir(parents=True)
        mustpass.write_text("".join(f"{name}\n" for name in names))
        return ["deqp-gles2", "--build", str(self.folder / "deqp"), "--sources",
                str(self.folder / "cts")]

    def piglit_list(self, name, tests):
        """Writes a list of piglit's tests."""
        path = self.folder / f"piglit/tests/{name}.xml.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(f"<PiglitTestList>{tests}</PiglitTestList>".encode()))

    def expect(self, **files):
        """Writes expectation files of IGT: fails, skips, flakes."""
        folder = self.folder / "expectations"
        folder.mkdir(exist_ok=True)
        for kind, text in files.items():
            (folder / f"igt-{kind}.txt").write_text(text)

    def words(self, words):
        """The command line with the folders of the test."""
        words = [str(word) for word in words]
        if words[0] in ("run", "list", "report"):
            words += ["--expectations", str(self.folder / "expectations")]
        if words[0] == "run":
            words += ["--genx", self.genx]
            words += [] if "--timeout" in words else ["--timeout", "3"]
        return words

    def call(self, *words, code=0):
        """Runs the command and checks its exit code. Returns what it printed."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                result = command.main(self.words(words))
            except SystemExit as end:
                result = end.code
        self.assertEqual(result, code, printed.getvalue())
        return printed.getvalue()

    def run_suite(self, suite, *words, code=1, out=None):
        """Runs a suite. Returns test -> status, and what was printed."""
        out = out or self.out
        printed = self.call("run", *suite, "--out", out, *words, code=code)
        results = tables.read_results(out / tables.RESULTS)
        return {name: status for name, (status, _) in results.items()}, printed

    def assert_nothing_sleeps(self):
        """The watchdog has ended the children of cases that hang."""
        for line in (self.folder / "sleeping").read_text().split():
            for _ in range(100):
                try:
                    state = pathlib.Path(f"/proc/{line}/stat").read_text().split()[2]
                except (FileNotFoundError, ProcessLookupError):
                    break
                if state == "Z":
                    break
                time.sleep(0.02)
            else:
                self.fail(f"process {line} still runs")

    def test_statuses(self):
        suite = self.igt()
        results, printed = self.run_suite(suite)
        self.assertEqual(results, {f"gem_basic@{name}": wanted(name) for name in KINDS})
        self.assert_nothing_sleeps()
        self.assertIn("gem_basic@fail_1: Fail: a == b: error: 1 != -22\n", printed)
        self.assertIn("MI_FAKE is not implemented", printed)
        failures = (self.out / "failures.csv").read_text().split()
        bad = {name: status for name, status in results.items() if status not in tables.GOOD}
        self.assertEqual(failures, [f"{name},{bad[name]}" for name in sorted(bad)])
        logs = {path.name for path in (self.out / "logs").iterdir()}
        self.assertEqual(logs, {f"{name}.txt" for name in bad})
        head, *rows = (self.out / "results.csv").read_text().split()
        self.assertEqual(head, "test,status,duration")
        self.assertEqual(len(rows), len(KINDS))
        self.assertTrue(all(row.count(",") == 2 for row in rows))

    def test_hangs_on_purpose(self):
        """IGT's tests may hang the GPU on purpose: that alone is no fault."""
        suite = self.igt(["pass_1"])
        path = self.folder / "igt/tests/gem_basic"
        path.write_text(path.read_text().replace(
            "\nbehave(", '\nprint("genx shim: submission 1: a hang")\nbehave('))
        results, _ = self.run_suite(suite, code=0)
        self.assertEqual(results, {"gem_basic@pass_1": "Pass"})

    def test_batches(self):
        """A crash or a hang in a batch does not end the cases after it."""
        names = [f"dEQP-GLES2.fake.{name}_{i}" for i in range(4) for name in
                 ("pass", "fail", "warn", "skip", "fault")]
        names += ["dEQP-GLES2.fake.crash_0", "dEQP-GLES2.fake.crash_1", "dEQP-GLES2.fake.hang_0"]
        suite = self.deqp(names)
        results, printed = self.run_suite(suite, "--jobs", "1")
        self.assertEqual(results, {name: wanted(name) for name in names})
        self.assert_nothing_sleeps()
        started = [line.split()[0] for line in (self.folder / "started").read_text().splitlines()]
        self.assertEqual(sorted(started), sorted(names), "each case runs once")
        self.assertIn("dEQP-GLES2.fake.crash_0: Crash", printed)

    def test_silent_batch(self):
        """A program that ends before its first case does not stop the run."""
        names = [f"dEQP-GLES2.fake.pass_{i}" for i in range(3)]
        suite = self.deqp(names)
        self.script("deqp/modules/gles2/deqp-gles2", "#!/bin/sh\necho no display\nexit 3\n")
        results, printed = self.run_suite(suite)
        self.assertEqual(results, {name: "Crash" for name in names})
        self.assertIn("no display", printed)

    def test_shards(self):
        names = [f"pass_{i:03}" for i in range(50)]
        suite = self.igt(names)
        for words in ([], ["--seed", "7", "--count", "31"]):
            whole = self.call("list", *suite, *words).split()
            self.assertEqual(len(whole), 31 if words else 50)
            self.assertEqual(whole, self.call("list", *suite, *words).split())
            parts = [self.call("list", *suite, *words, "--shard", f"{i}/4").split()
                     for i in range(1, 5)]
            self.assertEqual(sorted(sum(parts, [])), whole)
            self.assertLessEqual(max(map(len, parts)) - min(map(len, parts)), 1)
        small = self.call("list", *suite, "--seed", "7", "--count", "5").split()
        self.assertLess(set(small), set(whole), "a larger sample contains a smaller one")
        other = self.call("list", *suite, "--seed", "8", "--count", "5").split()
        self.assertNotEqual(small, other)
        few = self.call("list", *suite, "--include", "_00", "--exclude", "[5-9]$").split()
        self.assertEqual(few, [f"gem_basic@pass_{i:03}" for i in range(5)])
        self.call("list", *suite, "--shard", "5/4", code=2)
        self.call("list", *suite, "--include", "(", code=2)
        self.call("list", *suite, "--include", "nothing", code=2)

    def test_merge(self):
        names = [f"pass_{i}" for i in range(6)] + ["fail_1", "crash_1"]
        suite = self.igt(names)
        outs = [self.folder / f"out{i}" for i in (1, 2)]
        for i, out in enumerate(outs, 1):
            # A shard with a failure ends with 1.
            part = sorted(names)[i - 1::2]
            code = int(any(wanted(name) not in tables.GOOD for name in part))
            self.run_suite(suite, "--shard", f"{i}/2", out=out, code=code)
        printed = self.call("report", *outs, code=1)
        row = [line.split() for line in printed.splitlines() if line.startswith("all")][0]
        self.assertEqual(row, ["all", "6", "1", "1", "8"])
        self.assertNotIn("incomplete", printed)
        self.assertIn("shards 2 of 2 are missing", self.call("report", outs[0], code=1))
        # Of two results of a case, the worse one counts.
        (outs[1] / "results.csv").open("a").write("gem_basic@crash_1,Pass,0.000\n")
        self.assertIn("gem_basic@crash_1: Crash", self.call("report", *outs, code=1))
        self.call("report", self.folder, code=2)

    def test_resume(self):
        names = [f"pass_{i:02}" for i in range(12)]
        suite = self.igt(names)
        first, _ = self.run_suite(suite, code=0)
        path = self.out / "results.csv"
        lines = path.read_text().splitlines()
        path.write_text("\n".join(lines[:6]) + "\n" + lines[6][:9])
        (self.folder / "started").unlink()
        self.assertIn("--resume", self.call("run", *suite, "--out", self.out, code=2))
        wrong = self.call("run", *suite, "--out", self.out, "--resume", "--count", "3", code=2)
        self.assertIn("count", wrong)
        again, _ = self.run_suite(suite, "--resume", code=0)
        self.assertEqual(again, first)
        self.assertEqual(len((self.folder / "started").read_text().split("\n")) - 1, 7)
        self.assertEqual(len(path.read_text().splitlines()), 13)

    def test_stop(self):
        """A run that is stopped ends its programs, keeps its results, and can be resumed."""
        suite = self.igt(["pass_1", "hang_1", "pass_2"])
        words = self.words(["run", *suite, "--out", self.out, "--jobs", "1", "--timeout", "500"])
        program = subprocess.Popen([sys.executable, command.LIVE / "conformance", *words],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(500):
            if (self.folder / "sleeping").exists():
                break
            time.sleep(0.02)
        program.send_signal(signal.SIGTERM)
        error = program.communicate(timeout=20)[1].decode()
        self.assertEqual(program.returncode, 130, error)
        self.assertIn("--resume", error)
        self.assert_nothing_sleeps()
        results, _ = self.run_suite(suite, "--resume")
        self.assertEqual(results, {f"gem_basic@{name}": wanted(name)
                                   for name in ("pass_1", "hang_1", "pass_2")})

    def test_expectations(self):
        suite = self.igt(["pass_1", "fail_1", "crash_1", "flake_1", "hang_1"])
        self.expect(fails="# The fake fails.\ngem_basic@fail_1,Fail\ngem_basic@crash_1,Crash\n",
                    skips="gem_basic@hang_.*\n", flakes="gem_basic@flake_\\d\n")
        results, printed = self.run_suite(suite, code=0)
        self.assertEqual(len(results), 4)
        self.assertIn("1 Pass, 2 ExpectedFail, 1 KnownFlake\n", printed)
        self.expect(fails="gem_basic@fail_1,Timeout\ngem_basic@crash_1,Crash\n")
        self.assertIn("new failure: gem_basic@fail_1: Fail, expected Timeout",
                      self.call("report", self.out, code=1))
        self.expect(fails="gem_basic@fail_1,Fail\ngem_basic@crash_1,Crash\ngem_basic@pass_1,Fail\n")
        self.assertIn("unexpected pass: gem_basic@pass_1", self.call("report", self.out))
        for wrong in ({"fails": "gem_basic@fail_1\n"}, {"fails": "x,Pass\n"},
                      {"fails": "", "skips": "# a comment\n(\n"}):
            self.expect(**wrong)
            self.assertRegex(self.call("report", self.out, code=2), r"igt-\w+\.txt:\d: ")

    def test_reference(self):
        names = ("pass_1", "software_1", "fail_1")
        self.piglit_list("quick_shader", "".join(
            f'<Test type="shader" name="spec@fake@{name}"><option name="command" '
            f'value="[\'shader_runner\', \'tests/{name}.shader_test\']" /></Test>'
            for name in names))
        # A program with arguments, one for another platform, and one with a file.
        self.piglit_list("quick_gl", (
            '<Test type="gl" name="spec@fake@warn"><option name="command" '
            'value="[\'program\', \'pass_2\', \'GL_RGBA\']" /></Test>'
            '<Test type="gl" name="glx@none"><option name="command" value="[\'none\']" />'
            '<option name="require_platforms" value="[\'glx\']" /></Test>'
            '<Test type="gl_builtin" name="spec@fake@constants"><option name="command" '
            'value="[\'program\', \'pass_3.txt\']" /></Test>'
            '<Test type="gl" name="spec@fake@gone"><option name="command" value="[\'gone\']" />'
            '</Test>'))
        for name in ("shader_runner", "program"):
            self.fake(f"piglit/bin/{name}", PIGLIT)
        suite = ["piglit", "--build", self.folder / "piglit"]
        self.assertEqual(len(self.call("list", *suite).split()), 7)
        cache = self.folder / "cache.csv"
        for out in ("one", "two"):
            results, printed = self.run_suite(suite, "--reference", cache, "--include", "shader|_1",
                                              out=self.folder / out)
            self.assertEqual(results, {f"spec@fake@{name}": wanted(name) for name in names})
            self.assertRegex(printed, r"model \\ llvmpipe +Pass +Fail\nPass +1\nFail +1 +1\n")
        started = (self.folder / "started").read_text().split("\n")
        self.assertEqual(sum(line.endswith(" 1") for line in started), 3, "the cache is used")
        results, _ = self.run_suite(suite, "--include", "none|warn|constants|gone", code=0)
        self.assertEqual(results, {"glx@none": "Skip", "spec@fake@gone": "Skip",
                                   "spec@fake@warn": "Pass", "spec@fake@constants": "Pass"})
        arguments = (self.folder / "arguments").read_text().splitlines()
        tests = self.folder / "piglit/tests"
        self.assertIn("['pass_2', 'GL_RGBA', '-auto', '-fbo']", arguments)
        self.assertIn(f"['{tests}/pass_3.txt']", arguments)
        self.call("run", *self.igt(), "--out", self.folder / "igt-out", "--reference", code=2)

    def test_unknown_subtests(self):
        results, _ = self.run_suite(self.igt(["pass_1", "skip_unknown"]), code=0)
        self.assertEqual(results, {"gem_basic@pass_1": "Pass", "gem_basic@skip_unknown": "Skip"})

    def test_opencl(self):
        self.fake("cl/test_conformance/basic/test_basic", OPENCL, ["pass_1", "fail_1", "crash_1"])
        suite = ["opencl-cts", "--build", self.folder / "cl"]
        self.fake("cl2/test_conformance/conversions/test_conversions", CONVERSIONS)
        results, _ = self.run_suite(["opencl-cts", "--build", self.folder / "cl2"],
                                    out=self.folder / "conversions")
        # Two types; float has no saturation.
        self.assertEqual(len(results), 2 * 2 * 5 + 2 * 5)
        self.assertEqual([case for case, status in results.items() if status != "Pass"],
                         ["test_conversions@int_sat_rte_float"])
        results, _ = self.run_suite(suite)
        self.assertEqual(results, {f"test_basic@{name}": wanted(name)
                                   for name in ("pass_1", "fail_1", "crash_1")})
        self.run_suite(suite, "--include", "pass_1", "--argument=-w", "--argument", "x", code=0,
                       out=self.folder / "words")
        arguments = (self.folder / "cl/test_conformance/basic/arguments").read_text()
        self.assertEqual(arguments.splitlines()[-1], "['-w', 'x', 'pass_1']")
        self.assertIn("--argument works only with opencl-cts",
                      self.call("run", *self.igt(), "--argument=-w", "--out",
                                self.folder / "igt-out", code=2))

    def tools(self, code=0):
        """Fakes of cmake, meson and ninja that write their arguments to a file, first in PATH."""
        for name in ("cmake", "meson", "ninja"):
            self.script(f"tools/{name}", f'#!/bin/sh\necho {name} "$@" >>{self.folder}/called\n'
                        f'exit {code}\n')
        path = f"{self.folder / 'tools'}:{os.environ['PATH']}"
        self.enterContext(unittest.mock.patch.dict(os.environ, {"PATH": path}))

    def test_build(self):
        suite = self.deqp(["pass_1"])
        self.tools()
        printed = self.call("build", *suite, code=2)
        self.assertIn("has no CMakeLists.txt", printed)
        self.assertIn("fetch_sources.py", printed)
        for name in ("glslang", "spirv-tools", "spirv-headers", "amber", "jsoncpp",
                     "vulkansc-pcutil"):
            self.script(f"cts/external/{name}/src/file", "")
        for name in ("CMakeLists.txt", "external/openglcts/CMakeLists.txt"):
            self.script(f"cts/{name}", "")
        printed = self.call("build", *suite, "--jobs", "3", "--option=-DFAST=1")
        self.assertIn("deqp-gles2: 1 cases", printed)
        configure, make = (self.folder / "called").read_text().splitlines()
        cts, deqp = self.folder / "cts", self.folder / "deqp"
        self.assertRegex(configure, f"^cmake -G Ninja -S {cts} -B {deqp} .*-DFAST=1$")
        self.assertEqual(make, f"ninja -C {deqp} -j3 deqp-gles2")
        self.tools(code=7)
        self.assertIn("cmake ended with 7", self.call("build", *suite, code=2))

    def test_build_again(self):
        """Meson configures a folder once; later calls change options."""
        suite = self.igt()
        for name in ("meson.build", "tests/intel/gem_exec_basic.c"):
            self.script(f"igt-src/{name}", "")
        self.tools()
        self.call("build", *suite, "--sources", self.folder / "igt-src")
        (self.folder / "igt/build.ninja").write_text("")
        self.call("build", *suite, "--sources", self.folder / "igt-src")
        words = [line.split()[:2] for line in (self.folder / "called").read_text().splitlines()]
        self.assertEqual([pair for pair in words if pair[0] == "meson"],
                         [["meson", "setup"], ["meson", "configure"]])
        self.assertIn("needs --sources", self.call("build", "igt", code=2))

    def test_missing_files(self):
        for words in (["igt"], ["igt", "--build", self.folder], ["deqp-vk", "--build", "none"],
                      ["opencl-cts"], ["khr-gl", "--sources", "none"]):
            self.assertIn("cannot be run", self.call("check", *words, code=2))
        # A list of Vulkan names other lists.
        self.fake("vk/external/vulkancts/modules/vulkan/deqp-vk", DEQP)
        self.script("vk/external/vulkancts/mustpass/main/vk-default.txt", "vk-default/api.txt\n")
        suite = ["deqp-vk", "--build", self.folder / "vk", "--sources", self.folder / "vk"]
        self.assertIn("vk-default/api.txt is missing", self.call("list", *suite, code=2))
        self.script("vk/external/vulkancts/mustpass/main/vk-default/api.txt", "pass_1\n")
        self.assertEqual(self.call("list", *suite), "pass_1\n")
        suite = self.igt()
        self.genx = str(self.folder / "none")
        self.assertIn("cargo build", self.call("run", *suite, "--out", self.out, code=2))
        self.out.mkdir()
        (self.out / "notes").write_text("")
        self.genx = self.script("genx", "")
        self.assertIn("other files", self.call("run", *suite, "--out", self.out, code=2))


def main():
    """Runs the tests. Returns 0 if all pass."""
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(Fakes)
    return int(not unittest.TextTestRunner(verbosity=1).run(tests).wasSuccessful())
