"""What `roost restore` and `roost backup` refuse, and that nothing is changed then."""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from roost.cli.main import main
from roost.store import migrate
from tests.cli.process import Server, ran, roost

_MANIFEST = {
    "format": 1,
    "roost": "0.1.0",
    "revision": migrate.head(),
    "made": "2026-11-23T20:00:00Z",
    "engines": "simulated",
}
_MEMBERS = {"database.dump": b"PGDMP of nothing", "secret.key": b"k" * 32}


def vouched(body: bytes) -> bytes:
    return b"roost-backup " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def write(path: Path, files: Mapping[str, bytes] = _MEMBERS, **changes: Any) -> Path:
    """A backup whose checksums are right, whatever else is wrong with it."""
    listed = [
        {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in files.items()
    ]
    manifest = {**_MANIFEST, "members": listed, **changes}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", json.dumps(manifest))
    path.write_bytes(vouched(path.read_bytes()))
    return path


def refused(backup: Path, state: Path) -> str:
    """The one line that says why, of a restore that changes nothing."""
    before = sorted(state.rglob("*")) if state.exists() else None
    done = roost("restore", "--state", state, backup)
    assert (done.returncode, done.stdout) == (1, "")
    assert (sorted(state.rglob("*")) if state.exists() else None) == before
    return done.stderr.splitlines()[-1].removeprefix("Error: ")


def refused_at_once(backup: Path, state: Path) -> str:
    """The same without a process of its own, for what is refused before anything is written."""
    before = sorted(state.rglob("*")) if state.exists() else None
    done = CliRunner().invoke(main, ["restore", "--state", str(state), str(backup)])
    assert (done.exit_code, done.stdout) == (1, "")
    assert (sorted(state.rglob("*")) if state.exists() else None) == before
    return done.stderr.splitlines()[-1].removeprefix("Error: ")


def test_a_damaged_file(server: Server, tmp_path: Path) -> None:
    """Any byte counts, and each one that is missing."""
    whole, damaged, state = tmp_path / "whole", tmp_path / "damaged", tmp_path / "new"
    ran("backup", "--state", server.state, whole)
    data = whole.read_bytes()
    places = [0, 20, 77, 78, *range(100, len(data), len(data) // 25), len(data) - 1]
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 0x40
        damaged.write_bytes(changed)
        assert "damaged" in refused_at_once(damaged, state)
    for size in (0, 10, 78, 79, len(data) // 2, len(data) - 1):
        damaged.write_bytes(data[:size])
        assert "damaged" in refused_at_once(damaged, state)
    damaged.write_bytes(data + b"\0")
    assert "damaged" in refused_at_once(damaged, state)
    assert not state.exists()


def test_a_state_that_is_not_empty(server: Server, tmp_path: Path) -> None:
    backup, state = write(tmp_path / "backup"), tmp_path / "used"
    done = roost("restore", "--state", server.state, backup)  # Its server goes on writing there.
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{server.state} is not empty: it has " in done.stderr
    state.mkdir()
    (state / "notes.txt").write_text("mine")
    assert refused(backup, state) == f"{state} is not empty: it has notes.txt"


@pytest.mark.parametrize("revision", ["9999", "0999"])
def test_a_newer_database(tmp_path: Path, revision: str) -> None:
    backup = write(tmp_path / "backup", revision=revision, roost="9.1.0")
    said = refused_at_once(backup, tmp_path / "new")
    assert (
        f"is at revision {revision}, newer than this program, which knows {migrate.head()}" in said
    )
    assert said.endswith("install Roost 9.1.0 or newer")


def test_an_older_database(tmp_path: Path) -> None:
    """Of tables that no revision of this program brings to the newest ones."""
    backup = write(tmp_path / "backup", revision="0042")
    said = refused_at_once(backup, tmp_path / "new")
    assert f"is at revision 0042, older than {migrate.first()}, the first that this program" in said


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/cron.d/evil",
        "attachments/../../evil",
        "attachments/" + "0" * 31,
        "simulated/../state.sqlite3",
        "simulated/a/b/state.sqlite3",
        "powerdns/data/../pdns.db",
        "secret.key\n",
        "serve.json",
        "postgres/data/PG_VERSION",
        "disks/../compute-1/disk-1.raw.pieces",
        "disks/local/compute-1/disk-1.raw",
        "disks/local/compute-1/qmp.sock.pieces",
        "disks/local/compute-1/disk-1.image/../../disk-1.raw.pieces",
        "disks/local/volumes/volume-1/.pieces",
        "images/roost/../root.qcow2.pieces",
        "images/roost/mini/.versions.pieces",
    ],
)
def test_members_that_are_none(tmp_path: Path, name: str) -> None:
    backup = write(tmp_path / "backup", {**_MEMBERS, name: b"evil"})
    said = refused_at_once(backup, tmp_path / "new")
    assert said.endswith(f"{name!r} is not part of a backup") or "damaged" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 5}, "the backup has a format that this Roost does not know"),
        ({"members": []}, "the backup has other members than its manifest"),
        ({"engines": "other"}, "the backup's manifest is refused: Input should be 'auto', "),
        ({"roost": "\x1b[2J"}, "the backup's manifest is refused: String should match pattern"),
        ({"revision": "../1"}, "the backup's manifest is refused: String should match pattern"),
    ],
)
def test_manifests_that_are_none(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    backup = write(tmp_path / "backup", **changes)
    assert refused_at_once(backup, tmp_path / "new").startswith(reason)


def test_a_member_that_is_not_what_was_saved(tmp_path: Path) -> None:
    wrong = [{"name": name, "size": 1, "sha256": "0" * 64} for name in _MEMBERS]
    backup = write(tmp_path / "backup", members=wrong)
    said = refused_at_once(backup, tmp_path / "new")
    assert said == "the backup is damaged: database.dump is not what was saved"


@pytest.mark.parametrize("missing", sorted(_MEMBERS))
def test_a_backup_without_its_parts(tmp_path: Path, missing: str) -> None:
    rest = {name: data for name, data in _MEMBERS.items() if name != missing}
    said = refused_at_once(write(tmp_path / "backup", rest), tmp_path / "new")
    assert said == f"the backup has no {missing}"


@pytest.mark.parametrize("existed", [True, False])
def test_a_database_that_cannot_be_loaded(tmp_path: Path, existed: bool) -> None:
    """It fails in the middle, and leaves the state as empty as it was."""
    state = tmp_path / "new"
    if existed:
        (state / "lost+found").mkdir(parents=True)
    assert "pg_restore: error: " in refused(write(tmp_path / "backup"), state)


def test_another_key_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"other")
    monkeypatch.setenv("ROOST_KEY_FILE", str(key))
    said = refused_at_once(write(tmp_path / "backup"), tmp_path / "new")
    assert said == f"{key} is there already, and is not the key of this backup"
    assert key.read_bytes() == b"other"


def test_a_database_of_the_operators_own_that_does_not_answer(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, and nothing is made."""
    backup = write(tmp_path / "backup")
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:secret@127.0.0.1:1/roost")
    assert "the database does not answer" in refused_at_once(backup, tmp_path / "new")
    for words in (("backup", tmp_path / "other"), ("instance", "list"), ("host", "list")):
        done = roost(*words, "--state", server.state)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
        assert "the database does not answer" in done.stderr
        assert "secret" not in done.stderr
    assert not (tmp_path / "other").exists()


def test_wrong_input(tmp_path: Path) -> None:
    there = write(tmp_path / "there")
    for words in (
        ["backup"],
        ["backup", str(there)],
        ["backup", str(tmp_path)],
        ["backup", str(tmp_path / "no" / "folder")],
        ["backup", "a", "b"],
        ["restore"],
        ["restore", str(tmp_path / "nothing")],
        ["restore", str(tmp_path)],
        ["restore", "--engines", "x", str(there)],
    ):
        done = CliRunner().invoke(main, words)
        assert (done.exit_code, done.stdout) == (2, "")
        (said,) = done.stderr.splitlines()
        assert said.startswith("Error: ")


def test_a_state_that_was_never_served(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["backup", "--state", str(tmp_path / "no"), str(tmp_path / "f")]
    )
    assert (done.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "has never been served" in done.stderr
