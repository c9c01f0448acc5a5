"""Forms of operations, and what they do."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import orjson
from pydantic import JsonValue
from starlette.responses import JSONResponse, Response

from roost.console.api import Answer, Json
from roost.console.calls import Calls, calls_of
from roost.console.choices import with_choices
from roost.console.forms import Field, Sent, body_of, fields_of, shown, values_of
from roost.console.operations import PREFIX, url_of
from roost.console.questions import with_questions
from roost.console.reading import File, one, read_file, read_form
from roost.console.render import SAFETY, redirect, show
from roost.console.views import refusal, refuse
from roost.console.visit import Visit, is_destructive
from roost.errors import ErrorItem
from roost.ids import new_token
from roost.web.registry import Endpoint
from roost.web.routing import path_params

EXPIRED = "This page was open for too long. Please send it again."
TOO_DEEP = "What is written as JSON is nested too deeply."
_FORMER = "was:"
"""Before the name of a field: what it was when the form was shown."""

_REPLACING = frozenset({"replace_firewall_rules"})
"""Whose bodies take the place of all, so that what has not changed is sent, too."""

_SHOWN_ONCE = frozenset(
    {
        "create_oauth_client",
        "create_object_key",
        "create_object_url",
        "create_proxy_token",
        "create_token",
        "enable_tfa",
        "explain_packet",
        "open_console",
        "reset_oauth_client_secret",
        "upload_image",
        "confirm_tfa",
    }
)
"""Whose answers say what can't be seen again."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a template shows of one."""

    endpoint: Endpoint
    fields: Sequence[Field]
    values: Mapping[str, str]
    former: Mapping[str, str]
    about: Json
    """The record that it changes; empty where there is none."""
    absent: Answer | None
    """Why there is nothing to delete, or none that can be named."""
    confirm: str | None
    """What has to be typed."""
    key: str
    """So that a form that is sent twice is done once."""
    back: str
    problems: Mapping[str, str] = field(default_factory=dict)
    """By fields."""
    other: Sequence[str] = ()
    """Problems of no field here."""
    request_id: str = ""
    lacking: str | None = None
    calls: Calls | None = None
    price: Json | None = None
    """Of a dry run."""

    def field(self, name: str) -> Field:
        """For templates; KeyError for one that is not there."""
        return {each.name: each for each in _flat(self.fields)}[name]

    @property
    def destructive(self) -> bool:
        return is_destructive(self.endpoint)


async def show_form(visit: Visit) -> Response:
    """With what the address says of its fields, or the record has."""
    form = await _form(visit, {})
    if (refused := await _refusal(visit, form)) is not None:
        return refused
    return show(visit, visit.page.template, form=form)


async def perform(visit: Visit) -> Response:
    """Do what a form says, or show it again with what is wrong."""
    endpoint, file = visit.operations.by_name[visit.page.form or ""], None
    if endpoint.accepts:
        sent, file = await read_file(visit.request, endpoint)
    else:
        sent = await read_form(visit.request)
    form = await _form(visit, sent)
    if (refused := await _refusal(visit, form)) is not None:
        return refused
    if not visit.visitor.holds(one(sent, "csrf")):
        return show(visit, visit.page.template, 403, form=_with(form, other=[EXPIRED]))
    former = {n.removeprefix(_FORMER): v[0] for n, v in sent.items() if n.startswith(_FORMER)}
    body = body_of(form.fields, sent, former)
    try:
        raw = orjson.dumps(body) if endpoint.body is not None else b""
    except orjson.JSONEncodeError:
        return show(visit, visit.page.template, 400, form=_with(form, other=[TOO_DEEP]))
    if "preview" in sent:
        return await _preview(visit, form, body, raw)
    if form.confirm is not None and one(sent, "confirm").strip() != form.confirm:
        problems = {"confirm": f"Type {form.confirm}"}
        return show(visit, visit.page.template, 400, form=_with(form, problems=problems))
    answer = await _send(visit, form, raw, file, one(sent, "key") or None)
    if answer.ok:
        return _after(visit, form, answer)
    if visit.request.headers.get("x-fragment") == "json":
        return JSONResponse(answer.value, answer.status, headers=dict(SAFETY))
    return show(visit, visit.page.template, answer.status, form=await _refused(visit, form, answer))


async def _refusal(visit: Visit, form: Form) -> Response | None:
    if form.absent is not None:
        return refuse(visit, form.absent.status, answer=form.absent)
    return await refusal(visit)


async def _send(visit: Visit, form: Form, raw: bytes, file: File | None, key: str | None) -> Answer:
    if file is not None:
        return await visit.api.call(
            form.endpoint, visit.params, body=file.body, content_type=file.content_type
        )
    return await visit.api.call(form.endpoint, visit.params, body=raw, key=key)


async def _preview(visit: Visit, form: Form, body: Mapping[str, JsonValue], raw: bytes) -> Response:
    """The price and the calls; alone where a script asks for them."""
    calls, price = calls_of(form.endpoint, visit.params, body, visit.base), None
    if form.endpoint.dry_run is not None:
        query = {"dry_run": "true"}
        answer = await visit.api.call(form.endpoint, visit.params, query, raw)
        form, price = await _refused(visit, form, answer), answer.record or None
    form = _with(form, calls=calls, price=price, key=new_token())
    return show(visit, "preview.html" if _is_fragment(visit) else visit.page.template, form=form)


def _is_fragment(visit: Visit) -> bool:
    """Whether a script asks for the preview alone."""
    return visit.request.headers.get("x-fragment") == "preview"


async def _refused(visit: Visit, form: Form, answer: Answer) -> Form:
    names = {*form.values, *(each.name for each in _flat(form.fields))}
    of_fields, other = dict[str, str](), list[str]()
    for problem in answer.problems:
        name = _nearest(problem, names)
        if name is None:
            where = f"{problem['field']}: " if "field" in problem else ""
            other.append(where + problem["reason"])
        else:
            of_fields[name] = problem["reason"]
    lacking = await visit.lacks(form.endpoint) if answer.status in (401, 403) else None
    request_id = "" if answer.ok else answer.request_id
    return _with(form, problems=of_fields, other=other, request_id=request_id, lacking=lacking)


def _nearest(problem: ErrorItem, names: Collection[str]) -> str | None:
    """The field that a problem is of, or is within."""
    path = re.sub(r"\[([0-9]+)\]", r".\1", problem.get("field", ""))
    while path and path not in names:
        path = path.rpartition(".")[0]
    return path or None


def _flat(fields: Sequence[Field]) -> Sequence[Field]:
    return [inner for each in fields for inner in (each, *_flat(each.fields))]


def _with(form: Form, **changes: object) -> Form:
    values = {name: getattr(form, name) for name in Form.__dataclass_fields__}
    return Form(**{**values, **changes})


async def _form(visit: Visit, sent: Sent) -> Form:
    await visit.read()
    endpoint = visit.operations.by_name[visit.page.form or ""]
    answer = await _about(visit, endpoint)
    about = {} if answer is None else answer.record
    is_absent = endpoint.method == "DELETE" and answer is not None and answer.status in (404, 429)
    fields = fields_of(visit.schemas, visit.schemas.body_of(endpoint))
    shows = values_of(fields, about) if endpoint.method == "PUT" else {}
    former = {} if endpoint.name in _REPLACING else shows
    given = {name: "\n".join(values) for name, values in sent.items()}
    asked = dict(visit.request.query_params) if not sent else {}
    fields = await with_questions(visit, fields, {**asked, **given})
    defaults = {
        each.name: shown(each.default) for each in _flat(fields) if each.default is not None
    }
    label = about.get("label") or about.get("username") or about.get("domain")
    destructive = is_destructive(endpoint)
    home = visit.operations.home(endpoint)
    return Form(
        endpoint=endpoint,
        # A script asks as often as something is typed: what can be chosen is there already.
        fields=fields if _is_fragment(visit) else await with_choices(visit, endpoint, fields),
        values={**({} if endpoint.method == "PUT" else defaults), **shows, **asked, **given},
        former=former,
        about=about,
        absent=answer if is_absent else None,
        confirm=label if destructive and isinstance(label, str) and label else None,
        key=one(sent, "key") or new_token(),
        back="/" if home is None else url_of(home, visit.params) if _fits(home, visit) else PREFIX,
    )


def _fits(endpoint: Endpoint, visit: Visit) -> bool:
    return set(path_params(endpoint.path)) <= set(visit.params)


async def _about(visit: Visit, endpoint: Endpoint) -> Answer | None:
    """The record that the operation changes, where there is one."""
    home = visit.operations.home(endpoint)
    same = home is not None and home.path == endpoint.path
    of = home if same else endpoint.of or home
    if of is None or not _fits(of, visit) or not (same or path_params(of.path)):
        return None
    return await visit.api.call(of, visit.params)


def _after(visit: Visit, form: Form, answer: Answer) -> Response:
    """To what was made or changed; what is said once only is shown at once."""
    endpoint, operations = form.endpoint, visit.operations
    if visit.request.headers.get("x-fragment") == "json":
        return JSONResponse(answer.record, headers=dict(SAFETY))
    if endpoint.name in _SHOWN_ONCE:
        return show(visit, "answer.html", form=form, answer=answer)
    home = operations.home(endpoint)
    target = home
    params = dict(visit.params)
    if endpoint.method == "POST" and home is not None and answer.record:
        row = operations.row_page(home)
        found = None if row is None else operations.row_params(row, params, answer.record)
        if row is not None and found is not None:
            target, params = row, dict(found)
    if endpoint.method == "DELETE" and home is not None and home.path == endpoint.path:
        target = operations.home(home)
    if target is None or not set(path_params(target.path)) <= set(params):
        return redirect(f"/?done={endpoint.name}")
    return redirect(f"{url_of(target, params)}?done={endpoint.name}")
