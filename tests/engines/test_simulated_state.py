"""The file of a simulated region, which several processes open and close."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from roost.engines.simulated import state
from roost.engines.simulated.state import StateFile


async def test_a_file_that_another_process_closes_is_opened_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TABLE theirs (id)")
        other.execute("BEGIN EXCLUSIVE")
        opening = asyncio.create_task(asyncio.to_thread(state._connect, path, 0))
        assert await asyncio.wait({opening}, timeout=0.2) == (set(), {opening})
        other.execute("COMMIT")
    (await opening).close()


async def test_many_open_it_at_once(tmp_path: Path) -> None:
    files = [StateFile(tmp_path / "region" / "state.sqlite3") for _ in range(8)]
    try:
        await asyncio.gather(
            *(each.change("kind", str(n), lambda _: "x") for n, each in enumerate(files))
        )
        assert len(await files[0].read_all("kind")) == len(files)
    finally:
        for each in files:
            each.close()
