"""The console's routes: pages, forms and what forms do."""

import asyncio
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from roost.console import actions, assets, narrowing, uploads
from roost.console.api import Api
from roost.console.bulk import perform_bulk
from roost.console.file_forms import is_file_form
from roost.console.live import Live
from roost.console.made import PAGES
from roost.console.operations import PREFIX, Operations
from roost.console.pages import Page, Pages
from roost.console.parts import Bucket
from roost.console.render import redirect, show
from roost.console.schemas import Schemas
from roost.console.search import search
from roost.console.views import refuse, show_page
from roost.console.visit import Visit, position_of
from roost.oauth.sessions import Visitor, browser_of, entered, visitor_of
from roost.oauth.site import Site
from roost.threads import COMPUTING
from roost.web.registry import Endpoint, Registry
from roost.web.routing import Params

MOST_CHARACTERS = 200
"""Of what is searched for."""
_NOWHERE = Page("/", "Not found", "refused.html")


@dataclass
class Console:
    """Pages of one listener."""

    app: ASGIApp
    """The API."""
    site: Site
    operations: Operations
    pages: Pages
    _places: uploads.Places = field(default_factory=uploads.Places)
    _schemas: Schemas | None = None
    _describing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(cls, app: ASGIApp, site: Site, registry: Registry) -> "Console":
        operations = Operations(registry)
        return cls(app, site, operations, Pages(operations, PAGES))

    def routes(self) -> list[Route]:
        return [
            Route("/", self.start, methods=["GET"]),
            *assets.routes(f"{PREFIX}/static"),
            Route(PREFIX, self.to_start, methods=["GET"]),
            Route(f"{PREFIX}/live", self.live, methods=["GET"]),
            Route(f"{PREFIX}/pages", self.index, methods=["GET"]),
            Route(f"{PREFIX}/search", self.search, methods=["GET"]),
            Route(PREFIX + narrowing.PATH, self.narrow, methods=["GET", "POST"]),
            Route(PREFIX + uploads.PATH, self.upload, methods=["POST", "PUT", "DELETE"]),
            Route(PREFIX + "/{path:path}", self.show, methods=["GET"]),
            Route(PREFIX + "/{path:path}", self.send, methods=["POST"]),
        ]

    async def start(self, request: Request) -> Response:
        return await self._show(request, "/")

    async def live(self, request: Request) -> Response:
        visitor = await visitor_of(self.site, request)
        if visitor.user is None:
            return Response(status_code=401)
        return Live(self.app, visitor.token, request.query_params.get("after"))

    async def index(self, request: Request) -> Response:
        """All pages that are below none, for what people seldom look for."""
        visitor = await visitor_of(self.site, request)
        if visitor.user is None:
            return _log_in(request)
        visit = await self._visit(request, visitor, Page("/", "All pages", "pages.html"), {})
        areas: dict[str, list[Endpoint]] = {}
        for each in sorted(self.operations.top(), key=lambda each: each.path):
            areas.setdefault(each.path.split("/")[1], []).append(each)
        return show(visit, "pages.html", areas=areas)

    async def search(self, request: Request) -> Response:
        """What is called like the query's `q`."""
        visitor = await visitor_of(self.site, request)
        if visitor.user is None:
            return _log_in(request)
        visit = await self._visit(request, visitor, Page("/", "Search", "search.html"), {})
        text = request.query_params.get("q", "").strip()[:MOST_CHARACTERS]
        found = await search(visit, text) if text else []
        return show(visit, "search.html", text=text, found=found)

    async def narrow(self, request: Request) -> Response:
        """A token that may do less than another one."""
        visitor = await visitor_of(self.site, request)
        if visitor.user is None:
            return _log_in(request)
        visit = await self._visit(request, visitor, narrowing.PAGE, {})
        if request.method == "POST":
            return await narrowing.perform_narrowing(visit)
        return await narrowing.show_narrowing(visit)

    async def to_start(self, request: Request) -> Response:
        return redirect("/")

    async def show(self, request: Request) -> Response:
        return await self._show(request, _path(request))

    async def _show(self, request: Request, path: str) -> Response:
        browser = browser_of(self.site, request)
        if browser is None:
            return _log_in(request)
        found = self.pages.find(path, request.query_params.get("do"))
        if found is None or found[0].form is not None:
            visitor, position = await entered(browser), None
        else:
            # Neither waits for the other: a browser without a session is told nothing.
            api = Api(self.app, browser.token, request.scope)
            looking_up = (entered(browser), position_of(api, self.operations))
            visitor, position = await asyncio.gather(*looking_up)
        if visitor.user is None:
            return _log_in(request)
        if found is None:
            return refuse(await self._visit(request, visitor, _NOWHERE, {}), 404)
        visit = await self._visit(request, visitor, *found)
        if visit.page.form is not None:
            return await actions.show_form(visit)
        visit.position = position
        return await show_page(visit)

    async def send(self, request: Request) -> Response:
        """What a form does."""
        visitor = await visitor_of(self.site, request)
        if visitor.user is None:
            return _log_in(request)
        if (bulk := request.query_params.get("bulk")) is not None:
            return await self._send_bulk(request, visitor, bulk)
        found = self.pages.find(_path(request), request.query_params.get("do", ""))
        if found is None or found[0].form is None:
            return refuse(await self._visit(request, visitor, _NOWHERE, {}), 404)
        return await actions.perform(await self._visit(request, visitor, *found))

    async def upload(self, request: Request) -> Response:
        """Files for a bucket, of a script or of a form."""
        visitor = await visitor_of(self.site, request)
        params = request.path_params
        bucket = Bucket(Api(self.app, visitor.token, request.scope), self.operations, params)
        if not is_file_form(request):
            return await uploads.answer(visitor, bucket, self._places, request)
        if visitor.user is None:
            return _log_in(request)
        visit = await self._visit(request, visitor, uploads.PAGE, params)
        return await uploads.answer_form(visit, bucket, self._places)

    async def _send_bulk(self, request: Request, visitor: Visitor, name: str) -> Response:
        found = self.pages.find(_path(request))
        if found is None or name not in found[0].bulk:
            return refuse(await self._visit(request, visitor, _NOWHERE, {}), 404)
        visit = await self._visit(request, visitor, *found)
        return await perform_bulk(visit, self.operations.by_name[name])

    async def _visit(self, request: Request, visitor: Visitor, page: Page, params: Params) -> Visit:
        async with self._describing:
            if self._schemas is None:
                self._schemas = await COMPUTING.run(Schemas.of, self.operations.registry)
        api = Api(self.app, visitor.token, request.scope)
        return Visit(request, visitor, api, self.pages, self._schemas, page, params)


def _path(request: Request) -> str:
    """As the API has it: slashes that were sent as %2F belong to a name there too."""
    return "/" + str(request.path_params["path"]).rstrip("/")


def _log_in(request: Request) -> Response:
    """And back to this page, where it is one that can be shown again."""
    raw = request.scope["raw_path"].decode("ascii", "replace")
    query = request.scope["query_string"].decode("ascii", "replace")
    after = raw + (f"?{query}" if query else "")
    if request.method != "GET":
        after = "/"
    return redirect(f"/login?{urlencode({'next': after})}")
