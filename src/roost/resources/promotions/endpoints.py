"""What the API offers: redeeming promo codes (reference: Account)."""

from roost.core.identity import UserType
from roost.resources.account.records import Promotion
from roost.resources.promotions import service
from roost.resources.promotions.bodies import RedeemCode
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Rate, endpoint

_CHILDREN: tuple[UserType, ...] = ("child",)


@endpoint(
    "POST",
    "/account/promo-codes",
    scopes=("account:read_only",),
    grant=Unrestricted(),
    refuses=_CHILDREN,
    body=RedeemCode,
    returns=Promotion,
    rate=Rate(10, 60),
)
async def redeem_promo_code(call: Call, body: RedeemCode) -> str:
    """Redeem a promo code.

    The account gets its credit, which pays for what is used from then on. For accounts younger
    than 90 days; each code can be redeemed once.
    """
    return await service.redeem(call, body.promo_code)
