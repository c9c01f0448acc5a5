"""Emails about tickets: who gets them, and that a dead mail server loses and delays nothing."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path

import aiohttp
import pytest

from roost.app.support import SupportSettingsError, bind_support, support_rules
from roost.core.planes import Binding, Engine
from roost.engines.attachments.bucket import AttachmentBucket
from roost.engines.attachments.folder import AttachmentFolder
from roost.engines.listeners import free_tcp_port
from roost.resources.support import service
from roost.resources.support.engine import SupportRules
from roost.settings import Settings
from tests.support.client import Client, Contract, Json, until
from tests.support.instances import made
from tests.support.mail import NEVER, SENDER, STAFF, MailServer, mail_server
from tests.support.server import RunningRoost, running_roost, simulated

TICKETS = "/support/tickets"
BODY: dict[str, Json] = {"summary": "No connection", "description": "Since this morning."}
ADA = "ada@example.com"


@pytest.fixture
def port() -> int:
    """Where nobody answers, until a test lets somebody."""
    return free_tcp_port()


@pytest.fixture
async def running(tmp_path: Path, database_url: str, port: int) -> AsyncIterator[RunningRoost]:
    settings = simulated(
        tmp_path,
        database_url,
        smtp_url=f"smtp://127.0.0.1:{port}",
        mail_from=SENDER,
        support_address=STAFF,
        public_url="https://cloud.example.com",
    )
    async with running_roost(settings) as running:
        yield running


@pytest.fixture
async def client(running: RunningRoost) -> AsyncIterator[Client]:
    """The user admin, with an address."""
    await running.roost.store.execute("update api_user set email = $1", ADA)
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield Client(session, contract, running.url).as_user(running.token)


async def answered(running: RunningRoost, ticket_id: int, text: str = "We look at it.") -> None:
    async with running.roost.store.transaction() as db:
        await service.reply_as_staff(db, running.roost.queue, ticket_id, text, "Mona")


async def emails(mails: MailServer, count: int) -> list[EmailMessage]:
    async def arrived() -> list[EmailMessage]:
        return list(mails.emails)

    return await until(arrived, lambda found: len(found) >= count)


async def jobs(running: RunningRoost) -> list[str]:
    rows = await running.roost.store.fetch(
        "select status from job where kind = 'ticket_mail' order by id"
    )
    return [row["status"] for row in rows]


async def test_a_whole_conversation(running: RunningRoost, client: Client, port: int) -> None:
    async with mail_server(port=port) as mails:
        ticket_id = (await client.post(TICKETS, BODY))["id"]
        await emails(mails, 1)
        await answered(running, ticket_id)
        await emails(mails, 2)
        await client.post(f"{TICKETS}/{ticket_id}/replies", {"description": "Thank you."})
        opened, reply, thanks = await emails(mails, 3)
    assert [email["To"] for email in (opened, reply, thanks)] == [STAFF, ADA, STAFF]
    assert {email["From"] for email in (opened, reply, thanks)} == {SENDER}
    assert {email["Subject"] for email in (opened, reply, thanks)} == {
        f"[Ticket {ticket_id}] No connection"
    }
    assert "admin opened ticket" in opened.get_content()
    assert "We look at it." in reply.get_content()
    assert f"https://cloud.example.com/v4/support/tickets/{ticket_id}" in reply.get_content()
    assert thanks["In-Reply-To"] == opened["Message-ID"]
    assert mails.envelopes == [(SENDER, [to]) for to in (STAFF, ADA, STAFF)]


async def test_a_dead_mail_server(running: RunningRoost, client: Client, port: int) -> None:
    begun = time.monotonic()
    ticket_id = (await client.post(TICKETS, BODY))["id"]
    await answered(running, ticket_id)
    assert time.monotonic() - begun < 30
    await until(lambda: jobs(running), lambda found: found == ["waiting", "waiting"])
    assert await client.get(f"{TICKETS}/{ticket_id}/replies")
    async with mail_server(port=port) as mails:
        await running.roost.store.execute(
            "update job set run_at = '-infinity' where kind = 'ticket_mail'"
        )
        found = await emails(mails, 2)
        await until(lambda: jobs(running), lambda found: found == ["done", "done"])
    assert {email["To"] for email in found} == {STAFF, ADA}


@asynccontextmanager
async def silent_server(port: int) -> AsyncIterator[None]:
    """Takes connections and never says a word."""
    done = asyncio.Event()

    async def listen(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", port)
    try:
        yield
    finally:
        done.set()
        server.close()


async def test_a_silent_mail_server_holds_up_no_other_jobs(
    running: RunningRoost, client: Client, port: int
) -> None:
    async with silent_server(port):
        ticket_id = (await client.post(TICKETS, BODY))["id"]
        for number in range(2 * running.roost.settings.job_slots):
            await answered(running, ticket_id, f"Still looking, {number}.")
        begun = time.monotonic()
        await made(client)
        assert time.monotonic() - begun < 10


async def test_an_address_that_does_not_exist(
    running: RunningRoost, client: Client, port: int
) -> None:
    await running.roost.store.execute("update api_user set email = $1", NEVER)
    async with mail_server(port=port) as mails:
        ticket_id = (await client.post(TICKETS, BODY))["id"]
        await answered(running, ticket_id)
        await until(lambda: jobs(running), lambda found: found == ["done", "failed"])
        assert [email["To"] for email in mails.emails] == [STAFF]
    error = await running.roost.store.fetchval("select error from job where status = 'failed'")
    assert error == "the mail server refused the email: 550 unknown"


async def test_an_address_that_no_letter_can_have(
    running: RunningRoost, client: Client, port: int
) -> None:
    await running.roost.store.execute("update api_user set email = '=?x?q?y?=@example.com'")
    async with mail_server(port=port) as mails:
        await answered(running, (await client.post(TICKETS, BODY))["id"])
        await until(lambda: jobs(running), lambda found: found == ["done", "failed"])
        assert [email["To"] for email in mails.emails] == [STAFF]


@pytest.mark.parametrize(
    "change", ["email = ''", "email_notifications = false", "restricted = true"]
)
async def test_users_who_get_no_emails(
    running: RunningRoost, client: Client, port: int, change: str
) -> None:
    """They want none, or may not look at the ticket any more."""
    async with mail_server(port=port) as mails:
        ticket_id = (await client.post(TICKETS, BODY))["id"]
        await running.roost.store.execute(f"update api_user set {change}")
        await answered(running, ticket_id)
        await until(lambda: jobs(running), lambda found: found == ["done", "done"])
        assert [email["To"] for email in mails.emails] == [STAFF]


async def test_a_ticket_of_staff_goes_to_the_account(
    running: RunningRoost, client: Client, port: int
) -> None:
    await running.roost.store.execute("update account set email = 'bills@example.com'")
    account_id = await running.roost.store.fetchval("select min(id) from account")
    async with mail_server(port=port) as mails:
        async with running.roost.store.transaction() as db:
            await service.open_for(
                db, running.roost.queue, account_id, "abuse", "A report", "Look.", "Mona", False
            )
        (email,) = await emails(mails, 1)
    assert email["To"] == "bills@example.com"
    assert "Mona opened ticket" in email.get_content()


async def test_without_a_mail_server_all_goes_on(tmp_path: Path, database_url: str) -> None:
    async with (
        running_roost(simulated(tmp_path, database_url)) as running,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {running.token}"}) as session,
        session.post(f"{running.url}/v4{TICKETS}", json=BODY) as answer,
    ):
        assert answer.status == 200
        await until(lambda: jobs(running), lambda found: found == ["done"])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"smtp_url": "smtp://mx"}, "ROOST_SMTP_URL needs ROOST_MAIL_FROM"),
        ({"smtp_url": "http://me:Secret@mx", "mail_from": SENDER}, "must be smtp://"),
        ({"smtp_url": "smtp://me:Secret@mx:x", "mail_from": SENDER}, "must be smtp://"),
    ],
)
def test_settings_that_do_not_fit(changes: Json, reason: str) -> None:
    with pytest.raises(SupportSettingsError, match=reason) as raised:
        support_of(Settings.model_validate(changes))
    assert "Secret" not in str(raised.value)


def test_settings() -> None:
    plain, [attachments] = support_of(Settings(state=Path("/nowhere")))
    assert isinstance(attachments.engine, AttachmentFolder)
    assert plain.mail is None
    both, [attachments, mailer] = support_of(
        Settings.model_validate(
            {
                "smtp_url": "smtps://me:Secret@mx",
                "mail_from": SENDER,
                "attachments_bucket": "files",
                "attachments_secret_key": "Secret",
            }
        )
    )
    assert isinstance(attachments.engine, AttachmentBucket)
    assert both.mail is not None
    assert both.mail.support is None
    assert mailer.why == "mx:465"
    assert "Secret" not in repr((both, attachments, mailer))


def support_of(settings: Settings) -> tuple[SupportRules, list[Binding[Engine]]]:
    return support_rules(settings), bind_support(settings)
