"""The parameters of operations: of the path, of the query and of the header."""

import re
from collections.abc import Iterator, Mapping

from roost.store.conditions import ColumnType
from roost.web.dry_run import PARAMETER as DRY_RUN
from roost.web.filters import FIELD as FILTER
from roost.web.idempotency import HEADER as IDEMPOTENCY_KEY
from roost.web.pages import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MIN_PAGE_SIZE
from roost.web.registry import Endpoint, Page, Stream
from roost.web.routing import ParamKind, path_params
from roost.web.versions import IF_MATCH, IF_NONE_MATCH
from roost.web.waits import MOST_SECONDS, WAIT

Json = Mapping[str, object]

PARAMETERS: Mapping[str, Json] = {
    "Page": {
        "name": "page",
        "in": "query",
        "description": "Which page of the list, the first being 1. One after the last is a 404.",
        "schema": {"type": "integer", "minimum": 1, "default": 1},
    },
    "PageSize": {
        "name": "page_size",
        "in": "query",
        "description": "How many rows a page has.",
        "schema": {
            "type": "integer",
            "minimum": MIN_PAGE_SIZE,
            "maximum": MAX_PAGE_SIZE,
            "default": DEFAULT_PAGE_SIZE,
        },
    },
    "DryRun": {
        "name": DRY_RUN,
        "in": "query",
        "description": (
            "With `true` everything is checked, nothing is changed, and the answer tells by how "
            "much the request would change what the account costs. Rights and rate limits are "
            "those of the request; an `Idempotency-Key` is neither used nor kept. An extension "
            "of the API; writes without it refuse it."
        ),
        "schema": {"type": "boolean", "default": False},
    },
    "Wait": {
        "name": WAIT,
        "in": "query",
        "description": (
            "Seconds in which the answer may wait until there is another `status` than now. It is "
            "given at once where `If-None-Match` names none of its versions, and as it is then "
            "when the time is over."
        ),
        "schema": {"type": "integer", "minimum": 0, "maximum": MOST_SECONDS, "default": 0},
    },
    "IfMatch": {
        "name": IF_MATCH,
        "in": "header",
        "description": (
            "Tags of the `ETag` of a GET of this path, with commas between them, or `*`. The write "
            "is refused with 412, and nothing has changed, when what it would change is another "
            "version by now, whoever has changed it. 400 where nothing is shown at the path."
        ),
        "schema": {"type": "string"},
    },
    "IfNoneMatch": {
        "name": IF_NONE_MATCH,
        "in": "header",
        "description": "Tags that the client has the answers of: 304 without a body for one of "
        "these.",
        "schema": {"type": "string"},
    },
    "LastEventId": {
        "name": "Last-Event-ID",
        "in": "header",
        "description": (
            "The `id` of the last message that was received: what has happened since comes first."
        ),
        "schema": {"type": "string", "pattern": "^[0-9]{1,19}$"},
    },
    "IdempotencyKey": {
        "name": IDEMPOTENCY_KEY,
        "in": "header",
        "description": (
            "Any text of your own that names this request. Sent again within 24 hours with the "
            "same body and token, the request is not performed a second time: the answer of the "
            "first is returned. With another body it is refused with 400."
        ),
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    },
}

_PATH_TEXTS = {
    "address": "An IPv4 or IPv6 address of one of your instances.",
    "clientId": "The id of the OAuth client.",
    "euuid": "The `euuid` of the child account.",
    "regionId": "The id of the region, such as `us-lake`.",
    "tagLabel": "The label of the tag.",
    "username": "The name of the user.",
}
_WORDS = {"compute": "compute instance", "ssh key": "SSH key", "type": "compute type"}

_OPERATORS: Mapping[ColumnType, str] = {
    "int": "`+gt` `+gte` `+lt` `+lte` `+neq`",
    "number": "`+gt` `+gte` `+lt` `+lte` `+neq`",
    "time": "`+gt` `+gte` `+lt` `+lte` `+neq`",
    "text": "`+contains` `+neq`",
    "id": "`+contains` `+neq`",
    "texts": "`+contains` `+neq`, where the list holds the value",
    "bool": "`+neq`",
}


def build_parameters(endpoint: Endpoint) -> list[Json]:
    return [
        *_path_parameters(endpoint),
        *_query_parameters(endpoint),
        *_list_parameters(endpoint),
        *([_shared("Wait")] if endpoint.can_wait else []),
        *([_shared("IfNoneMatch")] if endpoint.has_version else []),
        *([_shared("IfMatch")] if endpoint.method in ("PUT", "DELETE") else []),
        *([_shared("LastEventId")] if isinstance(endpoint.returns, Stream) else []),
        *([_shared("DryRun")] if endpoint.dry_run is not None else []),
        *([_shared("IdempotencyKey")] if endpoint.method == "POST" and not endpoint.public else []),
    ]


def _shared(name: str) -> Json:
    return {"$ref": f"#/components/parameters/{name}"}


def _path_parameters(endpoint: Endpoint) -> Iterator[Json]:
    for name, kind in path_params(endpoint.path).items():
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": _path_text(name),
            "schema": _path_schema(kind),
        }


def _path_schema(kind: ParamKind) -> Json:
    return (
        {"type": "integer", "minimum": 0} if kind == "int" else {"type": "string", "minLength": 1}
    )


def _path_text(name: str) -> str:
    if name in _PATH_TEXTS:
        return _PATH_TEXTS[name]
    words = re.sub(r"(?=[A-Z])", " ", name.removesuffix("Id")).lower()
    return f"The id of the {_WORDS.get(words, words)}."


def _query_parameters(endpoint: Endpoint) -> Iterator[Json]:
    for name, description in endpoint.query.items():
        schema = {"type": "string"}
        yield {"name": name, "in": "query", "description": description, "schema": schema}


def _list_parameters(endpoint: Endpoint) -> Iterator[Json]:
    if not isinstance(endpoint.returns, Page):
        return
    yield _shared("Page")
    yield _shared("PageSize")
    if endpoint.filters:
        yield _filter_parameter(endpoint)


def _filter_parameter(endpoint: Endpoint) -> Json:
    columns = sorted(endpoint.filters.items())
    fields = "\n".join(f"| `{name}` | {_OPERATORS[column.type]} |" for name, column in columns)
    unordered = [f"`{n}`" for n, c in columns if not c.sortable or c.type == "texts"]
    but = f" but {', '.join(unordered)}" if unordered else ""
    return {
        "name": FILTER,
        "in": "header",
        "description": (
            "A JSON object that says which rows are wanted. All its members must hold; a member "
            "is a field with the value it equals, or with an object of operators. `+and` and `+or`"
            " take an array of such objects.\n\n"
            f"| field | operators beside equality |\n|---|---|\n{fields}\n\n"
            f"`+order_by` takes one of these fields{but}, `+order` is `asc` or `desc`."
        ),
        "schema": {"type": "string", "contentMediaType": "application/json"},
        "x-filterable": [name for name, _ in columns],
    }
