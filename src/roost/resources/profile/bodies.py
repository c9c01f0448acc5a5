"""Request bodies of the profile (reference: Profile)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, model_validator
from pydantic.config import JsonDict

from roost.resources.profile.rules import MAX_MEMBERS, known_timezone, small_preferences
from roost.resources.ssh_keys.rules import PublicKeys
from roost.web.bodies import Body
from roost.web.fields import EMAIL_PATTERN, EMAIL_REASON, Length, Pattern, ShortText, refuse

LishAuthMethod = Literal["password_keys", "keys_only", "disabled"]

_PROFILE: JsonDict = {
    "email": "me@example.com",
    "timezone": "Europe/Berlin",
    "email_notifications": False,
    "lish_auth_method": "keys_only",
    "authorized_keys": None,
}
_PREFERENCES: JsonDict = {"theme": "dark", "columns": ["label", "region"]}


def _no_whitelist(enabled: bool | None) -> bool | None:
    if enabled:
        raise refuse("Address whitelists are not available")
    return enabled


class UpdateProfile(Body):
    """PUT /profile; what is omitted stays as it is. `authorized_keys: null` removes them."""

    model_config = ConfigDict(json_schema_extra={"examples": [_PROFILE]})

    email: Annotated[str, Length(0, 128), Pattern(f"|{EMAIL_PATTERN}", EMAIL_REASON)] | None = None
    """Where mail for you goes."""
    timezone: Annotated[ShortText, AfterValidator(known_timezone)] | None = None
    """A zone of the tz database, such as `Europe/Berlin`; the API's own times stay UTC."""
    email_notifications: bool | None = None
    """Whether you get mail about what happens in the account."""
    ip_whitelist_enabled: Annotated[bool | None, AfterValidator(_no_whitelist)] = None
    """Address whitelists are not available: true is refused."""
    lish_auth_method: LishAuthMethod | None = None
    """How the console of an instance lets you in."""
    authorized_keys: PublicKeys | None = None
    """Keys that the console lets in; null for none."""
    two_factor_auth: bool | None = None
    """False disables two-factor authentication; it is enabled by `/profile/tfa-enable`."""
    restricted: bool | None = None
    """True gives up your rights; nobody can take them back alone."""


class UpdatePreferences(Body):
    """PUT /profile/preferences: any JSON object, which replaces what was kept."""

    model_config = ConfigDict(
        extra="allow", json_schema_extra={"examples": [_PREFERENCES], "maxProperties": MAX_MEMBERS}
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_omitted(cls, data: object) -> object:
        """Here null is a value like any other."""
        return data

    @model_validator(mode="after")
    def _check_size(self) -> "UpdatePreferences":
        small_preferences(self.__pydantic_extra__ or {})
        return self
