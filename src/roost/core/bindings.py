"""What belongs together is of one account: each group says what it binds, and fsck looks.

Who binds two things locks both with their account (`core.entities.locks`); this finds what was
bound in another way.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial

from roost.core.fsck import Check, Finding, Installation, unrepairable

_WHY = "only a person can say to whom it belongs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Things that are bound to each other."""

    across: str
    """A select of those of different accounts: `id`, a number that `part` takes, and `text`, which
    names both: `firewall 7 of account 1 filters instance 8 of account 2`."""
    part: Callable[[Installation, int], Awaitable[str]] | None = None
    """Ends one, and says what it did. Without it only a person can."""


def check_bindings(bindings: Iterable[Binding]) -> Check:
    """Finds all that is bound across accounts."""

    async def check_accounts(installation: Installation) -> AsyncIterator[Finding]:
        for binding in bindings:
            for row in await installation.store.fetch(binding.across):
                if binding.part is None:
                    yield unrepairable(row["text"], _WHY)
                else:
                    yield Finding(row["text"], partial(binding.part, installation, row["id"]))

    return check_accounts


def between(first: str, verb: str, second: str, source: str) -> str:
    """Such a select. `first` and `second` are words for the rows `a` and `b` of the source, which
    have `id` and `account_id`."""
    return f"""
        select a.id, format('{first} %s of account %s {verb} {second} %s of account %s',
            a.id, a.account_id, b.id, b.account_id) as text
        from {source} where a.account_id <> b.account_id order by a.id, b.id
        """  # noqa: S608 - constants
