"""The OpenAPI document: valid, complete, and true to what the server enforces."""

import json
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.errors import ApiError
from roost.web.bodies import Body, parse_body
from roost.web.openapi import build_document
from roost.web.registry import Endpoint, Maybe, Registry
from roost.web.routing import path_params, plain_path
from tests.golden.gaps import check_gaps
from tests.support.client import Json

pytestmark = pytest.mark.spec("A errors 1", "A service paths")

ENDPOINTS = tuple(Registry(GROUPS.endpoints))
DOCUMENT: Json = json.loads(build_document(Registry(GROUPS.endpoints)))
COMPONENTS: Json = DOCUMENT["components"]
SCHEMAS: Json = COMPONENTS["schemas"]
BODIES = sorted({e.body for e in ENDPOINTS if e.body is not None}, key=lambda body: body.__name__)
EXAMPLES = [
    pytest.param(body, example, id=f"{body.__name__}-{number}")
    for body in BODIES
    for number, example in enumerate(body.model_json_schema().get("examples", ()))
]


def operation(endpoint: Endpoint) -> Json:
    return DOCUMENT["paths"]["/v4" + plain_path(endpoint.path)][endpoint.method.lower()]


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


def validate(schema: Json, value: Json) -> None:
    Draft202012Validator({**schema, "components": COMPONENTS}).validate(value)


def test_it_is_a_valid_document() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert [str(error) for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_resolves_and_every_component_is_used() -> None:
    kinds = ("schemas", "parameters", "headers", "responses")
    assert references() == {f"#/components/{kind}/{n}" for kind in kinds for n in COMPONENTS[kind]}


def test_it_has_each_endpoint_and_nothing_else() -> None:
    offered = {(e.method.lower(), "/v4" + plain_path(e.path)) for e in ENDPOINTS}
    documented = {(m, path) for path, methods in DOCUMENT["paths"].items() for m in methods}
    assert documented == offered
    assert {operation(e)["operationId"] for e in ENDPOINTS} == {e.name for e in ENDPOINTS}


def test_operations_say_who_may_call_them() -> None:
    for endpoint in ENDPOINTS:
        required = {"token": list(endpoint.scopes)}
        described = operation(endpoint)
        assert described["security"] == ([{}, required] if endpoint.public else [required])
        assert described["x-scopes"] == list(endpoint.scopes)
        assert all(f"`{scope}`" in described["description"] for scope in endpoint.scopes)


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
    for endpoint in ENDPOINTS:
        described = operation(endpoint)
        rate = {"calls": endpoint.rate.calls, "seconds": endpoint.rate.seconds}
        assert described["x-rate-limit"] == rate
        assert described.get("x-events", []) == list(endpoint.events)
        assert all(f"`{event}`" in described["description"] for event in endpoint.events)


def test_operations_declare_their_parameters() -> None:
    for endpoint in ENDPOINTS:
        parameters = [resolved(p) for p in operation(endpoint)["parameters"]]
        in_path = [p["name"] for p in parameters if p["in"] == "path"]
        assert in_path == list(path_params(endpoint.path))
        assert all(p["required"] for p in parameters if p["in"] == "path")
        filters = [p for p in parameters if p["name"] == "X-Filter"]
        assert [p["x-filterable"] for p in filters] == (
            [sorted(endpoint.filters)] if endpoint.filters else []
        )


def test_operations_declare_their_answers() -> None:
    for endpoint in ENDPOINTS:
        responses = operation(endpoint)["responses"]
        assert {"200", "400", "401", "403", "404", "429", "default"} <= responses.keys()
        assert ("204" in responses) == isinstance(endpoint.returns, Maybe)
        takes_body = endpoint.body is not None or bool(endpoint.accepts)
        assert ({"413", "415"} <= responses.keys()) == takes_body
        for code, response in responses.items():
            answer = resolved(response)
            assert {"X-RateLimit-Remaining", "Retry-After", "X-Spec-Version"} <= answer[
                "headers"
            ].keys()
            if code not in ("200", "204"):
                schema = answer["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorBody"}


@pytest.mark.spec("A errors 3")
def test_errors_have_a_reason_and_perhaps_a_field() -> None:
    item = SCHEMAS["ErrorItem"]
    assert item["required"] == ["reason"]
    assert {name: field["type"] for name, field in item["properties"].items()} == {
        "reason": "string",
        "field": "string",
    }


def test_a_body_is_required_where_an_empty_one_is_refused(roost: Roost) -> None:
    for endpoint in ENDPOINTS:
        body = operation(endpoint).get("requestBody")
        if body is None or endpoint.body is None:
            assert body is None or body["required"]
            continue
        missing = [p.field for p in _problems(endpoint.body, roost) if "is required" in p.reason]
        required = SCHEMAS[endpoint.body.__name__].get("required", [])
        assert body["required"] == bool(required), endpoint.name
        assert set(required) <= set(missing), endpoint.name


def _problems(body: type[Body], roost: Roost) -> tuple[Json, ...]:
    try:
        parse_body(body, b"{}", roost.services)
    except ApiError as error:
        return error.problems
    return ()


LIMITS: list[tuple[str, str, Json]] = [
    ("CreateInstance", "interfaces", {"maxItems": 3}),
    ("CreateInstance", "interfaces[].label", {"maxLength": 64}),
    ("CreateInstance", "metadata.user_data", {"contentEncoding": "base64", "minLength": 4}),
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


@pytest.mark.parametrize(("model", "path", "expected"), LIMITS)
def test_limits_are_documented(model: str, path: str, expected: Json) -> None:
    described = field(model, path)
    beside_null = SCHEMAS[model]["properties"].get(path, {})
    assert {key: {**beside_null, **described}.get(key) for key in expected} == expected


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


def test_examples_of_answers_are_as_their_schemas_say() -> None:
    for endpoint in ENDPOINTS:
        for response in map(resolved, operation(endpoint)["responses"].values()):
            content = response.get("content", {}).get("application/json")
            if content is not None:
                validate(content["schema"], content["example"])


@pytest.mark.parametrize(("body", "example"), EXAMPLES)
def test_examples_are_accepted(roost: Roost, body: type[Body], example: Json) -> None:
    validate({"$ref": f"#/components/schemas/{body.__name__}"}, example)
    accepted = parse_body(body, json.dumps(example).encode(), roost.services)
    sent = {field.alias or name: name for name, field in body.model_fields.items()}
    assert accepted.model_fields_set == {sent.get(name, name) for name in example}


@pytest.mark.spec("B compute group", "B domain group deprecated")
@pytest.mark.parametrize("kind", ["Instance", "Domain"])
def test_groups_are_deprecated(kind: str) -> None:
    for model in (f"{kind}Row", f"Create{kind}", f"Update{kind}"):
        assert SCHEMAS[model]["properties"]["group"]["deprecated"] is True
