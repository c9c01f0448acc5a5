"""The first login: who has the link of the first start chooses the password of the first user."""

from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from roost.oauth import pages
from roost.oauth import session_queries as queries
from roost.oauth.first_link import PATH
from roost.oauth.forms import read_form, read_query
from roost.oauth.login import EXPIRED, LoginPages
from roost.oauth.session_queries import Session
from roost.oauth.sessions import Visitor, visitor_of
from roost.oauth.site import Site
from roost.resources.users.bodies import Password
from roost.secrets import hash_password, hash_token
from roost.services import Services
from roost.threads import COMPUTING, DISK
from roost.web.checks import Checks

ADMIN = "admin"
_PASSWORD: TypeAdapter[str] = TypeAdapter(Password)


@dataclass(frozen=True, slots=True)
class FirstLoginPage:
    site: Site
    login: LoginPages

    async def show(self, request: Request) -> Response:
        """The link is still good afterwards: programs that only look at links use none up."""
        visitor, key = await visitor_of(self.site, request), read_query(request).get("key") or ""
        if not self.site.first_link.opens(key):
            return _used(visitor)
        return _ask(visitor, key)

    async def choose(self, request: Request) -> Response:
        visitor, key = await visitor_of(self.site, request), read_query(request).get("key") or ""
        form = await read_form(request)
        if not self.site.first_link.opens(key):
            return _used(visitor)
        if not visitor.sent(form):
            return _ask(visitor, key, 403, EXPIRED)
        password = form.get("password") or ""
        problem = await COMPUTING.run(_problem, password)
        if problem is not None:
            return _ask(visitor, key, 400, problem)
        hashed = await COMPUTING.run(hash_password, password)
        now = self.site.clock.seconds()
        async with self.site.store.transaction() as db:
            chosen = await queries.set_first_password(db, ADMIN, hashed, now)
        await DISK.run(self.site.first_link.end)
        if chosen is None:
            return _used(visitor)
        session = Session(
            chosen.user_id, chosen.username, hash_token(hashed), not chosen.tfa_enabled
        )
        return await self.login.enter(visitor, session, None) or _used(visitor)


def _problem(password: str) -> str | None:
    try:
        _PASSWORD.validate_python(password, context=Checks(Services()))
    except ValidationError as error:
        return error.errors()[0]["msg"]
    return None


def _ask(visitor: Visitor, key: str, status: int = 200, error: str = "") -> Response:
    action = f"{PATH}?key={key}"
    return pages.show(
        visitor, "first_login.html", status, action=action, error=error, username=ADMIN
    )


def _used(visitor: Visitor) -> Response:
    return pages.show(visitor, "used_link.html", 404)
