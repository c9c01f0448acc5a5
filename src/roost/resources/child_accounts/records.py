"""Records of child accounts (reference: Child account, Proxy-user token)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Id, Timestamp
from roost.resources.account.records import AccountData


class ChildAccountRow(AccountData):
    """An account of a customer of the parent, who pays the parent."""

    billing_source: Literal["external"]
    """Always `external`: the parent pays."""


class ProxyTokenRow(TypedDict):
    """`token` is shown in this answer and never again."""

    id: Id
    scopes: Literal["*"]
    """Always `*`: the proxy user's grants are the limit."""
    created: Created
    label: str
    """The name of the token."""
    token: str
    """The token itself."""
    expiry: Timestamp
    """15 minutes after it was made (UTC)."""
