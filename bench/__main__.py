"""python -m bench [NAME…]: measure, print each row as it comes; 1 when a target is missed."""

import asyncio
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import aclosing
from pathlib import Path

import click

from bench import (
    attach,
    attacks,
    balancers,
    billing,
    clusters,
    databases,
    dialect,
    dns,
    edge,
    events,
    guest,
    images,
    jobs,
    lists,
    machine,
    network,
    objects,
    pages,
    postgresql,
    start,
    writes,
)
from bench.database import database
from bench.results import HEAD, Result, line
from roost.store import Store

_WITH_DATABASE: dict[str, Callable[[Store, Path], AsyncIterator[Result]]] = {
    "edge": edge.measure,
    "dialect": dialect.measure,
    "writes": writes.measure,
    "lists": lists.measure,
    "pages": pages.measure,
    "jobs": jobs.measure,
    "events": events.measure,
    "billing": billing.measure,
    "attacks": attacks.measure,
}
_ALONE: dict[str, Callable[[], AsyncIterator[Result]]] = {
    "dns": dns.measure,
    "objects": objects.measure,
    "start": start.measure,
    "databases": databases.measure,
    "postgresql": postgresql.measure,
    "clusters": clusters.measure,
    "guest": guest.measure,
    "attach": attach.measure,
    "network": network.measure,
    "balancers": balancers.measure,
    "images": images.measure,
}


async def _measure(names: Collection[str]) -> bool:
    """Whether all targets are met."""
    missed = 0
    async with aclosing(_results(names)) as results:
        async for result in results:
            click.echo(line(result.cells))
            missed += result.missed
    return not missed


async def _results(names: Collection[str]) -> AsyncGenerator[Result, None]:
    for name, measure in _WITH_DATABASE.items():
        if name in names:
            machine.pin(machine.OTHERS)
            async for result in _with_database(measure):
                yield result
    machine.pin(None)
    for name, alone in _ALONE.items():
        if name in names:
            async for result in alone():
                yield result


async def _with_database(
    measure: Callable[[Store, Path], AsyncIterator[Result]],
) -> AsyncIterator[Result]:
    """Each has a server of its own: what one leaves behind is no work of the next."""
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
        async with database(Path(directory)) as store:
            async for result in measure(store, Path(directory)):
                yield result


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([*_WITH_DATABASE, *_ALONE]))
def main(names: tuple[str, ...]) -> None:
    """Run the named benchmarks, or all."""
    # As Ctrl-C does, it ends what was started, too.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    click.echo(line(HEAD))
    sys.exit(not asyncio.run(_measure(names or (*_WITH_DATABASE, *_ALONE))))


main()
