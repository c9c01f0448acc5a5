"""Small writes with all that follows them, as a share of what a bare server does.

The bare one inserts the same rows with one statement; Roost also runs the jobs.
"""

import json
from collections.abc import AsyncIterator, Iterator
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


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    account = await make_account(store, "writer", 0)
    domains = [
        await store.fetchval(_MAKE_DOMAIN, account.id, f"{name}.example")
        for name in ("bare", "roost")
    ]
    with (
        bare_server(store.dsn) as (bare_pid, bare_port),
        roost_server(state, store.dsn) as (pid, port),
    ):
        for name, bare_path, path, body in (
            (
                "create volume",
                f"/volume/{account.id}",
                "/v4/volumes",
                {"label": "", "region": "us-lake"},
            ),
            (
                "create record",
                f"/record/{domains[0]}",
                f"/v4/domains/{domains[1]}/records",
                {"type": "A", "name": "", "target": "192.0.2.1"},
            ),
        ):
            bare = requests(bare_pid, bare_port, _posts(bare_path, "", body, "bare"))
            roost = requests(pid, port, _posts(path, account.token, body, "roost"))
            async for result in compare(name, 0.5, bare, roost):
                yield result


def _posts(path: str, token: str, body: dict[str, str], prefix: str) -> Iterator[bytes]:
    """Requests whose empty field is another one each time."""
    field = next(name for name, value in body.items() if not value)
    for number in count():
        sent = json.dumps(body | {field: f"{prefix}-{number}"}).encode()
        yield request("POST", path, token, sent)
