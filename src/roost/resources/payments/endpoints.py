"""What the API offers: payment methods and payments (spec B account)."""

import orjson

from roost.core.events import log
from roost.core.identity import UserType
from roost.errors import invalid
from roost.resources.account.entity import ACCOUNT_KIND
from roost.resources.payments import service
from roost.resources.payments.bodies import (
    AddMethod,
    BeginThirdParty,
    CardData,
    ExecuteThirdParty,
    Pay,
)
from roost.resources.payments.queries import METHODS, PAYMENTS
from roost.resources.payments.records import MethodRow, PaymentRow
from roost.resources.payments.service import StoredCard
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Accepted, Page, Rate, endpoint
from roost.web.reply import Reply, Warned, accepted

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_MAY_READ = AccountAccess("read_only")
_MAY_WRITE = AccountAccess("read_write")
_CHILDREN: tuple[UserType, ...] = ("child",)
"""The parent pays (spec B account 3)."""

_RATE = Rate(60, 120)
"""Of what a gateway is asked for."""

_PENDING = Warned(
    title="The payment is pending",
    details="The card has not been charged yet; the event payment_submitted tells when it is.",
)

_METHODS = "/account/payment-methods"
_METHOD = f"{_METHODS}/{{paymentMethodId:int}}"
_PAYMENTS = "/account/payments"
_THIRD_PARTY = f"{_PAYMENTS}/altpay"


@endpoint(
    "GET", _METHODS, scopes=_READ, grant=_MAY_READ, returns=Page(MethodRow), filters=METHODS.columns
)
async def list_payment_methods(call: Call) -> bytes:
    """List payment methods.

    One of them is the default one.
    """
    return await call.collection(METHODS, call.account_id)


async def _store(call: Call, body: AddMethod) -> tuple[StoredCard, bool]:
    """Before the transaction, as the gateway takes its time."""
    return await service.store_card(call, body.data.card(), "data."), body.is_default


@endpoint(
    "POST",
    _METHODS,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_CHILDREN,
    body=AddMethod,
    prepare=_store,
    rate=_RATE,
    returns=MethodRow,
    events=("payment_method_add",),
)
async def add_payment_method(call: Call, stored: tuple[StoredCard, bool]) -> bytes:
    """Add a payment method.

    The card goes to the gateway; its number and security code are kept nowhere here.
    """
    card, is_default = stored
    method_id = await service.add_method(call, card, is_default=is_default)
    await log.notify(call, "payment_method_add", ACCOUNT_KIND.entity())
    return await call.record(method_id, METHODS, call.account_id)


@endpoint("GET", _METHOD, scopes=_READ, grant=_MAY_READ, returns=MethodRow)
async def view_payment_method(call: Call) -> bytes:
    """View a payment method.

    Of a card the last four digits are shown.
    """
    return await call.record(call.number("paymentMethodId"), METHODS, call.account_id)


@endpoint("DELETE", _METHOD, scopes=_READ, grant=_MAY_WRITE)
async def delete_payment_method(call: Call) -> None:
    """Delete a payment method that is not the default one.

    Payments that it has made stay.
    """
    await service.remove_method(call, call.number("paymentMethodId"))


@endpoint(
    "POST",
    f"{_METHOD}/make-default",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_CHILDREN,
)
async def make_payment_method_default(call: Call) -> None:
    """Make a payment method the default one.

    The one before is not any more.
    """
    await service.make_default(call, call.number("paymentMethodId"))


async def _store_card(call: Call, body: CardData) -> StoredCard:
    return await service.store_card(call, body.card())


@endpoint(
    "POST",
    "/account/credit-card",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_CHILDREN,
    body=CardData,
    prepare=_store_card,
    rate=_RATE,
    events=("credit_card_updated",),
    deprecated=True,
)
async def add_credit_card(call: Call, card: StoredCard) -> None:
    """Add a credit card, which becomes the default payment method.

    Use payment methods instead.
    """
    await service.add_method(call, card, is_default=True)
    await log.notify(call, "credit_card_updated", ACCOUNT_KIND.entity())


@endpoint("GET", _PAYMENTS, scopes=_READ, grant=_MAY_READ, returns=Page(PaymentRow))
async def list_payments(call: Call) -> bytes:
    """List payments.

    Also those that are on their way.
    """
    return await call.collection(PAYMENTS, call.account_id)


async def _outcome(call: Call, reply: Reply) -> Reply:
    match await service.outcome(call, orjson.loads(reply.body)["id"]):
        case "accepted":
            return reply
        case "declined":
            raise invalid("The payment was declined; its event tells why")
        case "pending":
            return accepted(reply, _PENDING)


@endpoint(
    "POST",
    _PAYMENTS,
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_CHILDREN,
    body=Pay,
    after=_outcome,
    rate=_RATE,
    returns=Accepted(PaymentRow),
    events=("payment_submitted",),
)
async def make_payment(call: Call, body: Pay) -> bytes:
    """Make a payment.

    The card is charged, and the account owes less from then on. Where that takes longer than
    a moment, the answer is 202 with a warning, and the event tells the end. A payment that is
    declined is refused, and not shown any more; its event has failed with the reason.
    """
    payment_id = await service.pay(call, body.amount(), body.payment_method_id)
    return await call.record(payment_id, PAYMENTS, call.account_id)


@endpoint(
    "GET", f"{_PAYMENTS}/{{paymentId:int}}", scopes=_READ, grant=_MAY_READ, returns=PaymentRow
)
async def view_payment(call: Call) -> bytes:
    """View a payment.

    What was declined is none.
    """
    return await call.record(call.number("paymentId"), PAYMENTS, call.account_id)


@endpoint(
    "POST",
    _THIRD_PARTY,
    scopes=_WRITE,
    grant=_MAY_READ,
    refuses=_CHILDREN,
    body=BeginThirdParty,
    deprecated=True,
)
async def begin_third_party_payment(call: Call, body: BeginThirdParty) -> None:
    """Begin a payment with a third party, which cannot be done any more.

    It is always refused (spec B account 9).
    """
    raise invalid("Payments with third parties are disabled")


@endpoint(
    "POST",
    f"{_THIRD_PARTY}/execute",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=_CHILDREN,
    body=ExecuteThirdParty,
    deprecated=True,
)
async def execute_third_party_payment(call: Call, body: ExecuteThirdParty) -> None:
    """Make a payment with a third party, which cannot be done any more.

    It is always refused (spec B account 9).
    """
    raise invalid("Payments with third parties are disabled")
