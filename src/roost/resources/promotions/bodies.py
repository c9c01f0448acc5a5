"""Request bodies of promotions (reference: operations)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.web.bodies import Body
from roost.web.fields import Length


class RedeemCode(Body):
    """POST /account/promo-codes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"promo_code": "WELCOME-100"}]})

    promo_code: Annotated[str, Length(1, 32)]
    """The code that you were given; upper and lower case are the same."""
