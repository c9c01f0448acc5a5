"""Who sits in front of the browser, and whether a form came from one of our own pages.

Every browser gets a random cookie with its first page. Tokens in forms are made from it with the
key of this installation, so that another site can't send a form in the browser's name, not even to
log it in as somebody else, nor when it can set cookies of this host. The cookie becomes a session's
id only after a login gave it a new value.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from hmac import compare_digest
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from roost.ids import new_token
from roost.oauth import cookies
from roost.oauth import session_queries as queries
from roost.oauth.forms import Params
from roost.oauth.session_queries import Session
from roost.oauth.site import Site
from roost.resources.tokens.queries import add_session_token
from roost.resources.tokens.service import PREFIX_LENGTH
from roost.secrets import hash_token

SESSION_LIFE = timedelta(hours=12)
SECOND_FACTOR_LIFE = timedelta(minutes=10)
"""Between password and second factor."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """A browser, and its session if it has one."""

    site: Site
    request: Request
    cookie: str
    session: Session | None

    @property
    def user(self) -> Session | None:
        """None until all factors were right."""
        return self.session if self.session and self.session.tfa_passed else None

    @property
    def csrf(self) -> str:
        """What forms for this browser must hold."""
        return self.site.box.mark(b"csrf", self.cookie.encode()).hex()

    @property
    def token(self) -> str:
        """With which the console calls the API for this browser. It is kept nowhere: all processes
        make it of the cookie."""
        return self.site.box.mark(b"session token", self.cookie.encode()).hex()

    def sent(self, form: Params) -> bool:
        """Whether the form was on a page that this browser got from here."""
        return self.holds(form.get("csrf") or "")

    def holds(self, csrf: str) -> bool:
        """Whether what a form says as `csrf` is the session's."""
        held = compare_digest(csrf.encode(), self.csrf.encode())
        return held and not self._from_elsewhere()

    def _from_elsewhere(self) -> bool:
        """What the browser says of the page that holds the form; by our pages' policy, browsers
        may name no origin."""
        headers = self.request.headers
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return True
        origin = headers.get("origin", "null")
        hosts = (self.request.url.netloc, urlsplit(self.site.url(self.request)).netloc)
        return origin != "null" and origin.partition("://")[2] not in hosts

    def remember(self, response: Response) -> None:
        """Let the browser keep its cookie."""
        cookies.set_cookie(self.site, self.request, response, cookies.SESSION, self.cookie)


async def visitor_of(site: Site, request: Request) -> Visitor:
    browser = browser_of(site, request)
    return Visitor(site, request, new_token(), None) if browser is None else await entered(browser)


def browser_of(site: Site, request: Request) -> Visitor | None:
    """As nobody has looked yet whether its session is one; None for a browser without a cookie."""
    cookie = cookies.read_cookie(site, request, cookies.SESSION)
    return None if cookie is None else Visitor(site, request, cookie, None)


async def entered(browser: Visitor) -> Visitor:
    """With the session, where there is one."""
    site, hashed = browser.site, hash_token(browser.cookie)
    session = await queries.find_session(site.store, hashed, site.clock.now())
    return replace(browser, session=session)


async def begin_session(visitor: Visitor, user: Session) -> Visitor | None:
    """The visitor with a new cookie; the former session is over.

    None when the password that let the user in is no longer right.
    """
    site, now, cookie = visitor.site, visitor.site.clock.seconds(), new_token()
    life = SESSION_LIFE if user.tfa_passed else SECOND_FACTOR_LIFE
    async with site.store.transaction() as db:
        await queries.drop_session(db, hash_token(visitor.cookie))
        entered = Visitor(site, visitor.request, cookie, user)
        added = await queries.add_session(db, hash_token(cookie), user, now, now + life)
        if added and user.tfa_passed:
            token, session = entered.token, hash_token(cookie)
            await add_session_token(db, session, hash_token(token), token[:PREFIX_LENGTH])
    return entered if added else None


async def end_session(visitor: Visitor) -> Visitor:
    """A visitor whom nobody knows."""
    await queries.drop_session(visitor.site.store, hash_token(visitor.cookie))
    return Visitor(visitor.site, visitor.request, new_token(), None)
