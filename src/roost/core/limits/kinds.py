"""What the limits of an account count; each group declares its own (docs/catalog.md, Limits)."""

from dataclasses import dataclass

SERVICES = "You've reached a limit for the number of active services on your account."
"""Clients know a refused service by the beginning of the text (reference, errors)."""


@dataclass(frozen=True, slots=True)
class LimitKind:
    """One thing that is counted."""

    name: str
    """As the catalogue's `[limits]` and `roost account limit` call it."""
    noun: str
    """As a refusal names many of it, with the unit if there is one."""
    default: int
    """How much an account may have of it, unless the catalogue or the operator says otherwise."""
    used: str = "count(*)"
    """SQL: how much of it the rows of the group are."""
    service: bool = True
    """Whether it is a service that the account uses, or something that serves its users."""

    def refusal(self, limit: int) -> str:
        if self.service:
            return f"{SERVICES} It may have at most {limit} {self.noun}."
        return f"You've reached a limit for the number of {self.noun} on your account: {limit}."


@dataclass(frozen=True, slots=True)
class LimitGroup:
    """Kinds that grow together; one request of an account after the other adds to them."""

    name: str
    rows: str
    """SQL: the from clause and the condition of what the account $1 has."""
    kinds: tuple[LimitKind, ...]

    @classmethod
    def of(cls, rows: str, kind: LimitKind) -> "LimitGroup":
        """One kind that is counted alone."""
        return cls(kind.name, rows, (kind,))
