"""Records of batches."""

from typing_extensions import TypedDict


class BatchedAnswer(TypedDict):
    """What the request would have been answered by itself."""

    path: str
    """As it was sent."""
    status: int
    """The HTTP status."""
    etag: str | None
    """The header `ETag`; null where there is none."""
    body: object
    """The body; null for 204 and 304."""


class BatchRow(TypedDict):
    """The answers of a batch."""

    answers: list[BatchedAnswer]
    """One for each request, in their order."""
