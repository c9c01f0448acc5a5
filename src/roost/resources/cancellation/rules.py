"""What holds of cancelling an account, as pure functions."""

from datetime import timedelta

from roost.resources.cancellation.queries import CancelFacts

CHILDREN = "The account has active child accounts; cancel them first"

_SHORTEST, _LONGEST = timedelta(seconds=0.25), timedelta(seconds=60)


def objection(facts: CancelFacts) -> str | None:
    """Why an account cannot be canceled (spec B account 3)."""
    return CHILDREN if facts.has_children else None


def pause(age: timedelta) -> float:
    """Seconds until somebody looks again what a job of this age still waits for."""
    return min(max(age / 4, _SHORTEST), _LONGEST).total_seconds()
