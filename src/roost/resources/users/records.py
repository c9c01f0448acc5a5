"""Records of users and their grants (reference: User, Grants)."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from roost.core.formats import Folded, Timestamp
from roost.core.grant_queries import Permission
from roost.core.identity import UserType


class LastLogin(TypedDict):
    """When a user last came in, or tried to."""

    login_datetime: Timestamp
    """When (UTC)."""
    status: Literal["successful", "failed"]
    """Whether it succeeded."""


class UserRow(TypedDict):
    """Somebody who uses the account; ssh_keys are labels."""

    username: Folded[str]
    """The name to log in with; unique on this server."""
    email: str
    """Where mail for the user goes."""
    restricted: bool
    """Whether the user needs a grant for what they do."""
    ssh_keys: list[str]
    """The labels of the user's SSH keys."""
    tfa_enabled: bool
    """Whether logging in takes a second factor."""
    verified_phone_number: str | None
    """The number that the user has confirmed; null when none."""
    password_created: Timestamp | None
    """When the password was set (UTC); null while there is none."""
    last_login: LastLogin | None
    """The last login or attempt; null before the first."""
    user_type: UserType
    """`parent`, `child` and `proxy` where accounts manage others, else `default`."""


class GlobalGrants(TypedDict):
    """Rights on the account as a whole; nulls are none."""

    account_access: Permission | None
    """What the user may do with the account, its users' events and its billing; null for nothing.
    """
    add_computes: bool
    """Whether the user may create compute instances."""
    add_longview: bool
    """Whether the user may create Longview clients."""
    add_domains: bool
    """Whether the user may create domains."""
    add_stackscripts: bool
    """Whether the user may create StackScripts."""
    add_nodebalancers: bool
    """Whether the user may create NodeBalancers."""
    add_images: bool
    """Whether the user may create images."""
    add_volumes: bool
    """Whether the user may create volumes."""
    add_firewalls: bool
    """Whether the user may create firewalls."""
    add_databases: bool
    """Whether the user may create databases."""
    add_vpcs: bool
    """Whether the user may create VPCs."""
    longview_subscription: bool
    """Whether the user may change the Longview plan."""
    cancel_account: bool
    """Whether the user may cancel the account."""
    child_account_access: bool | None
    """Whether the user may act in child accounts; null where the account is no parent."""


class EntityGrant(TypedDict):
    """What the user may do with one entity; null is nothing."""

    id: int
    """The id of the entity."""
    label: str
    """Its label."""
    permissions: Permission | None
    """What the user may do with it; null for nothing."""


# This key is a Python keyword, so it is named outside of a class body.
_Global = TypedDict(
    "_Global",
    {"global": Annotated[GlobalGrants, Field(description="Rights on the account as a whole.")]},
)


class GrantsRow(_Global):
    """Grants of a restricted user, with every entity of the account."""

    compute: list[EntityGrant]
    """The account's compute instances."""
    database: list[EntityGrant]
    """The account's databases."""
    domain: list[EntityGrant]
    """The account's domains."""
    firewall: list[EntityGrant]
    """The account's firewalls."""
    image: list[EntityGrant]
    """The account's images."""
    longview: list[EntityGrant]
    """The account's Longview clients."""
    nodebalancer: list[EntityGrant]
    """The account's NodeBalancers."""
    stackscript: list[EntityGrant]
    """The account's StackScripts."""
    volume: list[EntityGrant]
    """The account's volumes."""
    vpc: list[EntityGrant]
    """The account's VPCs."""
