"""Small writes with all that follows them, as a share of what a bare server does.

The bare one inserts the same rows with one statement; Roost also runs the jobs. A volume is also
made without its job, and by Roost's edge with the bare one's statement: no write can cost less.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bench.database import make_account
from bench.edge import bare_server, roost_server
from bench.load import request
from bench.results import Result
from bench.rounds import compare, requests
from roost.store import Store

_MAKE_DOMAIN = """
    insert into domain (account_id, domain, type, status, soa_email, description, "group",
        master_ips, axfr_ips, refresh_sec, retry_sec, expire_sec, ttl_sec, tags, dnssec, serial,
        created, updated)
    values ($1, $2, 'master', 'active', 'a@b.example', '', '', '{}', '{}', 0, 0, 0, 0, '{}', false,
        1, now(), now())
    returning id
"""

_VOLUME = {"label": "", "region": "us-lake"}
_RECORD = {"type": "A", "name": "", "target": "192.0.2.1"}
_FLOOR = (sys.executable, "-m", "bench.floor")


@dataclass(frozen=True, slots=True)
class _Write:
    bare_path: str
    path: str
    body: dict[str, str]
    """One field is empty, and gets another text each time."""


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    account = await make_account(store, "writer", 0)
    domains = [
        await store.fetchval(_MAKE_DOMAIN, account.id, f"{name}.example")
        for name in ("bare", "roost")
    ]
    with bare_server(store.dsn) as (bare_pid, bare_port):

        def of_bare(
            name: str, target: float | None, write: _Write, pid: int, port: int
        ) -> AsyncIterator[Result]:
            bare = _posts(write.bare_path, "", write.body, f"bare{pid}")
            posts = _posts(write.path, account.token, write.body, f"roost{pid}")
            turns = requests(bare_pid, bare_port, bare), requests(pid, port, posts)
            return compare(name, target, *turns)

        volume = _Write(f"/volume/{account.id}", "/v4/volumes", _VOLUME)
        record = _Write(f"/record/{domains[0]}", f"/v4/domains/{domains[1]}/records", _RECORD)
        with roost_server(state, store.dsn, "--no-worker", program=_FLOOR) as (pid, port):
            async for result in of_bare("volume by the edge alone", None, volume, pid, port):
                yield result
        with roost_server(state, store.dsn, "--no-worker") as (pid, port):
            async for result in of_bare("volume without its job", None, volume, pid, port):
                yield result
        await store.execute("delete from job")
        with roost_server(state, store.dsn) as (pid, port):
            async for result in of_bare("create volume", 0.3, volume, pid, port):
                yield result
            async for result in of_bare("create record", 0.4, record, pid, port):
                yield result


def _posts(path: str, token: str, body: dict[str, str], prefix: str) -> Iterator[bytes]:
    """Requests whose empty field is another one each time."""
    field = next(name for name, value in body.items() if not value)
    for number in count():
        sent = json.dumps(body | {field: f"{prefix}-{number}"}).encode()
        yield request("POST", path, token, sent)
