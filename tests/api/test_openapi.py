"""The OpenAPI document: valid, complete, and true to what the server enforces."""

import json
from collections.abc import Callable, Iterable, Iterator

import pytest
from jsonschema_rs import Draft202012, Draft202012Validator, meta
from jsonschema_rs import Registry as Schemas
from openapi_spec_validator import OpenAPIV31SpecValidator

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.billing.price_changes import DryRunRow
from roost.errors import ApiError
from roost.web.bodies import Body, parse_body
from roost.web.openapi import build_document
from roost.web.openapi.examples import recorded
from roost.web.openapi.schemas import row_of
from roost.web.registry import Accepted, Endpoint, Maybe, Registry
from roost.web.routing import path_params, plain_path
from tests.golden.gaps import check_gaps
from tests.support.client import Json

pytestmark = pytest.mark.spec("A errors 1", "A service paths")

ENDPOINTS = tuple(Registry(GROUPS.endpoints))
DOCUMENT: Json = json.loads(build_document(Registry(GROUPS.endpoints)))
COMPONENTS: Json = DOCUMENT["components"]
SCHEMAS: Json = COMPONENTS["schemas"]
COMPILED = Schemas([("urn:openapi", DOCUMENT)], draft=Draft202012)
BODIES = sorted({e.body for e in ENDPOINTS if e.body is not None}, key=lambda body: body.__name__)
EXAMPLES = [(body, e) for body in BODIES for e in body.model_json_schema().get("examples", ())]


def operation(endpoint: Endpoint) -> Json:
    return DOCUMENT["paths"]["/v4" + plain_path(endpoint.path)][endpoint.method.lower()]


def differing(
    found: Callable[[Endpoint], Json], wanted: Callable[[Endpoint], Json]
) -> dict[str, tuple[Json, Json]]:
    """What the document says of each operation where that is not what is declared."""
    both = ((e.name, found(e), wanted(e)) for e in ENDPOINTS)
    return {name: (says, declared) for name, says, declared in both if says != declared}


def undescribed(words: Callable[[Endpoint], Iterable[str]]) -> list[str]:
    """Operations whose description leaves out one of the words that it must have in code style."""
    return [
        f"{e.name}: {word}"
        for e in ENDPOINTS
        for word in words(e)
        if f"`{word}`" not in operation(e)["description"]
    ]


def nodes(value: Json) -> Iterator[Json]:
    yield value
    children = value.values() if isinstance(value, dict) else value
    for child in children if isinstance(value, (dict, list)) else ():
        yield from nodes(child)


def references() -> set[str]:
    found = (node.get("$ref") for node in nodes(DOCUMENT) if isinstance(node, dict))
    return {reference for reference in found if isinstance(reference, str)}


def resolved(node: Json) -> Json:
    """What a reference leads to, or the node itself."""
    if "$ref" not in node:
        return node
    _, _, kind, name = node["$ref"].split("/")
    return COMPONENTS[kind][name]


def field(model: str, path: str) -> Json:
    """The schema of a field without its null, such as `interfaces[].label` of a body."""
    schema = SCHEMAS[model]
    for name in path.replace("[]", ".[]").split("."):
        schema = resolved(schema["items"] if name == "[]" else schema["properties"][name])
        options = [o for o in schema.get("anyOf", ()) if o != {"type": "null"}]
        schema = resolved(options[0]) if len(options) == 1 else schema
    return schema


def problems(schema: Json, example: Json) -> list[str]:
    """Why an example is not what a schema says."""
    absolute = json.dumps(schema).replace('"#/', '"urn:openapi#/')
    validator = Draft202012Validator(json.loads(absolute), registry=COMPILED)
    return [error.message for error in validator.iter_errors(example)]


def test_it_is_a_valid_document() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert [str(error) for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []
    for schema in SCHEMAS.values():
        meta.validate(schema)


def test_every_reference_resolves_and_every_component_is_used() -> None:
    kinds = ("schemas", "parameters", "headers", "responses")
    assert references() == {f"#/components/{kind}/{n}" for kind in kinds for n in COMPONENTS[kind]}


def test_it_has_each_endpoint_and_nothing_else() -> None:
    offered = {(e.method.lower(), "/v4" + plain_path(e.path)) for e in ENDPOINTS}
    documented = {(m, path) for path, methods in DOCUMENT["paths"].items() for m in methods}
    assert documented == offered
    assert {operation(e)["operationId"] for e in ENDPOINTS} == {e.name for e in ENDPOINTS}


def test_operations_say_who_may_call_them() -> None:
    def security(endpoint: Endpoint) -> Json:
        required = {"token": list(endpoint.scopes)}
        return [{}, required] if endpoint.public else [required]

    assert differing(lambda e: operation(e)["security"], security) == {}
    assert differing(lambda e: operation(e)["x-scopes"], lambda e: list(e.scopes)) == {}
    assert undescribed(lambda e: e.scopes) == []


def test_operations_say_what_restricted_users_need() -> None:
    by_name = {e.name: operation(e) for e in ENDPOINTS}
    assert by_name["resize_volume"]["x-grant"] == {"entity": "volume", "permission": "read_write"}
    assert by_name["view_volume"]["x-grant"] == {"entity": "volume", "permission": "read_only"}
    assert by_name["create_volume"]["x-grant"] == {"global": "add_volumes"}
    assert by_name["view_account"]["x-grant"] == {
        "global": "account_access",
        "permission": "read_only",
    }
    assert by_name["list_users"]["x-grant"] == {"unrestricted": True}
    assert by_name["update_account"]["x-refuses"] == ["child"]
    assert "x-grant" not in by_name["view_profile"]
    assert "the global grant add_volumes" in by_name["create_volume"]["description"]


def test_operations_say_how_often_and_with_which_events() -> None:
    def rate(endpoint: Endpoint) -> Json:
        return {"calls": endpoint.rate.calls, "seconds": endpoint.rate.seconds}

    assert differing(lambda e: operation(e)["x-rate-limit"], rate) == {}
    assert differing(lambda e: operation(e).get("x-events", []), lambda e: list(e.events)) == {}
    assert undescribed(lambda e: e.events) == []


def test_operations_declare_their_parameters() -> None:
    def parameters(endpoint: Endpoint) -> list[Json]:
        return [resolved(p) for p in operation(endpoint)["parameters"]]

    def in_path(endpoint: Endpoint) -> Json:
        found = [p for p in parameters(endpoint) if p["in"] == "path"]
        return [(p["name"], p["required"]) for p in found]

    def filterable(endpoint: Endpoint) -> Json:
        return [p["x-filterable"] for p in parameters(endpoint) if p["name"] == "X-Filter"]

    assert differing(in_path, lambda e: [(name, True) for name in path_params(e.path)]) == {}
    assert differing(filterable, lambda e: [sorted(e.filters)] if e.filters else []) == {}


def test_operations_declare_their_answers() -> None:
    always = {"200", "400", "401", "403", "404", "429", "default"}
    of_bodies = {"413", "415"}

    def codes(endpoint: Endpoint) -> Json:
        found = operation(endpoint)["responses"].keys()
        return always <= found, "202" in found, "204" in found, of_bodies <= found

    def wanted(endpoint: Endpoint) -> Json:
        takes_body = endpoint.body is not None or bool(endpoint.accepts)
        returns = endpoint.returns
        return True, isinstance(returns, Accepted), isinstance(returns, Maybe), takes_body

    assert differing(codes, wanted) == {}
    assert [
        f"{e.name}: {code}"
        for e in ENDPOINTS
        for code, response in operation(e)["responses"].items()
        if not _is_answer(code, resolved(response))
    ] == []


def _is_answer(code: str, answer: Json) -> bool:
    """With the headers of all answers, and an error's body where it is one."""
    headers = {"X-RateLimit-Remaining", "Retry-After", "X-Spec-Version"}
    if code == "304":
        return "content" not in answer and {*headers, "ETag"}.issubset(answer["headers"])
    error = {"$ref": "#/components/schemas/ErrorBody"}
    is_body = code.startswith("2") or answer["content"]["application/json"]["schema"] == error
    return is_body and headers.issubset(answer["headers"])


@pytest.mark.spec("A errors 3")
def test_errors_have_a_reason_and_perhaps_a_field() -> None:
    item = SCHEMAS["ErrorItem"]
    assert item["required"] == ["reason"]
    assert {name: field["type"] for name, field in item["properties"].items()} == {
        "reason": "string",
        "field": "string",
    }


def test_a_body_is_required_where_an_empty_one_is_refused(roost: Roost) -> None:
    def required(endpoint: Endpoint) -> list[str]:
        schema = {} if endpoint.body is None else SCHEMAS[endpoint.body.__name__]
        return sorted(schema.get("required", []))

    def missing(endpoint: Endpoint) -> set[str]:
        problems = () if endpoint.body is None else _problems(endpoint.body, roost)
        return {p.field for p in problems if "is required" in p.reason}

    sending = [e for e in ENDPOINTS if "requestBody" in operation(e)]
    assert [
        e.name
        for e in sending
        if operation(e)["requestBody"]["required"] != (e.body is None or bool(required(e)))
    ] == []
    assert differing(lambda e: sorted(missing(e) & {*required(e)}), required) == {}


def _problems(body: type[Body], roost: Roost) -> tuple[Json, ...]:
    try:
        parse_body(body, b"{}", roost.services)
    except ApiError as error:
        return error.problems
    return ()


LIMITS: list[tuple[str, str, Json]] = [
    ("CreateInstance", "interfaces", {"maxItems": 3}),
    ("CreateInstance", "interfaces[].label", {"maxLength": 64}),
    ("CreateInstance", "metadata.user_data", {"contentEncoding": "base64"}),
    ("CreateInstance", "group", {"deprecated": True}),
    ("CreateConfig", "interfaces", {"maxItems": 3}),
    ("UpdateConfig", "interfaces", {"maxItems": 3}),
    ("ResizeVolume", "size", {"minimum": 10, "maximum": 10240}),
    ("CreateVolume", "size", {"minimum": 10, "maximum": 10240}),
    ("CreateUser", "email", {"format": "email"}),
    ("CreateDomain", "domain", {"minLength": 1, "maxLength": 253}),
    ("CreateOAuthClient", "redirect_uri", {"format": "uri"}),
    ("CreateRecord", "type", {"enum": SCHEMAS["RecordRow"]["properties"]["type"]["enum"]}),
    ("VolumeRow", "label", {"x-filterable": True}),
    ("AccountRow", "euuid", {"format": "uuid"}),
    ("InstanceRow", "ipv4[]", {"format": "ipv4"}),
]


def test_limits_are_documented() -> None:
    found = [(model, path, _limits(model, path, expected)) for model, path, expected in LIMITS]
    assert found == LIMITS


def _limits(model: str, path: str, names: Iterable[str]) -> Json:
    described = {**SCHEMAS[model]["properties"].get(path, {}), **field(model, path)}
    return {name: described.get(name) for name in names}


def test_no_default_is_a_record() -> None:
    """openapi-python-client leaves out operations whose bodies have one."""
    found = (node for node in nodes(SCHEMAS) if isinstance(node, dict))
    fields = (each for each in found if isinstance(each.get("description"), str))
    assert [each for each in fields if isinstance(each.get("default"), dict)] == []


def test_everything_is_documented() -> None:
    gaps = [f"{e.name}: summary" for e in ENDPOINTS if not e.summary.endswith(".")]
    gaps += [f"{e.name}: description" for e in ENDPOINTS if not e.description.endswith(".")]
    gaps += [
        f"{e.name}: parameter {p['name']}"
        for e in ENDPOINTS
        for p in map(resolved, operation(e)["parameters"])
        if not p.get("description")
    ]
    gaps += [f"{t['name']}: group" for t in DOCUMENT["tags"] if not t["description"]]
    for name, schema in SCHEMAS.items():
        properties = schema.get("properties", {}).items()
        gaps += [f"{name}.{key}: text" for key, value in properties if "description" not in value]
        gaps += [] if "description" in schema else [f"{name}: description"]
    gaps += [
        f"{e.name}: example"
        for e in ENDPOINTS
        if e.body is not None and not SCHEMAS[e.body.__name__].get("examples")
    ]
    gaps += [f"{e.name}: example of the answer" for e in ENDPOINTS if not _has_example(e)]
    check_gaps("undocumented", gaps)


def _has_example(endpoint: Endpoint) -> bool:
    content = operation(endpoint)["responses"]["200"]["content"]
    return "application/json" not in content or "example" in content["application/json"]


def test_examples_are_of_the_records_that_answers_show() -> None:
    """`scripts/record-examples` records those that lack."""
    shown = {row.__name__ for e in ENDPOINTS if (row := row_of(e.returns)) is not None}
    assert recorded().keys() == shown | {DryRunRow.__name__}


def test_examples_of_answers_are_as_their_schemas_say() -> None:
    assert [
        f"{endpoint.name}: {problem}"
        for endpoint in ENDPOINTS
        for response in map(resolved, operation(endpoint)["responses"].values())
        for content in (response.get("content", {}).get("application/json", {}),)
        if "example" in content
        for problem in problems(**content)
    ] == []


def test_examples_are_accepted(roost: Roost) -> None:
    assert [
        f"{body.__name__}: {problem}: {example}"
        for body, example in EXAMPLES
        for problem in (
            *problems({"$ref": f"#/components/schemas/{body.__name__}"}, example),
            *_refusal(body, example, roost),
        )
    ] == []


def _refusal(body: type[Body], example: Json, roost: Roost) -> Iterator[Json]:
    try:
        accepted = parse_body(body, json.dumps(example).encode(), roost.services)
    except ApiError as error:
        yield from error.problems
        return
    sent = {field.alias or name: name for name, field in body.model_fields.items()}
    if accepted.model_fields_set != {sent.get(name, name) for name in example}:
        yield accepted.model_fields_set


@pytest.mark.spec("B compute group", "B domain group deprecated")
@pytest.mark.parametrize("kind", ["Instance", "Domain"])
def test_groups_are_deprecated(kind: str) -> None:
    for model in (f"{kind}Row", f"Create{kind}", f"Update{kind}"):
        assert SCHEMAS[model]["properties"]["group"]["deprecated"] is True
