"""A wheel of this tree, installed where the tree is not: it has all that it needs."""

import re
import shutil
import subprocess
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from roost.cli.main import main
from tests.cli.process import Server, roost
from tests.support.installation import ROOT, build_wheel, install
from tests.support.systemd import booted

UNITS = ("serve", "simulated", "worker")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheel, tmp_path_factory.mktemp("installed") / "environment")


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that has nothing of the tree, and no setting that leads to it."""
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    folder = tmp_path / "away"
    folder.mkdir()
    return folder


@pytest.fixture
def served(installed: Path, away: Path) -> Iterator[Server]:
    server = Server.start(away / "state", program=installed, folder=away)
    yield server
    server.end()


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    source = ROOT / "src"
    files = {
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    assert {name for name in packed if ".dist-info/" not in name} == files
    for name in (
        "roost/core/catalog/default.toml",
        "roost/store/migrations/versions/0077_tables/01_operation.sql",
        "roost/web/static/docs.html",
        *(f"roost/web/libraries/{name}" for name in ("scalar.js", "xterm.js", "uplot.js")),
        *(f"roost/app/units/{unit}.service" for unit in UNITS),
    ):
        assert name in packed


def test_it_serves_where_the_tree_is_not(served: Server) -> None:
    said = subprocess.run(
        [served.program.with_name("python"), "-c", "import roost; print(roost.__file__)"],
        cwd=served.state.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(said.stdout).is_relative_to(served.program.parents[1])
    compute_id = served.instance(label="first")
    status, row = served.send("GET", f"/compute/instances/{compute_id}")
    assert (status, row["label"], row["status"]) == (200, "first", "running")
    for page in ("/docs", "/docs/docs.js", "/docs/scalar.js", "/v4/openapi.json"):
        with urllib.request.urlopen(served.url + page, timeout=30) as answer:
            assert answer.read(), page
    done = roost("fsck", "--state", served.state, program=served.program)
    assert (done.returncode, done.stdout) == (0, "fsck: clean\n")


@pytest.mark.parametrize("name", UNITS)
def test_units(name: str, installed: Path, away: Path) -> None:
    done = roost("unit", name, program=installed)
    assert (done.returncode, done.stderr) == (0, "")
    (start,) = re.findall(r"^ExecStart=(.*)$", done.stdout, re.MULTILINE)
    program, command, *options = start.split()
    assert program == str(installed)
    assert command == ("worker" if name == "worker" else "serve")
    assert options == (["--engines", "simulated"] if name == "simulated" else [])
    assert "/usr/local" not in done.stdout
    unit = away / f"roost-{name}.service"
    unit.write_text(done.stdout)
    if shutil.which("systemd-analyze") is not None:
        verified = subprocess.run(
            ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
        )
        assert (verified.returncode, verified.stderr) == (0, "")


@pytest.mark.e2e
def test_units_run_under_systemd(installed: Path, away: Path) -> None:
    """One after the other: each serves, is started again after a crash, and stops when told."""
    folder = away / "machine"
    folder.mkdir()
    with booted(folder) as machine:
        # Not below /tmp, of which a service may have one of its own.
        machine.said("cp", "--archive", installed.parents[1], "/opt/roost")
        program = "/opt/roost/bin/roost"
        machine.said("sed", "--in-place", "1s|.*|#!/opt/roost/bin/python|", program)
        machine.open_to_all(installed.with_name("python"))
        machine.said("useradd", "--system", "--home-dir", "/var/lib/roost", "roost")
        machine.write("/etc/roost/roost.env", "ROOST_ENGINES=simulated\n")
        for name in ("simulated", "serve"):
            unit = f"roost-{name}"
            machine.write(
                f"/etc/systemd/system/{unit}.service", machine.said(program, "unit", name)
            )
            machine.said("systemctl", "daemon-reload")
            machine.said("systemctl", "start", unit)
            health = ("curl", "--silent", "--fail", "http://127.0.0.1:8080/healthz")
            machine.until("0", "sh", "-c", f"{' '.join(health)} >/dev/null; echo $?")
            assert '"ok"' in machine.said(*health)
            machine.said("systemctl", "kill", "--signal=KILL", "--kill-whom=main", unit)
            machine.until("NRestarts=1", "systemctl", "show", "--property=NRestarts", unit)
            machine.until("0", "sh", "-c", f"{' '.join(health)} >/dev/null; echo $?")
            machine.said("systemctl", "stop", unit)
            shown = machine.said("systemctl", "show", "--property=Result,ActiveState", unit)
            assert shown.splitlines() == ["Result=success", "ActiveState=inactive"]
            assert machine.run("pgrep", "postgres").stdout == ""
            machine.said("rm", "-rf", "/var/lib/roost")


def test_real_engines_need_mounts_that_outlive_the_service() -> None:
    """Each of these would give it mounts of its own, and lose the networks of guests."""
    private = re.compile(
        r"^(Protect(System|Home|Proc|Control\w+|Kernel\w+|Clock)|Private\w+|ReadOnlyPaths|Temporary\w+|"
        r"Inaccessible\w+|DynamicUser|RootDirectory|DevicePolicy|MountFlags)=",
        re.MULTILINE,
    )
    for name in ("serve", "worker"):
        text = (ROOT / f"src/roost/app/units/{name}.service").read_text()
        assert private.search(text) is None
        assert "\nKillMode=process\n" in text


@pytest.mark.parametrize(
    ("program", "written"),
    [
        ("/opt/roost/bin/roost", "/opt/roost/bin/roost"),
        ("/opt/my cloud/roost", '"/opt/my cloud/roost"'),
        ("/opt/100%/roost", "/opt/100%%/roost"),
    ],
)
def test_where_it_is_installed(program: str, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: program)
    done = CliRunner().invoke(main, ["unit", "serve"])
    assert (done.exit_code, f"\nExecStart={written} serve\n" in done.stdout) == (0, True)


@pytest.mark.parametrize("program", [None, "/opt/a'b/roost", "/opt/$HOME/roost", "/opt/a\nb/roost"])
def test_where_systemd_cannot_start_it(
    program: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: program)
    done = CliRunner().invoke(main, ["unit", "serve"])
    assert (done.exit_code, done.stdout) == (1, "")
    (said,) = done.stderr.splitlines()
    assert said.startswith("Error: ")


def test_a_unit_that_there_is_not() -> None:
    done = roost("unit", "other")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "'other' is not one of 'serve', 'worker', 'simulated'" in done.stderr
