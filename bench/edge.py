"""Requests a second, as a share of what the bare parts do."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, cycle, repeat
from pathlib import Path

from bench import machine
from bench.database import make_account, make_volumes
from bench.load import request
from bench.results import Result
from bench.rounds import CONNECTIONS, Sample, Turn, compare, requests
from roost.clock import Clock
from roost.core.billing.ledger import begin
from roost.resources.compute.billing_queries import CHARGED
from roost.store import Store

_LEDGER_SECONDS, _LEDGER_ROWS = 2.0, 500

_PATH = "/v4/compute/instances"
_MINIMAL = {"region": "us-lake", "type": "g1-nano-1"}
_COMPLETE = _MINIMAL | {"image": "roost/debian12", "root_pass": "aComplex@Password-7391"}


_ROOST = (machine.program("roost"),)


@contextmanager
def roost_server(
    state: Path,
    dsn: str,
    *options: str,
    program: Sequence[str] = _ROOST,
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, int]]:
    """`roost serve` on the server's core, with an access log; its process id and port."""
    command = [*program, "serve", "--engines", "simulated"]
    command += ["--state", str(state), "--listen", "127.0.0.1:0", *options]
    given = {"DATABASE_URL": dsn, "ROOST_RATE_LIMIT_SCALE": "0", **(environment or {})}
    with machine.running(command, "roost ready", environment=given) as (pid, line):
        yield pid, int(line.rpartition(":")[2])


@contextmanager
def bare_server(dsn: str) -> Iterator[tuple[int, int]]:
    command = [sys.executable, "-m", "bench.bare_app", dsn]
    with machine.running(command, "bare ready") as (pid, line):
        yield pid, int(line.rpartition(":")[2])


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    account = await make_account(store, "edge", 100)
    await make_volumes(store, account, 100)
    with (
        bare_server(store.dsn) as (bare_pid, bare_port),
        roost_server(state, store.dsn) as (pid, port),
    ):

        def against_bare(
            name: str, target: float, bare: list[str], paths: list[str]
        ) -> AsyncIterator[Result]:
            bare_sent = [request("GET", path) for path in bare]
            sent = [request("GET", path, account.token) for path in paths]
            turns = (
                requests(bare_pid, bare_port, cycle(bare_sent)),
                requests(pid, port, cycle(sent)),
            )
            return compare(name, target, *turns)

        ones = [f"/one/{n}" for n in account.instances]
        for name, target, bare, paths in (
            ("GET one", 0.55, ones, [f"{_PATH}/{n}" for n in account.instances]),
            ("list of 100", 0.85, [f"/list/{account.id}"], [_PATH]),
            ("list of 100 volumes", 0.85, [f"/volumes/{account.id}"], ["/v4/volumes"]),
        ):
            async for result in against_bare(name, target, bare, paths):
                yield result
    async for result in _creates(store, state):
        yield result


async def _creates(store: Store, state: Path) -> AsyncIterator[Result]:
    """Jobs are left to nobody, as the bare script does none."""
    account = await make_account(store, "creator", 0)
    bare = _bare_inserts(store.dsn, account.id)
    with roost_server(state, store.dsn, "--no-worker") as (pid, port):

        def creates(body: dict[str, str]) -> Turn:
            sent = request(
                "POST", "/v4/compute/instances", account.token, json.dumps(body).encode()
            )
            return requests(pid, port, repeat(sent))

        for name, target, body in (
            ("create", 0.5, _MINIMAL),
            ("create with image", 0.3, _COMPLETE),
        ):
            async for result in compare(name, target, bare, creates(body)):
                yield result
        create = await creates(_MINIMAL)(_LEDGER_SECONDS)
        yield await _ledger_share(store, account.id, create)


async def _ledger_share(store: Store, account_id: int, create: Sample) -> Result:
    """What the statement costs that charges for a new instance, of its whole creation."""
    compute_id = await store.fetchval(
        "select min(id) from compute_instance where account_id = $1", account_id
    )
    now = Clock().now()
    async with store.transaction() as db:
        await begin(db, CHARGED, compute_id, now)
        before = time.process_time()
        for _ in range(_LEDGER_ROWS):
            await begin(db, CHARGED, compute_id, now)
        cost = (time.process_time() - before) / _LEDGER_ROWS * 1e6
    note = f"CPU us: {cost:.0f} of {create.cpu_microseconds:.0f}"
    share = cost / create.cpu_microseconds
    return Result("the ledger's share of a create, by CPU", share, "", 0.1, note=note)


def _bare_inserts(dsn: str, account: int) -> Turn:
    firsts = count(0, 100_000)

    async def turn(seconds: float) -> Sample:
        arguments = (dsn, account, CONNECTIONS, seconds, next(firsts))
        others = os.sched_getaffinity(0)
        machine.pin(machine.SERVER)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.bare_inserts", *map(str, arguments), stdout=-1
        )
        machine.pin(others)
        printed, _ = await process.communicate()
        _, done, took, cpu = printed.split()
        return Sample(int(done), float(took), float(cpu))

    return turn
