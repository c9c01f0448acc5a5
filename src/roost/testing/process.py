"""`roost` as a process: started with an environment of its own, ended by its id."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

_ROOST = (sys.executable, "-m", "roost")
_READY = re.compile(r"^roost ready (\S+)$", re.MULTILINE)
_DIALECT = re.compile(r"^([a-z0-9-]+): (https?://\S+)$", re.MULTILINE)
_POLL_SECONDS = 0.02
_END_SECONDS = 60
"""That a server has to end, and each other command: one that is cut short leaves things behind."""
_SHOWN = 8000
"""Characters of the output in an error, the last."""


class RoostServerError(Exception):
    """The server does not start, or refuses; the text has what it said."""


class Program:
    """The commands for one state."""

    def __init__(self, folder: Path, environment: Mapping[str, str], seconds: float) -> None:
        """The state is in the folder, and so is what the server writes. The environment adds to
        this process's own, whose settings of another Roost and its database are left out."""
        self.state = folder / "state"
        self.seconds = seconds
        self._said, self._log = folder / "said", folder / "log"
        own = {k: v for k, v in os.environ.items() if not k.startswith("ROOST_")}
        own.pop("DATABASE_URL", None)
        self._environment = {**own, **environment}

    @property
    def said(self) -> str:
        return _text(self._said)

    @property
    def output(self) -> str:
        """What the server said, and its log."""
        return self.said + _text(self._log)

    def run(self, command: str) -> None:
        """To its end; RoostServerError with what it wrote when it fails."""
        done = subprocess.run(  # noqa: S603
            [*_ROOST, command, "--state", self.state],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_END_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise RoostServerError(f"roost {command} ended with {done.returncode}:\n{done.stdout}")

    def serve(self, *arguments: str) -> "Process":
        with self._said.open("wb") as said, self._log.open("wb") as log:
            process = subprocess.Popen(  # noqa: S603
                [*_ROOST, "serve", "--state", self.state, *arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=log,
            )
        return Process(self, process)


class Process:
    """A server that runs, or has ended by itself."""

    def __init__(self, program: Program, process: subprocess.Popen[bytes]) -> None:
        self._program = program
        self._process = process
        self.url = ""
        self.dialects: Mapping[str, str] = {}

    def wait_until_ready(self) -> None:
        """Raises RoostServerError with its output when it ends instead, or takes too long."""
        deadline = time.monotonic() + self._program.seconds
        while (ready := _READY.search(self._program.said)) is None:
            if self._process.poll() is not None:
                raise self._error(f"ended with {self._process.returncode}")
            if time.monotonic() > deadline:
                raise self._error(f"is not ready after {self._program.seconds:g} seconds")
            time.sleep(_POLL_SECONDS)
        self.url = ready[1]
        self.dialects = dict(_DIALECT.findall(self._program.said))

    def end(self) -> None:
        """Nothing of the state runs afterwards."""
        self._process.terminate()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if (self._program.state / "postgres").exists():
            self._program.run("down")

    def _error(self, what: str) -> RoostServerError:
        return RoostServerError(f"the server {what}:\n{self._program.output[-_SHOWN:]}")


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
