"""Comparing contenders that take turns, as the machine is never equally quiet twice."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from statistics import median

from bench import load, machine
from bench.results import Result

CONNECTIONS = 16
_ROUNDS = 5
_WARM_UP_SECONDS = 0.5
_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Sample:
    """What one turn came to."""

    done: int
    seconds: float
    cpu: float

    @property
    def cpu_microseconds(self) -> float:
        """Of the contender's process, for each thing done."""
        return self.cpu / self.done * 1e6

    @property
    def rate(self) -> float:
        return self.done / self.seconds


Turn = Callable[[float], Awaitable[Sample]]
"""Work for so many seconds."""


def requests(pid: int, port: int, sent: Iterable[bytes]) -> Turn:
    """Turns of a server that answers one after another of these requests."""
    rest = iter(sent)

    async def turn(seconds: float) -> Sample:
        before = machine.cpu_seconds(pid)
        answers = await load.send(port, rest, seconds, CONNECTIONS)
        return Sample(len(answers), seconds, machine.cpu_seconds(pid) - before)

    return turn


async def compare(
    name: str, target: float | None, bare: Turn, roost: Turn
) -> AsyncIterator[Result]:
    """How much of the bare contender's work Roost does in the same CPU time, and in the same time.

    The first has the target: what is left to other programs of the machine does not change it.
    """
    await bare(_WARM_UP_SECONDS)
    await roost(_WARM_UP_SECONDS)
    pairs = [(await bare(_SECONDS), await roost(_SECONDS)) for _ in range(_ROUNDS)]
    cpu = median(b.cpu_microseconds / r.cpu_microseconds for b, r in pairs)
    rate = median(r.rate / b.rate for b, r in pairs)
    cpu_note = "CPU us: bare {:.0f}, roost {:.0f}".format(
        *(median(pair[i].cpu_microseconds for pair in pairs) for i in (0, 1))
    )
    rate_note = "a second: bare {:.0f}, roost {:.0f}".format(
        *(median(pair[i].rate for pair in pairs) for i in (0, 1))
    )
    yield Result(f"{name}: of bare, by CPU", cpu, "", target, "at least", cpu_note)
    yield Result(f"{name}: of bare, by throughput", rate, note=rate_note)
