"""Every kind of caller that the API knows, and what a declaration alone says to each.

What is expected is worked out here from the words of the declaration, not by the code under test.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from roost.core.grant_queries import Permission
from roost.core.identity import TokenKind, UserType
from roost.core.scopes import AREAS
from roost.web.grants import AccountAccess, Anyone, Global, Listed, Read, Unrestricted, Write
from roost.web.registry import Endpoint

Outcome = Literal["passed", "invalid", "out of scope", "forbidden"]
"""`passed` came as far as the object, whether that exists or not."""

ScopesFor = Callable[[Endpoint], str]

_RANKS = {"read": 1, "read_only": 1, "read_write": 2}
_ELSEWHERE = "longview:read_write"
"""For endpoints that want no scope: any token will do."""


def area_of(scope: str) -> str:
    return scope.partition(":")[0]


def exact(endpoint: Endpoint) -> str:
    return " ".join(endpoint.scopes) or _ELSEWHERE


def at_level(level: Permission) -> ScopesFor:
    def scopes(endpoint: Endpoint) -> str:
        return " ".join(f"{area_of(scope)}:{level}" for scope in endpoint.scopes) or _ELSEWHERE

    return scopes


def all_but(position: int) -> ScopesFor:
    """All areas but that of one of the wanted scopes."""

    def scopes(endpoint: Endpoint) -> str:
        if not endpoint.scopes:
            return _ELSEWHERE
        left_out = area_of(endpoint.scopes[position])
        return " ".join(f"{area}:read_write" for area in AREAS if area != left_out)

    return scopes


def everything(endpoint: Endpoint) -> str:
    return "*"


@dataclass(frozen=True, slots=True)
class Caller:
    """A token and its user, as far as declarations tell callers apart."""

    title: str
    scopes: ScopesFor | None = everything
    """None: there is no token."""
    token: Literal["good", "unknown", "expired", "revoked"] = "good"
    kind: TokenKind = "personal"
    user_type: UserType = "default"
    restricted: bool = False
    held: Permission | None = None
    """A restricted user's account_access, and permission on every entity."""
    rights: bool = False
    """Whether a restricted user has all global grants."""

    def __str__(self) -> str:
        return self.title

    def outcome(self, endpoint: Endpoint) -> Outcome:
        if self.scopes is None:
            return "passed" if endpoint.public else "invalid"
        if self.token != "good":
            return "invalid"
        if not endpoint.public and not _cover(self.scopes(endpoint), endpoint.scopes):
            return "out of scope"
        if self.user_type in endpoint.refuses or self.kind in endpoint.refuses:
            return "forbidden"
        return "passed" if not self.restricted or self._is_granted(endpoint) else "forbidden"

    def _is_granted(self, endpoint: Endpoint) -> bool:
        match endpoint.grant:
            case Anyone() if endpoint.name in NAMING:
                return self.held == "read_write"
            case Anyone() | Listed():
                return True
            case Unrestricted():
                return False
            case Global():
                return self.rights
            case AccountAccess(level):
                return self.held in (level, "read_write")
            case Read(right=right) | Write(right=right):
                wanted: Permission = (
                    "read_only" if isinstance(endpoint.grant, Read) else "read_write"
                )
                return self.held in (wanted, "read_write") and (right is None or self.rights)


def _cover(text: str, wanted: tuple[str, ...]) -> bool:
    if text == "*":
        return True
    held = dict(scope.split(":") for scope in text.split())
    return all(
        _RANKS.get(held.get(area_of(scope), ""), 0) >= _RANKS[scope.partition(":")[2]]
        for scope in wanted
    )


CALLERS = (
    Caller("no token", scopes=None),
    Caller("unknown token", token="unknown"),
    Caller("expired token", token="expired"),
    Caller("revoked token", token="revoked"),
    Caller("read-only scope", at_level("read_only")),
    Caller("read_write scope", at_level("read_write")),
    Caller("without the first area", all_but(0)),
    Caller("without the last area", all_but(-1)),
    Caller("right scope", exact),
    Caller("restricted without grant", restricted=True),
    Caller("restricted read_only", restricted=True, held="read_only"),
    Caller("restricted read_write", restricted=True, held="read_write"),
    Caller("restricted with all", restricted=True, held="read_write", rights=True),
    Caller("restricted out of scope", all_but(0), restricted=True),
    Caller("parent", user_type="parent"),
    Caller("restricted parent", user_type="parent", restricted=True),
    Caller("restricted parent with all", user_type="parent", restricted=True, rights=True),
    Caller("child", user_type="child"),
    Caller("proxy user of the child", user_type="proxy", kind="proxy"),
    Caller("restricted proxy user", user_type="proxy", kind="proxy", restricted=True),
    Caller("OAuth token", exact, kind="oauth"),
    Caller("OAuth token without an area", all_but(0), kind="oauth"),
    Caller("OAuth token of a restricted user", kind="oauth", restricted=True),
)
"""Beside these, a stranger: somebody who may everything in another account."""

NAMING = (
    *("allocate_address", "assign_addresses", "assign_ipv4"),
    *("share_addresses", "share_ipv4", "create_ipv6_range"),
)
"""Their bodies name an instance, on which a grant is needed."""

UNPREPARED = (
    *NAMING,
    "begin_third_party_payment",
    "confirm_tfa",
    "create_entity_transfer",
    "create_image",
    "create_service_transfer",
    "enroll_in_beta",
    "execute_third_party_payment",
    "explain_packet",
    "explain_request",
    "make_payment",
    "redeem_promo_code",
    "send_phone_code",
    "verify_phone_number",
)
"""They refuse the example for a reason of their own, as nothing was prepared for it."""

OF_FAMILIES = ("cancel_account",)
"""They refuse a parent that has children, and answer all others."""
