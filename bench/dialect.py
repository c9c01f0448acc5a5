"""What it costs to speak a dialect: the same requests at both listeners of one server."""

from collections.abc import AsyncIterator
from itertools import cycle
from pathlib import Path

from bench.database import make_account
from bench.edge import roost_server
from bench.load import request
from bench.results import Result
from bench.rounds import compare, requests
from roost.engines.listeners import free_tcp_port
from roost.store import Store


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    account = await make_account(store, "dialect", 100)
    listen = free_tcp_port()
    with roost_server(state, store.dsn, "--dialect", f"linode=127.0.0.1:{listen}") as (pid, port):
        ones = [f"instances/{n}" for n in account.instances]
        # More answers than are remembered, as those of lists that change.
        changed = [f"instances?page_size={n}" for n in range(51, 101)]
        for name, target, paths in (
            ("GET one", 0.85, ones),
            ("list of 100", 0.85, ["instances"]),
            ("list of 51 to 100 that has changed", 0.9, changed),
        ):
            ours, theirs = (
                cycle([request("GET", f"/v4/{word}/{path}", account.token) for path in paths])
                for word in ("compute", "linode")
            )
            turns = requests(pid, port, ours), requests(pid, listen, theirs)
            async for result in compare(f"{name} by a dialect", target, *turns):
                yield result
