"""Payments for the harness: wherever they are killed, a card is charged once, or not at all."""

from dataclasses import dataclass
from decimal import Decimal

from roost.core.account_queries import balance
from roost.ids import new_uuid
from roost.jobs import Environment, JobArgs
from roost.resources.account.queries import create_account
from roost.resources.payments import queries
from roost.resources.payments.card_jobs import FORGET, CardArgs
from roost.resources.payments.collect_jobs import COLLECT
from roost.resources.payments.jobs import PAYMENT, PaymentArgs
from roost.resources.payments.mail_jobs import SEND, DeclinedArgs
from roost.resources.payments.queries import NewMethod, unbooked
from roost.secrets import Box
from tests.jobs.emails import EmailCase
from tests.jobs.harness import Scenario
from tests.support.gateway import RecordingGateway
from tests.support.invoices import owed
from tests.support.mail import MailServer
from tests.support.stage import Stage

OWED = Decimal("20.00")


@dataclass(frozen=True)
class PaymentCase:
    """A payment of all that an account owes."""

    stage: Stage
    gateway: RecordingGateway
    account_id: int
    payment_id: int
    job_id: int

    async def check_done(self) -> None:
        assert self.gateway.held[f"roost-payment-{self.payment_id}"] == OWED
        await self._check("accepted", Decimal(0))

    async def check_failed(self) -> None:
        assert f"roost-payment-{self.payment_id}" not in self.gateway.held
        await self._check("declined", OWED)

    async def _check(self, status: str, left: Decimal) -> None:
        store = self.stage.roost.store
        payment = await queries.find_payment(store, self.payment_id)
        assert payment is not None
        assert (payment.status, await balance(store, self.account_id)) == (status, left)
        assert self.payment_id not in await unbooked(store)


@dataclass(frozen=True)
class CollectCase:
    """An invoice that has not been charged."""

    stage: Stage
    account_id: int
    job_id: int

    async def check_done(self) -> None:
        assert await self._payments() == 1

    async def check_failed(self) -> None:
        """What was begun is begun; the next hour does the rest."""
        assert await self._payments() in (0, 1)

    async def _payments(self) -> int:
        sql = "select count(*) from payment where account_id = $1"
        found: int = await self.stage.roost.store.fetchval(sql, self.account_id)
        return found


@dataclass(frozen=True)
class CardCase:
    """A card that was removed."""

    stage: Stage
    gateway: RecordingGateway
    method_id: int
    job_id: int

    async def check_done(self) -> None:
        assert self.gateway.forgotten[-1:] == ["token"]
        assert await queries.token_of(self.stage.roost.store, self.method_id) == b""

    async def check_failed(self) -> None:
        """The gateway can still be told."""
        assert await queries.token_of(self.stage.roost.store, self.method_id)


async def _debtor(environment: Environment) -> tuple[int, int]:
    """An account with a card that owes something for last month."""
    store, now = environment.store, environment.queue.clock.seconds()
    account_id = await create_account(store, new_uuid(), now)
    await owed(store, account_id, OWED, now)
    box = environment.services.get(Stage).roost.services.get(Box)
    method_id = await queries.insert_method(
        store,
        NewMethod(
            account_id=account_id,
            is_default=True,
            now=now,
            card_type="Visa",
            last_four="4242",
            expiry=now.replace(year=2099, day=1),
            token=box.seal(b"token"),
        ),
    )
    return account_id, method_id


async def begin_payment(environment: Environment) -> PaymentCase:
    stage, gateway = environment.services.get(Stage), environment.services.get(RecordingGateway)
    account_id, method_id = await _debtor(environment)
    now = environment.queue.clock.seconds()
    payment_id = await queries.insert_payment(environment.store, account_id, OWED, now, method_id)
    args = PaymentArgs(payment_id=payment_id, account_id=account_id)
    job = await environment.queue.enqueue(environment.store, PAYMENT, args)
    return PaymentCase(stage, gateway, account_id, payment_id, job.id)


async def begin_collect(environment: Environment) -> CollectCase:
    account_id, _ = await _debtor(environment)
    job = await environment.queue.enqueue(environment.store, COLLECT, JobArgs())
    return CollectCase(environment.services.get(Stage), account_id, job.id)


async def begin_forgetting(environment: Environment) -> CardCase:
    stage, gateway = environment.services.get(Stage), environment.services.get(RecordingGateway)
    account_id, method_id = await _debtor(environment)
    args = CardArgs(method_id=method_id, account_id=account_id)
    job = await environment.queue.enqueue(environment.store, FORGET, args)
    return CardCase(stage, gateway, method_id, job.id)


async def begin_letter(environment: Environment) -> EmailCase:
    account_id, _ = await _debtor(environment)
    address = f"{account_id}@example.com"
    sql = "update account set email = $2 where id = $1"
    await environment.store.execute(sql, account_id, address)
    args = DeclinedArgs(account_id=account_id, invoice_id=1, tries=1, owed=OWED, again=None)
    job = await environment.queue.enqueue(environment.store, SEND, args, account_id=account_id)
    subject = "Your payment of 20.00 USD was declined"
    return EmailCase(environment.services.get(MailServer), address, subject, job.id)


SCENARIOS = (
    Scenario(SEND, begin_letter, "email"),
    Scenario(PAYMENT, begin_payment, "payment"),
    Scenario(FORGET, begin_forgetting, "card_forget"),
    Scenario(COLLECT, begin_collect, "payments_collect"),
)
