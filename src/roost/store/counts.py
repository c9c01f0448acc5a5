"""How many rows an account has of something, kept by triggers in the table `row_count`.

Each row that comes or goes adds an amount there, so that nobody waits for another; their sum is
exact in every snapshot. A job folds them into one (`core/entities/jobs.py`).
"""

# ruff: noqa: S608  (statements are put together from the listings' own SQL, never from input)

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows whose number is kept; every part is SQL."""

    kind: str
    """As the triggers of the table name it, such as `'compute'`."""
    owner: str = "$1"
    """The account, or for grants the user."""
    label: str = "''"
    """A tag that they have; empty: all rows."""
    hidden: str | None = None
    """Rows of the account $1 that are counted but not shown; few, under an index."""

    def total(self, source: str) -> str:
        """SQL of the number of rows of a from clause."""
        kept = (
            f"(select coalesce(sum(n.amount), 0)::bigint from row_count n where n.owner ="
            f" {self.owner} and n.kind = {self.kind} and n.label = {self.label})"
        )
        if self.hidden is None:
            return kept
        return f"({kept} - (select count(*) from {source} where {self.hidden}))"

    def tagged(self, label: str, condition: str) -> "Counted":
        """Those with a tag, for which the condition is true."""
        return replace(self, label=label, hidden=self._hidden(condition))

    def granted(self, user: str, condition: str) -> "Counted":
        """Those that are granted to a user, for which the condition is true."""
        return replace(
            self, kind=f"'granted ' || {self.kind}", owner=user, hidden=self._hidden(condition)
        )

    def _hidden(self, condition: str) -> str | None:
        return None if self.hidden is None else f"({self.hidden}) and {condition}"
