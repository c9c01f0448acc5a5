"""Letters to the operator from real processes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from roost.engines.webhook.sender import DELIVERY, SIGNATURE, sign
from tests.cli.process import Server, ran, roost, wait_until

SECRET = b"a secret of more than sixteen bytes"


class Receiver(ThreadingHTTPServer):
    """Refuses what comes until it is `open`; knows the ids of all that came."""

    open = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.refused: list[str] = []
        self.taken: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = self.headers[SIGNATURE] == sign(SECRET, body)
        taken = self.server.open and signed
        (self.server.taken if taken else self.server.refused).append(self.headers[DELIVERY])
        self.send_response(200 if taken else 503)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def served(state: Path) -> Iterator[Server]:
    server = Server.start(state, "--lab")
    try:
        yield server
    finally:
        server.end()


def wait_a_virtual_while(server: Server, letters: list[str]) -> None:
    """Until one came; a minute of the server's clock passes with each look."""

    def came() -> bool:
        ran("clock", "advance", "1m", "--url", server.url, "--state", server.state)
        return bool(letters)

    wait_until(came)


def test_a_letter_outlives_the_process(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused, the server is killed, and the next one hands it over under the same id."""
    state, secret = tmp_path / "state", tmp_path / "secret"
    secret.write_bytes(SECRET)
    port = receiver.server_address[1]
    monkeypatch.setenv("ROOST_OPERATOR_WEBHOOK", f"http://127.0.0.1:{port}/hook-4711")
    monkeypatch.setenv("ROOST_OPERATOR_WEBHOOK_SECRET_FILE", str(secret))
    monkeypatch.setenv("ROOST_SMTP_URL", "smtp://127.0.0.1:1")
    monkeypatch.setenv("ROOST_MAIL_FROM", "roost@cloud.example.com")
    with served(state) as server:
        wait_a_virtual_while(server, receiver.refused)
    receiver.open = True
    with served(state) as server:
        wait_a_virtual_while(server, receiver.taken)
    assert receiver.taken[0] in receiver.refused
    log = server.log.read_text()
    assert "hook-4711" not in log
    assert SECRET.decode() not in log


def test_a_webhook_without_a_secret_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOST_OPERATOR_WEBHOOK", "https://example.com/hook-4711")
    done = roost("serve", "--state", tmp_path / "state", "--engines", "simulated")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "ROOST_OPERATOR_WEBHOOK needs ROOST_OPERATOR_WEBHOOK_SECRET_FILE" in last
    assert "hook-4711" not in done.stderr
