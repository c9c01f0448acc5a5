"""Records of users and their grants (reference: User, Grants)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.web.auth import UserType
from roost.web.grant_queries import Permission


class LastLogin(TypedDict):
    login_datetime: str
    status: Literal["successful", "failed"]


class UserRow(TypedDict):
    """Somebody who uses the account; ssh_keys are labels."""

    username: str
    email: str
    restricted: bool
    ssh_keys: list[str]
    tfa_enabled: bool
    verified_phone_number: str | None
    password_created: str | None
    last_login: LastLogin | None
    user_type: UserType


class GlobalGrants(TypedDict):
    """Rights on the account as a whole; nulls are none."""

    account_access: Permission | None
    add_computes: bool
    add_longview: bool
    add_domains: bool
    add_stackscripts: bool
    add_nodebalancers: bool
    add_images: bool
    add_volumes: bool
    add_firewalls: bool
    add_databases: bool
    add_vpcs: bool
    longview_subscription: bool
    cancel_account: bool
    child_account_access: bool | None


class EntityGrant(TypedDict):
    """What the user may do with one entity; null is nothing."""

    id: int
    label: str
    permissions: Permission | None


GrantsRow = TypedDict(
    "GrantsRow",
    {
        "global": GlobalGrants,
        "compute": list[EntityGrant],
        "database": list[EntityGrant],
        "domain": list[EntityGrant],
        "firewall": list[EntityGrant],
        "image": list[EntityGrant],
        "longview": list[EntityGrant],
        "nodebalancer": list[EntityGrant],
        "stackscript": list[EntityGrant],
        "volume": list[EntityGrant],
        "vpc": list[EntityGrant],
    },
)
"""Grants of a restricted user, with every entity of the account."""
