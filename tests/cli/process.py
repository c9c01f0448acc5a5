"""The `roost` command as an operator runs it: real processes with a state of their own."""

import asyncio
import json
import os
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from roost.app.down import take_down
from roost.cli.options import read_served_settings
from roost.errors import OperatorError

Json = Any  # An answer as json.loads gives it.

ROOST = Path(sys.executable).with_name("roost")
_SECONDS = 120
"""For a busy host."""


def _environment() -> dict[str, str]:
    """This process's own, but nothing takes time that is simulated."""
    return {"ROOST_SIMULATED_LATENCY": "0", **os.environ}


def roost(*arguments: str | Path, program: Path = ROOST) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [program, *arguments],
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def ran(*arguments: str | Path) -> str:
    """What a command prints that must succeed."""
    done = roost(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def end_all(state: Path) -> None:
    """What `roost down` does, whether it can or not, by this process: it has imported all that
    another one would begin with, and the end of a test proves nothing."""

    def work() -> None:
        with suppress(click.ClickException, OperatorError):
            asyncio.run(take_down(read_served_settings(state=state), lambda _: None))

    with ThreadPoolExecutor(1) as thread:  # Which has no event loop yet.
        thread.submit(work).result(_SECONDS)


def wait_until(condition: Callable[[], bool]) -> None:
    """Asks ever more rarely: what takes minutes stays below the limits of requests."""
    deadline, pause = time.monotonic() + _SECONDS, 0.02
    while not condition():
        assert time.monotonic() < deadline, "it does not come true"
        time.sleep(pause)
        pause = min(pause * 1.1, 0.2)


def _log(state: Path) -> Path:
    return state.with_suffix(".log")


@dataclass(frozen=True, slots=True)
class Server:
    """`roost serve` with simulated engines."""

    state: Path
    process: subprocess.Popen[str]
    url: str
    greeting: str
    """What it said before it was ready."""
    program: Path = ROOST

    @classmethod
    def start(
        cls,
        state: Path,
        *options: str | Path,
        program: Path = ROOST,
        folder: Path | None = None,
        **environment: str,
    ) -> "Server":
        """Returns when it accepts requests. It is started in `folder`."""
        common = ("--engines", "simulated", "--listen", "127.0.0.1:0")
        log = _log(state)
        with log.open("a") as errors:
            process = subprocess.Popen(
                [program, "serve", "--state", state, *common, *options],
                env=_environment() | environment,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            if line.startswith("roost ready "):
                return cls(state, process, line.split()[2], said, program)
            said += line
        raise AssertionError(f"the server ended with {process.wait()}:\n{log.read_text()}")

    @property
    def log(self) -> Path:
        return _log(self.state)

    @property
    def token(self) -> str:
        return (self.state / "admin.token").read_text().strip()

    def end(self) -> None:
        """Whatever became of it; nothing of the state runs afterwards."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        if self.program == ROOST:
            end_all(self.state)
        else:
            roost("down", "--state", self.state, program=self.program)

    def send(
        self, method: str, path: str, body: Json = None, token: str | None = None
    ) -> tuple[int, Json]:
        """Status and answer; as the user admin unless another token is given."""
        request = urllib.request.Request(
            f"{self.url}/v4{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {token or self.token}",
                "Content-Type": "application/json",
            },
        )
        trust = ssl.create_default_context() if self.url.startswith("https:") else None
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS, context=trust) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def instance(self, **more: object) -> int:
        """A new instance that runs."""
        body = {"type": "g1-nano-1", "region": "us-lake", "image": "roost/debian12"}
        secret = {"root_pass": "correct-Horse7battery"}
        status, row = self.send("POST", "/compute/instances", body | secret | more)
        assert status == 200, row
        compute_id: int = row["id"]
        wait_until(lambda: self.status(compute_id) == "running")
        return compute_id

    def status(self, compute_id: int) -> str:
        status: str = self.send("GET", f"/compute/instances/{compute_id}")[1]["status"]
        return status
