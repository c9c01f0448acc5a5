"""Emails about tickets: nothing that a user writes gets into a header, or out of the text."""

from dataclasses import replace
from datetime import datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP, default

import pytest

from roost.app.table import escape, line
from roost.resources.support.engine import Mail
from roost.resources.support.jobs import Message, compose
from roost.resources.support.queries import Reply, Ticket
from roost.resources.users.rules import gravatar_id

NOW = datetime(2030, 1, 31, 12, 0, 5, 999)
HEADERS = {
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
}


POST = Mail("support@cloud.example.com", None, "https://cloud.example.com")


def ticket(summary: str = "No connection", description: str = "Help.") -> Ticket:
    return Ticket(
        id=100_001,
        account_id=100_000,
        kind="support",
        status="new",
        summary=summary,
        description=description,
        entity=None,
        region=None,
        opened=NOW,
        opened_by="ada",
        opener_id=1,
        closable=True,
        updated=NOW,
        updated_by=None,
        closed=None,
        assignee=None,
    )


def received(message: Message, address: str = "ada@example.com") -> EmailMessage:
    """After the journey."""
    sent = compose(POST, message, address).as_bytes(policy=SMTP)
    email = message_from_bytes(sent, policy=default)
    assert isinstance(email, EmailMessage)
    return email


def text_of(email: EmailMessage) -> str:
    return str(email.get_content()).replace("\r\n", "\n")


def test_a_new_ticket_for_staff() -> None:
    email = received(Message(ticket(), None, True, NOW), "help@cloud.example.com")
    assert set(email) == HEADERS
    assert email["From"] == "support@cloud.example.com"
    assert email["To"] == "help@cloud.example.com"
    assert email["Subject"] == "[Ticket 100001] No connection"
    assert email["Date"] == "Thu, 31 Jan 2030 12:00:05 +0000"
    assert email["Message-ID"] == "<ticket-100001.20300131120005.staff@cloud.example.com>"
    assert email["Auto-Submitted"] == "auto-generated"
    assert text_of(email) == (
        "ada opened ticket 100001: No connection\n\nHelp.\n\n-- \nAccount 100000\n"
        "https://cloud.example.com/v4/support/tickets/100001\n"
    )


def test_a_reply_for_the_user() -> None:
    reply = Reply(100_007, NOW.replace(hour=13), "Mona", "We look at it.", True)
    email = received(Message(ticket(), reply, False, NOW))
    assert email["Message-ID"] == "<reply-100007.20300131130005.user@cloud.example.com>"
    thread = "<ticket-100001.20300131120005.user@cloud.example.com>"
    assert email["References"] == email["In-Reply-To"] == thread
    assert text_of(email) == (
        "Mona replied to ticket 100001: No connection\n\nWe look at it.\n\n-- \n"
        "https://cloud.example.com/v4/support/tickets/100001\n"
    )


def test_no_link_that_leads_nowhere() -> None:
    post = replace(POST, url=None)
    email = compose(post, Message(ticket(), None, True, NOW), "ada@example.com")
    assert text_of(email).endswith("\n\nHelp.\n\n-- \nAccount 100000\n")


@pytest.mark.parametrize(
    ("summary", "subject"),
    [
        ("x\r\nBcc: all@example.com", "x Bcc: all@example.com"),
        ("x\nBcc: y\n\nbody", "x Bcc: y body"),
        ("x\rBcc: y", "x Bcc: y"),
        ("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029x", "x"),
        ("a\x00\x1b[31mb", "a [31mb"),
        ("=?utf-8?q?x=0D=0ABcc=3A_y?=", "= ?utf-8?q?x=0D=0ABcc=3A_y?="),
        ("=?utf-8?b?eA0KQmNjOiB5?=", "= ?utf-8?b?eA0KQmNjOiB5?="),
        ("\u00dcber \U0001f600 \u05e9\u05dc", "\u00dcber \U0001f600 \u05e9\u05dc"),
        ("\U0001f600" * 64, "\U0001f600" * 64),
        ("word " * 12, ("word " * 12).strip()),
        (" ", ""),
    ],
)
def test_subjects(summary: str, subject: str) -> None:
    email = received(Message(ticket(summary), None, True, NOW))
    assert set(email) == HEADERS
    assert email["Subject"].split() == f"[Ticket 100001] {subject}".split()


@pytest.mark.parametrize(
    "text",
    [
        ".\r\n.\r\nQUIT\r\n",
        "From here on\n>From there",
        "x" * 65000,
        "\U0001f600" * 65000,
        "e\u0301\u200f\u202e\u2028\x0b\x0c\x85\x1b[31m\x01",
        "Content-Type: text/html\r\n\r\n<script>",
        "--===============\nboundary",
    ],
)
def test_texts_arrive(text: str) -> None:
    email = received(Message(ticket(description=text), None, False, NOW))
    assert set(email) == HEADERS
    assert email.get_content_type() == "text/plain"
    plain = text.replace("\r\n", "\n")
    assert f"\n\n{plain}\n\n-- \n" in text_of(email)
    assert all(len(row) <= 998 for row in email.as_bytes(policy=SMTP).split(b"\r\n"))


def test_the_same_letter_each_time() -> None:
    message = Message(ticket(), None, True, NOW)
    first, second = [compose(POST, message, "a@x.com").as_bytes() for _ in range(2)]
    assert first == second


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\r\nb\tc\n", "a\nb\tc\n"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("a\rb", "a\\rb"),
        ("\x9b31m\x85", "\\x9b31m\\x85"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("caf\u00e9 \U0001f600 \u05e9\u05dc", "caf\u00e9 \U0001f600 \u05e9\u05dc"),
    ],
)
def test_terminals_are_not_commanded(text: str, seen: str) -> None:
    assert escape(text) == seen
    assert "\n" not in line(text)


def test_gravatar_ids() -> None:
    known = "0bc83cb571cd1c50ba6f3e8a78ef1346"
    assert gravatar_id("MyEmailAddress@example.com ") == known
