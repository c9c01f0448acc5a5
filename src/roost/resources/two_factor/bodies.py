"""Request bodies of two-factor authentication (reference: Profile)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.web.bodies import Body
from roost.web.fields import Length, Pattern, ShortText


class ConfirmTfa(Body):
    """POST /profile/tfa-enable-confirm."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tfa_code": "123456"}]})

    tfa_code: Annotated[ShortText, Pattern(r"[0-9]{6}", "Must be 6 digits")]
    """The code that the authenticator shows now."""


class DisableTfa(Body):
    """POST /profile/tfa-disable; the code may be the scratch code. Needed while it is enabled."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tfa_code": "123456"}]})

    tfa_code: Annotated[str, Length(6, 32)] | None = None
    """The code that the authenticator shows now, or the scratch code; needed while enabled."""
