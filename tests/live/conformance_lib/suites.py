"""The suites: where their cases are, how a case is run, and what its output means."""

import ast
import dataclasses
import functools
import gzip
import importlib.util
import json
import os
import pathlib
import re
import tempfile
from time import monotonic
from xml.etree import ElementTree

from . import Problem
from .process import FAULT, Lines, watch

LIVE = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass
class Result:
    """The result of a case. `text` is the output of a case that is not good."""

    test: str
    status: str
    seconds: float
    cause: str = ""
    text: str = ""


@dataclasses.dataclass
class Target:
    """What runs the cases: the model, or a software driver (`model` is false)."""

    genx: str
    model: bool = True
    shim: tuple = ()
    # False: programs get all rights of the caller, and its message queues.
    isolate: bool = True

    def command(self, command):
        """The command on this target."""
        if not self.model:
            return command
        return [self.genx, "shim", *self.shim, "--", *command]


# Shell script that makes the name spaces of an isolated program ready. Message queues of IGT are
# larger than the kernel's default limit. The program sees no devices of the machine.
ISOLATE = """set -e
echo 1048576 >/proc/sys/kernel/msgmnb
dev=$(mktemp -d)
mount -n -t tmpfs none "$dev"
for name in null zero full random urandom; do
	: >"$dev/$name"
	mount -n --bind "/dev/$name" "$dev/$name"
done
mkdir -m 1777 "$dev/shm"
ln -s /proc/self/fd "$dev/fd"
mount -n --move "$dev" /dev
rmdir "$dev"
exec "$@"
"""


def isolated(command):
    """A command without rights of root, without devices, and with message queues of its own."""
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    spaces = ["unshare", "--user", "--map-root-user", "--ipc", "--mount", "sh", "-c", ISOLATE, "sh"]
    return (user if os.geteuid() == 0 else []) + spaces + command


def first_line(text, pattern):
    """The first line that matches, without numbers, so that equal causes can be counted."""
    for line in text.splitlines():
        if re.search(pattern, line):
            return re.sub(r"0x[0-9a-f_]+|-?\d+(\.\d+)?", "N", line.strip())[:160]
    return ""


def judge(outcome, target, status, fault=FAULT):
    """The status of a case from how its program ended; `status` is what the program reported."""
    if outcome.code is None:
        return "Timeout"
    if outcome.crashed:
        return "Crash"
    return "Fault" if target.model and fault.search(outcome.text) else status


def cause_of(status, text, patterns):
    """The line that says why a case failed: that of the first pattern that is found."""
    if status in ("Pass", "Warn"):
        return ""
    return next(filter(None, (first_line(text, pattern) for pattern in patterns)), "")


class Suite:
    """A suite. `batch` is the number of cases of one process."""

    name = reference = ""
    batch = 1
    # Options of `genx shim` that the suite needs.
    shim = ()
    needs = ""
    # True if arguments of the caller (`words`) may be added to each program.
    takes_arguments = False
    words = ()

    def __init__(self, sources=None, build=None, isolate=True):
        self.sources, self.build, self.isolate = sources, build, isolate

    def problems(self):
        """What is missing to run the suite, as sentences."""
        return []

    def cases(self):
        """Names of all cases."""
        raise NotImplementedError

    def run(self, cases, target, limit, emit):
        """Runs cases and calls `emit` with the result of each, as soon as it is there."""
        raise NotImplementedError

    def missing(self, folder, option, files, needs=""):
        """Problems if a folder is not given or lacks files. `needs` is what the folder has."""
        needs = needs or self.needs
        if folder is None:
            return [f"{option} is missing: it names {needs}"]
        return [f"{folder / file} is missing: {option} must name {needs}"
                for file in files if not any(folder.glob(file))]


class Piglit(Suite):
    """Piglit's profile "gpu": programs with their arguments, and shader tests.

    Names of cases are piglit's, like spec@arb_copy_image@formats. A process for each case.
    """

    name, reference = "piglit", "llvmpipe"
    needs = "an installed piglit, with bin, tests and generated_tests"
    # The lists of the profile.
    LISTS = ("quick_gl", "quick_shader")
    PLATFORM = "surfaceless_egl"

    def __init__(self, sources=None, build=None, isolate=True):
        spec = importlib.util.spec_from_file_location("piglit_sample", LIVE / "piglit.py")
        self.piglit = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.piglit)
        build = build or self.piglit.PIGLIT
        # `conformance build` installs piglit inside its folder.
        installed = build / "installed/lib/piglit"
        super().__init__(sources, installed if installed.is_dir() else build, isolate)

    def lists(self):
        return [f"tests/{name}.xml.gz" for name in self.LISTS]

    def problems(self):
        found = self.missing(self.build, "--build", ["bin/shader_runner", *self.lists()])
        return [f"{problem}; tests/live/install.sh installs Debian's" for problem in found]

    @functools.cached_property
    def tests(self):
        """Name -> type and options of the test."""
        tests = {}
        for name in self.lists():
            with gzip.open(self.build / name) as file:
                for test in ElementTree.parse(file).getroot():
                    options = {option.get("name"): ast.literal_eval(option.get("value"))
                               for option in test.findall("option")}
                    tests[test.get("name")] = test.get("type"), options
        return tests

    def cases(self):
        return list(self.tests)

    def command(self, kind, options):
        """The command of a test, with the arguments that piglit's runner adds.

        Piglit's runner leaves -fbo out for some programs. Without it they need a window, which the
        platform does not have.
        """
        program, *words = options["command"]
        if kind == "gl_builtin":
            words[0] = str(self.build / "tests" / words[0])
        else:
            words += ["-auto", "-fbo"]
        if kind == "shader":
            words[0] = str(self.build / words[0])
        return [str(self.build / "bin" / program), *words]

    def skipped(self, command, options):
        """Why the test does not run; empty if it does."""
        needed, refused = options.get("require_platforms"), options.get("exclude_platforms", ())
        if needed and self.PLATFORM not in needed or self.PLATFORM in refused:
            return f"not for the platform {self.PLATFORM}"
        return "" if pathlib.Path(command[0]).exists() else f"{command[0]} is missing"

    def run(self, cases, target, limit, emit):
        environment = {"PIGLIT_PLATFORM": self.PLATFORM, "PIGLIT_SOURCE_DIR": str(self.build),
                       "MESA_SHADER_CACHE_DISABLE": "true",
                       "LIBGL_ALWAYS_SOFTWARE": "" if target.model else "1"}
        for case in cases:
            if case not in self.tests:
                emit(Result(case, "Missing", 0, f"not in {' and '.join(self.lists())}"))
                continue
            kind, options = self.tests[case]
            command = self.command(kind, options)
            why = self.skipped(command, options)
            if why:
                emit(Result(case, "Skip", 0, why))
                continue
            outcome = watch(target.command(command), limit, environment)
            found = self.piglit.RESULT.findall(outcome.text)
            word = json.loads(found[-1]).get("result", "") if found else ""
            status = {"pass": "Pass", "warn": "Warn", "skip": "Skip"}.get(word, "Fail")
            status = judge(outcome, target, status)
            cause = self.piglit.cause("pass" if status == "Pass" else status, outcome.text)
            emit(Result(case, status, outcome.seconds, cause, outcome.text))


class Igt(Suite):
    """IGT's tests of the interface of the kernel driver. A process for each subtest.

    A case is TEST@SUBTEST, or TEST if the program has no subtests. IGT changes settings of the
    machine if it may, and its programs share a message queue. So each one is isolated.
    """

    name = "igt"
    # Clients end endless batches themselves, so they must continue while the model works.
    shim = ("--mode", "640x480", "--async")
    needs = "a build of igt-gpu-tools, with tests and lib (Debian's package has no tests)"
    # Tests of what the model describes: objects, contexts, submissions, fences, display basics.
    TESTS = re.compile(
        r"(gem_(basic|bad_reloc|busy|caching|close|close_race|create|ctx_\w+|exec_\w+|flink_\w+"
        r"|lut_handle|madvise|mmap\w*|partial_pwrite_pread|pread\w*|pwrite\w*|readwrite|reg_read"
        r"|ringfill|set_tiling_\w+|softpin|spin_batch|sync|tiled_\w+|tiling_max_stride"
        r"|userptr_blits"
        r"|unref_active_buffers|vm_create|wait|workarounds|linear_blits|blits|render_copy\w*"
        r"|gpgpu_fill|media_fill|pipe_control_store_loop|ppgtt|fence_upload|exercise_blt"
        r"|evict_alignment|fd_exhaustion|gtt_\w+|reset_stats|eio)"
        r"|syncobj_\w+|sw_sync|prime_(self_import|mmap|mmap_coherency|busy)|i915_(query|pciid)"
        r"|i915_getparams_basic|core_(auth|getclient|getstats|getversion|setmaster)|dumb_buffer"
        r"|drm_read|kms_(addfb_basic|getfb|rmfb|prop_blob|setmode|flip|vblank|atomic|properties"
        r"|plane|universal_plane|lease|invalid_mode|sequence|cursor_legacy|busy|display_modes))")
    # Subtests that suspend the machine. They never run, although they could not do it.
    UNSAFE = re.compile(r"suspend|hibernate|-S[34]\b|@s[34]\b|module", re.I)
    # Tests that wait for hangs on purpose report faults and pass, so only these are faults here.
    REFUSED = re.compile(r"genx shim: .*(panicked|not implemented)")
    # Lines that say why a test did not pass, the most telling first.
    CAUSES = (REFUSED, "Unknown subtest", "Failed assertion", "Test requirement: ", "Test requirement not met",
              "Received signal", "CRITICAL", FAULT)
    UNKNOWN = re.compile(r"CRITICAL: Unknown subtest: ")
    SUBTEST = re.compile(r"^(?:Dynamic s|S)ubtest (\S+): (SUCCESS|SKIP|FAIL|CRASH|TIMEOUT)")

    @staticmethod
    def assertion(text):
        """The assertion that failed, and the values that IGT prints below it."""
        values = r"(?:.*CRITICAL: (error: .*|Last errno: .*))?"
        found = re.search(r"Failed assertion: (.*)\n" + values, text)
        return ": ".join(filter(None, found.groups()))[:200] if found else ""

    def programs(self):
        folder = self.build / "tests"
        paths = [folder / "intel", folder] if (folder / "intel").is_dir() else [folder]
        found = {}
        for path in (path for part in paths for path in part.iterdir()):
            if self.TESTS.fullmatch(path.name) and path.is_file() and os.access(path, os.X_OK):
                found.setdefault(path.name, path)
        return found

    def environment(self):
        return {"LD_LIBRARY_PATH": str(self.build / "lib")}

    def problems(self):
        found = self.missing(self.build, "--build", ["tests", "lib/libigt.so*"])
        if not found and not self.programs():
            found = [f"{self.build / 'tests'} has no test program like gem_exec_basic: build the "
                     "tests, too"]
        if self.isolate and watch(isolated(["true"]), 10).code != 0:
            found.append("programs cannot be isolated: user namespaces are not allowed here; see "
                         "--no-isolation")
        return found

    def cases(self):
        return [name for name in self.listed() if not self.UNSAFE.search(name)]

    def listed(self):
        """All cases that the programs list."""
        names = []
        for name, path in sorted(self.programs().items()):
            command = [str(path), "--list-subtests"]
            if self.isolate:
                command = isolated(command)
            outcome = watch(command, 20, self.environment())
            if outcome.code == 0:
                subtests = [line.strip() for line in outcome.text.splitlines()]
                names += [f"{name}@{sub}" for sub in subtests if re.fullmatch(r"\S+", sub)]
            elif outcome.code == 79:
                names.append(name)
            else:
                raise Problem(f"{path} --list-subtests ended with {outcome.code}: run it to see "
                              "what it lacks")
        return names

    def run(self, cases, target, limit, emit):
        programs = self.programs()
        for case in cases:
            name, _, subtest = case.partition("@")
            if name not in programs:
                emit(Result(case, "Missing", 0, f"no program {name} in {self.build / 'tests'}"))
                continue
            command = [str(programs[name])] + (["--run-subtest", subtest] if subtest else [])
            command = target.command(command)
            if target.isolate:
                command = isolated(command)
            outcome = watch(command, limit, self.environment())
            # IGT's exit codes; it ends with 98 or more after a failure.
            status = {0: "Pass", 77: "Skip"}.get(outcome.code, "Fail")
            lines = outcome.text.splitlines()
            words = {m.group(2) for line in lines if (m := self.SUBTEST.match(line))}
            if status == "Pass" and subtest and not words:
                status = "Missing"
            # Without a device, programs list subtests for engines that the device may not have.
            if status == "Fail" and self.UNKNOWN.search(outcome.text):
                status = "Skip"
            status = judge(outcome, target, status, self.REFUSED)
            if status == "Fail" and "CRASH" in words:
                status = "Crash"
            if outcome.crashed and "SKIP" in words:
                status = "Crash"
            cause = self.assertion(outcome.text) if status == "Fail" else ""
            cause = cause or cause_of(status, outcome.text, self.CAUSES)
            emit(Result(case, status, outcome.seconds, cause, outcome.text))


class Deqp(Suite):
    """A module of VK-GL-CTS. A process runs a batch of cases, from a list of cases.

    After a crash or a timeout, the next process goes on with the next case of the batch.
    """

    batch = 200
    needs = "a build of VK-GL-CTS (DEQP_TARGET=surfaceless; for deqp-vk: vulkan_headless)"
    reference = "llvmpipe"
    program = folder = mustpass = ""
    arguments = ("--deqp-surface-type=pbuffer", "--deqp-gl-config-name=rgba8888d24s8ms0",
                 "--deqp-surface-width=256", "--deqp-surface-height=256")
    CASE = re.compile(r"^Test case '(.+)'\.\.$")
    WORDS = {"Pass": "Pass", "QualityWarning": "Warn", "CompatibilityWarning": "Warn",
             "Waiver": "Warn", "Fail": "Fail", "NotSupported": "Skip", "ResourceError": "Fail",
             "InternalError": "Fail", "Crash": "Crash", "Timeout": "Timeout"}
    STATUS = re.compile(r"^\s+(" + "|".join(WORDS) + r") \((.*)\)$")

    def problems(self):
        return (self.missing(self.sources, "--sources", [self.mustpass], "sources of VK-GL-CTS")
                + self.missing(self.build, "--build", [f"{self.folder}/{self.program}"]))

    def cases(self):
        lists = sorted(self.sources.glob(self.mustpass))
        names = set()
        while lists:
            path = lists.pop()
            if not path.exists():
                raise Problem(f"{path} is missing, but another list names it: the sources of "
                              "VK-GL-CTS are not complete")
            for line in path.read_text().splitlines():
                # A list of Vulkan names other lists.
                if line.endswith(".txt"):
                    lists.append(path.parent / line)
                elif line and line[0] != "#":
                    names.add(line)
        return names

    def environment(self, target):
        return {"MESA_SHADER_CACHE_DISABLE": "true", "EGL_PLATFORM": "surfaceless",
                "LIBGL_ALWAYS_SOFTWARE": "" if target.model else "1"}

    def command(self, listing):
        return [str((self.build / self.folder / self.program).resolve()), *self.arguments,
                f"--deqp-caselist-file={listing}", "--deqp-visibility=hidden",
                "--deqp-log-images=disable", "--deqp-log-shader-sources=disable",
                "--deqp-log-filename=/dev/null", "--deqp-watchdog=disable",
                "--deqp-crashhandler=disable"]

    def run(self, cases, target, limit, emit):
        pending = list(cases)
        while pending:
            done = self.process(pending, target, limit, emit)
            pending = [case for case in pending if case not in done]

    def process(self, cases, target, limit, emit):
        """Runs one process on cases. Returns those with a result, at least one."""
        batch = Batch(self, target, set(cases), emit)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
            listing.write("".join(f"{case}\n" for case in cases))
            listing.flush()
            outcome = watch(target.command(self.command(listing.name)), limit,
                            self.environment(target), self.build / self.folder, batch.line)
        if batch.case:
            batch.finish(judge(outcome, target, "Crash"), f"exit code {outcome.code}")
        elif not batch.done:
            # Not even the first case began.
            status = judge(outcome, target, "Missing" if outcome.code == 0 else "Crash")
            last = outcome.text.strip().splitlines()[-1:] or [""]
            cause = f"no case began; exit code {outcome.code}: {last[0]}"
            emit(Result(cases[0], status, outcome.seconds, cause, outcome.text))
            return {cases[0]}
        return batch.done


class Batch:
    """Reads the output of a process of dEQP."""

    def __init__(self, suite, target, wanted, emit):
        self.suite, self.target, self.wanted, self.emit = suite, target, wanted, emit
        self.case, self.output, self.start = None, Lines(), 0
        self.done = set()

    def line(self, text):
        """Reads a line. Returns whether a case begins or ends."""
        begin = self.suite.CASE.match(text)
        if begin:
            self.case = begin.group(1) if begin.group(1) in self.wanted else None
            self.output, self.start = Lines(), monotonic()
            return True
        if not self.case:
            return False
        self.output.keep(text)
        end = self.suite.STATUS.match(text)
        if not end:
            return False
        status = self.suite.WORDS[end.group(1)]
        if self.target.model and FAULT.search(self.output.text()):
            status = "Fault"
        self.finish(status, end.group(2))
        return True

    def finish(self, status, message):
        """Ends the case with a status."""
        text = self.output.text()
        cause = "" if status == "Pass" else first_line(text, FAULT) or \
            re.sub(r"0x[0-9a-f_]+|-?\d+(\.\d+)?", "N", message)[:160]
        self.emit(Result(self.case, status, monotonic() - self.start, cause, text))
        self.done.add(self.case)
        self.case = None


class DeqpGles2(Deqp):
    """dEQP's module of OpenGL ES 2."""

    name, program, folder = "deqp-gles2", "deqp-gles2", "modules/gles2"
    mustpass = ("external/openglcts/data/gl_cts/data/mustpass/gles/aosp_mustpass/*/"
                "gles2-*.txt")


class DeqpGles3(Deqp):
    """dEQP's module of OpenGL ES 3."""

    name, program, folder = "deqp-gles3", "deqp-gles3", "modules/gles3"
    mustpass = "external/openglcts/data/gl_cts/data/mustpass/gles/aosp_mustpass/*/gles3-main.txt"


class DeqpGles31(Deqp):
    """dEQP's module of OpenGL ES 3.1."""

    name, program, folder = "deqp-gles31", "deqp-gles31", "modules/gles31"
    mustpass = "external/openglcts/data/gl_cts/data/mustpass/gles/aosp_mustpass/*/gles31-main.txt"


class KhrGl(Deqp):
    """The conformance tests of OpenGL 4.6, in glcts."""

    name, program, folder = "khr-gl", "glcts", "external/openglcts/modules"
    mustpass = ("external/openglcts/data/gl_cts/data/mustpass/gl/khronos_mustpass/*/"
                "gl46-main.txt")

    def environment(self, target):
        # llvmpipe offers 4.5, so without the override it skips all cases.
        version = {} if target.model else {"MESA_GL_VERSION_OVERRIDE": "4.6",
                                           "MESA_GLSL_VERSION_OVERRIDE": "460"}
        return super().environment(target) | version


class DeqpVk(Deqp):
    """The conformance tests of Vulkan, with hasvk."""

    name, program, folder = "deqp-vk", "deqp-vk", "external/vulkancts/modules/vulkan"
    reference, arguments = "lavapipe", ()
    mustpass = "external/vulkancts/mustpass/main/vk-default.txt"

    def environment(self, target):
        driver = "intel_hasvk" if target.model else "lvp"
        found = sorted(pathlib.Path("/usr/share/vulkan/icd.d").glob(f"{driver}_icd.*.json"))
        if not found:
            raise Problem(f"no Vulkan driver {driver} in /usr/share/vulkan/icd.d: "
                          "tests/live/install.sh installs it")
        return {"MESA_SHADER_CACHE_DISABLE": "true", "VK_ICD_FILENAMES": str(found[0])}


class OpenClCts(Suite):
    """The conformance tests of OpenCL, with NEO. A case is PROGRAM@TEST, a process for each."""

    name, reference = "opencl-cts", "pocl"
    takes_arguments = True
    needs = "a build of OpenCL-CTS, with test_conformance"

    def problems(self):
        return self.missing(self.build, "--build", ["test_conformance/*/test_*"])

    def environment(self, target):
        vendor = "intel" if target.model else "pocl"
        return {"OCL_ICD_VENDORS": f"/etc/OpenCL/vendors/{vendor}.icd"}

    @staticmethod
    def cache(folder):
        """Lets NEO keep compiled kernels in a folder: the tests of images compile the same few
        kernels hundreds of times. The first name is that of NEO 22, the others are of NEO 23."""
        return {"cl_cache_dir": str(folder), "NEO_CACHE_DIR": str(folder),
                "NEO_CACHE_PERSISTENT": "1"}

    def programs(self):
        paths = (self.build / "test_conformance").glob("**/test_*")
        return {path.name: path for path in paths if path.is_file() and os.access(path, os.X_OK)}

    def cases(self):
        names = []
        for name, path in sorted(self.programs().items()):
            text = watch([str(path), "--help"], 20, {}).text
            _, found, tests = text.partition("Test names:")
            types = re.search(r"Possible format types are:\s*([\w, ]+)", tests)
            if types:
                tests = self.conversions(re.findall(r"\w+", types[1]))
            else:
                tests = [test.strip() for test in tests.splitlines() if test.strip()]
            names += [f"{name}@{test}" for test in tests]
        return names

    @staticmethod
    def conversions(types):
        """The cases of test_conversions, which prints only the types: TO[_sat][_rounding]_FROM."""
        return [f"{to}{saturated}{rounding}_{source}"
                for to in types for source in types
                for saturated in ([""] if to in ("half", "float", "double") else ["", "_sat"])
                for rounding in ("", "_rte", "_rtp", "_rtn", "_rtz")]

    @staticmethod
    def word(table, test):
        """The result of a test in the table of its program. test_conversions reports each of its
        cases by the name `conversions`."""
        try:
            results = json.loads(table.read_text())["results"]
        except (OSError, ValueError, KeyError):
            return ""
        return results.get(test) or (next(iter(results.values())) if len(results) == 1 else "")

    def run(self, cases, target, limit, emit):
        programs = self.programs()
        for case in cases:
            name, _, test = case.partition("@")
            if name not in programs:
                emit(Result(case, "Missing", 0, f"no program {name} in {self.build}"))
                continue
            with tempfile.TemporaryDirectory() as folder:
                table = pathlib.Path(folder) / "results.json"
                kernels = pathlib.Path(folder) / "kernels"
                kernels.mkdir()
                environment = {**self.environment(target), **self.cache(kernels),
                               "CL_CONFORMANCE_RESULTS_FILENAME": str(table)}
                command = target.command([str(programs[name].resolve()), *self.words, test])
                outcome = watch(command, limit, environment, programs[name].parent)
                word = self.word(table, test)
            status = {"pass": "Pass", "skip": "Skip"}.get(word, "Fail")
            if outcome.code and status != "Fail":
                status = "Fail"
            status = judge(outcome, target, status)
            cause = cause_of(status, outcome.text, (FAULT, r"(?i)error|fail|skip"))
            emit(Result(case, status, outcome.seconds, cause, outcome.text))


SUITES = {suite.name: suite for suite in
          (Piglit, Igt, DeqpGles2, DeqpGles3, DeqpGles31, KhrGl, DeqpVk, OpenClCts)}
