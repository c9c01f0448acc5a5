"""What a page is: a declaration. What has none is shown by the kit's own templates."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from roost.console.operations import STREAMS, Operations, subject_of, title_of
from roost.web.registry import Array, Endpoint
from roost.web.registry import Page as Paged
from roost.web.routing import Params, Router


@dataclass(frozen=True, slots=True)
class Read:
    """An operation that a page reads. Parameters of its path are those of the page's."""

    operation: str
    query: Mapping[str, str] = field(default_factory=dict)
    wanted: str | None = None
    """An X-Filter, in which `{computeId}` is what the path of the page says."""
    listed: bool = False
    """Whether it is the list of which the page's address says page and filter."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page at `/console` and its path, or the form of an operation there."""

    path: str
    """As the API writes paths: `/volumes/{volumeId:int}`."""
    title: str
    """With `{label}` for a field of the first thing that it reads."""
    template: str
    reads: Mapping[str, Read] = field(default_factory=dict)
    """By their names in the template; without the first one there is no page."""
    form: str | None = None
    """The operation whose form it is."""
    lead: str = ""
    """What to know before one begins."""
    columns: tuple[str, ...] = ()
    """Of its list; those that fit where there are none."""
    leads: tuple[str, ...] = ()
    """Operations to which its template has links of its own."""
    bulk: tuple[str, ...] = ()
    """Operations without a body that can be done with several rows of its list at once."""


def read(operation: str, **query: str) -> Read:
    return Read(operation, query)


class Pages:
    """All pages, those of the kit for what has no other."""

    def __init__(self, operations: Operations, made: Iterable[Page]) -> None:
        """KeyError for an operation that is not there."""
        self.operations = operations
        self._pages = tuple(made)
        self._made: Router[Page] = Router()
        for each in self._pages:
            self._made.add(each.form or "GET", each.path, each)
            for known in each.reads.values():
                operations.by_name[known.operation]

    def title(self, endpoint: Endpoint) -> str:
        """Of the page of an operation, where that names no field."""
        made = (page.title for page in self._pages if page.path == endpoint.path and not page.form)
        title = next(made, "{")
        return subject_of(endpoint) if "{" in title else title

    def operations_of_made(self) -> frozenset[str]:
        """What pages made by hand read, lead to or have a form for."""
        read = {each.operation for page in self._pages for each in page.reads.values()}
        read |= {name for page in self._pages for name in page.leads}
        return frozenset(read | {page.form for page in self._pages if page.form is not None})

    def find(self, path: str, form: str | None = None) -> tuple[Page, Params] | None:
        """The page at a path, or the form of an operation there."""
        match = self._made.find(path)
        if match is not None and (page := match.methods.get(form or "GET")) is not None:
            return page, match.params
        found = self.operations.registry.router.find(path)
        if found is None:
            return None
        if form is None:
            endpoint = found.methods.get("GET")
            return (
                None
                if endpoint is None or endpoint.name in STREAMS
                else (_of(endpoint), found.params)
            )
        endpoint = self.operations.by_name.get(form)
        if endpoint is None or found.methods.get(endpoint.method) is not endpoint:
            return None
        return _form_of(endpoint), found.params


def _of(endpoint: Endpoint) -> Page:
    if isinstance(endpoint.returns, Paged | Array):
        read = Read(endpoint.name, listed=isinstance(endpoint.returns, Paged))
        return Page(endpoint.path, subject_of(endpoint), "list.html", {"list": read})
    read = Read(endpoint.name)
    return Page(endpoint.path, subject_of(endpoint), "record.html", {"record": read})


def _form_of(endpoint: Endpoint) -> Page:
    lead = endpoint.description.partition("\n\n")[0]
    return Page(endpoint.path, title_of(endpoint), "form.html", form=endpoint.name, lead=lead)
