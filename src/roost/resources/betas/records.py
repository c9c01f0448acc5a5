"""Records of beta programs (reference: Betas)."""

from typing_extensions import TypedDict

_PROGRAM = {
    "id": "new-thing",
    "label": "New thing",
    "description": "What nobody has tried yet.",
    "started": "2030-01-01T00:00:00",
    "ended": None,
}


class BetaRow(TypedDict):
    """A program in which accounts may take part."""

    id: str
    """The name that requests use."""
    label: str
    """Its name for people."""
    description: str
    """What can be tried."""
    started: str
    """Since when accounts can enroll."""
    ended: str | None
    """When it ends; null while that is open."""
    greenlight_only: bool
    """Whether only the operator enrolls accounts."""
    more_info: str
    """The URL of more about it, or empty."""


class EnrolledBetaRow(TypedDict):
    """A program in which the account takes part, since `enrolled`."""

    id: str
    """The name that requests use."""
    label: str
    """Its name for people."""
    description: str
    """What can be tried."""
    started: str
    """Since when accounts can enroll."""
    ended: str | None
    """When it ends; null while that is open."""
    enrolled: str
    """Since when the account takes part."""
