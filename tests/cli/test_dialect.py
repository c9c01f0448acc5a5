"""`roost serve --dialect`: more listeners, and what is refused before anything starts."""

from pathlib import Path

import pytest

from tests.cli.process import Server, end_all, roost

LINODE = "linode: http://127.0.0.1:"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("klingon=127.0.0.1:0", "there is no dialect 'klingon', only linode"),
        ("=127.0.0.1:0", "there is no dialect '', only linode"),
        ("linode", "cannot listen on nothing: it must be HOST:PORT"),
        ("linode=127.0.0.1", "cannot listen on 127.0.0.1: it must be HOST:PORT"),
        ("linode=127.0.0.1:65536", "cannot listen on 127.0.0.1:65536: it must be HOST:PORT"),
        ("linode=127.0.0.1:-1", "cannot listen on 127.0.0.1:-1: it must be HOST:PORT"),
        ("linode=127.0.0.1:٨", "cannot listen on 127.0.0.1:٨: it must be HOST:PORT"),
    ],
)
def test_wrong_dialects(dialect: str, text: str, tmp_path: Path) -> None:
    options = ("--state", tmp_path, "--engines", "simulated", "--listen", "127.0.0.1:0")
    done = roost("serve", *options, "--dialect", dialect)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_catalogue_with_their_ids_is_refused(tmp_path: Path) -> None:
    default = Path(__file__).parents[2] / "src/roost/core/catalog/default.toml"
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(default.read_text().replace('"roost/debian12"', '"linode/debian12"'))
    options = ("--state", tmp_path / "state", "--engines", "simulated", "--listen", "127.0.0.1:0")
    done = roost("serve", *options, "--catalog", catalog, "--dialect", "linode=127.0.0.1:0")
    try:
        assert done.returncode == 1
        assert "linode/debian12 is what roost/debian12 is called there" in done.stderr
    finally:
        end_all(tmp_path / "state")


def test_several_listeners(tmp_path: Path) -> None:
    options = ("--dialect", "linode=127.0.0.1:0", "--dialect", "linode=127.0.0.1:0")
    server = Server.start(tmp_path, *options)
    try:
        ports = [
            line.removeprefix(LINODE)
            for line in server.greeting.splitlines()
            if line.startswith(LINODE)
        ]
        assert len(set(ports)) == 2
        for port in ports:
            there = Server(server.state, server.process, f"http://127.0.0.1:{port}", "")
            assert there.send("GET", "/linode/types")[0] == 200
            assert there.send("GET", "/compute/types")[0] == 404
    finally:
        server.end()
