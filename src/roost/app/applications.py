"""The ASGI applications of a process: one for the API, one more for each dialect of it.

They share everything but words: whoever has used up a limit at one has done so at all.
"""

from dataclasses import dataclass, replace
from functools import cache, partial

from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from roost.app.consoles import Consoles
from roost.app.groups import GROUPS
from roost.app.health import Health
from roost.app.image_uploads import ImageUploads
from roost.app.lab.lab import Lab, open_lab
from roost.app.lab.routes import mount
from roost.app.payments import StripeMessages
from roost.app.restarting_worker import RestartingWorker
from roost.app.roost import Roost
from roost.console.site import Console
from roost.core.spool import Spool
from roost.dialect.documents import translate_document
from roost.dialect.later.lists import later_endpoints
from roost.dialect.listener import Listener
from roost.dialect.operations import UNSPOKEN, Operations, compile_operations
from roost.dialect.table import Dialect
from roost.oauth.first_link import FirstLink
from roost.oauth.passwords import PasswordChecker
from roost.oauth.routes import build_routes
from roost.oauth.site import Site
from roost.secrets import Box
from roost.threads import DISK
from roost.web.api import Api
from roost.web.connections import Networks
from roost.web.docs import Documents
from roost.web.edge import Edge
from roost.web.registry import Registry
from roost.web.revisions.documents import build_document_of
from roost.web.revisions.released import RELEASED
from roost.web.revisions.revisions import Revisions
from roost.web.revocation import Revocations
from roost.web.site import Server, build_site
from roost.web.traced import TracedApi


@dataclass(frozen=True, slots=True)
class Applications:
    """What all of them stand on."""

    roost: Roost
    edge: Edge
    lab: Lab | None
    oauth: Site
    """Logins and OAuth."""
    beside: tuple[BaseRoute, ...]
    """Uploads, consoles, a gateway's messages and the lab."""

    @classmethod
    async def open(
        cls, roost: Roost, worker: RestartingWorker | None, revocations: Revocations
    ) -> "Applications":
        lab = await open_lab(roost, revocations, worker)
        oauth = Site(
            roost.requests,
            roost.clock,
            roost.services.get(Box),
            PasswordChecker(),
            revocations,
            roost.settings.public_url,
            await DISK.run(FirstLink.of, roost.settings.state),
        )
        spool = roost.services.get(Spool)
        most = roost.catalog.entries.image_size * 1024**2
        uploads = ImageUploads(roost.requests, roost.queue, roost.clock, spool, most)
        messages = StripeMessages.of(roost.settings, roost.requests, roost.queue)
        consoles = Consoles(roost.requests, roost.clock, roost.services)
        routes = (uploads.route(), messages.route(), consoles.route())
        beside = (*routes, *(() if lab is None else (mount(lab),)))
        return cls(roost, await roost.edge(revocations), lab, oauth, beside)

    def of(self, dialect: Dialect | None) -> ASGIApp:
        """The API and everything beside it, in the words of the specification or a dialect."""
        if dialect is None:
            documents = {date: partial(_document, date) for date in self.edge.revisions.known}
            return self._server(self.edge, self.oauth, documents, True)
        operations = _operations_of(dialect)
        registry = operations.registry
        revisions = Revisions(registry, self.edge.revisions.released[-1:])
        edge = replace(self.edge, registry=registry, revisions=revisions)
        oauth = replace(self.oauth, any_query=dialect.any_redirect_query)
        server = self._server(edge, oauth, {revisions.newest: partial(_document_of, dialect)})
        return Listener(dialect, operations, server, edge.max_body, self.roost.catalog)

    def close(self) -> None:
        """Write what the access log still holds."""
        if self.edge.access_log is not None:
            self.edge.access_log.flush()

    def _server(
        self, edge: Edge, oauth: Site, documents: Documents, has_console: bool = False
    ) -> Server:
        roost = self.roost
        api: ASGIApp = Api(edge) if roost.tracer is None else TracedApi(edge, roost.tracer)
        gated = api if self.lab is None else self.lab.gate.around(api)
        monitors = Networks(roost.settings.monitors)
        console = Console.of(gated, oauth, edge.registry).routes() if has_console else ()
        beside = (*build_routes(oauth), *self.beside, *console)
        site = build_site(documents, roost.metrics, Health(roost).check, monitors, beside)
        return Server(gated, site, roost.limiter)


@cache
def _operations_of(dialect: Dialect) -> Operations:
    """Once in a process, however many servers it has: nothing in them changes."""
    return compile_operations(
        dialect, Registry(GROUPS.endpoints, later_endpoints(dialect), without=UNSPOKEN)
    )


@cache
def _document(date: str) -> bytes:
    """The document of a revision, made once: it takes half a second."""
    return build_document_of(Revisions(Registry(GROUPS.endpoints), RELEASED), date)


@cache
def _document_of(dialect: Dialect) -> bytes:
    return translate_document(dialect, _operations_of(dialect).registry)
