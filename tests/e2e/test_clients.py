"""Tools of another cloud, unmodified, at the dialect's listener: the SDK and the command line; and
those for S3 that `scripts/setup.py --tests` installs.

What all tools that were tried say is in docs/clients.md, which `make clients` writes.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.program import ROOST, ROOT, Program

FLOWS = ROOT / "scripts/clients"


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """The environment in which flows find it."""
    state: Path = tmp_path_factory.mktemp("clients")
    command = (ROOST, "serve", "--state", state, "--engines", "simulated")
    listen = ("--listen", "127.0.0.1:0", "--dialect", "linode=127.0.0.1:0")
    program = await Program.start((*command, *listen), {}, state / "serve.log")
    try:
        objects = await program.said("us-lake   objects ")
        url = await program.said("linode: ")
        await program.said("roost ready ")
        token = (state / "admin.token").read_text().strip()
        s3 = objects.partition("S3 at ")[2].split()[0]
        yield {**os.environ, "LINODE_URL": url, "LINODE_TOKEN": token, "S3_URL": s3}
    finally:
        await program.terminate()
        down = await Program.start((ROOST, "down", "--state", state), {}, state / "down.log")
        assert await down.ended() == 0


@pytest.mark.parametrize(
    "flows", ["linode_api4_flows.py", "linode_cli_flows.py", "s3_flows.py s3cmd rclone restic"]
)
async def test_flows(flows: str, server: dict[str, str]) -> None:
    """`S3_LARGE_MIB=1024` lets S3 tools send a GiB in parts."""
    name, *tools = flows.split()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        FLOWS / name,
        *tools,
        env=server,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    said = printed.decode()
    assert process.returncode == 0, said
    assert said.count("passed\t") >= 4, said
