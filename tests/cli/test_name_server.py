"""The name server of a state, as the commands start, keep and stop it."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import dns.message
import dns.query
import dns.rcode
import pytest

from roost.engines.listeners import Listener
from roost.engines.powerdns.backends import SqliteBackend
from roost.engines.powerdns.prerequisites import check
from tests.cli.process import Server, end_all, ran, wait_until
from tests.engines.dns_harness import own_listener

pytestmark = pytest.mark.powerdns


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    if reason := check(SqliteBackend()):
        pytest.skip(reason)
    state = tmp_path / "state"
    yield state
    if state.exists():
        end_all(state)


def _health(server: Server) -> str:
    try:
        with urllib.request.urlopen(f"{server.url}/healthz") as answer:
            detail: str = json.load(answer)["engines"]["all"]["dns"]
    except urllib.error.HTTPError:
        return "broken"
    return detail


def _answers(where: Listener) -> bool:
    query = dns.message.make_query("nothing.test.", "SOA")
    try:
        answer = dns.query.udp(query, where.host, port=where.port, timeout=0.3)
    except (OSError, dns.exception.Timeout):
        return False
    return answer.rcode() == dns.rcode.REFUSED


def test_the_name_server_outlives_the_server_but_not_down(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = own_listener()
    monkeypatch.setenv("ROOST_DNS_ENGINE", "powerdns")
    monkeypatch.setenv("ROOST_DNS_LISTEN", str(where))
    server = Server.start(state)
    wait_until(lambda: _health(server).startswith("PowerDNS "))
    wait_until(lambda: _answers(where))
    server.process.terminate()
    assert server.process.wait() == 0
    wait_until(lambda: _answers(where))
    pid = int((state / "powerdns" / "pid").read_text())
    again = Server.start(state)
    assert int((state / "powerdns" / "pid").read_text()) == pid
    monkeypatch.delenv("ROOST_DNS_ENGINE")
    monkeypatch.delenv("ROOST_DNS_LISTEN")
    assert "stopped the name server" in ran("down", "--state", state).splitlines()
    again.process.wait()
    wait_until(lambda: not _answers(where))


def test_fsck_leaves_no_name_server_behind_that_did_not_run(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = own_listener()
    monkeypatch.setenv("ROOST_DNS_ENGINE", "powerdns")
    monkeypatch.setenv("ROOST_DNS_LISTEN", str(where))
    server = Server.start(state)
    domain = {"domain": "example.org", "type": "master", "soa_email": "me@example.org"}
    assert server.send("POST", "/domains", domain)[0] == 200
    assert ran("fsck", "--state", state) == "fsck: clean"
    wait_until(lambda: _answers(where))
    ran("down", "--state", state)
    server.process.wait()
    for options in ((), ("--repair",)):
        assert ran("fsck", "--state", state, *options) == "fsck: clean"
        assert not _answers(where)
