"""python -m bench [NAME…]: measure, print a table; 1 when a target is missed."""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import click

from bench import edge, machine
from bench.database import database
from bench.results import Result, table
from roost.store import Store

_WITH_DATABASE: dict[str, Callable[[Store, Path], Awaitable[list[Result]]]] = {
    "edge": edge.measure,
}


async def _measure(names: Iterable[str]) -> list[Result]:
    results: list[Result] = []
    wanted = set(names)
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
        state = Path(directory)
        machine.pin(machine.OTHERS)
        async with database(state) as store:
            for name, measure in _WITH_DATABASE.items():
                if name in wanted:
                    results += await measure(store, state)
        machine.pin(None)
    return results


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Run the named benchmarks, or all."""
    results = asyncio.run(_measure(names or tuple(_WITH_DATABASE)))
    click.echo(table(results))
    sys.exit(any(result.missed for result in results))


main()
