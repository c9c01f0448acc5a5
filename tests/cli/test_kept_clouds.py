"""Clouds in use of earlier revisions: restored, upgraded, whole, and shown as they were.

They are kept in `tests/kept`, whose `make.py` says how one is made. No worker runs beside them, as
it would do at once all that has become due since; what it would bring to engines that are to have
more than in the former version, `roost fsck --repair` brings.
"""

import json
from pathlib import Path

import pytest

from tests.cli.process import Json, Server, ran, roost
from tests.kept.make import ENVIRONMENT, FOLDER

GROW = {"balance_uninvoiced"}
"""Fields that are counted up to now."""
MORE = {"capabilities"}
"""Lists of words to which a release may add."""


@pytest.mark.parametrize("revision", sorted(path.stem for path in FOLDER.glob("*.backup")))
def test_a_kept_cloud(revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    state = tmp_path / "state"
    restored = roost("restore", "--state", state, FOLDER / f"{revision}.backup")
    assert "the database is loaded" in restored.stderr
    roost("fsck", "--repair", "--state", state)
    assert ran("fsck", "--state", state) == "fsck: clean"

    kept = json.loads((FOLDER / f"{revision}.json").read_text())
    server = Server.start(state, "--no-worker")
    try:
        for path, before in kept.items():
            status, now = server.send("GET", path)
            assert (path, status) == (path, 200)
            assert (path, former_part(before, now)) == (path, former_part(before, before))
        assert ran("fsck", "--state", state) == "fsck: clean"
    finally:
        server.end()


def former_part(before: Json, now: Json) -> Json:
    """Of what is shown now, the fields that were shown before."""
    match before, now:
        case dict(), dict():
            now = {**now, **{name: common(before[name], now[name]) for name in MORE & now.keys()}}
            names = before.keys() - GROW
            return {name: former_part(before[name], now.get(name)) for name in names}
        case list(), list() if len(before) == len(now):
            return [former_part(*pair) for pair in zip(before, now, strict=True)]
    return now


def common(before: list[str], now: list[str]) -> list[str]:
    return [word for word in now if word in before]
