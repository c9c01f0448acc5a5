"""Records of child accounts (reference: Child account, Proxy-user token)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Id, Timestamp, example
from roost.resources.account.records import EXAMPLE, AccountData


@example({**EXAMPLE, "billing_source": "external"})
class ChildAccountRow(AccountData):
    """An account of a customer of the parent, who pays the parent."""

    billing_source: Literal["external"]
    """Always `external`: the parent pays."""


@example(
    {
        "id": 100001,
        "scopes": "*",
        "created": "2030-01-31T12:00:00",
        "label": "ada_100001_2030-01-31T12:00:00",
        "token": "5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c5f1c",
        "expiry": "2030-01-31T12:15:00",
    },
)
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
