"""python -m bench [NAME…]: measure, print a table; 1 when a target is missed."""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

import click

from bench import attach, dns, edge, guest, jobs, lists, machine, start
from bench.database import database
from bench.results import Result, table
from roost.store import Store

_WITH_DATABASE: dict[str, Callable[[Store, Path], Awaitable[list[Result]]]] = {
    "edge": edge.measure,
    "lists": lists.measure,
    "jobs": jobs.measure,
}
_ALONE: dict[str, Callable[[], Awaitable[list[Result]]]] = {
    "dns": dns.measure,
    "start": start.measure,
    "guest": guest.measure,
    "attach": attach.measure,
}


async def _measure(names: Collection[str]) -> list[Result]:
    results: list[Result] = []
    if not _WITH_DATABASE.keys().isdisjoint(names):
        results += await _measure_with_database(names)
    machine.pin(None)
    for name, measure in _ALONE.items():
        if name in names:
            results += await measure()
    return results


async def _measure_with_database(names: Collection[str]) -> list[Result]:
    results: list[Result] = []
    machine.pin(machine.OTHERS)
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
        async with database(Path(directory)) as store:
            for name, measure in _WITH_DATABASE.items():
                if name in names:
                    results += await measure(store, Path(directory))
    return results


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([*_WITH_DATABASE, *_ALONE]))
def main(names: tuple[str, ...]) -> None:
    """Run the named benchmarks, or all."""
    results = asyncio.run(_measure(names or (*_WITH_DATABASE, *_ALONE)))
    click.echo(table(results))
    sys.exit(any(result.missed for result in results))


main()
