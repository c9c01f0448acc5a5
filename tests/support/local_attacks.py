"""What another user of the host tries at the ports of a server; see `test_object_neighbours`.

It prints one line for each try that got an answer: `python -m tests.support.local_attacks PORTS`.
"""

import asyncio
import json
import ssl
import sys
from collections.abc import AsyncIterator

import aiohttp
from grpclib.client import Channel
from grpclib.const import Cardinality
from grpclib.encoding.base import CodecBase
from grpclib.exceptions import GRPCError, StreamTerminatedError

from roost.engines.seaweedfs.wire import field, integer

_SECONDS = 5
_BUCKETS = field(1, "/buckets")
_CALLS = {
    "filer": (
        ("filer_pb.SeaweedFiler/ListEntries", _BUCKETS + integer(5, 100)),
        ("filer_pb.SeaweedFiler/LookupDirectoryEntry", field(1, "/") + field(2, "buckets")),
        ("filer_pb.SeaweedFiler/DeleteEntry", field(1, "/") + field(2, "buckets") + integer(5, 1)),
        ("filer_pb.SeaweedFiler/CreateEntry", _BUCKETS + field(2, field(1, "evil"))),
        ("filer_pb.SeaweedFiler/KvGet", field(1, "x")),
        ("filer_pb.SeaweedFiler/GetFilerConfiguration", b""),
        ("filer_pb.SeaweedFiler/SubscribeMetadata", field(1, "me") + field(2, "/")),
        ("iam_pb.SeaweedIdentityAccessManagement/ListUsers", b""),
        ("iam_pb.SeaweedIdentityAccessManagement/CreateUser", field(1, field(1, "evil"))),
    ),
    "master": (
        ("master_pb.Seaweed/Assign", integer(1, 1)),
        ("master_pb.Seaweed/VolumeList", b""),
        ("master_pb.Seaweed/LookupVolume", field(1, "1")),
        ("master_pb.Seaweed/CollectionList", integer(1, 1)),
        ("master_pb.Seaweed/CollectionDelete", field(1, "b")),
        ("master_pb.Seaweed/LeaseAdminToken", field(3, "admin")),
        ("master_pb.Seaweed/GetMasterConfiguration", b""),
    ),
    "volume": (
        ("volume_server_pb.VolumeServer/VolumeServerStatus", b""),
        ("volume_server_pb.VolumeServer/DeleteCollection", field(1, "b")),
        ("volume_server_pb.VolumeServer/VolumeDelete", integer(1, 1)),
        ("volume_server_pb.VolumeServer/ReadNeedleMeta", integer(1, 1)),
    ),
    "s3": (
        ("s3_pb.SeaweedS3/Configure", field(1, b"{}")),
        ("s3_pb.SeaweedS3IamCache/PutIdentity", field(1, field(1, "evil"))),
        ("messaging_pb.SeaweedS3IamCache/PutIdentity", field(1, field(1, "evil"))),
    ),
}
_PAGES = (
    *("", "dir/assign", "dir/status", "dir/lookup?volumeId=1", "vol/status", "vol/grow?count=1"),
    *("col/delete?collection=b", "cluster/status", "cluster/healthz", "stats/health", "status"),
    *("ui/index.html", "healthz", "metrics", "debug/pprof/", "buckets/", "1,01637037d6"),
)


class _Bytes(CodecBase):
    @property
    def __content_subtype__(self) -> str:
        return "proto"

    def encode(self, message: bytes, message_type: type[bytes]) -> bytes:
        return message

    def decode(self, data: bytes, message_type: type[bytes]) -> bytes:
        return data


async def main() -> None:
    """The ports are named as in `ports.json`."""
    ports: dict[str, int] = json.loads(sys.argv[1])
    async for each in _answered(ports):
        sys.stdout.write(f"{each}\n")


async def _answered(ports: dict[str, int]) -> AsyncIterator[str]:
    for part, calls in _CALLS.items():
        for tls in (None, _trusting()):
            for method, message in calls:
                if await _call(ports[f"{part}.grpc"], tls, method, message):
                    yield f"{part}: {method} {'with' if tls else 'without'} TLS"
    for part in ("master", "volume", "filer"):
        for scheme in ("http", "https"):
            for page in _PAGES:
                if await _get(f"{scheme}://127.0.0.1:{ports[part]}/{page}"):
                    yield f"{part}: {scheme} /{page}"


def _trusting() -> ssl.SSLContext:
    """That takes any certificate, and has none to show."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context


async def _call(port: int, tls: ssl.SSLContext | None, method: str, message: bytes) -> bool:
    try:
        async with (
            asyncio.timeout(_SECONDS),
            Channel("127.0.0.1", port, codec=_Bytes(), ssl=tls) as channel,
            channel.request(f"/{method}", Cardinality.UNARY_UNARY, bytes, bytes) as stream,
        ):
            await stream.send_message(message, end=True)
            return await stream.recv_message() is not None
    except GRPCError as error:
        # The service has answered, be it with a refusal of what was asked.
        return error.status.name not in ("UNAVAILABLE", "UNIMPLEMENTED")
    except (StreamTerminatedError, OSError, TimeoutError):
        return False


async def _get(url: str) -> bool:
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, ssl=_trusting()) as answer,
        ):
            return answer.status < 400
    except (aiohttp.ClientError, OSError, TimeoutError):
        return False


if __name__ == "__main__":
    asyncio.run(main())
