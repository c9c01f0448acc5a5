"""`roost ticket`: a ticket's whole life from both sides, with the emails that are received."""

import asyncio
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from roost.cli import main
from tests.cli.process import Json, Server, ran, wait_until
from tests.support.forms import FormPart, form
from tests.support.mail import SENDER, STAFF, MailServer, mail_server

TICKETS = "/support/tickets"
BODY = {"summary": "No \x1b[31mconnection", "description": "Since\r\nthis \x07morning."}


@pytest.fixture(scope="module")
def mails() -> Iterator[MailServer]:
    """A mail server with an event loop of its own."""
    started: list[MailServer] = []
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def keep() -> None:
        async with mail_server() as mails:
            started.append(mails)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(keep()))
    thread.start()
    assert ready.wait(30)
    yield started[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, mails: MailServer) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ROOST_SMTP_URL", f"smtp://127.0.0.1:{mails.port}")
        patched.setenv("ROOST_MAIL_FROM", SENDER)
        patched.setenv("ROOST_SUPPORT_ADDRESS", STAFF)
        patched.setenv("ROOST_RATE_LIMIT_SCALE", "0")
        server = Server.start(tmp_path_factory.mktemp("support") / "state")
    put(server, "/profile", {"email": "ada@example.com"})
    yield server
    server.end()


def put(server: Server, path: str, body: Json) -> Json:
    status, answer = server.send("PUT", path, body)
    assert status == 200, answer
    return answer


def post(server: Server, path: str, body: Json) -> Json:
    status, answer = server.send("POST", path, body)
    assert status == 200, answer
    return answer


def get(server: Server, path: str) -> Json:
    status, answer = server.send("GET", path)
    assert status == 200, answer
    return answer


def attach(server: Server, number: str, file: Path) -> None:
    content_type, data = form(FormPart(file.name, file.read_bytes()))
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": content_type}
    url = f"{server.url}/v4{TICKETS}/{number}/attachments"
    request = urllib.request.Request(url, data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.read() == b"{}"


def ended(*arguments: str | Path, given: bytes | None = None) -> Result:
    """A command within this process, as each process of its own takes a second to start."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=given)


def ticket(server: Server, command: str, *arguments: str | Path) -> str:
    done = ended("ticket", command, "--state", server.state, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


def refused(server: Server, command: str, *arguments: str | Path) -> str:
    done = ended("ticket", command, "--state", server.state, *arguments)
    assert done.exit_code in (1, 2)
    return done.stderr


def test_a_tickets_whole_life(server: Server, mails: MailServer) -> None:
    number = str(post(server, TICKETS, BODY)["id"])

    def told(address: str) -> list[str]:
        """What was written to them of this ticket; other tests may have run before."""
        texts = [email.get_content() for email in mails.to(address)]
        return [text for text in texts if f"ticket {number}:" in text]

    wait_until(lambda: len(told(STAFF)) == 1)
    row = next(line for line in ticket(server, "list").splitlines() if line.startswith(number))
    assert row.split()[2:4] == ["new", "support"]
    assert row.endswith("No \\x1b[31mconnection")

    ticket(server, "assign", number, "Mona")
    assert "  Mona  " in ticket(server, "list")
    assert ticket(server, "reply", number, "--text", "We look at it.", "--as", "Mona") == ""
    wait_until(lambda: len(told("ada@example.com")) == 1)
    assert "We look at it." in told("ada@example.com")[0]
    (reply,) = get(server, f"{TICKETS}/{number}/replies")["data"]
    assert (reply["created_by"], reply["from_staff"]) == ("Mona", True)
    assert get(server, f"{TICKETS}/{number}")["status"] == "open"

    post(server, f"{TICKETS}/{number}/replies", {"description": "Thank you."})
    wait_until(lambda: len(told(STAFF)) == 2)
    shown = ticket(server, "show", number).splitlines()
    assert shown[0] == f"ticket {number}: No \\x1b[31mconnection"
    assert shown[1].endswith(", open, support")
    assert "assigned to Mona" in shown
    assert "this \\x07morning." in shown
    assert any(line.endswith(" Mona (staff)") for line in shown)
    assert shown.index("We look at it.") < shown.index("Thank you.")

    ticket(server, "close", number, "--as", "Mona")
    closed = get(server, f"{TICKETS}/{number}")
    assert (closed["status"], closed["updated_by"]) == ("closed", "Mona")
    assert number not in ticket(server, "list")
    assert number in ticket(server, "list", "--closed")
    for command in (("reply", number, "--text", "x"), ("close", number), ("assign", number)):
        assert f"ticket {number} is closed" in refused(server, *command)


def test_attachments_are_fetched(server: Server, tmp_path: Path) -> None:
    number = str(post(server, TICKETS, BODY)["id"])
    file = tmp_path / "log.txt"
    file.write_bytes(b"line 1\n")
    attach(server, number, file)
    line = next(row for row in ticket(server, "show", number).splitlines() if "log.txt" in row)
    assert line.endswith(": log.txt (7 bytes)")
    attachment = line.split()[1].rstrip(":")
    copy = tmp_path / "copy.txt"
    ticket(server, "fetch", attachment, copy)
    assert copy.read_bytes() == b"line 1\n"
    assert "File exists" in refused(server, "fetch", attachment, copy)
    assert "there is no attachment 1" in refused(server, "fetch", "1", tmp_path / "other")
    assert ran("fsck", "--state", server.state) == "fsck: clean"


def test_a_ticket_of_staff(server: Server) -> None:
    account = ran("account", "list", "--state", server.state).splitlines()[1].split()[0]
    options = ("--summary", "A report", "--text", "Please look.", "--kind", "abuse")
    number = ticket(server, "open", account, *options, "--as", "Mona")
    seen = get(server, f"{TICKETS}/{number}")
    assert (seen["opened_by"], seen["summary"], seen["closable"]) == ("Mona", "A report", False)
    types = [row["type"] for row in get(server, "/account/notifications")["data"]]
    assert "ticket_abuse" in types
    assert "there is no account 5" in refused(server, "open", "5", *options)
    long = ("--summary", "A report", "--text", "x" * 65001)
    assert "Length must be 1-65000 characters" in refused(server, "open", account, *long)


def test_texts_from_standard_input(server: Server) -> None:
    number = str(post(server, TICKETS, BODY)["id"])
    for given, message in (
        (b"\xff", "the text is not UTF-8"),
        (b"a\0b", "the text holds a NUL character"),
        (b"", "Length must be 1-65535 characters"),
    ):
        done = ended("ticket", "reply", "--state", server.state, number, given=given)
        assert done.exit_code == 1
        assert message in done.stderr
    text = "\U0001f600 caf\u00e9\n"
    done = ended("ticket", "reply", "--state", server.state, number, given=text.encode())
    assert (done.exit_code, done.output) == (0, "")
    (reply,) = get(server, f"{TICKETS}/{number}/replies")["data"]
    assert (reply["description"], reply["created_by"]) == (text, "support")


@pytest.mark.parametrize("command", ["show", "reply", "close", "assign"])
def test_what_does_not_exist(server: Server, command: str) -> None:
    text = ("--text", "x") if command == "reply" else ()
    assert "there is no ticket 1" in refused(server, command, "1", *text)
    assert "is not in the range" in refused(server, command, str(2**63), *text)
