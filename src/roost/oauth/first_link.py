"""The link of the first login: in a file beside the first token, good until it was used."""

import os
import re
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path

from roost.ids import new_token

LINK_FILE = "admin.login"
PATH = "/login/first"
_KEY = re.compile(re.escape(PATH) + r"\?key=([0-9a-f]{64})\n?")


@dataclass(slots=True)
class FirstLink:
    path: Path
    key: str | None
    """None when there is none, or it was used."""

    @classmethod
    def of(cls, state: Path) -> "FirstLink":
        path = state / LINK_FILE
        found = _KEY.search(path.read_text()) if path.exists() else None
        return cls(path, None if found is None else found[1])

    def opens(self, key: str) -> bool:
        return self.key is not None and compare_digest(self.key.encode(), key.encode())

    def end(self) -> None:
        self.key = None
        self.path.unlink(missing_ok=True)


def new_link() -> str:
    """What the file holds first; the next start says where the server is reached."""
    return f"{PATH}?key={new_token()}\n"


def link_at(state: Path, url: str) -> str | None:
    """The link to a server at this URL, which the file has from now on; None when there is none."""
    link = FirstLink.of(state)
    if link.key is None:
        return None
    text = f"{url}{PATH}?key={link.key}"
    with os.fdopen(os.open(link.path, os.O_WRONLY | os.O_TRUNC), "w") as file:
        file.write(text + "\n")
    return text
