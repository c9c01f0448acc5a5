"""Records of child accounts (reference: Child account, Proxy-user token)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.resources.account.records import AccountData


class ChildAccountRow(AccountData):
    """An account of a customer of the parent, who pays the parent."""

    billing_source: Literal["external"]


class ProxyTokenRow(TypedDict):
    """`token` is shown in this answer and never again."""

    id: int
    scopes: Literal["*"]
    created: str
    label: str
    token: str
    expiry: str
