"""A SeaweedFS that the operator runs, with a copy of all on two volume servers, as the engine."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from roost.engines.listeners import free_tcp_port
from roost.engines.seaweedfs.cluster import Cluster, ClusterEntry, read
from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.errors import OperatorError
from roost.resources.object_storage.engine import (
    BucketGrant,
    BucketSpec,
    KeySpec,
    MadeBucket,
    NotEmptyError,
    Usage,
)
from tests.support.s3 import S3Client, client_of
from tests.support.seaweed import until_it_serves

_WEED = Path(sys.executable).with_name("weed")
_SECRET, _SIGNING = "secret-key-of-the-operator", "signing-key-of-the-cluster"
_SECONDS = 60
MARK = "1-20300131"
KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant("photos", True),))
OBJECTS = {f"{number}": os.urandom(40_000 + number) for number in range(40)}


@dataclass(frozen=True)
class Running:
    engine: SeaweedObjects
    volumes: list[asyncio.subprocess.Process]


@pytest.fixture(scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """A master, three volume servers, a filer and a gateway; each object is stored twice."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "security.toml").write_text(f'[jwt.filer_signing]\nkey = "{_SIGNING}"\n')
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    keys = [{"accessKey": "root", "secretKey": _SECRET}]
    root = {"name": "root", "credentials": keys, "actions": actions}
    (folder / "s3.json").write_text(json.dumps({"identities": [root]}))
    drawn = set[int]()

    def port() -> int:
        drawn.add(number := free_tcp_port(drawn))
        return number

    ports = {name: (port(), port()) for name in ("master", "filer", "s3")}
    metrics = port()

    def at(name: str) -> tuple[str, str]:
        return (f"-port={ports[name][0]}", f"-port.grpc={ports[name][1]}")

    master = "{}:{}.{}".format("127.0.0.1", *ports["master"])
    filer = "{}:{}.{}".format("127.0.0.1", *ports["filer"])
    here = ("-ip=127.0.0.1", "-ip.bind=127.0.0.1")
    small = ("-volumeSizeLimitMB=64", "-volumePreallocate=false", "-telemetry=false")
    async with AsyncExitStack() as stack:

        async def run(*arguments: str) -> asyncio.subprocess.Process:
            return await stack.enter_async_context(_program(folder, *arguments))

        copies = "-defaultReplication=001"
        await run("master", f"-mdir={folder}", *here, *at("master"), copies, *small)
        volumes = []
        for number in range(3):
            place = folder / f"volume{number}"
            place.mkdir()
            own = (f"-port={port()}", f"-port.grpc={port()}", f"-dir={place}")
            more = ("-max=50", "-preStopSeconds=0", f"-master={master}")
            volumes.append(await run("volume", *here, *own, *more))
        await run("filer", f"-defaultStoreDir={folder}", *here, *at("filer"), f"-master={master}")
        await run(
            *("s3", f"-filer={filer}", here[1], *at("s3"), f"-metricsPort={metrics}"),
            *(f"-config={folder / 's3.json'}", "-iam=false", "-port.iceberg=0", "-port.lance=0"),
            *("-allowDeleteBucketNotEmpty=false", "-autoCreateBucket=false"),
            "-allowedOrigins=http://none.invalid",
        )
        entry = ClusterEntry(
            url=f"http://127.0.0.1:{ports['s3'][0]}",
            filer=f"127.0.0.1:{ports['filer'][1]}",
            metrics=[f"http://127.0.0.1:{metrics}/metrics"],
            secret_key=_SECRET,
            signing_key=_SIGNING,
        )
        engine = SeaweedObjects(Cluster(entry))
        await until_it_serves(entry.url)
        yield Running(engine, volumes)


@asynccontextmanager
async def _program(folder: Path, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = {"HOME": str(folder), "TMPDIR": str(folder), "GOMEMLIMIT": "100MiB"}
    with (folder / f"{arguments[0]}.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            _WEED,
            *("-logtostderr=true", *arguments),
            cwd=folder,
            env=environment | {"WEED_MASTER_VOLUME_GROWTH_COPY_2": "1"},
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def put(client: S3Client, path: str, content: bytes) -> None:
    """A cluster that has just begun has no places for volumes yet."""
    async with asyncio.timeout(_SECONDS):
        while await client.status("PUT", path, content) != 200:
            await asyncio.sleep(0.1)


@pytest.mark.seaweedfs
async def test_a_lost_volume_server_loses_nothing(cluster: Running) -> None:
    """It does all that an engine does, too."""
    engine = cluster.engine
    assert (list(await engine.buckets()), await engine.keys()) == ([], [])
    await engine.put_bucket(BucketSpec("photos", MARK, "private", False))
    await engine.put_key(KEY)
    async with client_of(await engine.endpoint(), KEY) as client:
        for name, content in OBJECTS.items():
            await put(client, f"photos/{name}", content)
        cluster.volumes[0].kill()
        await cluster.volumes[0].wait()
        for name, content in OBJECTS.items():
            assert await client.send("GET", f"photos/{name}") == (200, content)
        await put(client, "photos/later", b"x")
        size = sum(map(len, OBJECTS.values())) + 1
        assert await engine.usage("photos") == Usage(len(OBJECTS) + 1, size)
        assert (await engine.traffic()).sent["photos"] == size - 1
        with pytest.raises(NotEmptyError):
            await engine.delete_bucket("photos", MARK)
        heard = engine.made()
        first = asyncio.create_task(anext(heard))
        while not first.done():
            assert await client.status("PUT", "made") in (200, 409)
            if not (await asyncio.wait([first], timeout=0.5))[0]:
                await engine.delete_bucket("made", MARK)
        assert await first == MadeBucket("made", KEY.name)
        await heard.aclose()
        await engine.purge_bucket("photos", MARK)
        await engine.purge_bucket("made", None)
        await engine.delete_key(KEY.name)
        assert await client.status("GET", "photos/1") == 403
    assert (list(await engine.buckets()), await engine.keys()) == ([], [])
    assert (await engine.health()).ok


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[local]\nurl = 'ftp://a'\n", "local.*url|url"),
        ("[local]\nurl = 'http://a'\nmore = 1\n", "filer|more"),
        ("[local\n", "clusters.toml"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "clusters.toml"
    file.write_text(text)
    with pytest.raises(OperatorError, match=reason) as refused:
        read(file)
    assert "secret" not in str(refused.value)


def test_a_file_names_the_clusters_of_regions(tmp_path: Path) -> None:
    file = tmp_path / "clusters.toml"
    file.write_text(
        '[local]\nurl = "http://192.0.2.7:8333"\nfiler = "192.0.2.8:18888"\n'
        'metrics = ["http://192.0.2.7:9327/metrics"]\n'
        f'secret_key = "{_SECRET}"\nsigning_key = "{_SIGNING}"\n'
    )
    assert list(read(file)) == ["local"]
