"""`roost fsck` as a command beside a server; test_down.py has it without one."""

import asyncio
from pathlib import Path

from roost.app.state import open_store
from roost.settings import Settings
from tests.cli.process import Server, ran, roost


async def spoil(state: Path, compute_id: int) -> None:
    """Write a wrong status and a wrong address into the row."""
    async with open_store(Settings(state=state)) as store:
        await store.execute(
            "update compute_instance set status = 'rebuilding', ipv4 = '{}' where id = $1",
            compute_id,
        )


def test_drift_is_found_and_repaired(server: Server) -> None:
    compute_id, state = server.instance(), server.state
    assert ran("fsck", "--state", state) == "fsck: clean"
    asyncio.run(spoil(state, compute_id))
    found = roost("fsck", "--state", state)
    assert found.returncode == 1
    assert len(found.stdout.splitlines()) == 3
    assert found.stdout.endswith("fsck: 2 found, 0 repaired\n")
    assert server.status(compute_id) == "rebuilding"
    repaired = ran("fsck", "--state", state, "--repair")
    assert repaired.endswith("fsck: 2 found and repaired")
    assert server.status(compute_id) == "running"
    assert ran("fsck", "--state", state) == "fsck: clean"
