"""The rules of users as pure functions, and what grants speak of (reference: User, Grants)."""

import hashlib
from dataclasses import dataclass

from roost.core.grant_queries import Permission
from roost.core.identity import UserType

USERNAME_PATTERN = r"(?!.*(?:--|__))[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?"
RESERVED_NAMES = frozenset(
    (
        "abuse",
        "admin",
        "administrator",
        "billing",
        "help",
        "helpdesk",
        "hostmaster",
        "info",
        "noc",
        "operator",
        "owner",
        "postmaster",
        "root",
        "roost",
        "security",
        "staff",
        "support",
        "sysadmin",
        "system",
        "webmaster",
    )
)
"""By which nobody but the operator may be called, however it is capitalised."""

USERNAME_REASON = (
    "Must begin and end with a letter or number, and hold only letters, numbers, hyphens and "
    "underscores, none of the last two twice in a row"
)

KINDS = (
    "compute",
    "database",
    "domain",
    "firewall",
    "image",
    "longview",
    "nodebalancer",
    "stackscript",
    "volume",
    "vpc",
)
"""Of entities, in the order of the record; those that no group declares yet have none."""

RIGHTS = (
    "add_computes",
    "add_longview",
    "add_domains",
    "add_stackscripts",
    "add_nodebalancers",
    "add_images",
    "add_volumes",
    "add_firewalls",
    "add_databases",
    "add_vpcs",
    "longview_subscription",
    "cancel_account",
)
"""Global grants that are true or false for users of any type."""

CHILD_ACCESS = "child_account_access"
"""The one that only users of a parent account have; null for all others."""


def gravatar_id(address: str) -> str:
    """The gravatar id of an email address: 32 hex digits."""
    return hashlib.md5(address.strip().lower().encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class UserFacts:
    """What rules need of a row."""

    id: int
    username: str
    email: str
    restricted: bool
    user_type: UserType
    account_access: Permission | None
    rights: list[str]
