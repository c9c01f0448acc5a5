"""Records of beta programs (reference: Betas)."""

from typing_extensions import TypedDict

from roost.core.formats import example

_PROGRAM = {
    "id": "new-thing",
    "label": "New thing",
    "description": "What nobody has tried yet.",
    "started": "2030-01-01T00:00:00",
    "ended": None,
}


@example(
    {**_PROGRAM, "greenlight_only": False, "more_info": "https://example.com/new-thing"},
)
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


@example({**_PROGRAM, "enrolled": "2030-01-31T12:00:00"})
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
