"""Object storage: buckets, keys and transfers, against the same S3 server without the API."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median, quantiles

import aiohttp
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from tests.support.seaweed import small_cluster
from yarl import URL

from bench import machine
from bench.results import Result
from roost.engines.seaweedfs.cluster import Cluster, ClusterEntry
from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import ROOT, Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec

_ROUNDS, _CHANGES = 10, 10
_SIZES = (("4 KB", 4 << 10, 300), ("1 MB", 1 << 20, 50), ("100 MB", 100_000_000, 8))
"""What is transferred, bytes, and how often each way."""
_WAYS = _DIRECT, _OWN, _BARE = "direct", "own", "bare"
_BUCKETS = {_DIRECT: "direct", _OWN: "bench", _BARE: "direct"}
"""By whom objects are transferred, and where those of each are."""
_NAMES = 50
_LISTED, _LISTS, _WRITERS = 6000, 40, 12
"""Objects that are put for lists, pages of 1,000 that are taken, and who puts at a time."""
_NUMBERS = count()

Json = dict[str, object]


async def measure() -> AsyncIterator[Result]:
    """SeaweedFS as Roost runs it, beside guests that are simulated."""
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
        state = Path(directory)
        command = [machine.program("roost"), "serve", "--engines", "simulated"]
        command += ["--state", str(state), "--listen", "127.0.0.1:0"]
        environment = {"ROOST_RATE_LIMIT_SCALE": "0", "ROOST_OBJECTS_MIN_FREE_GB": "0"}
        try:
            with machine.running(command, "roost ready", None, environment) as (pid, line):
                async for result in _measure(state, pid, f"{line.partition('ready ')[2]}/v4/"):
                    yield result
        finally:
            down = [machine.program("roost"), "down", "--state", str(state)]
            await asyncio.to_thread(subprocess.run, down, check=True, stdout=subprocess.DEVNULL)


async def _measure(state: Path, pid: int, base: str) -> AsyncIterator[Result]:
    headers = {"Authorization": f"Bearer {(state / 'admin.token').read_text().strip()}"}
    folder = state / "seaweedfs" / "us-lake"
    async with aiohttp.ClientSession(base, headers=headers) as roost, aiohttp.ClientSession() as s3:
        without = machine.memory_megabytes(pid)
        contest = _Contest(roost, s3, folder)
        await contest.begin()
        note = f"MB; before the first bucket {without:.0f}, and no server"
        yield Result(
            "memory of Roost with a bucket", machine.memory_megabytes(pid), "MB", note=note
        )
        server = machine.memory_megabytes(int((folder / "pid").read_text()))
        yield Result("memory of the S3 server with a bucket", server, "MB")
        yield await contest.making()
        yield await contest.changing()
        async for result in contest.all_transfers():
            yield result
        await contest.fill()
        yield await contest.listing("first", "")
        yield await contest.listing("deep", f"&start-after={_listed(_LISTED * 8 // 10)}")


class _Contest:
    def __init__(
        self, roost: aiohttp.ClientSession, s3: aiohttp.ClientSession, folder: Path
    ) -> None:
        self._roost = roost
        self._s3 = s3
        self._folder = folder
        self._server = Server(folder)
        self._engine = OwnObjects(self._server)

    async def begin(self) -> None:
        """A bucket with a key, and a server that runs."""
        await self._call("POST", "object-storage/buckets", _bucket("bench"))
        key = await self._call("POST", "object-storage/keys", {"label": "bench"})
        self._key = Credentials(str(key["access_key"]), str(key["secret_key"]))
        await self._settled()
        self._root = Credentials(ROOT, (self._folder / "secret").read_text())
        self._url = await self._engine.endpoint()
        self._behind = self._server.inner_url()
        await self._send("PUT", self._signed("PUT", "direct", self._root))
        await self._opens(self._key, "bench")

    async def making(self) -> Result:
        """By turns, until a key that has been made opens the bucket that has been made.

        SeaweedFS by itself, which keeps both as lasting as the API does, and the API; for
        information the calls of the gateway alone. That keys are deleted again is nobody's time.
        """
        alone, calls, roost = list[float](), list[float](), list[float]()
        machine.pin(None)
        async with small_cluster(self._folder.parent / "alone") as entry:
            for _ in range(_ROUNDS):
                alone.append((await _timed(partial(self._make_alone, entry)))[0])
                seconds, number = await _timed(self._make_directly)
                calls.append(seconds)
                await self._engine.delete_key(f"bench-{number}")
                seconds, number = await _timed(self._make)
                roost.append(seconds)
                await self._call("DELETE", f"object-storage/keys/{number}")
                await self._settled()
        shown = [f"{median(each) * 1e3:.0f}" for each in (alone, roost, calls)]
        note = "ms: SeaweedFS {}, roost {}, the calls of the gateway alone {}".format(*shown)
        what = "bucket and key until they open: of SeaweedFS alone"
        return Result(what, median(roost) / median(alone), "x", 1.5, note=note)

    async def changing(self) -> Result:
        """From the change of an ACL to the first answer that obeys it."""
        await self._send("PUT", self._signed("PUT", "bench/open", self._key), b"x")
        taken = list[float]()
        for number in range(_CHANGES):
            acl, wanted = ("private", 403) if number % 2 else ("public-read", 200)
            began = time.perf_counter()
            path = "object-storage/buckets/us-lake-1/bench/access"
            await self._call("PUT", path, {"acl": acl})
            while await self._send("GET", URL(f"{self._url}/bench/open")) != wanted:
                await asyncio.sleep(0.001)
            taken.append((time.perf_counter() - began) * 1e3)
            await self._settled()
        note = f"the slowest of {_CHANGES}; median {median(taken):.0f}"
        return Result("ACL until it is in force", max(taken), "ms", 100, note=note)

    async def all_transfers(self) -> AsyncIterator[Result]:
        """Of each size both ways."""
        port = str(URL(self._behind).port)
        command = [sys.executable, "-m", "bench.bare_proxy", port]
        with machine.running(command, "proxy ready") as (_, line):
            proxy = int(line.rpartition(" ")[2])
            for name, size, times in _SIZES:
                for method in ("PUT", "GET"):
                    async for result in self._transfers(method, name, size, times, proxy):
                        yield result

    async def _transfers(
        self, method: str, name: str, size: int, times: int, proxy: int
    ) -> AsyncIterator[Result]:
        """By turns, with a customer's key, and with the operator's at the server behind the
        gateway, once more through a proxy that reads nothing: no gateway in Python can do better.

        Each has objects of its own, as writing over one costs the server more, and goes first as
        often. The quicker quarter counts: now and then the server makes room for a second.
        """
        body = os.urandom(size) if method == "PUT" else b""
        taken: dict[str, list[float]] = {way: [] for way in _WAYS}
        for number in range(times):
            for place in range(len(_WAYS)):
                way = _WAYS[(number + place) % len(_WAYS)]
                path = f"{_BUCKETS[way]}/{way}-{size}-{number % min(_NAMES, times)}"
                url = self._signed(method, path, self._key if way == _OWN else self._root)
                host = f"{url.host}:{url.port}"
                url = url.with_port(proxy) if way == _BARE else url
                began = time.perf_counter()
                assert await self._send(method, url, body, host) == 200
                taken[way].append(time.perf_counter() - began)
        direct, own, bare = (size / 1e6 / quantiles(taken[way])[0] for way in _WAYS)
        what = f"{method} of {name} with a key: of the server alone"
        note = f"MB/s: direct {direct:.3g}, with a key {own:.3g}"
        yield Result(what, own / direct, "", 0.9, "at least", note)
        what = f"{method} of {name} by a bare proxy: of the server alone"
        yield Result(what, bare / direct, note=f"with a key {own / bare:.3g} of it")

    async def fill(self) -> None:
        """As many objects of the same names on both sides."""

        async def put(first: int, bucket: str, key: Credentials) -> None:
            for number in range(first, _LISTED, _WRITERS):
                url = self._signed("PUT", f"{bucket}/{_listed(number)}", key)
                assert await self._send("PUT", url, b"x") == 200

        for bucket, key in (("bench", self._key), ("direct", self._root)):
            await asyncio.gather(*(put(first, bucket, key) for first in range(_WRITERS)))

    async def listing(self, which: str, after: str) -> Result:
        """A page of 1,000, by turns as transfers are."""
        taken: dict[bool, list[float]] = {True: [], False: []}
        for number in range(2 * _LISTS):
            own = number % 4 in (1, 2)
            path = f"{'bench' if own else 'direct'}?list-type=2&prefix=listed-{after}"
            url = self._signed("GET", path, self._key if own else self._root)
            began = time.perf_counter()
            assert await self._send("GET", url) == 200
            taken[own].append(time.perf_counter() - began)
        quick = {own: quantiles(seconds)[0] for own, seconds in taken.items()}
        note = f"ms: direct {quick[False] * 1e3:.1f}, with a key {quick[True] * 1e3:.1f}"
        what = f"{which} list of 1,000 of {_LISTED:,} with a key: of the server alone"
        return Result(what, quick[True] / quick[False], "x", 1.5, note=note)

    async def _make(self) -> int:
        """The key's id."""
        name = f"bench-{next(_NUMBERS)}"
        await self._call("POST", "object-storage/buckets", _bucket(name))
        key = await self._call("POST", "object-storage/keys", {"label": name})
        await self._opens(Credentials(str(key["access_key"]), str(key["secret_key"])), name)
        number = key["id"]
        assert isinstance(number, int)
        return number

    async def _make_alone(self, entry: ClusterEntry) -> int:
        """A bucket by S3, and a key as the server keeps them; the number in their names."""
        number = next(_NUMBERS)
        name = f"alone-{number}"
        root = Credentials(entry.access_key, entry.secret_key)
        assert await self._send("PUT", _signed("PUT", f"{entry.url}/{name}", root)) == 200
        grants = (BucketGrant(name, True),)
        key = KeySpec(f"key-{number}", f"{number:020}", os.urandom(20).hex(), grants)
        await SeaweedObjects(Cluster(entry)).put_key(key)
        url = _signed("GET", f"{entry.url}/{name}", Credentials(key.access_key, key.secret_key))
        while await self._send("GET", url) != 200:
            await asyncio.sleep(0.001)
        return number

    async def _make_directly(self) -> int:
        """The number in the key's name."""
        number = next(_NUMBERS)
        name = f"direct-{number}"
        await self._engine.put_bucket(BucketSpec(name, f"{number}-20300131", "private", False))
        grants = (BucketGrant(name, True),)
        key = KeySpec(f"bench-{number}", f"{number:020}", os.urandom(20).hex(), grants)
        await self._engine.put_key(key)
        await self._opens(Credentials(key.access_key, key.secret_key), name)
        return number

    async def _opens(self, key: Credentials, bucket: str) -> None:
        while await self._send("GET", self._signed("GET", bucket, key)) != 200:
            await asyncio.sleep(0.001)

    async def _settled(self) -> None:
        """Until no event is open."""
        while True:
            rows = (await self._call("GET", "account/events"))["data"]
            assert isinstance(rows, list)
            if all(row["status"] not in ("scheduled", "started") for row in rows):
                return
            await asyncio.sleep(0.01)

    async def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        async with self._roost.request(method, path, json=body) as answer:
            found: Json = await answer.json()
            assert answer.status == 200, found
            return found

    async def _send(self, method: str, url: URL, body: bytes = b"", host: str | None = None) -> int:
        headers = None if host is None else {"Host": host}
        async with self._s3.request(method, url, data=body, headers=headers) as answer:
            await answer.read()
            return answer.status

    def _signed(self, method: str, path: str, key: Credentials) -> URL:
        url = self._behind if key is self._root else self._url
        return _signed(method, f"{url}/{path}", key)


def _signed(method: str, url: str, key: Credentials) -> URL:
    request = AWSRequest(method, url)
    S3SigV4QueryAuth(key, "s3", "us-east-1", 3600).add_auth(request)
    return URL(str(request.url), encoded=True)


def _listed(number: int) -> str:
    return f"listed-{number:07}"


def _bucket(name: str) -> Json:
    return {"label": name, "cluster": "us-lake-1"}


async def _timed(act: Callable[[], Awaitable[int]]) -> tuple[float, int]:
    """Seconds, and what it made."""
    began = time.perf_counter()
    made = await act()
    return time.perf_counter() - began, made
