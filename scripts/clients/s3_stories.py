"""What the stories of S3 clients share: where the server is, a bucket, and names that hurt.

Each client's file runs by itself with that client installed; `scripts/try-s3-clients` sets the
environment.
"""

import os
import random
from collections.abc import Iterable
from urllib.parse import urlsplit

URL, HOST = os.environ["S3_URL"], urlsplit(os.environ["S3_URL"]).netloc
DOMAIN = os.environ["S3_DOMAIN"]
"""Below which buckets are hosts."""
BUCKET, KEY, SECRET = os.environ["S3_BUCKET"], os.environ["S3_KEY"], os.environ["S3_SECRET"]

LONG = "/".join(letter * 220 for letter in "wxyz") + "/" + "v" * 16
"""Of 900 bytes, as a path of which a file system takes every part."""
FILES = (
    *("a b.txt", "a-1", "a.txt", "a/1", "a/b c/2", "a0", "+", "%41", "A", "ü", "😀", "a\\b"),
    *("x&y=z;#?", "'\"<>", "~", "ж/日本", LONG),
)
"""Names that files can have, too."""
OTHERS = (
    "a//b",
    "a/",
    "folder/",
    "../x",
    "a/./b",
    "/begin",
    "a/../..",
    "tab\tnew\nline",
    "n" * 900,
)
NAMES = (*FILES, *OTHERS)
PART = 5 << 20
_SIZES = (0, 1, 1000, 70_000)


def body(name: str, again: int = 0) -> bytes:
    """Another one for each name; `again` counts how often it has been changed."""
    chance = random.Random(f"{name} {again}")
    return chance.randbytes(chance.choice(_SIZES) + again)


def large() -> bytes:
    """Of three parts."""
    return random.Random("large").randbytes(2 * PART + 12345)


def in_order(names: Iterable[str]) -> list[str]:
    """As S3 lists them: by their bytes."""
    return sorted(names, key=str.encode)
