"""Emails about tickets for the harness: to staff, and to the user who asked."""

import itertools
from dataclasses import dataclass
from functools import partial

from roost.core.account_queries import create_user
from roost.jobs import Environment
from roost.resources.support import queries
from roost.resources.support.jobs import SEND, MailArgs
from roost.resources.support.queries import NewReply, NewTicket
from tests.jobs.harness import Scenario
from tests.support.mail import STAFF, MailServer

_NUMBERS = itertools.count()


@dataclass(frozen=True)
class LetterCase:
    """An email may come twice after a crash, but then it is the same one."""

    mails: MailServer
    address: str
    message_id: str
    job_id: int

    async def check_done(self) -> None:
        assert self._found() == {self.message_id}

    async def check_failed(self) -> None:
        assert self._found() <= {self.message_id}

    def _found(self) -> set[str]:
        emails = self.mails.to(self.address)
        return {email["Message-ID"] for email in emails} & {self.message_id}


async def begin(environment: Environment, *, to_staff: bool) -> LetterCase:
    store, now = environment.store, environment.queue.clock.seconds()
    address = f"asker-{next(_NUMBERS)}@example.com"
    account_id = await store.fetchval("select min(id) from account")
    user_id = await create_user(store, account_id, address, False, now, address)
    new = NewTicket(
        account_id=account_id,
        kind="support",
        summary="No connection",
        description="Since this morning.",
        entity=None,
        region=None,
        opened_by=address,
        opener_id=user_id,
        gravatar_id="0" * 32,
        closable=True,
    )
    ticket_id = await queries.insert(store, new, now)
    reply_id, message_id = None, f"<ticket-{ticket_id}.{now:%Y%m%d%H%M%S}.staff@cloud.example.com>"
    if not to_staff:
        said = NewReply("It works again.", "Mona", "0" * 32, from_staff=True)
        reply_id = await queries.insert_reply(store, ticket_id, said, now)
        message_id = f"<reply-{reply_id}.{now:%Y%m%d%H%M%S}.user@cloud.example.com>"
    args = MailArgs(ticket_id=ticket_id, reply_id=reply_id, to_staff=to_staff)
    job = await environment.queue.enqueue(store, SEND, args)
    mails = environment.services.get(MailServer)
    return LetterCase(mails, STAFF if to_staff else address, message_id, job.id)


SCENARIOS = (
    Scenario(SEND, partial(begin, to_staff=True), "email to staff"),
    Scenario(SEND, partial(begin, to_staff=False), "email to a user"),
)
