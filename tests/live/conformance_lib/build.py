"""Configures and builds a suite from its sources, with CMake or Meson."""

import dataclasses
import shutil
import subprocess

from . import Problem


@dataclasses.dataclass
class Recipe:
    """How a suite is built."""

    tool: str
    # Options of the configuration.
    options: tuple = ()
    # Empty: all targets.
    targets: tuple = ()
    # Files that the sources must have, as patterns, and what to do if they are missing.
    files: tuple = ()
    advice: str = ""
    # Whether the runner reads the installed files instead of those of the build.
    install: bool = False


def khronos(*targets, platform="surfaceless"):
    """The recipe of a program of VK-GL-CTS. Its video tests need encoders; hasvk has no video."""
    return Recipe(
        "cmake", ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=-w", "-DCMAKE_C_FLAGS=-w",
                  f"-DDEQP_TARGET={platform}", "-DDEQP_DISABLE_VK_VIDEO_TESTS=ON"),
        targets, ("CMakeLists.txt", "external/openglcts/CMakeLists.txt",
                  *(f"external/{name}/src/*" for name in
                    ("glslang", "spirv-tools", "spirv-headers", "amber", "jsoncpp",
                     "vulkansc-pcutil"))),
        "external/fetch_sources.py, a program of VK-GL-CTS, downloads the folders external/*/src")


# Programs of OpenCL-CTS for features that every OpenCL 3.0 device of Gen8 has.
OPENCL = ("allocations", "api", "atomics", "basic", "buffers", "bruteforce", "c11_atomics",
          "cl_copy_images", "cl_fill_images", "cl_get_info", "cl_read_write_images", "commonfns",
          "computeinfo", "contractions", "conversions", "events", "geometrics", "half",
          "image_streams", "integer_ops", "kernel_image_methods", "mem_host_flags",
          "non_uniform_work_group", "printf", "profiling", "relationals", "samplerless_reads",
          "select", "subgroups", "thread_dimensions", "vectors", "workgroups")

RECIPES = {
    "piglit": Recipe("cmake", ("-DCMAKE_BUILD_TYPE=Release", "-DPIGLIT_USE_WAFFLE=ON"),
                     files=("CMakeLists.txt", "generated_tests/CMakeLists.txt"), install=True,
                     advice="the option must name the sources of piglit"),
    "igt": Recipe("meson", ("--buildtype=release", "-Dtests=enabled", "-Dchamelium=disabled",
                            "-Doverlay=disabled", "-Ddocs=disabled", "-Dman=disabled",
                            "-Drunner=disabled"),
                  files=("meson.build", "tests/intel/gem_exec_basic.c"),
                  advice="the option must name the sources of igt-gpu-tools"),
    "deqp-gles2": khronos("deqp-gles2"),
    "deqp-gles3": khronos("deqp-gles3"),
    "deqp-gles31": khronos("deqp-gles31"),
    "khr-gl": khronos("glcts"),
    # The platform surfaceless has no Vulkan.
    "deqp-vk": khronos("deqp-vk", platform="vulkan_headless"),
    "opencl-cts": Recipe(
        "cmake", ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=-w",
                  "-DCL_INCLUDE_DIR=/usr/include", "-DSPIRV_INCLUDE_DIR=/usr",
                  "-DCL_LIB_DIR=/usr/lib", "-DOPENCL_LIBRARIES=OpenCL"),
        tuple(f"test_{name}" for name in OPENCL), ("CMakeLists.txt", "test_conformance/*"),
        "the option must name the sources of OpenCL-CTS"),
}


def check(suite, recipe, sources):
    """Raises Problem if the sources or a tool is missing."""
    lacking = [name for name in recipe.files if not any(sources.glob(name))]
    if lacking:
        raise Problem(f"{suite} cannot be built: {sources} has no {', '.join(lacking)}: "
                      f"--sources names the sources of the suite; {recipe.advice}")
    tools = [tool for tool in (recipe.tool, "ninja") if not shutil.which(tool)]
    if tools:
        raise Problem(f"{suite} cannot be built: {' and '.join(tools)} not found: install "
                      "cmake, meson and ninja-build (Debian's packages)")


def commands(recipe, sources, build, jobs, extra):
    """The commands that configure, build and, if needed, install."""
    options = [*recipe.options, *extra]
    if recipe.install:
        options.append(f"-DCMAKE_INSTALL_PREFIX={build.resolve() / 'installed'}")
    if recipe.tool == "cmake":
        yield ["cmake", "-G", "Ninja", "-S", str(sources), "-B", str(build), *options]
    elif (build / "build.ninja").exists():
        yield ["meson", "configure", str(build), *options]
    else:
        yield ["meson", "setup", str(build), str(sources), *options]
    yield ["ninja", "-C", str(build), f"-j{jobs}", *recipe.targets]
    if recipe.install:
        yield ["ninja", "-C", str(build), "install"]


def build(suite, sources, folder, jobs, extra):
    """Builds a suite in a folder. A second call builds only what has changed."""
    if sources is None or folder is None:
        raise Problem("build needs --sources and --build")
    recipe = RECIPES[suite]
    check(suite, recipe, sources)
    folder.mkdir(parents=True, exist_ok=True)
    for command in commands(recipe, sources, folder, jobs, extra):
        print("$ " + " ".join(command), flush=True)
        code = subprocess.run(command, check=False).returncode
        if code:
            raise Problem(f"{command[0]} ended with {code}: its messages are above. Its help says "
                          "which libraries the suite needs; `--option` adds options of the "
                          "configuration")
