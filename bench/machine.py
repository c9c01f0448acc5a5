"""Cores, CPU time and memory of processes."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

_CORES = sorted(os.sched_getaffinity(0))
SERVER, OTHERS = {_CORES[0]}, {_CORES[-1]}
"""One core for the server under test, another for the load generator and PostgreSQL."""

_TICKS = os.sysconf("SC_CLK_TCK")
_END_SECONDS = 15
_LAST_CHARACTERS = 2000


def pin(cores: set[int] | None) -> None:
    """This thread and what it starts from now on; None: on any core."""
    os.sched_setaffinity(0, cores or set(_CORES))


def program(name: str) -> str:
    """A command that is installed beside this interpreter."""
    return str(Path(sys.executable).with_name(name))


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def waited_seconds(pid: int) -> float:
    """How long its main thread was kept from a core by others so far."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def memory_megabytes(pid: int) -> float:
    """Resident set: what a process has for itself and what it shares."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@contextmanager
def running(
    command: Sequence[str],
    ready: str,
    cores: set[int] | None = SERVER,
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, str]]:
    """A process from the moment at which it prints a line that begins with `ready`.

    Yields its process id and that line; what it logged is shown when it ends before.
    """
    before = os.sched_getaffinity(0)
    with tempfile.TemporaryFile("w+") as log:
        pin(cores)
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        pin(before)
        try:
            line = _await_line(process, ready, log)
            threading.Thread(target=_copy, args=(process.stdout, log), daemon=True).start()
            yield process.pid, line
        finally:
            process.terminate()
            process.wait(_END_SECONDS)


def _copy(output: TextIO, log: TextIO) -> None:
    """A process whose output nobody reads stands still at last."""
    with contextlib.suppress(ValueError):  # The log is closed when the process has ended.
        shutil.copyfileobj(output, log)


def _await_line(process: "subprocess.Popen[str]", ready: str, log: TextIO) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(ready):
            return line.strip()
    ended = process.wait()
    log.seek(0)
    raise RuntimeError(f"{process.args!r} ended with {ended}: {log.read()[-_LAST_CHARACTERS:]}")
