"""The least that a durable create can do: its rows in one transaction, without HTTP.

python -m bench.bare_inserts DSN ACCOUNT CONNECTIONS SECONDS FIRST

Prints how many transactions were made, in how many seconds, with how many of CPU time. Instances
get numbers from FIRST on.
"""

import asyncio
import sys
import time
from collections.abc import Iterator
from ipaddress import IPv4Address
from itertools import count

import asyncpg
import click
import uvloop
from asyncpg import Record

from bench.statements import ALERTS, INSERT_ADDRESS, INSERT_EVENT, INSERT_INSTANCE, INSERT_JOB

_FIRST_ADDRESS = int(IPv4Address("11.0.0.0"))
_SETUP = bytes(100)


async def _insert(pool: "asyncpg.Pool[Record]", account: int, number: int) -> None:
    address = IPv4Address(_FIRST_ADDRESS + number)
    async with pool.acquire() as connection, connection.transaction():
        compute_id = await connection.fetchval(
            INSERT_INSTANCE, account, f"bare{number}", address, ALERTS, _SETUP
        )
        await connection.execute(INSERT_ADDRESS, address, account, compute_id)
        entity = f'{{"id":{compute_id},"type":"compute","label":"bare{number}"}}'
        event_id = await connection.fetchval(INSERT_EVENT, account, entity)
        args = f'{{"compute_id":{compute_id}}}'
        await connection.execute(INSERT_JOB, args, f"compute:{compute_id}", account, event_id)


async def _work(
    pool: "asyncpg.Pool[Record]", account: int, numbers: Iterator[int], until: float
) -> int:
    done = 0
    while time.perf_counter() < until:
        await _insert(pool, account, next(numbers))
        done += 1
    return done


async def _main(dsn: str, account: int, connections: int, seconds: float, first: int) -> None:
    async with asyncpg.create_pool(dsn, min_size=connections, max_size=connections) as pool:
        numbers = count(first)
        await asyncio.gather(*(_insert(pool, account, next(numbers)) for _ in range(connections)))
        started, cpu = time.perf_counter(), time.process_time()
        works = (_work(pool, account, numbers, started + seconds) for _ in range(connections))
        done = sum(await asyncio.gather(*works))
        click.echo(f"done {done} {time.perf_counter() - started} {time.process_time() - cpu}")


if __name__ == "__main__":
    uvloop.run(
        _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
    )
