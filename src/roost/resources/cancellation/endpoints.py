"""What the API offers: the end of an account (spec B account 2)."""

from datetime import datetime

from roost.resources.cancellation import charge_service, service
from roost.resources.cancellation.bodies import CancelAccount
from roost.resources.cancellation.records import CancelRow
from roost.resources.cancellation.settings import Cancellation
from roost.resources.tokens.service import check_maker
from roost.store import Store
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Rate, endpoint


async def _charge(call: Call, body: CancelAccount) -> tuple[datetime, str]:
    """Before the transaction, as the gateway takes its time."""
    assert isinstance(call.db, Store)
    await check_maker(call)
    return await charge_service.charge_all(call, call.db), body.comments or ""


@endpoint(
    "POST",
    "/account/cancel",
    scopes=("account:read_write",),
    grant=Unrestricted(),
    refuses=("child",),
    body=CancelAccount,
    prepare=_charge,
    returns=CancelRow,
    rate=Rate(5, 60),
    events=("payment_submitted",),
)
async def cancel_account(call: Call, charged: tuple[datetime, str]) -> CancelRow:
    """Cancel the account.

    What it owes until now is charged to the default payment method. When that fails the answer is
    409, and nothing has happened but the payment that failed. Then all that the account has is
    deleted for ever, all tokens of its users are dead, and nobody can log in. A parent account
    must cancel its children first.
    """
    until, comments = charged
    await service.cancel(call, until, comments)
    return {"survey_link": call.get(Cancellation).survey_link}
