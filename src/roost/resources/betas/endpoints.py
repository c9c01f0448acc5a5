"""What the API offers: beta programs (reference: Betas)."""

from roost.errors import invalid
from roost.resources.betas import queries
from roost.resources.betas.bodies import EnrollInBeta
from roost.resources.betas.queries import BETAS, ENROLLED, ENROLLED_BY_ID
from roost.resources.betas.records import BetaRow, EnrolledBetaRow
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Page, endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)


@endpoint("GET", "/betas", grant=Unrestricted(), returns=Page(BetaRow))
async def list_betas(call: Call) -> bytes:
    """List beta programs that go on.

    Those that are to begin are shown too.
    """
    return await call.collection(BETAS, call.clock.now())


@endpoint("GET", "/betas/{betaId}", grant=Unrestricted(), returns=BetaRow)
async def view_beta(call: Call) -> bytes:
    """View a beta program that goes on.

    404 for one that has ended.
    """
    return await call.record(call.text("betaId"), BETAS, call.clock.now())


@endpoint(
    "GET", "/account/betas", scopes=_READ, grant=Unrestricted(), returns=Page(EnrolledBetaRow)
)
async def list_account_betas(call: Call) -> bytes:
    """List the beta programs in which the account takes part.

    Also those that have ended.
    """
    return await call.collection(ENROLLED, call.account_id)


@endpoint("POST", "/account/betas", scopes=_WRITE, grant=Unrestricted(), body=EnrollInBeta)
async def enroll_in_beta(call: Call, body: EnrollInBeta) -> None:
    """Take part in a beta program.

    It must have begun, and be open to everybody.
    """
    beta, now = await queries.find(call.db, body.id), call.clock.seconds()
    over = beta is not None and beta.ended is not None and beta.ended <= now
    if beta is None or over:
        raise invalid("id is not valid", "id")
    if beta.started > now:
        raise invalid("The beta program has not begun", "id")
    if beta.greenlight_only:
        raise invalid("The beta program is by invitation only", "id")
    if not await queries.enroll(call.db, call.account_id, body.id, now):
        raise invalid("The account is enrolled in this beta program already", "id")


@endpoint(
    "GET",
    "/account/betas/{betaId}",
    scopes=_READ,
    grant=Unrestricted(),
    returns=EnrolledBetaRow,
)
async def view_account_beta(call: Call) -> bytes:
    """View a beta program in which the account takes part.

    With the time since when it does.
    """
    return await call.record(call.text("betaId"), ENROLLED_BY_ID, call.account_id)
