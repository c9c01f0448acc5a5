"""How soon `roost serve` is ready, and how much memory it then needs."""

import tempfile
import time
from pathlib import Path
from statistics import median

from bench import machine
from bench.results import Result

_ROUNDS = 5
_IDLE_SECONDS = 2


async def measure() -> list[Result]:
    """With its own PostgreSQL, on all cores: cold in an empty folder, then warm in the same."""
    rounds = [_start_twice() for _ in range(_ROUNDS)]
    cold = median(cold for cold, _, _ in rounds)
    warm = median(warm for _, warm, _ in rounds)
    memory = max(memory for _, _, memory in rounds)
    best = "fastest: {:.2f} s".format
    return [
        Result("cold start", cold, "s", 3, note=best(min(cold for cold, _, _ in rounds))),
        Result("warm start", warm, "s", 1.5, note=best(min(warm for _, warm, _ in rounds))),
        Result("memory when idle", memory, "MB", 120, note="the larger of cold and warm start"),
    ]


def _start_twice() -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as state:
        cold, cold_memory = _start(Path(state))
        warm, warm_memory = _start(Path(state))
    return cold, warm, max(cold_memory, warm_memory)


def _start(state: Path) -> tuple[float, float]:
    """Seconds and megabytes."""
    command = [machine.program("roost"), "serve", "--engines", "simulated"]
    command += ["--state", str(state), "--listen", "127.0.0.1:0"]
    began = time.monotonic()
    with machine.running(command, "roost ready", cores=None) as (pid, _):
        took = time.monotonic() - began
        time.sleep(_IDLE_SECONDS)
        return took, machine.memory_megabytes(pid)
