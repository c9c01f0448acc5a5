"""`roost backup` and `roost restore` of a cloud of several hosts with a database of its own."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from roost.app.backup.archive import BackupError
from roost.app.backup.check import check
from roost.app.backup.make import back_up, left_out
from roost.app.backup.restore import Choice, restore
from roost.app.fsck import check_state
from roost.app.state import UnreachableError, open_store
from roost.settings import MAIN_HOST, Settings
from roost.store import dumps
from tests.support.client import Json
from tests.support.database import DatabaseServer
from tests.support.hosts import REGION, main_host, running_host
from tests.support.instances import settled
from tests.support.server import simulated

_CHOICE = Choice(engines=None, catalog=None)
_DATA = {MAIN_HOST: 7, "b": 8}
"""A volume of each host, as QEMU's engine keeps it."""


def data_of(state: Path, volume_id: int) -> Path:
    return state / "qemu" / REGION / "volumes" / f"volume-{volume_id}" / "data.raw"


def put_data(settings: Settings) -> bytes:
    path, data = data_of(settings.state, _DATA[settings.host]), os.urandom(1 << 16)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return data


@dataclass(frozen=True)
class Saved:
    """A cloud of two hosts as its backups have it."""

    folder: Path
    rows: dict[str, Json]
    data: dict[str, bytes]
    server: DatabaseServer

    @property
    def choice(self) -> Choice:
        return replace(_CHOICE, disks=self.folder / "pieces")

    def file(self, host: str) -> Path:
        return self.folder / f"{host}.backup"

    def settings(self, folder: Path, url: str, host: str) -> Settings:
        key = None if host == MAIN_HOST else folder / MAIN_HOST / "secret.key"
        return simulated(folder / host, url, host=host, key_file=key)


@pytest.fixture(scope="module")
async def saved(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Saved]:
    """Each host is saved beside its worker, into one folder of pieces."""
    folder = tmp_path_factory.mktemp("hosts-saved")
    rows, data = dict[str, Json](), dict[str, bytes]()
    async with main_host(database_server, folder) as cloud:
        async with running_host(cloud.main, "b", folder / "b") as other:
            for roost in (cloud.main, other):
                host = roost.settings.host
                row = await cloud.made_on(host, booted=True)
                rows[host] = await settled(cloud.client, row["id"])
                data[host] = put_data(roost.settings)
            for roost in (cloud.main, other):
                target = folder / f"{roost.settings.host}.backup"
                made = await back_up(roost.settings, target, folder / "pieces", lambda _: None)
                assert made.listed == 1
                said = " ".join(left_out(roost.settings, made, disks=True))
                [elsewhere] = rows.keys() - {roost.settings.host}
                assert f"run this there, too: {elsewhere}." in said
                check(target, folder / "pieces")
        yield Saved(folder, rows, data, database_server)


async def test_all_hosts_come_back(saved: Saved, tmp_path: Path) -> None:
    """In another database, which gets the rows once; each host has its own disks and guests."""
    async with saved.server.database("template0") as url:
        for host in (MAIN_HOST, "b"):
            settings = saved.settings(tmp_path, url, host)
            settings = await restore(settings, saved.choice, saved.file(host), lambda _: None)
            assert data_of(settings.state, _DATA[host]).read_bytes() == saved.data[host]
            assert [path.name for path in settings.state.glob("qemu/*/volumes/*")] == [
                f"volume-{_DATA[host]}"
            ]
            lines = list[str]()
            await check_state(settings, False, lines.append)
            # Its worker makes them, which does not run yet.
            assert [line for line in lines if not line.startswith("networks of ")] == []
        assert (tmp_path / "b" / "host.id").read_text() == (
            (saved.folder / "b" / "host.id").read_text()
        )
        async with open_store(settings) as store:
            found = await store.fetch("select id, host from compute_instance")
        assert {row["host"]: row["id"] for row in found} == {
            host: row["id"] for host, row in saved.rows.items()
        }


async def test_rows_are_not_loaded_over_others(saved: Saved, tmp_path: Path) -> None:
    """Files alone come back where the database has lived on."""
    async with saved.server.database() as url:
        settings = saved.settings(tmp_path, url, MAIN_HOST)
        with pytest.raises(BackupError, match="not empty"):
            await restore(settings, saved.choice, saved.file(MAIN_HOST), lambda _: None)
        assert not settings.state.exists()
        kept = replace(saved.choice, database=False)
        await restore(settings, kept, saved.file(MAIN_HOST), lambda _: None)
        assert data_of(settings.state, 7).read_bytes() == saved.data[MAIN_HOST]
        async with open_store(settings) as store:
            assert await store.fetchval("select count(*) from compute_instance") == 0


async def test_a_host_that_is_served_with_the_database_is_not_restored_beside_it(
    saved: Saved, tmp_path: Path
) -> None:
    """Of main and of others; once their workers are silent the files come back."""
    kept = replace(saved.choice, database=False)
    async with main_host(saved.server, tmp_path / "served") as cloud:
        url = cloud.main.settings.database_url
        assert url is not None
        async with running_host(cloud.main, "b", tmp_path / "served" / "b"):
            for host in (MAIN_HOST, "b"):
                settings = saved.settings(tmp_path / "again", url, host)
                with pytest.raises(BackupError, match=f"host {host} .* is served"):
                    await restore(settings, kept, saved.file(host), lambda _: None)
                assert not settings.state.exists()
        silent = "update host set seen = clock_timestamp() - interval '1 minute' where name = 'b'"
        await cloud.main.store.execute(silent)
        await restore(
            saved.settings(tmp_path / "again", url, "b").model_copy(update={"key_file": None}),
            kept,
            saved.file("b"),
            lambda _: None,
        )
        assert data_of(tmp_path / "again" / "b", _DATA["b"]).read_bytes() == saved.data["b"]


async def test_what_does_not_fit_is_refused(saved: Saved, tmp_path: Path) -> None:
    embedded = Settings.model_validate({"state": tmp_path / "new"})
    async with saved.server.database("template0") as url:
        main, b = (saved.settings(tmp_path, url, host) for host in (MAIN_HOST, "b"))
        kept = replace(_CHOICE, database=False)
        for settings, choice, file, words in (
            (embedded, _CHOICE, "b", "of host b, without the database"),
            (main, _CHOICE, "b", "of host b, without the database"),
            (b, _CHOICE, MAIN_HOST, "of host main, not of b"),
            (embedded, kept, MAIN_HOST, "only a database of your own"),
            (main, kept, MAIN_HOST, "is empty"),
            (b, _CHOICE, "b", "is empty: restore host main first"),
        ):
            with pytest.raises(BackupError, match=words):
                await restore(settings, choice, saved.file(file), lambda _: None)
            assert not settings.state.exists()


async def test_a_database_that_does_not_answer(saved: Saved, tmp_path: Path) -> None:
    settings = simulated(tmp_path / "state", "postgresql://nobody:secret@127.0.0.1:1/nothing")
    settings.state.mkdir()
    target = tmp_path / "backup"
    for work in (
        back_up(settings, target, None, lambda _: None),
        restore(settings, _CHOICE, saved.file(MAIN_HOST), lambda _: None),
    ):
        with pytest.raises(UnreachableError, match="does not answer") as refused:
            await work
        assert "secret" not in str(refused.value)
    assert not target.exists()


@pytest.mark.parametrize(
    ("url", "shown", "password"),
    [
        ("postgresql://me:p%40ss@db:5/x?sslmode=require", "me@db:5/x?sslmode=require", "p@ss"),
        ("postgresql://me@a:1,b:2/x?password=p", "me@a:1,b:2/x", "p"),
        ("postgresql:///x?host=%2Frun&user=me", "/x?host=%2Frun&user=me", None),
    ],
)
def test_passwords_are_not_shown_to_other_users(url: str, shown: str, password: str | None) -> None:
    secret = {} if password is None else {"PGPASSWORD": password}
    assert dumps.without_password(url) == (f"postgresql://{shown}", secret)
