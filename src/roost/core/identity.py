"""Who acts: the user behind a token, and what the token allows."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from roost.core.grant_queries import Permission
from roost.core.narrowing.restrictions import Narrowing
from roost.core.scopes import Scopes

UserType = Literal["default", "parent", "child", "proxy"]
TokenKind = Literal["personal", "oauth", "proxy", "session"]
"""`session`: of a browser that is logged in, for the console."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The user behind a token, and what the token allows."""

    account_id: int
    account_uuid: str
    user_id: int
    username: str
    restricted: bool
    user_type: UserType
    rights: frozenset[str]
    """Global grants of a restricted user, such as `add_computes`."""
    account_access: Permission | None
    token_id: int
    token_kind: TokenKind
    scopes: Scopes
    expiry: datetime | None
    narrowing_key: bytes | None = None
    """With which its owner narrows the token; None for one that cannot be narrowed."""
    narrowing: Narrowing | None = None
    """What was taken from the token by those who had it before."""
    revision: str | None = None
    """Of the API, that requests are in which name none; None for the newest."""

    @property
    def by_app(self) -> bool:
        """Whether an application acts, which the user let in for what its scopes say."""
        return self.token_kind == "oauth"  # noqa: S105  (a kind)


def narrowed(identity: Identity, narrowing: Narrowing | None) -> Identity:
    """What restrictions leave of an identity."""
    if narrowing is None:
        return identity
    ends = [end for end in (identity.expiry, narrowing.expiry) if end is not None]
    return replace(identity, narrowing=narrowing, expiry=min(ends, default=None))


def in_name_of(account_id: int, account_uuid: str, username: str = "") -> Identity:
    """An unrestricted user of an account, for whom a job acts."""
    return Identity(
        account_id=account_id,
        account_uuid=account_uuid,
        user_id=0,
        username=username,
        restricted=False,
        user_type="default",
        rights=frozenset(),
        account_access=None,
        token_id=0,
        token_kind="personal",  # noqa: S106  (a kind)
        scopes=Scopes.parse("*"),
        expiry=None,
    )
