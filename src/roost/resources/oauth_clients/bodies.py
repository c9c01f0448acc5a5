"""Request bodies of OAuth clients (spec B OAuth clients)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from roost.resources.oauth_clients import rules
from roost.web.bodies import Body
from roost.web.fields import Length, refuse

Label = Annotated[str, Length(1, 512)]
_URI = Field(json_schema_extra={"format": "uri"})
RedirectUri = Annotated[str, Length(1, 2048), AfterValidator(rules.redirect_uri), _URI]

_EXAMPLES: list[JsonValue] = [
    {"label": "Status page", "redirect_uri": "https://status.example.com/signed-in"},
    {"label": "Phone app", "public": True, "redirect_uri": "com.example.phone:/signed-in"},
]


class CreateOAuthClient(Body):
    """POST /account/oauth-clients. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    label: Label
    """The name that users are shown."""
    public: bool = False
    """Whether it runs where no secret can be kept, as in a browser or on a telephone."""
    redirect_uri: RedirectUri
    """Where users are sent once they have logged in; a scheme of your own only for public clients.
    """

    @field_validator("redirect_uri")
    @classmethod
    def _check_kind(cls, value: str, info: ValidationInfo) -> str:
        if not rules.fits(value, info.data.get("public", True)):
            raise refuse(rules.NOT_PUBLIC)
        return value


class UpdateOAuthClient(Body):
    """PUT /account/oauth-clients/{clientId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "Status page 2"}]})

    label: Label | None = None
    """The new name."""
    public: bool | None = None
    """Whether it runs where no secret can be kept."""
    redirect_uri: RedirectUri | None = None
    """Where users are sent once they have logged in."""
