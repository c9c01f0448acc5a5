"""A SeaweedFS as an operator runs one: clients and Roost speak with it without a gateway."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from roost.engines.listeners import free_tcp_port
from roost.engines.seaweedfs.cluster import ClusterEntry

_WEED = Path(sys.executable).with_name("weed")
_SECRET, _SIGNING = "secret-key-of-the-operator", "signing-key-of-the-cluster"
_PARTS = ("master", "volume", "filer", "s3")
_SECONDS = 60


@asynccontextmanager
async def small_cluster(folder: Path) -> AsyncIterator[ClusterEntry]:
    """All of it in one process, until the end of the block."""
    (folder / "data").mkdir(parents=True)
    (folder / "security.toml").write_text(f'[jwt.filer_signing]\nkey = "{_SIGNING}"\n')
    keys = [{"accessKey": "root", "secretKey": _SECRET}]
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    root = {"name": "root", "credentials": keys, "actions": actions}
    (folder / "s3.json").write_text(json.dumps({"identities": [root]}))
    ports = dict[str, int]()
    for name in (*_PARTS, *(f"{part}.grpc" for part in _PARTS), "metrics"):
        ports[name] = free_tcp_port({*ports.values()})
    (folder / "ports.json").write_text(json.dumps(ports))
    process = await _start(folder, ports)
    entry = ClusterEntry(
        url=f"http://127.0.0.1:{ports['s3']}",
        filer=f"127.0.0.1:{ports['filer.grpc']}",
        metrics=[f"http://127.0.0.1:{ports['metrics']}/metrics"],
        secret_key=_SECRET,
        signing_key=_SIGNING,
    )
    try:
        await until_it_serves(entry.url)
        yield entry
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        for path in sockets(ports.values()):
            path.unlink()


def sockets(ports: Iterable[int]) -> list[Path]:
    """What servers at these ports have beside their folders, also when they are killed."""
    every = Path("/tmp").glob("seaweedfs-*.sock")
    names = {str(port) for port in ports}
    return [path for path in every if path.stem.rpartition("-")[2] in names]


async def _start(folder: Path, ports: dict[str, int]) -> asyncio.subprocess.Process:
    at = [f"-{name.replace('.', '.port.') if '.' in name else f'{name}.port'}" for name in ports]
    at[-1] = "-metricsPort"
    with (folder / "log").open("ab") as log:
        return await asyncio.create_subprocess_exec(
            _WEED,
            *("-logtostderr=true", "server", f"-dir={folder / 'data'}", "-filer", "-s3"),
            *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false"),
            *(f"{option}={port}" for option, port in zip(at, ports.values(), strict=True)),
            *("-master.electionTimeout=1s", "-master.volumeSizeLimitMB=128"),
            *("-master.volumePreallocate=false", "-master.resumeState=false", "-volume.max=20000"),
            *(f"-s3.config={folder / 's3.json'}", "-s3.iam=false", "-s3.port.iceberg=0"),
            *("-s3.port.lance=0", "-s3.allowDeleteBucketNotEmpty=false"),
            *("-s3.autoCreateBucket=false", "-s3.allowedOrigins=http://none.invalid"),
            cwd=folder,
            env={
                "HOME": str(folder),
                "TMPDIR": str(folder),
                "GOMEMLIMIT": "400MiB",
                "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1",
            },
            stdout=log,
            stderr=log,
        )


async def until_it_serves(url: str) -> None:
    """It refuses strangers, and so knows who it is for."""
    async with asyncio.timeout(_SECONDS), aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(url) as answer:
                    if answer.status == 403:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.05)
