"""Records of beta programs (reference: Betas)."""

from typing_extensions import TypedDict


class BetaRow(TypedDict):
    """A program of the catalogue; `greenlight_only`: only the operator enrolls accounts."""

    id: str
    label: str
    description: str
    started: str
    ended: str | None
    greenlight_only: bool
    more_info: str


class EnrolledBetaRow(TypedDict):
    """A program in which the account takes part, since `enrolled`."""

    id: str
    label: str
    description: str
    started: str
    ended: str | None
    enrolled: str
