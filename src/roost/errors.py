"""Errors for people: what the API answers, with exact texts (reference: errors), and operators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict


class ErrorItem(TypedDict):
    """One entry of `errors` (spec A errors)."""

    reason: str
    """What is wrong, for people."""
    field: NotRequired[str]
    """The dotted path of the field, or the name of the parameter or header; absent when the request
    as a whole is meant."""


class ErrorBody(TypedDict):
    """The body of every refusal."""

    errors: list[ErrorItem]
    """All that is wrong, in the order of the fields."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason for a refusal; `field` is a dotted path, or None for the whole request."""

    reason: str
    field: str | None = None

    def item(self) -> ErrorItem:
        if self.field is None:
            return {"reason": self.reason}
        return {"field": self.field, "reason": self.reason}


class ShownError(Exception):
    """A fault whose text a user may read; of other exceptions only the log tells."""

    lasting = False
    """Whether another attempt soon would meet it again."""


class OperatorError(Exception):
    """What keeps a command from its work and whoever runs it can mend; the text says how."""


def shown(error: Exception) -> str:
    """What a user is shown of a fault."""
    return str(error) if isinstance(error, ShownError) else "An error occurred"


MAX_PROBLEMS = 100
"""A longer list helps nobody, and whoever sends nonsense would be sent more of it."""


class ApiError(Exception):
    """A refusal: an HTTP status and at least one problem, of which the first 100 are shown."""

    def __init__(
        self, status: int, problems: Sequence[Problem], headers: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        shown = tuple(problems[:MAX_PROBLEMS])
        super().__init__("; ".join(p.reason for p in shown))
        self.status = status
        self.problems = shown
        self.headers = tuple(headers)


def invalid(reason: str, field: str | None = None) -> ApiError:
    """400: the request as a whole or one of its fields is refused."""
    return ApiError(400, [Problem(reason, field)])


def invalid_fields(problems: Sequence[Problem]) -> ApiError:
    """400 with every field error of a body, in field order."""
    return ApiError(400, problems)


def unauthenticated(reason: str = "Invalid Token") -> ApiError:
    return ApiError(401, [Problem(reason)])


def out_of_scope() -> ApiError:
    return ApiError(401, [Problem("Your OAuth token is not authorized to use this endpoint.")])


def forbidden() -> ApiError:
    return ApiError(403, [Problem("Unauthorized")])


def restricted(restriction: str) -> ApiError:
    """403 for a narrowed token; `restriction`: its name, or what no narrowed token may."""
    return ApiError(403, [Problem(f"The token is restricted: {restriction}")])


def not_found() -> ApiError:
    return ApiError(404, [Problem("Not found")])
