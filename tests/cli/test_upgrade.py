"""From the former version to this one, as docs/upgrading.md tells it, and back."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.process import ROOST, Json, Server, roost, wait_until
from tests.support.former import has_history, has_older_tables, install_former
from tests.support.installation import ROOT

pytestmark = pytest.mark.skipif(not has_history(), reason="the checkout has no history")

PAGE = (ROOT / "docs/upgrading.md").read_text()


def commands(title: str) -> list[str]:
    """Of a chapter of the page, as they stand."""
    chapter = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", chapter, re.DOTALL)
    lines: list[str] = block.splitlines()
    return lines


@pytest.fixture(scope="module")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_former(tmp_path_factory.mktemp("former"))


@dataclass
class Machine:
    """It does what the page says, with other paths, and processes of its own for systemd's."""

    folder: Path
    former: Path
    installed: Path
    server: Server | None = None
    said: list[str] = field(default_factory=list)

    @property
    def state(self) -> Path:
        return self.folder / "var" / "roost"

    def do(self, line: str) -> None:
        """Fails for a command that this test does not know."""
        line = line.replace("/var/lib/roost", str(self.state))
        words = shlex.split(line.replace("/backup/", f"{self.folder}/"))
        match words:
            case ["roost", *arguments]:
                done = roost(*arguments, program=self.installed)
                assert done.returncode == 0, done.stderr
                self.said.append(done.stdout)
            case ["systemctl", "start", "roost"]:
                self.server = Server.start(self.state, program=self.installed)
            case ["systemctl", "stop", "roost"]:
                self.stop()
            case ["uv", "tool", "install", "--force", wheel]:
                self.installed = self.former if wheel.startswith("former/") else ROOST
            case ["mv", source, target]:
                Path(source).rename(target)
            case _:
                raise AssertionError(f"the test cannot do: {line}")

    def stop(self) -> None:
        assert self.server is not None
        self.server.process.terminate()
        assert self.server.process.wait(timeout=60) == 0
        self.server = None


@pytest.fixture
def machine(former: Path, tmp_path: Path) -> Iterator[Machine]:
    (tmp_path / "var").mkdir()
    machine = Machine(tmp_path, former, former)
    machine.do("systemctl start roost")
    yield machine
    if machine.server is not None:
        machine.server.end()


def populate(server: Server) -> list[str]:
    """One of many things; their paths."""
    compute_id = server.instance(label="first", tags=["kept"])
    paths = [f"/compute/instances/{compute_id}"]
    for path, body in (
        ("/volumes", {"label": "data", "size": 20, "region": "us-lake", "compute_id": compute_id}),
        ("/domains", {"domain": "example.com", "type": "master", "soa_email": "a@example.com"}),
        (
            "/compute/stackscripts",
            {"label": "hello", "images": ["any/all"], "script": "#!/bin/sh\n"},
        ),
        ("/profile/tokens", {"label": "mine", "scopes": "*"}),
    ):
        status, row = server.send("POST", path, body)
        assert status == 200, row
        paths.append(f"{path}/{row['id']}")
    wait_until(lambda: server.send("GET", paths[1])[1]["status"] == "active")
    return paths


def rows(server: Server, paths: list[str]) -> list[Json]:
    answers = [server.send("GET", path) for path in paths]
    assert {status for status, _ in answers} == {200}
    return [row for _, row in answers]


def without_new(before: list[Json], after: list[Json]) -> list[Json]:
    """Of each row what the former version shows of it, too."""
    pairs = zip(before, after, strict=True)
    return [{name: new[name] for name in old if name in new} for old, new in pairs]


@pytest.mark.e2e
def test_the_steps_on_one_machine_and_back(machine: Machine) -> None:
    server = machine.server
    assert server is not None
    paths = populate(server)
    before = rows(server, paths)
    token = server.token

    for line in commands("On one machine"):
        machine.do(line)
    assert machine.said[-1] == "fsck: clean\n"
    upgraded = machine.server
    assert upgraded is not None
    assert upgraded.token == token
    assert without_new(before, rows(upgraded, paths)) == before
    upgraded.send("PUT", paths[0], {"label": "later"})
    upgraded.instance(label="second")

    machine.stop()
    if has_older_tables(machine.former):
        refused = roost("serve", "--state", machine.state, program=machine.former)
        assert refused.returncode == 1
        assert "newer than this program" in refused.stderr
    machine.do("systemctl start roost")

    for line in commands("Back"):
        machine.do(line)
    restored = machine.server
    assert restored is not None
    assert restored.program == machine.former
    assert rows(restored, paths) == before
    assert restored.send("GET", "/compute/instances")[1]["results"] == 1
