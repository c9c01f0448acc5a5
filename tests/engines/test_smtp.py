"""Emails over SMTP, with a real server."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from roost.core.engine import Health
from roost.engines.listeners import free_tcp_port
from roost.engines.smtp.mailer import SmtpMailer
from roost.resources.support.engine import MailError, MailRefusedError
from tests.support.certificates import make_certificate
from tests.support.mail import NEVER, NOT_NOW, SENDER, STAFF, mail_server

LOGIN = "me%40x:p%3Aw%2Fd"


def email(to: str = STAFF) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = SENDER, to, "\u00dcber \U0001f600"
    made.set_content("J\u00f6rg\n.\nsaid: a dot alone\n")
    return made


async def test_a_letter_arrives() -> None:
    async with mail_server() as mails:
        await SmtpMailer.of(f"smtp://127.0.0.1:{mails.port}").send(email())
    (found,) = mails.emails
    assert found["Subject"] == "\u00dcber \U0001f600"
    assert found.get_content().replace("\r\n", "\n") == "J\u00f6rg\n.\nsaid: a dot alone\n"
    assert mails.envelopes == [(SENDER, [STAFF])]


async def test_health() -> None:
    async with mail_server() as mails:
        mailer = SmtpMailer.of(f"smtp://127.0.0.1:{mails.port}")
        assert await mailer.health() == Health(True, "SMTP")
    found = await mailer.health()
    assert (found.ok, found.detail) == (False, "the mail server failed: SMTPConnectError")


@pytest.mark.parametrize(
    ("to", "busy", "error", "text"),
    [
        (NEVER, False, MailRefusedError, "550 unknown"),
        (NOT_NOW, False, MailError, "450 later"),
        (STAFF, True, MailError, "451 busy"),
    ],
)
async def test_refusals(to: str, busy: bool, error: type[Exception], text: str) -> None:
    async with mail_server() as mails:
        mails.busy = busy
        with pytest.raises(error, match=text):
            await SmtpMailer.of(f"smtp://127.0.0.1:{mails.port}").send(email(to))
        assert mails.emails == []


async def test_nobody_there() -> None:
    with pytest.raises(MailError, match="SMTPConnectError"):
        await SmtpMailer.of(f"smtp://127.0.0.1:{free_tcp_port()}").send(email())


@pytest.mark.parametrize("scheme", ["smtps", "smtp+starttls"])
async def test_encrypted_with_a_password(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, context = make_certificate(tmp_path)
    async with mail_server(context, starttls=scheme != "smtps") as mails:
        place = f"127.0.0.1:{mails.port}"
        with pytest.raises(MailError):  # Nobody vouches for the server.
            await SmtpMailer.of(f"{scheme}://{LOGIN}@{place}").send(email())
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with pytest.raises(MailError, match="SMTPAuthenticationError") as raised:
            await SmtpMailer.of(f"{scheme}://me%40x:no-Secret@{place}").send(email())
        assert "no-Secret" not in str(raised.value)
        assert mails.emails == []
        await SmtpMailer.of(f"{scheme}://{LOGIN}@{place}").send(email())
    assert len(mails.emails) == 1


async def test_a_server_that_does_not_offer_encryption_gets_no_email() -> None:
    async with mail_server() as mails:
        with pytest.raises(MailError):
            await SmtpMailer.of(f"smtp+starttls://127.0.0.1:{mails.port}").send(email())
    assert mails.emails == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://mx", ("mx", 25, False, False, None, None)),
        ("smtp+starttls://mx", ("mx", 587, False, True, None, None)),
        ("smtps://mx/", ("mx", 465, True, False, None, None)),
        ("smtp://[::1]:2525", ("::1", 2525, False, False, None, None)),
        (f"smtps://{LOGIN}@mx:1", ("mx", 1, True, False, "me@x", "p:w/d")),
    ],
)
def test_urls(url: str, expected: tuple[object, ...]) -> None:
    made = SmtpMailer.of(url)
    assert (
        made.host,
        made.port,
        made.tls,
        made.starttls,
        made.username,
        made.password,
    ) == expected
    assert "p:w/d" not in repr(made)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mx",
        "http://mx",
        "smtp://",
        "smtp://mx:port",
        "smtp://mx:99999",
        "smtp://mx/path",
        "smtps://me:25#word@mx",
        "smtps://me:25?word@mx",
    ],
)
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        SmtpMailer.of(url)
