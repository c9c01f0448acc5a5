"""The ports of the servers of a cloud's regions: none is drawn twice, and none is lost for that."""

import asyncio
import json
import socket
from pathlib import Path

import pytest

from roost.engines import listeners
from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.ports import Ports
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import BucketSpec

REGIONS = ("one", "two", "three")


@pytest.fixture
def regions(tmp_path: Path) -> list[Ports]:
    for name in REGIONS:
        (tmp_path / name).mkdir()
    return [Ports(tmp_path / name) for name in REGIONS]


def write(folder: Path, ports: dict[str, int]) -> None:
    (folder / "ports.json").write_text(json.dumps(ports))


async def test_ports_are_drawn_apart_at_the_same_time(
    regions: list[Ports], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of so few that two draws alone nearly always meet."""
    monkeypatch.setattr(listeners, "_QUIET", range(20_000, 20_060))
    await asyncio.gather(*(asyncio.to_thread(each.settle) for each in regions))
    drawn = [port for each in regions for port in each.read().values()]
    assert len(drawn) == len(set(drawn)) == 27
    assert all(each.are_settled() for each in regions)


def test_they_stay(regions: list[Ports]) -> None:
    for each in regions:
        each.settle()
    before = [each.read() for each in regions]
    for each in regions:
        each.settle()
    assert [each.read() for each in regions] == before


def test_one_that_is_twice_in_a_file_is_replaced(regions: list[Ports], tmp_path: Path) -> None:
    first = regions[0]
    first.settle()
    before = first.read()
    write(tmp_path / "one", {**before, "volume": before["s3"], "s3.grpc": before["filer"]})
    assert not first.are_settled()
    first.settle()
    after = first.read()
    assert len(set(after.values())) == len(before)
    kept = {"s3", "master", "filer", "master.grpc", "volume.grpc", "filer.grpc", "inner"}
    assert {name for name, port in after.items() if port == before[name]} == kept


@pytest.mark.parametrize("first", [0, 1])
def test_one_that_two_regions_have_stays_the_s3_port(
    regions: list[Ports], tmp_path: Path, first: int
) -> None:
    """Whichever region is asked for first."""
    for each in regions:
        each.settle()
    s3 = [each.read()["s3"] for each in regions]
    write(tmp_path / "two", {**regions[1].read(), "volume": s3[0]})
    for each in (regions[first], regions[1 - first]):
        if not each.are_settled():
            each.settle()
    assert [each.read()["s3"] for each in regions] == s3
    assert regions[1].read()["volume"] != s3[0]


def test_two_regions_with_one_s3_port_part(regions: list[Ports], tmp_path: Path) -> None:
    for each in regions:
        each.settle()
    shared = regions[0].read()["s3"]
    write(tmp_path / "two", {**regions[1].read(), "s3": shared})
    for each in regions:
        if not each.are_settled():
            each.settle()
    assert len({each.read()["s3"] for each in regions}) == 3


async def test_urls_of_servers_that_are_not_started_differ(tmp_path: Path) -> None:
    servers = [Server(tmp_path / name) for name in REGIONS]
    urls = await asyncio.gather(*(each.reserve() for each in servers))
    assert len(set(urls)) == 3
    ports = json.loads((tmp_path / "one" / "ports.json").read_text())
    write(tmp_path / "two", ports)
    again = [await each.reserve() for each in servers]
    assert len(set(again)) == 3
    assert set(again[1:]) & set(urls[1:]) == {urls[2]}


@pytest.mark.seaweedfs
async def test_a_server_whose_ports_were_drawn_twice_starts(tmp_path: Path) -> None:
    server = Server(tmp_path / "one")
    url = await server.reserve()
    ports = json.loads((tmp_path / "one" / "ports.json").read_text())
    write(tmp_path / "one", {**ports, "volume": ports["s3"], "filer.grpc": ports["master"]})
    engine = OwnObjects(server)
    try:
        await engine.put_bucket(BucketSpec("photos", "1-20300131", "private", False))
        assert (list(await engine.buckets()), (await server.ensure()).url) == (["photos"], url)
    finally:
        await engine.shut_down()


@pytest.mark.seaweedfs
async def test_a_port_that_is_taken_while_a_server_starts_is_drawn_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By somebody who was as sure that it is free; that of clients stays."""
    server = Server(tmp_path / "one")
    engine = OwnObjects(server)
    url = await server.reserve()
    before = Ports(tmp_path / "one").read()["volume"]
    settle, others = Ports.settle, list[socket.socket]()

    def settle_and_lose_one(ports: Ports, *, is_attended: bool = False) -> None:
        settle(ports, is_attended=is_attended)
        if not others:
            others.append(socket.create_server(("127.0.0.1", ports.read()["volume"])))

    monkeypatch.setattr(Ports, "settle", settle_and_lose_one)
    try:
        await engine.put_bucket(BucketSpec("photos", "1-20300131", "private", False))
        assert await engine.endpoint() == url
        assert Ports(tmp_path / "one").read()["volume"] != before
    finally:
        await engine.shut_down()
        for each in others:
            each.close()
