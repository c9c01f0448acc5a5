"""Request bodies of users and grants (reference: operations, User, Grants)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from roost.core.grant_queries import Permission
from roost.resources.compute.rules import strong_password
from roost.resources.users import rules
from roost.web.bodies import Body
from roost.web.checks import once
from roost.web.fields import EMAIL, Between, Length, Pattern

Username = Annotated[str, Length(3, 32), Pattern(rules.USERNAME_PATTERN, rules.USERNAME_REASON)]
Email = Annotated[str, Length(3, 128), EMAIL]
Password = Annotated[str, Length(8, 128), AfterValidator(once(strong_password))]


class CreateUser(Body):
    """POST /account/users."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"username": "ada-heron", "email": "ada@example.com", "restricted": True},
                {"username": "grace", "email": "grace@example.com"},
            ]
        }
    )

    username: Username
    """3 to 32 ASCII letters, digits, `-` and `_`, beginning and ending with a letter or digit;
    unique on this server."""
    email: Email
    """Where the user's mail goes."""
    restricted: bool = True
    """Whether the user needs a grant for what they do; a new restricted user has none."""


class UpdateUser(Body):
    """PUT /account/users/{username}; what is omitted stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"email": "a.heron@example.com"}, {"username": "ada", "restricted": False}]
        }
    )

    username: Username | None = None
    """The new name."""
    email: Email | None = None
    """Where the user's mail goes."""
    restricted: bool | None = None
    """Whether the user needs a grant for what they do."""


class UpdateGlobal(Body):
    """Rights on the account as a whole; `account_access` null takes it away."""

    account_access: Permission | None = None
    """What the user may do with the account; null takes it away."""
    add_computes: bool | None = None
    """May create compute instances."""
    add_longview: bool | None = None
    """May create Longview clients."""
    add_domains: bool | None = None
    """May create domains."""
    add_stackscripts: bool | None = None
    """May create StackScripts."""
    add_nodebalancers: bool | None = None
    """May create NodeBalancers."""
    add_images: bool | None = None
    """May create images."""
    add_volumes: bool | None = None
    """May create volumes."""
    add_firewalls: bool | None = None
    """May create firewalls."""
    add_databases: bool | None = None
    """May create databases."""
    add_vpcs: bool | None = None
    """May create VPCs."""
    longview_subscription: bool | None = None
    """May change the Longview plan."""
    cancel_account: bool | None = None
    """May cancel the account."""
    child_account_access: bool | None = None
    """May act in child accounts; for parent accounts."""


class ChangeGrant(Body):
    """One entity; permissions null takes the grant away."""

    id: Annotated[int, Between(1, 2**63 - 1)]
    """The id of the entity."""
    permissions: Permission | None
    """What the user may do with it."""


Changes = Annotated[list[ChangeGrant], Length(0, 10_000)]
"""Clients send the whole record back, with all entities of an account."""


class UpdateGrants(Body):
    """PUT /account/users/{username}/grants; what is omitted stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "global": {"account_access": "read_only", "add_computes": True},
                    "compute": [
                        {"id": 100001, "permissions": "read_write"},
                        {"id": 100002, "permissions": None},
                    ],
                },
                {"global": {"account_access": None}},
            ]
        }
    )

    global_: UpdateGlobal | None = Field(default=None, alias="global")
    """Rights on the account as a whole."""
    compute: Changes = []
    """Grants on compute instances; those that are not named stay."""
    database: Changes = []
    """Grants on databases; those that are not named stay."""
    domain: Changes = []
    """Grants on domains; those that are not named stay."""
    firewall: Changes = []
    """Grants on firewalls; those that are not named stay."""
    image: Changes = []
    """Grants on images; those that are not named stay."""
    longview: Changes = []
    """Grants on Longview clients; those that are not named stay."""
    nodebalancer: Changes = []
    """Grants on NodeBalancers; those that are not named stay."""
    stackscript: Changes = []
    """Grants on StackScripts; those that are not named stay."""
    volume: Changes = []
    """Grants on volumes; those that are not named stay."""
    vpc: Changes = []
    """Grants on VPCs; those that are not named stay."""
