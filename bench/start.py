"""How soon `roost serve` and `RoostServer` are ready, how much memory a server needs, and how soon
`roostctl` answers."""

import os
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import machine
from bench.results import Result

_ROUNDS = 5
_IDLE_SECONDS = 2
_COMMANDS = 20
_EMBEDDED = """
import time
from roost.testing import RoostServer
began = time.monotonic()
with RoostServer():
    print(time.monotonic() - began)
"""


@dataclass(frozen=True, slots=True)
class _Start:
    seconds: float
    cpu: float
    """Seconds of the server's process; PostgreSQL has its own."""
    megabytes: float


async def measure() -> AsyncIterator[Result]:
    """With its own PostgreSQL, on all cores: cold in an empty folder, then warm in the same."""
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        roost = _installed(Path(folder))
        cold, warm = zip(*(_start_twice(roost) for _ in range(_ROUNDS)), strict=True)
        embedded = [_embedded(roost.with_name("python")) for _ in range(_ROUNDS)]
    note = f"fastest: {min(embedded):.2f} s"
    yield Result("RoostServer() of roost.testing", median(embedded), "s", 1, note=note)
    memory = max(start.megabytes for start in (*cold, *warm))
    yield _result("cold start", cold, 1.5)
    yield _result("warm start", warm, 1.2)
    yield Result("memory when idle", memory, "MB", 110, note="the largest of all starts")
    lines = [_first_line() for _ in range(_COMMANDS)]
    note = f"fastest: {min(lines):.0f} ms; `roostctl instances create --help`"
    yield Result("first line of a command", median(lines), "ms", 150, note=note)


def _embedded(python: Path) -> float:
    """Seconds until a server for tests answers."""
    return float(
        subprocess.run([python, "-c", _EMBEDDED], stdout=subprocess.PIPE, check=True).stdout
    )


def _first_line() -> float:
    """Milliseconds."""
    began = time.monotonic()
    command = [machine.program("roostctl"), "instances", "create", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"Usage: roostctl")
        return (time.monotonic() - began) * 1000


def _result(name: str, starts: Sequence[_Start], target: float) -> Result:
    fastest = min(start.seconds for start in starts)
    cpu = median(start.cpu for start in starts)
    note = f"fastest: {fastest:.2f} s; CPU: {cpu:.2f} s"
    return Result(name, median(start.seconds for start in starts), "s", target, note=note)


def _installed(folder: Path) -> Path:
    """Roost as users have it: some of what its developers have is imported where it is found."""
    command = [os.environ.get("UV", "uv"), "sync", "--locked", "--no-dev", "--compile-bytecode"]
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(folder)}
    subprocess.run([*command, "--quiet"], env=environment, check=True)
    return folder / "bin" / "roost"


def _start_twice(roost: Path) -> tuple[_Start, _Start]:
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as state:
        return _start(roost, Path(state)), _start(roost, Path(state))


def _start(roost: Path, state: Path) -> _Start:
    command = [str(roost), "serve", "--engines", "simulated"]
    command += ["--state", str(state), "--listen", "127.0.0.1:0"]
    began = time.monotonic()
    with machine.running(command, "roost ready", cores=None) as (pid, _):
        took, cpu = time.monotonic() - began, machine.cpu_seconds(pid)
        time.sleep(_IDLE_SECONDS)
        return _Start(took, cpu, machine.memory_megabytes(pid))
