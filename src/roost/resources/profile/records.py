"""The profile record (reference: Profile)."""

from typing import Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

from roost.resources.profile.bodies import LishAuthMethod
from roost.web.auth import UserType


class Referrals(TypedDict):
    """There is no referral programme: empty texts and zeros."""

    code: str
    url: str
    total: int
    completed: int
    pending: int
    credit: int


class ProfileRow(TypedDict):
    """The user behind the token."""

    uid: int
    username: str
    email: str
    verified_phone_number: str | None
    timezone: str
    email_notifications: bool
    referrals: Referrals
    ip_whitelist_enabled: bool
    lish_auth_method: LishAuthMethod
    authorized_keys: list[str] | None
    two_factor_auth: bool
    restricted: bool
    authentication_type: Literal["password", "github"]
    user_type: UserType


class Preferences(TypedDict):
    """Whatever a client has put there."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]
