"""Records of the cancellation (reference: Account cancel result)."""

from typing_extensions import TypedDict


class CancelRow(TypedDict):
    """What is left to say."""

    survey_link: str
    """Where the operator asks why; empty where nobody does."""
