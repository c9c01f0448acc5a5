"""Login: user name and password, then the second factor of those who have one."""

import re
from dataclasses import replace
from urllib.parse import urlencode

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from roost.oauth import cookies, pages
from roost.oauth import session_queries as queries
from roost.oauth.forms import Params, read_form, read_query
from roost.oauth.session_queries import Credentials, Session
from roost.oauth.sessions import Visitor, begin_session, end_session, visitor_of
from roost.oauth.site import Site, client_address
from roost.oauth.throttle import Attempt, begin_attempt, clear_attempts
from roost.resources.devices.service import TRUSTED_FOR, is_known, is_trusted, remember_device
from roost.resources.logins.queries import record_login
from roost.resources.two_factor.service import verify_second_factor
from roost.secrets import hash_token

_OURS = re.compile(r"/oauth/authorize\?[!-~]*|/console/[!-~]*|/")

WRONG = "The user name or the password is not right."
WRONG_CODE = "This code is not right, or was used before."
TOO_OFTEN = "Too many attempts. Wait a quarter of an hour and try again."
EXPIRED = "This page was open for too long. Please try again."


class LoginPages:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def show(self, request: Request) -> Response:
        visitor, after = await visitor_of(self._site, request), destination(read_query(request))
        if visitor.user is None:
            return _ask_password(visitor, after)
        if after is not None:
            return pages.redirect(after)
        return pages.show(visitor, "signed_in.html", username=visitor.user.username)

    async def check_password(self, request: Request) -> Response:
        visitor, after = await visitor_of(self._site, request), destination(read_query(request))
        form = await read_form(request)
        username, ip = form.get("username") or "", client_address(request)
        if not visitor.sent(form):
            return _ask_password(visitor, after, 403, EXPIRED, username)
        found = await queries.find_credentials(self._site.store, username)
        device = await self._trusted_device(visitor, found)
        attempt = Attempt.trusted(device) if device else Attempt.password(username, ip)
        number = await begin_attempt(self._site, attempt)
        if number is None:
            return _ask_password(visitor, after, 429, TOO_OFTEN, username)
        hashed = found.password_hash if found else None
        matches = await self._site.passwords.matches(hashed, form.get("password") or "")
        if found is None or hashed is None or not matches:
            refusal = _ask_password(visitor, after, 400, WRONG, username)
            if found is not None:
                refusal.background = self._failure(found.user_id, ip)
            return refusal
        await queries.drop_attempt(self._site.store, number)
        if device is not None:
            await clear_attempts(self._site, attempt)
        known = not found.tfa_enabled or await self._knows_device(device, found.user_id, ip)
        session = Session(found.user_id, found.username, hash_token(hashed), known)
        return await self.enter(visitor, session, after) or _begin_again(after)

    async def ask_second_factor(self, request: Request) -> Response:
        visitor, after = await visitor_of(self._site, request), destination(read_query(request))
        if visitor.session is None or visitor.user is not None:
            return _begin_again(after)
        return _ask_code(visitor, after)

    async def check_second_factor(self, request: Request) -> Response:
        form, after = await read_form(request), destination(read_query(request))
        visitor = await visitor_of(self._site, request)
        session = visitor.session
        if session is None or visitor.user is not None:
            return _begin_again(after)
        if not visitor.sent(form):
            return _ask_code(visitor, after, 403, EXPIRED)
        ip = client_address(request)
        if await begin_attempt(self._site, Attempt.code(session.username)) is None:
            return _ask_code(visitor, after, 429, TOO_OFTEN)
        if not await self._is_right(session.user_id, form):
            refusal = _ask_code(visitor, after, 400, WRONG_CODE)
            refusal.background = self._failure(session.user_id, ip)
            return refusal
        response = await self.enter(visitor, replace(session, tfa_passed=True), after)
        if response is None:
            return _begin_again(after)
        if form.get("remember"):
            await self._remember_device(request, session.user_id, response)
        return response

    async def leave(self, request: Request) -> Response:
        visitor, after = await visitor_of(self._site, request), destination(read_query(request))
        if not visitor.sent(await read_form(request)):
            return _begin_again(after)
        response = pages.redirect(path_with(after, "/login"))
        (await end_session(visitor)).remember(response)
        return response

    async def enter(self, visitor: Visitor, session: Session, after: str | None) -> Response | None:
        """On to the second factor, or in; None when the password has changed meanwhile."""
        entered = await begin_session(visitor, session)
        if entered is None:
            return None
        if session.tfa_passed:
            ip = client_address(visitor.request)
            name = session.username
            await clear_attempts(self._site, Attempt.password(name, ip), Attempt.code(name))
            now = self._site.clock.now()
            await record_login(self._site.store, session.user_id, ip, "successful", now)
            response = pages.redirect(after or "/login")
        else:
            response = pages.redirect(path_with(after, "/login/second-factor"))
        entered.remember(response)
        return response

    async def _is_right(self, user_id: int, form: Params) -> bool:
        code = (form.get("code") or "").replace(" ", "").upper()
        async with self._site.store.transaction() as db:
            now = self._site.clock.now()
            return await verify_second_factor(db, self._site.box, user_id, code, now)

    async def _trusted_device(self, visitor: Visitor, user: Credentials | None) -> str | None:
        """The secret of the browser's device, when the user trusts it."""
        secret = cookies.read_cookie(self._site, visitor.request, cookies.DEVICE)
        if secret is None or user is None:
            return None
        now = self._site.clock.now()
        known = await is_known(self._site.store, user.user_id, secret, now)
        return secret if known else None

    async def _knows_device(self, secret: str | None, user_id: int, ip: str) -> bool:
        """Noted as a use of the device."""
        if secret is None:
            return False
        return await is_trusted(self._site.store, user_id, secret, ip, self._site.clock.now())

    async def _remember_device(self, request: Request, user_id: int, response: Response) -> None:
        agent, ip = request.headers.get("user-agent", ""), client_address(request)
        async with self._site.store.transaction() as db:
            secret = await remember_device(db, user_id, agent, ip, self._site.clock.now())
        name = cookies.DEVICE
        cookies.set_cookie(self._site, request, response, name, secret, TRUSTED_FOR)

    def _failure(self, user_id: int, ip: str) -> BackgroundTask:
        """Noted after the answer, which must not take longer for users who exist."""
        now = self._site.clock.now()
        return BackgroundTask(record_login, self._site.store, user_id, ip, "failed", now)


def destination(query: Params) -> str | None:
    """Where to go after the login: only ever our own consent page, or a page of the console."""
    after = query.get("next") or ""
    return after if _OURS.fullmatch(after) else None


def path_with(after: str | None, path: str) -> str:
    """The path of a page that goes on to `after`."""
    return path if after is None else f"{path}?{urlencode({'next': after})}"


def _begin_again(after: str | None) -> Response:
    return pages.redirect(path_with(after, "/login"))


def _ask_password(
    visitor: Visitor, after: str | None, status: int = 200, error: str = "", username: str = ""
) -> Response:
    action = path_with(after, "/login")
    return pages.show(visitor, "login.html", status, action=action, error=error, username=username)


def _ask_code(visitor: Visitor, after: str | None, status: int = 200, error: str = "") -> Response:
    action, leave = path_with(after, "/login/second-factor"), path_with(after, "/logout")
    days = TRUSTED_FOR.days
    return pages.show(
        visitor, "second_factor.html", status, action=action, leave=leave, error=error, days=days
    )
