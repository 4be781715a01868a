"""Runs a program with a watchdog that ends its whole process group."""

import collections
import dataclasses
import os
import re
import selectors
import signal
import subprocess
import threading
import time

# Characters of output that are kept of a program: as many from its start as from its end.
MOST_OUTPUT = 256 * 1024
# Messages of the device when the model refuses something. The client may still pass.
FAULT = re.compile(r"genx shim: .*(submission( \d+)?:|panicked|not implemented)")

# Set to end all programs. `watch` then raises Stopped.
STOP = threading.Event()


class Stopped(Exception):
    """The run was stopped while a program ran."""


@dataclasses.dataclass
class Outcome:
    """How a program ended: exit code (negative: signal), None after the time limit."""

    code: int | None
    seconds: float
    text: str

    @property
    def crashed(self):
        """Ended by a signal. Wrappers, like shells, report a signal as 128 and its number."""
        return self.code is not None and (self.code < 0 or self.code > 128)


class Group:
    """A program in a session of its own, so that all its processes can be ended."""

    def __init__(self, command, environment, folder, silent):
        stdin = subprocess.PIPE if silent else subprocess.DEVNULL
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment}, cwd=folder, stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def ended(self):
        """Whether the first process has ended. It is not reaped, so its number stays reserved."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, flags) is not None

    def end(self):
        """Ends all processes of the group. Returns the exit code of the first one."""
        if self.process.returncode is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.process.stdout.close()
            if self.process.stdin:
                self.process.stdin.close()
        return self.process.returncode


def watch(command, limit, environment=None, folder=None, line=None, silent=False):
    """Runs a program. `line` gets each line of output; if it returns true, the time restarts.

    The input of the program is empty, or if `silent`, it has no data but does not end.

    The time limit is in seconds. The group of processes is ended at the limit, and when the first
    process ends.
    """
    start = time.monotonic()
    group = Group(command, environment or {}, folder, silent)
    deadline, late = start + limit, False
    output = Lines(line)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(group.process.stdout, selectors.EVENT_READ)
            closed = False
            while True:
                if STOP.is_set():
                    raise Stopped
                # The end is read before the output, so that no output is lost.
                ended = group.ended()
                wait = 0 if ended else min(0.2, max(0, deadline - time.monotonic()))
                chunk = b""
                if closed:
                    time.sleep(min(wait, 0.02))
                elif selector.select(wait):
                    chunk = os.read(group.process.stdout.fileno(), 65536)
                    closed = not chunk
                    if output.add(chunk):
                        deadline = time.monotonic() + limit
                if ended and not chunk:
                    break
                if time.monotonic() >= deadline:
                    late = not group.ended()
                    break
    finally:
        code = group.end()
    output.end()
    return Outcome(None if late else code, time.monotonic() - start, output.text())


class Lines:
    """Splits output into lines and keeps the first and the last of them."""

    def __init__(self, line=None):
        self.line, self.rest = line, b""
        self.first, self.last = [], collections.deque()
        self.size, self.left_out = 0, 0

    def add(self, chunk):
        """Adds output. Returns whether a line restarts the time limit."""
        *lines, rest = (self.rest + chunk).split(b"\n")
        # A line without an end must not fill the memory.
        self.rest = rest[-MOST_OUTPUT:]
        restart = False
        for part in lines:
            text = part.decode(errors="replace")
            restart |= bool(self.line and self.line(text))
            self.keep(text)
        return restart

    def keep(self, text):
        """Keeps a line, and drops an older one if there are too many."""
        self.size += len(text) + 1
        if not self.last and self.size < MOST_OUTPUT // 2:
            self.first.append(text)
            return
        self.last.append(text)
        while self.size > MOST_OUTPUT and len(self.last) > 1:
            self.size -= len(self.last.popleft()) + 1
            self.left_out += 1

    def text(self):
        """The lines that are kept."""
        note = [f"[{self.left_out} lines are left out]"] if self.left_out else []
        return "\n".join([*self.first, *note, *self.last])

    def end(self):
        """Adds a last line without an end."""
        if self.rest:
            self.add(b"\n")
