"""A server for tests: a process with simulated engines, a lab, and a state that ends with it."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TypeAlias

from roost.testing.process import Process, Program, RoostServerError

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_QUICK = {
    "ROOST_SIMULATED_LATENCY": "0",
    "ROOST_RATE_LIMIT_SCALE": "0",
    "ROOST_DNS_ENGINE": "simulated",
    "ROOST_OBJECTS_ENGINE": "simulated",
}
"""Nothing takes time, nothing is limited, and all can be reset."""


class RoostServer:
    """`with RoostServer() as cloud:` is a Roost of one's own on a free port of 127.0.0.1.

    It takes a second or two to start. Use it for many tests, with `reset` between them.
    """

    def __init__(
        self,
        *arguments: str | Path,
        catalog: str | Path | None = None,
        dialects: Sequence[str] = (),
        tls: bool = False,
        environment: Mapping[str, str] | None = None,
        seconds: float = 60,
    ) -> None:
        """Nothing is started yet.

        `arguments` are more of `roost serve`. `dialects` are other clouds in whose words it listens
        too, such as `linode`. With `tls` all listeners speak https, and clients trust `authority`.
        `environment` holds settings (`ROOST_…`), in place of those for tests; this process's own do
        not reach the server. `seconds` are what a start and a request may take.
        """
        self._arguments = [str(argument) for argument in arguments]
        if catalog is not None:
            self._arguments += ["--catalog", str(catalog)]
        for dialect in dialects:
            self._arguments += ["--dialect", f"{dialect}=127.0.0.1:0"]
        self._tls = tls
        self._environment = {**_QUICK, **(environment or {})}
        self._seconds = seconds
        self._folder: TemporaryDirectory[str] | None = None
        self._program: Program | None = None
        self._process: Process | None = None
        self._opener = _direct()

    def __enter__(self) -> "RoostServer":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when it answers; raises RoostServerError with its output when it does not."""
        self._folder = TemporaryDirectory(prefix="roost-", ignore_cleanup_errors=True)
        self._program = Program(Path(self._folder.name), self._environment, self._seconds)
        try:
            self._start(self._program)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End it and all that it has started, and delete its state."""
        process, folder = self._process, self._folder
        self._process = self._program = self._folder = None
        try:
            if process is not None:
                process.end()
        finally:
            if folder is not None:
                folder.cleanup()

    @property
    def url(self) -> str:
        """The URL of the API, without a path: `http://127.0.0.1:40123`."""
        return self._running[1].url

    @property
    def dialects(self) -> Mapping[str, str]:
        """The URLs of the listeners in other clouds' words, by their names."""
        return self._running[1].dialects

    @property
    def token(self) -> str:
        """The token of the user `admin`, who may do everything."""
        return (self._running[0].state / "admin.token").read_text().strip()

    @property
    def first_login(self) -> str:
        """The link by which that user chooses a password for the web console, once."""
        return (self._running[0].state / "admin.login").read_text().strip()

    @property
    def authority(self) -> Path:
        """PEM file for clients of a server with `tls`."""
        return self._running[0].state / "tls" / "ca.pem"

    @property
    def output(self) -> str:
        """What the server has written, its log too."""
        return self._running[0].output

    def reset(self) -> None:
        """Back to the beginning: only users, tokens and OAuth clients stay, and time is real."""
        self.call("POST", "/lab/reset")

    def advance(self, time: timedelta | float) -> None:
        """Move its clock forwards, by seconds; what becomes due happens at once."""
        seconds = time.total_seconds() if isinstance(time, timedelta) else time
        self.call("PUT", "/lab/clock", {"advance": seconds})

    def call(self, method: str, path: str, body: Json = None) -> Json:
        """The answer to a request as the user `admin`, such as `call("GET", "/v4/regions")`.

        Raises RoostServerError with status and answer when it is refused.
        """
        request = urllib.request.Request(  # noqa: S310  (the server's own URL)
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with self._opener.open(request, timeout=self._seconds) as response:
                answer: Json = json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode("utf-8", "replace")
            raise RoostServerError(f"{method} {path}: {error.code} {said}") from None
        return answer

    @property
    def _running(self) -> tuple[Program, Process]:
        if self._program is None or self._process is None:
            raise RoostServerError("the server does not run")
        return self._program, self._process

    def _start(self, program: Program) -> None:
        arguments = [*self._arguments, "--listen", "127.0.0.1:0", "--engines", "simulated", "--lab"]
        if self._tls:
            program.run("tls")
            folder = program.state / "tls"
            arguments += ["--tls-cert", str(folder / "certificate.pem")]
            arguments += ["--tls-key", str(folder / "key.pem")]
            self._opener = _direct(ssl.create_default_context(cafile=folder / "ca.pem"))
        self._process = program.serve(*arguments)
        self._process.wait_until_ready()
        self.call("GET", "/healthz")


def _direct(trusting: ssl.SSLContext | None = None) -> urllib.request.OpenerDirector:
    """What reaches a server of this machine, whichever proxies are for others."""
    https = urllib.request.HTTPSHandler(context=trusting)
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), https)
