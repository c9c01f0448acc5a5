"""What holds of private images."""

import re

MAX_SIZE = 6144
"""MB that may be on the disk of which an image is made."""

_PRIVATE = re.compile(r"private/([1-9][0-9]{0,17})")


def number_of(image_id: str) -> int | None:
    """The number in the id of a private image (spec A image private); None for all else."""
    found = _PRIVATE.fullmatch(image_id)
    return int(found[1]) if found else None
