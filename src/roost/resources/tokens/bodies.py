"""Request bodies of personal access tokens (reference: Profile)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict
from pydantic.config import JsonDict

from roost.resources.tokens.rules import known_scopes
from roost.web.bodies import Body
from roost.web.fields import Length
from roost.web.times import Time

_LABEL = "ci"
_NEW: JsonDict = {
    "label": _LABEL,
    "scopes": "computes:read_write events:read_only",
    "expiry": "2999-12-31T23:59:59",
}

Label = Annotated[str, Length(1, 100)]
Revision = Annotated[str, Length(1, 32)]


class CreateToken(Body):
    """POST /profile/tokens. Without scopes the token may what the one in use may, and without an
    expiry it ends with that one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": _LABEL}, _NEW]})

    label: Label = "Personal access token"
    """The name of the token."""
    scopes: Annotated[str, Length(0, 1000), AfterValidator(known_scopes)] | None = None
    """What it may do: `*`, or scopes with a space between them; omitted or empty, what the token in
    use may. It cannot be more than that."""
    expiry: Time | None = None
    """When it ends (UTC); omitted for never."""
    revision: Revision | None = None
    """The revision of the API that requests are in which name none; omitted for the newest."""


class UpdateToken(Body):
    """PUT /profile/tokens/{tokenId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": _LABEL}]})

    label: Label | None = None
    """The new name."""
    revision: Revision | None = None
    """The revision of the API that requests are in from now on which name none."""
