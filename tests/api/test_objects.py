"""What the API does with the objects of a bucket, on the simulated engine."""

import pytest

from roost.app.roost import Roost
from tests.support.client import Client
from tests.support.object_storage import made_bucket, object_engine, path_of, planned, settled


@pytest.mark.spec(
    "A object storage object-list", "A object storage 5", "A limits object-list page_size"
)
async def test_objects_are_listed_by_marker(client: Client, roost: Roost) -> None:
    bucket = await made_bucket(client)
    names = [f"n-{number:03}" for number in range(60)]
    for name in names:
        await object_engine(roost).write(bucket["label"], name, 5)
    path, found = f"{path_of(bucket)}/object-list", list[str]()
    marker: str | None = ""
    for rest in (35, 10, 0):
        page = await client.get(f"{path}?page_size=25&marker={marker}")
        found += [row["name"] for row in page["data"]]
        assert (len(names) - len(found), page["is_truncated"]) == (rest, rest > 0)
        marker = page["next_marker"]
    assert found == names
    assert marker is None
    assert (await client.get(path))["data"][0]["size"] == 5
    assert len((await client.get(f"{path}?prefix=n-01"))["data"]) == 10


async def test_names_up_to_a_delimiter_are_one(client: Client, roost: Roost) -> None:
    bucket = await made_bucket(client)
    for name in ("a", "dir/x", "dir/y"):
        await object_engine(roost).write(bucket["label"], name)
    rows = (await client.get(f"{path_of(bucket)}/object-list?delimiter=/"))["data"]
    assert [row["name"] for row in rows] == ["a", "dir/"]
    assert {name for name, value in rows[1].items() if value is None} == {
        "etag",
        "last_modified",
        "owner",
        "size",
    }


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("page_size=24", "page_size"),
        ("page_size=501", "page_size"),
        ("page_size=many", "page_size"),
        ("page_size=-25", "page_size"),
        ("page_size=" + "9" * 30, "page_size"),
        (f"delimiter={'-' * 1025}", "delimiter"),
        ("prefix=" + "a" * 1025, "prefix"),
        ("marker=%00", "marker"),
    ],
)
async def test_bad_lists(client: Client, query: str, field: str) -> None:
    bucket = await made_bucket(client)
    answer = await client.send("GET", f"{path_of(bucket)}/object-list?{query}")
    assert (answer.status, [found for found, _ in answer.problems]) == (400, [field])


@pytest.mark.spec("A object storage object-acl view", "A object storage object-acl update")
async def test_an_object_has_an_acl_of_its_own(client: Client, roost: Roost) -> None:
    bucket = await made_bucket(client, acl="public-read")
    await object_engine(roost).write(bucket["label"], "a")
    path = f"{path_of(bucket)}/object-acl"
    assert (await client.get(f"{path}?name=a"))["acl"] == "public-read"
    row = await client.put(path, {"name": "a", "acl": "private"})
    assert row == await client.get(f"{path}?name=a")
    assert row["acl"] == "private"
    assert "AllUsers" not in row["acl_xml"]
    assert (await settled(client))[-1] == ("obj_object_acl_update", "finished")
    spec = await object_engine(roost).spec(bucket["label"])
    assert spec is not None
    assert (spec["acl"], spec["objects"]["a"]["acl"]) == ("public-read", "private")
    assert (await client.send("GET", f"{path}?name=b")).status == 404
    answer = await client.send("GET", path)
    assert answer.problems == [("name", "name is required")]


async def test_the_acl_of_an_object_ends_with_it(client: Client, roost: Roost) -> None:
    bucket, engine = await made_bucket(client), object_engine(roost)
    path = f"{path_of(bucket)}/object-acl"
    for _ in range(2):
        await engine.write(bucket["label"], "a")
        assert (await client.get(f"{path}?name=a"))["acl"] == "private"
        await client.put(path, {"name": "a", "acl": "public-read"})
        await settled(client)
        assert await engine.acl(bucket["label"], "a") == "public-read"
        assert (await client.get(f"{path}?name=a"))["acl"] == "public-read"
        await engine.remove(bucket["label"], "a")
        assert (await client.send("GET", f"{path}?name=a")).status == 404
    # Bringing the bucket again brings no ACL of an object back.
    await client.put(f"{path_of(bucket)}/access", {"cors_enabled": False})
    await settled(client)
    await engine.write(bucket["label"], "a")
    assert await engine.acl(bucket["label"], "a") == "private"
    assert (await client.get(f"{path}?name=a"))["acl"] == "private"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["acl", "name"]),
        ({"acl": "open", "name": ""}, ["acl", "name"]),
        ({"acl": "custom", "name": "a"}, ["acl"]),
        ({"acl": "private", "name": "missing"}, ["name"]),
        ({"acl": "private", "name": "a*"}, ["name"]),
        ({"acl": "private", "name": "a?"}, ["name"]),
        ({"acl": "private", "name": "${aws:username}"}, ["name"]),
        ({"acl": "private", "name": "../a"}, ["name"]),
    ],
)
async def test_bad_acls(
    client: Client, roost: Roost, body: dict[str, object], fields: list[str]
) -> None:
    bucket = await made_bucket(client)
    await object_engine(roost).write(bucket["label"], "a")
    answer = await client.send("PUT", f"{path_of(bucket)}/object-acl", body)
    assert (answer.status, [field for field, _ in answer.problems]) == (400, fields)


async def test_a_bucket_has_room_for_some_acls(client: Client, roost: Roost) -> None:
    bucket, path, names = await made_bucket(client), "", list[str]()
    for number in range(8):
        names.append(f"{number}/" + "/".join(["x" * 250] * 4))
        await object_engine(roost).write(bucket["label"], names[-1])
        path = f"{path_of(bucket)}/object-acl"
        answer = await client.send("PUT", path, {"name": names[-1], "acl": "private"})
    assert answer.problems == [("name", "The bucket has no room for the ACL of another object")]
    await settled(client)
    await object_engine(roost).remove(bucket["label"], names[0])
    await client.put(path, {"name": names[-1], "acl": "private"})
    await settled(client)


@pytest.mark.spec(
    "A object storage object-url",
    "A object storage object-url method",
    "A object storage 6 method",
    "A object storage 6 object",
    "A object storage 6 required",
    "A limits object-url",
    "A limits object-url default",
)
async def test_urls(client: Client) -> None:
    path = f"{path_of(await made_bucket(client))}/object-url"
    url = (await client.post(path, {"name": "a b/ü?&#"}))["url"]
    assert "/a%20b/%C3%BC%3F%26%23?method=GET&seconds=3600" in url
    sent = {"name": "a", "method": "PUT", "content_type": "text/plain", "expires_in": 360}
    assert "method=PUT&seconds=360" in (await client.post(path, sent))["url"]
    assert "method=DELETE" in (await client.post(path, {"name": "a", "method": "DELETE"}))["url"]


async def test_urls_of_uploads_by_parts(client: Client) -> None:
    path = f"{path_of(await made_bucket(client))}/object-url"
    for sent, query in (
        ({"method": "POST", "content_type": "text/plain"}, "uploads="),
        ({"method": "PUT", "upload_id": "u_1", "part_number": 2}, "partNumber=2&uploadId=u_1"),
        ({"method": "POST", "upload_id": "u_1"}, "uploadId=u_1"),
        ({"method": "DELETE", "upload_id": "u_1"}, "uploadId=u_1"),
    ):
        url = (await client.post(path, {"name": "a", **sent}))["url"]
        assert url.partition("&mark=")[2].partition("&")[2] == query


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["name"]),
        ({"name": ""}, ["name"]),
        ({"name": "a" * 1025}, ["name"]),
        ({"name": "ü" * 513}, ["name"]),
        ({"name": "../a"}, ["name"]),
        ({"name": "a/./b"}, ["name"]),
        ({"name": "/a"}, ["name"]),
        ({"name": "a//b"}, ["name"]),
        ({"name": "a" * 256}, ["name"]),
        ({"name": "a\0"}, ["name"]),
        ({"name": "a", "method": "PUT"}, ["content_type"]),
        ({"name": "a", "method": "POST"}, ["content_type"]),
        ({"name": "a", "method": "HEAD"}, ["method"]),
        ({"name": "a", "upload_id": "u"}, ["upload_id"]),
        ({"name": "a", "method": "DELETE", "upload_id": "u&a=b"}, ["upload_id"]),
        ({"name": "a", "method": "PUT", "upload_id": "u"}, ["part_number"]),
        ({"name": "a", "method": "POST", "upload_id": "u", "part_number": 1}, ["part_number"]),
        ({"name": "a", "method": "DELETE", "part_number": 1}, ["part_number"]),
        ({"name": "a", "method": "PUT", "upload_id": "u", "part_number": 0}, ["part_number"]),
        ({"name": "a", "method": "PUT", "upload_id": "u", "part_number": 10_001}, ["part_number"]),
        ({"name": "a", "content_type": "a\r\nb: c"}, ["content_type"]),
        ({"name": "a", "expires_in": 359}, ["expires_in"]),
        ({"name": "a", "expires_in": 86401}, ["expires_in"]),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_bad_urls(client: Client, body: dict[str, object], fields: list[str]) -> None:
    path = f"{path_of(await made_bucket(client))}/object-url"
    answer = await client.send("POST", path, body)
    assert (answer.status, [field for field, _ in answer.problems]) == (400, fields)


async def test_an_account_sees_no_objects_of_others(client: Client, stranger: Client) -> None:
    path = path_of(await made_bucket(client))
    for method, rest, body in (
        ("GET", "object-list", None),
        ("GET", "object-acl?name=a", None),
        ("GET", "access", None),
        ("PUT", "access", {"acl": "public-read"}),
        ("PUT", "object-acl", {"name": "a", "acl": "public-read"}),
        ("POST", "object-url", {"name": "a"}),
    ):
        assert (await stranger.send(method, f"{path}/{rest}", body)).status == 404
    assert (await stranger.send("DELETE", path)).status == 404


@pytest.mark.usefixtures("quick_retries")
async def test_an_engine_that_fails_changes_nothing(client: Client, roost: Roost) -> None:
    bucket = await made_bucket(client)
    async with planned(roost, "bucket_put"):
        await client.put(f"{path_of(bucket)}/access", {"acl": "public-read"})
        assert (await settled(client))[-1] == ("obj_bucket_update", "failed")
    spec = await object_engine(roost).spec(bucket["label"])
    assert spec is not None
    assert spec["acl"] == "private"
