"""Request bodies of users and grants (reference: operations, User, Grants)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from roost.resources.compute.rules import strong_password
from roost.resources.users import rules
from roost.web.bodies import Body
from roost.web.fields import EMAIL, Between, Length, Pattern
from roost.web.grant_queries import Permission

Username = Annotated[str, Length(3, 32), Pattern(rules.USERNAME_PATTERN, rules.USERNAME_REASON)]
Email = Annotated[str, Length(3, 128), EMAIL]
Password = Annotated[str, Length(8, 128), AfterValidator(strong_password)]


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
    email: Email
    restricted: bool = True


class UpdateUser(Body):
    """PUT /account/users/{username}; what is omitted stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"email": "a.heron@example.com"}, {"username": "ada", "restricted": False}]
        }
    )

    username: Username | None = None
    email: Email | None = None
    restricted: bool | None = None


class UpdateGlobal(Body):
    """Rights on the account as a whole; `account_access` null takes it away."""

    account_access: Permission | None = None
    add_computes: bool | None = None
    add_longview: bool | None = None
    add_domains: bool | None = None
    add_stackscripts: bool | None = None
    add_nodebalancers: bool | None = None
    add_images: bool | None = None
    add_volumes: bool | None = None
    add_firewalls: bool | None = None
    add_databases: bool | None = None
    add_vpcs: bool | None = None
    longview_subscription: bool | None = None
    cancel_account: bool | None = None
    child_account_access: bool | None = None


class ChangeGrant(Body):
    """One entity; permissions null takes the grant away."""

    id: Annotated[int, Between(1, 2**63 - 1)]
    permissions: Permission | None


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
    compute: Changes = []
    database: Changes = []
    domain: Changes = []
    firewall: Changes = []
    image: Changes = []
    longview: Changes = []
    nodebalancer: Changes = []
    stackscript: Changes = []
    volume: Changes = []
    vpc: Changes = []
