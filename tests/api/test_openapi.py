"""The OpenAPI document: valid, complete, and true to the declarations it is made from."""

import json
from collections.abc import Iterator

import aiohttp
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from roost.app.groups import ENDPOINT_MODULES
from roost.app.roost import Roost
from roost.web.bodies import Body, read_body
from roost.web.openapi import build_document
from roost.web.registry import Binary, Endpoint, Maybe, Registry
from roost.web.routing import path_params, plain_path
from tests.golden.gaps import check_gaps
from tests.support.client import Json
from tests.support.server import RunningRoost

pytestmark = pytest.mark.spec("A errors 1", "A auth 3", "A service paths")

ENDPOINTS = tuple(Registry(ENDPOINT_MODULES))
DOCUMENT: Json = json.loads(build_document(Registry(ENDPOINT_MODULES)))
BODIES = sorted({e.body for e in ENDPOINTS if e.body is not None}, key=lambda body: body.__name__)
EXAMPLES = [
    pytest.param(body, example, id=f"{body.__name__}-{number}")
    for body in BODIES
    for number, example in enumerate(body.model_json_schema().get("examples", ()))
]
every = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda e: e.name)


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


def test_it_is_a_valid_document() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert [str(error) for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_resolves_and_every_component_is_used() -> None:
    schemas = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert references() == schemas


def test_it_has_each_endpoint_and_nothing_else() -> None:
    offered = {(e.method.lower(), "/v4" + plain_path(e.path)) for e in ENDPOINTS}
    documented = {(m, path) for path, methods in DOCUMENT["paths"].items() for m in methods}
    assert documented == offered
    operations = [operation(e)["operationId"] for e in ENDPOINTS]
    assert len(set(operations)) == len(operations)


@every
def test_operations_say_who_may_call_them(endpoint: Endpoint) -> None:
    described = operation(endpoint)
    assert described["operationId"] == endpoint.name
    assert described["tags"] == [endpoint.area]
    assert described["x-scopes"] == list(endpoint.scopes)
    required = {"token": list(endpoint.scopes)}
    assert described["security"] == ([{}, required] if endpoint.public else [required])
    assert described.get("x-events", []) == list(endpoint.events)


@every
def test_operations_declare_their_parameters(endpoint: Endpoint) -> None:
    parameters = operation(endpoint)["parameters"]
    in_path = [p["name"] for p in parameters if p["in"] == "path"]
    assert in_path == list(path_params(endpoint.path))
    assert all(p["required"] for p in parameters if p["in"] == "path")
    assert all("schema" in p for p in parameters)


@every
def test_operations_declare_their_refusals(endpoint: Endpoint) -> None:
    responses = dict(operation(endpoint)["responses"])
    assert {"200", "400", "401", "403", "404", "429", "default"} <= set(responses)
    assert ("204" in responses) == isinstance(endpoint.returns, Maybe)
    assert "content" not in responses.pop("204", {})
    if isinstance(endpoint.returns, Binary):
        assert list(responses.pop("200")["content"]) == [endpoint.returns.media_type]
    for code, response in responses.items():
        schema = response["content"]["application/json"]["schema"]
        assert response["description"]
        assert (schema == {"$ref": "#/components/schemas/ErrorBody"}) == (code != "200")


@pytest.mark.spec("A errors 3")
def test_errors_have_a_reason_and_perhaps_a_field() -> None:
    item = DOCUMENT["components"]["schemas"]["ErrorItem"]
    assert item["required"] == ["reason"]
    assert {name: field["type"] for name, field in item["properties"].items()} == {
        "reason": "string",
        "field": "string",
    }


def test_all_writes_are_documented() -> None:
    gaps = [f"{e.name}: summary" for e in ENDPOINTS if not e.summary.endswith(".")]
    gaps += [
        f"{e.name}: example"
        for e in ENDPOINTS
        if e.body is not None and not e.body.model_json_schema().get("examples")
    ]
    check_gaps("undocumented", gaps)


@pytest.mark.parametrize(("body", "example"), EXAMPLES)
def test_examples_are_accepted(roost: Roost, body: type[Body], example: Json) -> None:
    schema = {"$ref": f"#/components/schemas/{body.__name__}", "components": DOCUMENT["components"]}
    Draft202012Validator(schema).validate(example)
    accepted = read_body(body, json.dumps(example).encode(), roost.services)
    sent = {field.alias or name: name for name, field in body.model_fields.items()}
    assert accepted.model_fields_set == {sent.get(name, name) for name in example}


async def test_it_is_served_to_everyone(running: RunningRoost) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{running.url}/v4/openapi.json") as response,
    ):
        assert response.status == 200
        assert response.content_type == "application/json"
        assert await response.json() == DOCUMENT


async def test_the_page_for_people_names_every_operation(running: RunningRoost) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{running.url}/docs") as response,
    ):
        assert response.content_type == "text/html"
        page = await response.text()
    assert all(f'<article id="{e.name}">' in page for e in ENDPOINTS)
    assert "<script" not in page
