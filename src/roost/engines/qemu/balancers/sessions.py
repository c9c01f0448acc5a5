"""Ending connections that former workers of an HAProxy still have to nodes that are gone."""

from collections.abc import Collection, Iterator
from pathlib import Path

from roost.engines.qemu.balancers.stats import ask, processes

_FORMER = "# old workers"

_AT_ONCE = 100
"""Commands of a request, which has room for 16 KiB."""

Gone = tuple[str, str]
"""A backend, and a server in it."""


async def end_sessions(master: Path, gone: Collection[Gone]) -> None:
    """Of all workers but the one that serves. Raises EngineError.

    Those are asked for what they have, as they take no commands about servers any more.
    """
    for worker in former(await processes(master)):
        found = [*sessions(await ask(master, f"@!{worker} show sess"), gone)]
        for begin in range(0, len(found), _AT_ONCE):
            some = found[begin : begin + _AT_ONCE]
            commands = (f"@!{worker} shutdown session {each}" for each in some)
            await ask(master, "; ".join(commands))


def former(shown: str) -> Iterator[int]:
    """The workers before this one, of `show proc`."""
    for line in shown.partition(_FORMER)[2].partition("\n# ")[0].splitlines():
        number = line.partition(" ")[0]
        if number.isdecimal():
            yield int(number)


def sessions(shown: str, gone: Collection[Gone]) -> Iterator[str]:
    """What those with one of the servers are called, of `show sess`."""
    for line in shown.splitlines():
        name, _, rest = line.partition(": ")
        words = dict(word.partition("=")[::2] for word in rest.split())
        if (words.get("be"), words.get("srv")) in gone:
            yield name
