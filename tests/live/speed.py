#!/usr/bin/env python3
"""Compares the speed of the model with software drivers on the same machine.

A row is a benchmark, a column a device: the model with one thread and with two; softpipe and
llvmpipe for OpenGL, lavapipe for Vulkan (column llvmpipe), pocl for OpenCL. All devices of a row run
in turns, --runs times; the table shows the medians. All OpenGL clients use the display of the model.
A ratio above 1 means that the model with one thread is faster; "2 threads" is its speed with two
threads relative to one. Geometric means follow for glmark2 and OpenCL.

First build: cargo build --release -p genxml-drm-shim -p genx (or set GENX to the path of genx).
"""

import argparse
import collections
import dataclasses
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import typing

from conformance_lib.process import watch

HERE = pathlib.Path(__file__).resolve().parent
SCENES = [
    "build", "texture", "shading:shading=phong", "terrain", "refract", "shadow", "bump", "effect2d", "pulsar", "desktop",
    "buffer", "ideas", "jellyfish", "conditionals", "function", "loop",
]
LARGE = ["build", "texture", "shading:shading=phong", "terrain"]
MODEL = {"model": 1, "model x2": 2}
GL = ["model", "model x2", "softpipe", "llvmpipe"]
VULKAN = ["model", "model x2", "llvmpipe"]
OPENCL = ["model", "model x2", "pocl"]
# Mesa's cache would change the time of later runs.
CLEAN = {"MESA_SHADER_CACHE_DISABLE": "true", "VK_LOADER_LAYERS_DISABLE": "all"}


@dataclasses.dataclass
class Row:
    """A benchmark. `measure` takes a device and returns milliseconds, so less is better."""

    name: str
    group: str
    devices: list[str]
    measure: typing.Callable[[str], float]


class Failed(Exception):
    """A client printed no result. The text says why."""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    built = HERE / "../../target/release/genx"
    parser.add_argument("--genx", default=os.environ.get("GENX", str(built)), help="path of genx (also: GENX)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each benchmark on each device (default 3)")
    parser.add_argument("--seconds", type=float, default=3, help="time of a scene of glmark2 (default 3)")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose names match, for example 'glmark2 .* 320x240'")
    parser.add_argument("--devices", default="", metavar="LIST", help="devices, separated by commas, for example 'model,llvmpipe'")
    parser.add_argument("--timeout", type=float, default=900, help="limit of one run in seconds (default 900)")
    parser.add_argument("--tsv", type=pathlib.Path, metavar="FILE", help="also write all times in milliseconds to a table")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    return parser.parse_args()


class Clients:
    """Starts clients on devices."""

    def __init__(self, options, work):
        self.options, self.work = options, pathlib.Path(work)
        self.env = {"XDG_RUNTIME_DIR": str(work), **CLEAN}

    def run(self, device, command, mode="320x240", env=None):
        """Runs a command. Returns what it printed."""
        env = dict(self.env, **(env or {}))
        shim = [self.options.genx, "shim", "--mode", mode]
        if device in MODEL:
            command = [*shim, "--threads", str(MODEL[device]), "--", *command]
        elif device in ("softpipe", "llvmpipe"):
            # The device gives them a display and buffers, nothing else.
            env.update(MESA_LOADER_DRIVER_OVERRIDE="kms_swrast", GALLIUM_DRIVER=device)
            command = [*shim, "--", *command]
        try:
            # kmscube ends when it can read its input.
            outcome = watch(command, self.options.timeout, env, self.work, silent=True)
        except FileNotFoundError as error:
            raise Failed(f"{error.filename} is not installed (tests/live/install.sh installs the clients)") from error
        if outcome.code is None:
            raise Failed(f"longer than {self.options.timeout:g} s (--timeout)")
        return outcome.text

    def find(self, pattern, output):
        """The number that the pattern finds last in an output."""
        found = re.findall(pattern, output)
        if not found:
            lines = [line for line in output.splitlines() if line.strip()]
            raise Failed(f"no result; the last line is: {lines[-1] if lines else '(nothing)'}")
        return float(found[-1])

    def glmark2(self, scene, mode):
        benchmark = f"{scene}:duration={self.options.seconds:g}"
        command = ["glmark2-es2-drm", "--winsys-options", "drm-device=/dev/dri/card0", "-b", benchmark]
        return lambda device: self.find(r"FrameTime: ([\d.]+) ms", self.run(device, command, mode))

    def kmscube(self, mode, frames):
        # kmscube prints its rate every two seconds, counted from its start.
        def measure(device):
            return 1000 / self.find(r"Rendered.*\(([\d.]+) fps\)", self.run(device, ["kmscube", "-c", str(frames)], mode))

        return measure

    def vkcube(self, frames):
        """Time per frame of a process, less the time of a process with one frame."""
        script = """
weston --backend=headless-backend.so --use-gl --socket=genx-speed --idle-time=0 >weston.log 2>&1 &
weston=$!
for _ in $(seq 200); do [ -S "$XDG_RUNTIME_DIR/genx-speed" ] && break; sleep 0.1; done
export WAYLAND_DISPLAY=genx-speed
for frames in 1 $1; do
    start=$EPOCHREALTIME
    vkcube-wayland --c $frames --width 320 --height 240 >/dev/null || exit
    awk -v from=$start -v to=$EPOCHREALTIME 'BEGIN { printf "seconds %.6f\\n", to - from }'
done
kill $weston
wait $weston
"""

        def measure(device):
            # weston stays on the same device. lavapipe is llvmpipe's Vulkan driver.
            env = {"VK_ICD_FILENAMES": icd("lvp")} if device == "llvmpipe" else {}
            output = self.run(device, ["bash", "-c", script, "vkcube", str(frames)], env=env)
            times = re.findall(r"^seconds ([\d.]+)", output, re.M)
            if len(times) != 2:
                self.find("^$", output)
            return 1000 * (float(times[1]) - float(times[0])) / (frames - 1)

        return measure

    def opencl(self, kernel):
        program = self.work / "opencl_speed"

        def measure(device):
            if not program.exists():
                build = ["gcc", "-O1", "-o", program, HERE / "opencl_speed.c", "-lOpenCL", "-lm"]
                if subprocess.run(build, check=False).returncode:
                    raise Failed("gcc could not build opencl_speed.c (tests/live/install.sh installs what it needs)")
            return self.find(r": ([\d.]+) ms", self.run(device, [str(program), kernel]))

        return measure

    def hashcat(self, mode):
        """Milliseconds for a million hashes, with hashcat's own choice of the work size."""
        command = ["hashcat", "-b", "-m", str(mode), "--potfile-disable", "--force"]
        scale = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}

        def measure(device):
            with tempfile.TemporaryDirectory(dir=self.work) as home:
                output = self.run(device, command, env={"HOME": home, "XDG_CACHE_HOME": home, "XDG_DATA_HOME": home})
            found = re.search(r"^Speed\.#.*?: +([\d.]+) ([kMG]?)H/s", output, re.M)
            if not found:
                self.find("^$", output)
            return 1e9 / (float(found[1]) * scale[found[2]])

        return measure

    def clpeak(self, argument, pattern):
        """Milliseconds for 10^9 operations."""
        return lambda device: 1000 / self.find(pattern, self.run(device, ["clpeak", argument]))


def icd(name):
    """Mesa's file of a Vulkan driver."""
    return next((str(path) for path in pathlib.Path("/usr/share/vulkan/icd.d").glob(f"{name}_icd.*.json")), "")


def rows(clients):
    def name(scene):
        return scene.split(":")[0]

    result = [
        Row(f"glmark2 {name(scene)} 320x240", "glmark2 320x240", GL, clients.glmark2(scene, "320x240")) for scene in SCENES
    ]
    result += [
        Row(f"glmark2 {name(scene)} 1024x768", "glmark2 1024x768", GL, clients.glmark2(scene, "1024x768")) for scene in LARGE
    ]
    result += [
        Row("kmscube 320x240", "", GL, clients.kmscube("320x240", 300)),
        Row("kmscube 1024x768", "", GL, clients.kmscube("1024x768", 60)),
        Row("vkcube 320x240", "", VULKAN, clients.vkcube(60)),
        Row("opencl saxpy 2^24", "OpenCL", OPENCL, clients.opencl("saxpy")),
        Row("opencl matrix 512", "OpenCL", OPENCL, clients.opencl("matrix")),
        Row("opencl filter 1024", "OpenCL", OPENCL, clients.opencl("filter")),
        Row("hashcat 0 MD5", "OpenCL", OPENCL, clients.hashcat(0)),
        Row("hashcat 1400 SHA-256", "OpenCL", OPENCL, clients.hashcat(1400)),
        Row("clpeak int", "OpenCL", OPENCL, clients.clpeak("--compute-integer", r"\bint +: ([\d.]+)")),
        Row("clpeak float", "OpenCL", OPENCL, clients.clpeak("--compute-sp", r"\bfloat +: ([\d.]+)")),
    ]
    return result


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    options = arguments()
    if not options.list and not os.access(options.genx, os.X_OK):
        sys.exit(f"speed.py: no genx at {options.genx}: build it, or set GENX")
    with tempfile.TemporaryDirectory() as work:
        chosen = [row for row in rows(Clients(options, work)) if re.search(options.only, row.name)]
        if not chosen:
            sys.exit(f"speed.py: no row matches {options.only!r} (--list prints the names)")
        if options.list:
            print(*(row.name for row in chosen), sep="\n")
            return 0
        return table(options, chosen)


def table(options, chosen):
    devices = ["model", "model x2", "softpipe", "llvmpipe", "pocl"]
    if options.devices:
        devices = [device for device in devices if device in options.devices.split(",")]
    cpu = re.search(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    print(f"{cpu[1] if cpu else 'CPU'}, {os.cpu_count()} threads; milliseconds, median of {options.runs} runs")
    ratios = ["softpipe", "llvmpipe", "pocl"]
    heads = [*devices, *(f"/{device}" for device in ratios if device in devices and "model" in devices)]
    both = {"model", "model x2"} <= set(devices)
    print(f"{'':24}" + "".join(f"{head:>11}" for head in heads + ["2 threads"] * both))
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    failed = False
    lines = []
    for row in chosen:
        times = collections.defaultdict(list)
        here = [device for device in devices if device in row.devices]
        for turn in range(options.runs):
            for device in list(here):
                if sys.stderr.isatty():
                    print(f"\r\033[K{row.name}: run {turn + 1} of {options.runs} on {device}", end="", file=sys.stderr, flush=True)
                try:
                    times[device].append(row.measure(device))
                except Failed as error:
                    here.remove(device)
                    times.pop(device, None)
                    failed = True
                    print(f"\nspeed.py: {row.name} on {device}: {error}", file=sys.stderr)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        median = {device: statistics.median(values) for device, values in times.items()}
        cells = [f"{median[device]:11.3f}" if device in median else f"{'-':>11}" for device in devices]
        for device in ratios:
            if device in devices and "model" in devices:
                known = device in median and "model" in median
                cells.append(f"{median[device] / median['model']:10.3f}x" if known else f"{'-':>11}")
            for model in ["model", "model x2"]:
                if row.group and {device, model} <= set(median):
                    groups[row.group][device, model].append((row.name, median[device] / median[model]))
        if both:
            known = {"model", "model x2"} <= set(median)
            cells.append(f"{median['model'] / median['model x2']:10.2f}x" if known else f"{'-':>11}")
        print(f"{row.name:24}" + "".join(cells), flush=True)
        lines += [f"{row.name}\t{device}\t" + "\t".join(f"{time:.4f}" for time in values) for device, values in times.items()]
    for group, by_device in groups.items():
        for (device, model), found in by_device.items():
            print(f"{group}, {model}: geometric mean {mean([ratio for _, ratio in found]):.3f}x of {device}", end="")
            # llvmpipe draws terrain much slower than the other scenes.
            rest = [ratio for name, ratio in found if "terrain" not in name]
            print(f", without terrain {mean(rest):.3f}x" if rest and len(rest) < len(found) else "")
    if options.tsv:
        options.tsv.write_text("benchmark\tdevice\tmilliseconds of each run\n" + "".join(f"{line}\n" for line in lines))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
