"""What is translated between the API's own words and those that a caller speaks: of a former
revision, or of a dialect."""

from collections.abc import Callable

import orjson

from roost.web.bodies import is_too_deep

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
Rewrite = Callable[[bytes], bytes]


def parse(body: bytes) -> dict[str, Json] | None:
    """A JSON object; None for anything else, or what is nested too deep to be written again, so
    that the API can say what is wrong with it."""
    try:
        data: Json = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return data if isinstance(data, dict) and not is_too_deep(body, data) else None


def rewrite_messages(rewrite: Rewrite, piece: bytes) -> bytes:
    """Whole messages of a stream, each with its record in one line, or with none (`reset`)."""
    lines = piece.split(b"\n")
    start = b"data: "
    return b"\n".join(
        start + rewrite(line[len(start) :])
        if line.startswith(start) and line != b"data: {}"
        else line
        for line in lines
    )
