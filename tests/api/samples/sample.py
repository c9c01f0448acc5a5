"""What a group says of its things, for tests over all endpoints."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.support.client import Client

Value = int | str
Maker = Callable[[Client, Roost, Account, str], Awaitable[Value]]
"""Makes something of the account; the path is that of the thing which it is part of, or empty."""

NO_ID = 999_999_999


@dataclass(frozen=True, slots=True)
class Sample:
    """`make` gives the id of something in the account, or that all accounts share."""

    make: Maker
    missing: Value = NO_ID
    """The id of something that does not exist."""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Samples:
    """Those of one group. Each key is the id of an operation, which no two groups share."""

    shown: Mapping[str, Sample]
    """By the operation that shows such a thing, or what bears its name."""
    rows: Mapping[str, Maker] = field(default_factory=dict)
    """What makes a row of a list, where no operation shows one row alone."""
    values: Mapping[str, Sample] = field(default_factory=dict)
    """By the name of a path's parameter that names no thing."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """What is asked of an operation that has a query of its own."""


def standing(value: Value, missing: Value) -> Sample:
    """Something that is there without being made."""

    async def give(client: Client, roost: Roost, account: Account, parent: str) -> Value:
        return value

    return Sample(give, missing, shared=True)
