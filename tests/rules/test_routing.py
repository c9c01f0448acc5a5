"""Paths to endpoints."""

import pytest

from roost.web.routing import Router, path_params, plain_path


@pytest.fixture
def router() -> Router[str]:
    router: Router[str] = Router()
    router.add("GET", "/regions", "list")
    router.add("GET", "/regions/availability", "availability")
    router.add("GET", "/regions/{regionId}", "view")
    router.add("GET", "/regions/{regionId}/availability", "of region")
    router.add("GET", "/images/{imageId:path}", "image")
    router.add("POST", "/images/upload", "upload")
    router.add("GET", "/instances/{computeId:int}", "instance")
    router.add("DELETE", "/instances/{computeId:int}", "delete")
    return router


@pytest.mark.parametrize(
    ("path", "target", "params"),
    [
        ("/regions", "list", {}),
        ("regions", "list", {}),
        ("/regions/availability", "availability", {}),
        ("/regions/us-lake", "view", {"regionId": "us-lake"}),
        ("/regions/us-lake/availability", "of region", {"regionId": "us-lake"}),
        ("/regions/availability/availability", "of region", {"regionId": "availability"}),
        ("/images/roost/debian12", "image", {"imageId": "roost/debian12"}),
        ("/images/private/7/", "image", {"imageId": "private/7/"}),
        ("/images///", "image", {"imageId": "//"}),
        ("/instances/100001", "instance", {"computeId": 100001}),
        ("/instances/9223372036854775807", "instance", {"computeId": 2**63 - 1}),
    ],
)
def test_finds(router: Router[str], path: str, target: str, params: dict[str, str | int]) -> None:
    match = router.find(path)
    assert match is not None
    assert match.methods["GET"] == target
    assert match.params == params


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/nothing",
        "/regions/a/b",
        "/regions//availability",
        "/regions/a\0b",
        "/regions/",
        "/images/",
        "/images/a\0/b",
        "/images/a/b\0",
        "/instances/abc",
        "/instances/-1",
        "/instances/1.0",
        "/instances/\u0661",
        "/instances/9223372036854775808",
        "/instances/99999999999999999999999999",
        "/instances/1/more",
    ],
)
def test_finds_nothing(router: Router[str], path: str) -> None:
    assert router.find(path) is None


def test_knows_all_methods_of_a_path(router: Router[str]) -> None:
    match = router.find("/instances/5")
    assert match is not None
    assert set(match.methods) == {"GET", "DELETE"}


def test_refuses_a_second_declaration(router: Router[str]) -> None:
    with pytest.raises(ValueError, match="declared twice"):
        router.add("GET", "/regions/", "again")


def test_templates() -> None:
    template = "/a/{one}/{two:int}/{three:path}"
    assert path_params(template) == {"one": "str", "two": "int", "three": "path"}
    assert plain_path(template) == "/a/{one}/{two}/{three}"
