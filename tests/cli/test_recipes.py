"""The Dockerfile and the job of GitHub Actions: what of them runs without either.

No image is built here. Its files must exist, and its commands are run as they stand.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from roost.engines.listeners import free_tcp_port
from tests.cli.process import end_all, ran, wait_until

ROOT = Path(__file__).parents[2]
ADDRESS = re.compile(r"\b(0\.0\.0\.0|127\.0\.0\.1):(\d+)")
BIN = Path(sys.executable).parent

Job = dict[str, Any]  # As YAML gives it.


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile: name and arguments, without comments and continued lines."""
    lines = [
        line
        for line in (ROOT / "Dockerfile").read_text().splitlines()
        if not line.startswith("#") and line
    ]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    pairs = (line.partition(" ") for line in whole.splitlines())
    return [(name, rest.strip()) for name, _, rest in pairs]


def arguments(name: str) -> str:
    (found,) = [rest for each, rest in instructions() if each == name]
    return found


def test_what_the_image_copies_is_there_and_sent_to_its_builder() -> None:
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    assert sent[0] == "*"
    for name, rest in instructions():
        if name == "COPY":
            *sources, _ = rest.split()
            for source in sources:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in sent


def test_the_image_runs_as_nobody_special_and_names_no_registry() -> None:
    assert re.fullmatch(r"python:3\.\d+-slim", arguments("FROM"))
    order = [name for name, _ in instructions()]
    assert arguments("USER") == "roost"
    assert order.index("USER") > max(n for n, name in enumerate(order) if name in ("RUN", "COPY"))


@contextmanager
def served(command: list[str], environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    """A server until the end of the block; it answers when that begins."""
    log = folder / "served.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    try:
        wait_until(lambda: process.poll() is not None or "\nroost ready" in log.read_text())
        assert process.poll() is None, log.read_text()
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def test_the_images_command_and_its_health_check(tmp_path: Path) -> None:
    settings = dict(each.split("=", 1) for each in shlex.split(arguments("ENV")))
    state = settings.pop("ROOST_STATE")
    assert state in arguments("VOLUME")
    environment = {**os.environ, **settings, "ROOST_STATE": str(tmp_path / "state")}
    environment["PATH"] = f"{BIN}:{os.environ['PATH']}"

    (program,) = json.loads(arguments("ENTRYPOINT"))
    ports = {port: str(free_tcp_port()) for port in arguments("EXPOSE").split()}
    command = [
        ADDRESS.sub(lambda found: f"127.0.0.1:{ports[found[2]]}", each).replace(
            "/opt/roost", str(ROOT)
        )
        for each in [str(BIN / program), *json.loads(arguments("CMD"))]
    ]
    check = json.loads(arguments("HEALTHCHECK").partition("CMD ")[2])
    check = [ADDRESS.sub(lambda found: f"127.0.0.1:{ports[found[2]]}", each) for each in check]
    assert subprocess.run(check, env=environment, capture_output=True, check=False).returncode != 0
    try:
        with served(command, environment, tmp_path):
            subprocess.run(check, env=environment, check=True, timeout=60)
            url = f"http://127.0.0.1:{ports['8081']}/v4/linode/types/g6-nanode-1"
            with urllib.request.urlopen(url) as answer:
                assert json.load(answer)["id"] == "g6-nanode-1"
    finally:
        end_all(tmp_path / "state")


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """The job of the example, with a checkout of Roost in its place, and ports that are free."""
    text = (ROOT / "examples/github-actions/roost.yml").read_text()
    job: Job = yaml.safe_load(text)["jobs"]["tests"]
    job["env"] = {
        name: ADDRESS.sub(lambda _: f"127.0.0.1:{free_tcp_port()}", value).replace(
            "${{ github.workspace }}", str(tmp_path)
        )
        for name, value in job["env"].items()
    }
    (tmp_path / "roost").symlink_to(ROOT)
    yield job
    ran("down", "--state", job["env"]["ROOST_STATE"])


@pytest.mark.e2e
def test_the_steps_of_the_job(job: Job, tmp_path: Path) -> None:
    kept = tmp_path / "kept.env"
    kept.touch()
    steps = {step["name"]: step["run"] for step in job["steps"] if "run" in step}

    def do(name: str) -> str:
        variables = dict(line.split("=", 1) for line in kept.read_text().splitlines())
        done = subprocess.run(
            ["bash", "-e", "-c", steps[name]],
            cwd=tmp_path,
            env={
                **os.environ,
                **job["env"],
                **variables,
                "PATH": f"{BIN}:{os.environ['PATH']}",
                "GITHUB_ENV": str(kept),
            },
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
            check=True,
        )
        return done.stdout

    do("Start Roost")
    assert json.loads(do("Test"))["image"] == "linode/debian12"
    assert json.loads(do("Reset"))["offset_seconds"] == 0
    assert "roost ready" in do("Show the log")
