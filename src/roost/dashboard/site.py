"""The routes of the operator's pages. They are told apart from other sites' by the host's name:
a name that leads here is no reason to answer."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from roost.console import assets
from roost.console.operations import PREFIX
from roost.console.reading import one, read_form
from roost.console.render import redirect
from roost.dashboard.desk import Desk
from roost.dashboard.entry import Entry, is_own
from roost.dashboard.made import LAB, PAGES
from roost.dashboard.page import Act, Page
from roost.dashboard.parts import AbsentError, Asked
from roost.dashboard.render import show
from roost.errors import OperatorError
from roost.web.site import REFUSALS

_EXPIRED = "This page was open for too long, or is of another session. Try again."

_MOST_CHARACTERS = 500

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Dashboard:
    desk: Desk
    entry: Entry
    hosts: frozenset[str]
    """Names, with the port, by which browsers may reach it."""
    told: Callable[[], None]
    """Called when a link was used, and there is another one."""

    def app(self) -> Starlette:
        routes: list[BaseRoute] = [
            *assets.routes(f"{PREFIX}/static"),
            Route("/enter", self._guarded(self.ask), methods=["GET"]),
            Route("/enter", self._guarded(self.enter), methods=["POST"]),
            Route("/leave", self._guarded(self.leave), methods=["POST"]),
        ]
        pages = (*PAGES, *LAB) if self.desk.settings.lab else PAGES
        for page in pages:
            methods = ["GET", "POST"] if page.acts else ["GET"]
            routes.append(Route(page.path, self._guarded(_of(self, page)), methods=methods))
        app = Starlette(routes=routes, exception_handlers=REFUSALS)
        app.state.pages = pages
        return app

    def _guarded(self, handler: Handler) -> Handler:
        async def guard(request: Request) -> Response:
            if request.headers.get("host", "") not in self.hosts:
                return Response("This is reached by its own address only.", 403)
            return await handler(request)

        return guard

    async def ask(self, request: Request) -> Response:
        """The link is still good afterwards: programs that only look at links use none up."""
        key = request.query_params.get("key", "")
        if not self.entry.opens(key):
            return show(request, "closed.html", 404)
        return show(request, "enter.html", key=key)

    async def enter(self, request: Request) -> Response:
        sent = await read_form(request)
        if not self.entry.opens(one(sent, "key")):
            return show(request, "closed.html", 404)
        response = redirect("/")
        self.entry.enter(response)
        self.told()
        return response

    async def leave(self, request: Request) -> Response:
        held = self.entry.csrf_of(request)
        if held is not None and is_own(request, one(await read_form(request), "csrf"), held):
            self.entry.leave(request)
        return redirect("/")

    async def answer(self, request: Request, page: Page) -> Response:
        csrf = self.entry.csrf_of(request)
        if csrf is None:
            return show(request, "closed.html", 401)
        asked = Asked(
            {name: str(value) for name, value in request.path_params.items()},
            {name: _text(value)[:200] for name, value in request.query_params.items()},
        )
        problem = ""
        if request.method == "POST":
            problem = await self._do(request, page, asked, csrf)
            if not problem:
                return redirect(f"{request.url.path}?done={request.query_params['do']}")
        try:
            parts = await page.read(self.desk, asked)
        except OperatorError as error:
            status = 404 if isinstance(error, AbsentError) else 400
            return show(request, "refused.html", status, csrf=csrf, problem=problem or str(error))
        values = {"csrf": csrf, "page": page, "asked": asked, "parts": parts, "problem": problem}
        done = _act(page, asked.query.get("done", ""))
        return show(request, "page.html", 400 if problem else 200, **values, done=done)

    async def _do(self, request: Request, page: Page, asked: Asked, csrf: str) -> str:
        """Why it was not done; empty where it was."""
        sent = await read_form(request)
        act = _act(page, request.query_params.get("do", ""))
        if act is None:
            return "There is no such thing to do here."
        if not is_own(request, one(sent, "csrf"), csrf):
            return _EXPIRED
        given = {each.name: _text(one(sent, each.name))[:_MOST_CHARACTERS] for each in act.inputs}
        for each in act.inputs:
            if each.options and given[each.name] not in each.options:
                return f"{each.title}: choose one."
        if act.confirm is not None and one(sent, "confirm").strip() != asked.params[act.confirm]:
            return f"Type {asked.params[act.confirm]} to confirm."
        try:
            await act.do(self.desk, asked, given)
        except OperatorError as error:
            return str(error)
        return ""


def _of(dashboard: Dashboard, page: Page) -> Handler:
    async def answer(request: Request) -> Response:
        return await dashboard.answer(request, page)

    return answer


def _text(sent: str) -> str:
    """What the database can hold."""
    return sent.replace("\0", "").strip()


def _act(page: Page, name: str) -> Act | None:
    return next((each for each in page.acts if each.name == name), None)
