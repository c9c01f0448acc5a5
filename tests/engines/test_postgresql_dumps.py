"""A public sample database goes into a managed one, out again, and into others, and stays what it
is: by psql, pg_dump and pg_restore, as the user of the account."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.engines import pagila
from tests.engines.conftest import ids
from tests.engines.database_harness import open_postgresql
from tests.engines.postgresql_programs import AT_HOME, Programs

pytestmark = [
    pytest.mark.managed_postgresql,
    pytest.mark.skipif(not pagila.is_there(), reason="Debian's pgmodeler 1.0.0~beta1 has Pagila"),
]

_STRANGE = (
    "select count(*) from pg_class where relnamespace = 'public'::regnamespace"
    " and relowner <> 'roostadmin'::regrole"
)
"""What is not the user's own."""


@asynccontextmanager
async def _made(folder: Path, nodes: int) -> AsyncIterator[Programs]:
    harness = await open_postgresql(folder / f"servers-{nodes}", nodes)
    spec = harness.spec(next(ids))
    try:
        access = await harness.engine.create(spec)
        await harness.engine.set_allow_list(spec.id, (f"{AT_HOME}/32", *spec.allow_list))
        programs = Programs(access, spec, folder)
        for database in ("first", "plain", "custom"):
            await programs.ask(f"create database {database}")
        yield programs
        await harness.engine.delete(spec.id)
    finally:
        await harness.close()


async def test_pagila_goes_in_out_and_into_others(tmp_path: Path) -> None:
    """What comes out as text and as an archive goes into other databases beside it, and into those
    of a cluster whose commits wait for replicas."""
    await pagila.write_schema(tmp_path / "schema.sql")
    for name, text in pagila.FILES.items():
        (tmp_path / name).write_text(text)
    async with _made(tmp_path, 1) as single, _made(tmp_path, 3) as cluster:
        for file in ("schema.sql", "rows.sql"):
            await single.read(file, "first")
        rows, schema = await _rows(single, "first"), await _schema(single, "first")
        assert {name: rows[name][0] for name in pagila.COUNTS} == pagila.COUNTS
        assert len(rows) == pagila.RELATIONS
        await single.call("pg_dump", "--file=first.sql", database="first")
        await single.call("pg_dump", "--format=custom", "--file=first.dump", database="first")
        for there in (single, cluster):
            await there.read("first.sql", "plain")
            restoring = ("--exit-on-error", "--single-transaction", "first.dump")
            await there.call("pg_restore", *restoring, database="custom")
            for database in ("plain", "custom"):
                assert await _rows(there, database) == rows
                assert await _schema(there, database) == schema
                assert await there.ask(_STRANGE, database) == "0"
        expected = await single.read("answers.sql", "first")
        assert expected.split("\n") == pagila.ANSWERED
        for database in ("plain", "custom"):
            assert await cluster.read("answers.sql", database) == expected


async def _rows(programs: Programs, database: str) -> dict[str, tuple[int, str]]:
    """How many each table, view and sequence has, and their digest."""
    lines = await programs.read("digests.sql", database)
    found = (line.split("|") for line in lines.splitlines())
    return {name: (int(count), digest) for name, count, digest in found}


async def _schema(programs: Programs, database: str) -> list[str]:
    """As a dump says it; each of these has a word of its own that keeps psql from more."""
    text = await programs.call("pg_dump", "--schema-only", database=database)
    return [line for line in text.splitlines() if not line.startswith(("\\restrict", "\\unrest"))]
