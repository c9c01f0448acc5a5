"""Who may look: a browser that has had a link of this very process."""

from dataclasses import dataclass, field
from datetime import timedelta
from hmac import compare_digest
from time import monotonic

from starlette.requests import Request
from starlette.responses import Response

from roost.ids import new_token
from roost.secrets import hash_token

LIFE = timedelta(hours=12)
_MOST_SESSIONS = 100


@dataclass(slots=True)
class Entry:
    """Links are good once; sessions are kept nowhere, and end with the process."""

    port: int
    """Where the pages are: browsers keep cookies by name and host alone."""
    key: str = field(default_factory=new_token)
    _sessions: dict[bytes, tuple[float, str]] = field(default_factory=dict)
    """Their end, and what their forms must hold."""

    @property
    def cookie(self) -> str:
        return f"roost_operator_{self.port}"

    def opens(self, key: str) -> bool:
        return compare_digest(self.key.encode(), key.encode())

    def enter(self, response: Response) -> None:
        """The link that was used is none any more: `key` is of the next one."""
        self.key, cookie = new_token(), new_token()
        self._forget_old()
        self._sessions[hash_token(cookie)] = (monotonic() + LIFE.total_seconds(), new_token())
        response.set_cookie(self.cookie, cookie, path="/", httponly=True, samesite="strict")

    def csrf_of(self, request: Request) -> str | None:
        """What forms of this browser hold; None for one that has not entered."""
        found = self._sessions.get(hash_token(request.cookies.get(self.cookie, "")))
        return None if found is None or found[0] <= monotonic() else found[1]

    def leave(self, request: Request) -> None:
        self._sessions.pop(hash_token(request.cookies.get(self.cookie, "")), None)

    def _forget_old(self) -> None:
        now = monotonic()
        known = {hashed: each for hashed, each in self._sessions.items() if each[0] > now}
        self._sessions = dict(list(known.items())[-_MOST_SESSIONS + 1 :])


def is_own(request: Request, csrf: str, held: str) -> bool:
    """Whether a form was on a page of ours."""
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    return compare_digest(csrf.encode(), held.encode())
