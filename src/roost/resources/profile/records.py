"""The profile record (reference: Profile)."""

from typing import Literal

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from roost.core.identity import UserType
from roost.resources.profile.bodies import LishAuthMethod


class Referrals(TypedDict):
    """There is no referral programme: empty texts and zeros."""

    code: str
    """Empty."""
    url: str
    """Empty."""
    total: int
    """0."""
    completed: int
    """0."""
    pending: int
    """0."""
    credit: int
    """0."""


class ProfileRow(TypedDict):
    """The user behind the token."""

    uid: int
    """The number of the user."""
    username: str
    """The name to log in with."""
    email: str
    """Where mail for you goes."""
    verified_phone_number: str | None
    """The number that you have confirmed; null when none."""
    timezone: str
    """The zone in which pages show times to you; the API's own are UTC."""
    email_notifications: bool
    """Whether you get mail about what happens in the account."""
    referrals: Referrals
    """Always empty."""
    ip_whitelist_enabled: bool
    """Always false; address whitelists are not available."""
    lish_auth_method: LishAuthMethod
    """How the console of an instance lets you in."""
    authorized_keys: list[str] | None
    """Keys that the console lets in; null for none."""
    two_factor_auth: bool
    """Whether logging in takes a second factor."""
    restricted: bool
    """Whether you need a grant for what you do."""
    authentication_type: Literal["password", "github"]
    """How you log in."""
    user_type: UserType
    """`parent`, `child` and `proxy` where accounts manage others, else `default`."""


@with_config(
    ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"theme": "dark", "columns": ["label", "region"]}]},
    )
)
class Preferences(TypedDict):
    """Whatever a client has put there."""
