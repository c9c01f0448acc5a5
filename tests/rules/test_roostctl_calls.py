"""The tenants' command line against servers that are busy, broken or strange."""

import errno
import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from roost.commands import find_command
from roost.ctl import profiles
from roost.ctl.client import Request
from roost.ctl.confirming import confirm
from roost.ctl.errors import CommandError
from roost.ctl.following import follow
from roost.ctl.main import main
from roost.ctl.profiles import Profile
from roost.ctl.renewal import login_of
from roost.web.headers import REVISION

Answer = tuple[int, Mapping[str, str], object]
EVENTS = "/v4/account/events"
CREATE = ("volumes", "create", "--label", "data", "--region", "us-lake")


@dataclass
class Script:
    """What a server answers to each method and path, one after another; the last one stays."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)
    url: str = ""

    def answer(self, what: str) -> Answer:
        left = self.answers[what]
        return left.pop(0) if len(left) > 1 else left[0]

    def asked_for(self, what: str) -> list[Mapping[str, str]]:
        return [headers for name, headers, _ in self.asked if name == what]

    def run(self, *words: str, token: str = "t0k3n") -> Result:
        return CliRunner().invoke(main, words, env={"ROOST_URL": self.url, "ROOST_TOKEN": token})


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Pauses between attempts take no time."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            what = f"{self.command} {self.path.partition('?')[0]}"
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            script.asked.append((what, dict(self.headers), body))
            status, headers, value = script.answer(what)
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_DELETE = do_GET  # noqa: N815

        def log_message(self, *args: object) -> None:
            """Nothing."""

    monkeypatch.setattr("roost.ctl.client._PAUSES", (0, 0, 0))
    monkeypatch.setattr("roost.ctl.client._LONGEST_PAUSE", 0)
    monkeypatch.setattr("roost.ctl.following._PAUSES", (0, 0))
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        script.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield script
        server.shutdown()
        thread.join()


def refusal(status: int, reason: str, **headers: str) -> Answer:
    return status, headers, {"errors": [{"reason": reason, "field": "label"}]}


def page(*rows: Mapping[str, object]) -> Answer:
    return 200, {"ETag": '"1"'}, {"data": rows, "page": 1, "pages": 1, "results": len(rows)}


def test_a_post_is_sent_again_as_the_same(script: Script) -> None:
    busy, limited = refusal(503, "busy"), refusal(429, "slower", **{"Retry-After": "1"})
    script.answers["POST /v4/volumes"] = [busy, limited, (200, {}, {"id": 7})]
    done = script.run(*CREATE)
    assert (done.exit_code, done.output) == (0, "id  7\n")
    asked = script.asked_for("POST /v4/volumes")
    assert len(asked) == 3
    assert len({headers["Idempotency-Key"] for headers in asked}) == 1
    script.run(*CREATE)
    assert (
        script.asked_for("POST /v4/volumes")[-1]["Idempotency-Key"] != asked[0]["Idempotency-Key"]
    )


def test_every_call_names_the_revision_that_the_commands_are_of(script: Script) -> None:
    script.answers["GET /v4/volumes"] = [page()]
    assert script.run("volumes", "list").exit_code == 0
    (headers,) = script.asked_for("GET /v4/volumes")
    assert headers["Roost-Revision"] == REVISION


def test_a_delete_is_sent_once(script: Script) -> None:
    script.answers["DELETE /v4/volumes/7"] = [refusal(503, "busy")]
    done = script.run("volumes", "delete", "7", "--yes")
    assert done.exit_code == 5
    assert len(script.asked) == 1


def test_who_stays_busy_is_left(script: Script) -> None:
    script.answers["GET /v4/volumes"] = [refusal(503, "busy", **{"X-Request-Id": "abc"})]
    done = script.run("volumes", "list")
    assert done.exit_code == 5
    assert done.output == "Error: label: busy\nRequest: abc\n"
    assert len(script.asked) == 4


def test_nothing_is_followed_elsewhere(script: Script) -> None:
    script.answers["GET /v4/volumes"] = [(302, {"Location": "http://127.0.0.1:1/"}, {})]
    done = script.run("volumes", "list")
    assert (done.exit_code, done.output) == (1, "Error: the server answers 302\n")


@pytest.mark.parametrize("body", [b"<html>", [1, 2], b""])
def test_what_answers_something_else(script: Script, body: object) -> None:
    script.answers["GET /v4/volumes"] = [(200, {}, body)]
    done = script.run("volumes", "list", "--all")
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_texts_cannot_command_the_terminal(script: Script) -> None:
    script.answers["GET /v4/volumes/7"] = [refusal(400, "\x1b[2J")]
    assert script.run("volumes", "view", "7").output == "Error: label: \\x1b[2J\n"


def test_a_stream_goes_on_where_it_was(script: Script) -> None:
    told = {"created": "2026-11-27T20:00:00", "action": "tag_create", "status": "notification"}
    first = f"retry: 3000\nid: 7\ndata: {json.dumps(told)}\n\nid: 9\n\n".encode()
    ended = refusal(401, "Invalid Token")
    script.answers["GET /v4/events/stream"] = [(200, {}, first), (200, {}, b"id: 12\n\n"), ended]
    done = script.run("events", "stream")
    assert done.exit_code == 3
    assert done.output.startswith("2026-11-27T20:00:00 tag_create notification\n")
    asked = script.asked_for("GET /v4/events/stream")
    assert [headers.get("Last-Event-ID") for headers in asked] == [None, "9", "12"]


def test_a_stream_ends_where_nobody_reads_it(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def echo(*args: object, **more: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    told = b'id: 7\ndata: {"created": "", "action": "tag_create", "status": "notification"}\n\n'
    ended = refusal(401, "Invalid Token")
    script.answers["GET /v4/events/stream"] = [(200, {}, told), ended]
    monkeypatch.setattr("roost.ctl.following.click.echo", echo)
    assert script.run("events", "stream").exit_code == 1
    assert len(script.asked) == 1


def test_what_a_break_has_cut_comes_again(script: Script) -> None:
    cut = b'id: 7\ndata: {"action": "one"}\n\nid: 8\ndata: {"action'
    ended = refusal(401, "Invalid Token")
    script.answers["GET /v4/events/stream"] = [(200, {}, cut), ended]
    assert script.run("events", "stream").exit_code == 3
    asked = script.asked_for("GET /v4/events/stream")
    assert [headers.get("Last-Event-ID") for headers in asked] == [None, "7"]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_stream_whose_past_is_not_known_goes_on(script: Script, options: Sequence[str]) -> None:
    told = b'id: 9\nevent: reset\ndata: {}\n\nid: 10\ndata: {"action": "\xc2\x9b2J"}\n\n'
    script.answers["GET /v4/events/stream"] = [(200, {}, told)]
    done = script.run("events", "stream", "--seconds", "0", *options)
    assert done.exit_code == 0
    assert "read the list anew" in done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert done.stdout.isascii()


def test_each_attempt_is_made_with_a_token_that_is_good_then(script: Script) -> None:
    script.answers["GET /v4/events/stream"] = [(200, {}, b"id: 7\n\n"), refusal(401, "Ended")]
    tokens = iter(("first", "second"))
    with pytest.raises(CommandError):
        follow(
            lambda: Profile(script.url, next(tokens)),
            Request("GET", "/v4/events/stream"),
            as_json=False,
            endless=True,
        )
    asked = script.asked_for("GET /v4/events/stream")
    assert [headers["Authorization"] for headers in asked] == ["Bearer first", "Bearer second"]


def test_a_login_is_renewed_while_a_command_runs(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("ROOST_URL", "ROOST_TOKEN", "ROOST_CA", "ROOST_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    given = {"access_token": "new", "refresh_token": "r2", "expires_in": 7200}
    script.answers["POST /oauth/token"] = [(200, {}, given)]
    kept = Profile(script.url, "old", client_id="c", refresh_token="r1", expires=2**40)
    profiles.keep("home", kept)
    login = login_of(None)
    assert login().token == "old"
    profiles.keep("home", replace(kept, expires=0))
    profiles.keep("work", Profile("https://work.example", "other"))
    assert login().token == "new"
    assert login().token == "new"
    assert len(script.asked) == 1


def test_who_logs_out_of_a_server_that_is_gone_is_logged_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with socket.socket() as deaf:  # Nobody listens there, and nobody else gets the port.
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        profiles.keep("home", Profile(url, "t", refresh_token="r"))
        done = CliRunner().invoke(main, ["auth", "logout", "--profile", "home"])
    assert done.exit_code == 5
    assert "until it is ended" in done.output
    assert profiles.read().by_name == {}


def test_who_is_trusted_is_kept(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("token", "ca.pem"):
        (tmp_path / name).write_text("t0k3n")
    monkeypatch.setenv("ROOST_CA", str(tmp_path / "ca.pem"))
    script.answers["GET /v4/profile"] = [(200, {}, {"username": "ada"})]
    words = ("auth", "login", "--url", script.url, "--token", f"@{tmp_path / 'token'}")
    assert CliRunner().invoke(main, words).exit_code == 0
    assert profiles.read().by_name["default"].ca == str((tmp_path / "ca.pem").resolve())


def test_nobody_confirms_without_any_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    command = find_command("volumes delete")
    assert command is not None
    with pytest.raises(CommandError, match="--yes"):
        confirm(Profile("http://127.0.0.1:1", "t"), command, {"volumeId": "7"})


def test_a_file_that_was_cut_off_is_not_there(script: Script, tmp_path: Path) -> None:
    cut = {"Content-Length": "100"}
    script.answers["GET /v4/account/invoices/7/pdf"] = [(200, cut, b"half")]
    done = script.run("invoices", "view-pdf", "7", "--output", str(tmp_path / "7.pdf"))
    assert done.exit_code == 5
    assert list(tmp_path.iterdir()) == []


def test_tokens_that_are_none_are_shown_nowhere(script: Script) -> None:
    script.answers["GET /v4/volumes"] = [page()]
    for token in ("s3cret\nX-Y: z", "s3cr\u20act"):
        done = script.run("volumes", "list", token=token)
        assert (done.exit_code, "s3cr" in done.output) == (3, False)
        assert isinstance(done.exception, SystemExit)
    assert script.asked == []
    assert script.run("volumes", "list", token="t0k3n\n").exit_code == 0


def test_a_stream_of_some_seconds_ends(script: Script) -> None:
    script.answers["GET /v4/events/stream"] = [(200, {}, b"id: 7\n\n")]
    assert script.run("events", "stream", "--seconds", "0").exit_code == 0
    assert len(script.asked) == 1


def test_a_server_that_ends_each_stream_is_left(script: Script) -> None:
    script.answers["GET /v4/events/stream"] = [refusal(503, "busy")]
    assert script.run("events", "stream").exit_code == 5


def event(number: int, status: str, **more: object) -> Mapping[str, object]:
    entity = {"type": "volume", "id": 7}
    both = {"id": number, "action": "volume_create", "status": status, "entity": entity}
    return {**both, "percent_complete": 20, "message": "", **more}


def waited(script: Script, *events: Sequence[Mapping[str, object]]) -> Result:
    """What a write with --wait ends with, where the newest event before was the fourth."""
    looks = [page(*each) for each in events]
    script.answers[f"GET {EVENTS}"] = [page(event(4, "failed")), *looks]
    script.answers["POST /v4/volumes"] = [(200, {}, {"id": 7, "status": "creating"})]
    script.answers["GET /v4/volumes/7"] = [(200, {}, {"id": 7, "status": "active"})]
    return script.run(*CREATE, "--wait")


def test_waits_until_its_events_have_ended(script: Script) -> None:
    other = event(6, "failed", entity={"type": "volume", "id": 8})
    steps = [[event(5, "scheduled"), other], [event(5, "started")], [event(5, "finished")]]
    done = waited(script, *steps)
    assert (done.exit_code, done.output) == (0, "id      7\nstatus  active\n")
    looks = script.asked_for(f"GET {EVENTS}")
    assert len(looks) == 4
    assert all('"+gt": 4' in headers["X-Filter"] for headers in looks[1:])
    assert [headers.get("If-None-Match") for headers in looks[1:]] == [None, '"1"', '"1"']


def test_waits_for_what_has_a_slash_in_its_id(script: Script) -> None:
    entity, told = {"type": "image", "id": "private/7"}, {"action": "disk_imagize"}
    steps = [
        event(5, "started", entity=entity, **told),
        event(5, "finished", entity=entity, **told),
    ]
    script.answers[f"GET {EVENTS}"] = [page(), *(page(each) for each in steps)]
    script.answers["POST /v4/images"] = [(200, {}, {"id": "private/7", "status": "creating"})]
    script.answers["GET /v4/images/private/7"] = [(200, {}, {"status": "available"})]
    done = script.run("images", "create", "--disk-id", "3", "--wait")
    assert (done.exit_code, done.output) == (0, "status  available\n")
    assert len(script.asked_for(f"GET {EVENTS}")) == 3


def test_what_fails_later_has_a_code(script: Script) -> None:
    done = waited(script, [event(5, "failed", message="No room")])
    assert (done.exit_code, done.output) == (6, "Error: volume_create failed: No room\n")


def test_what_fails_where_nothing_is_said(script: Script) -> None:
    done = waited(script, [])
    assert done.exit_code == 0
