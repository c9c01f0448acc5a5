"""Programs that the server starts while libraries with threads and connections of their own are
busy: none of them dies before it has begun, and nothing is said but by the server itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import program_starts

ROOT = Path(__file__).parents[2]


@pytest.mark.seaweedfs
def test_no_program_dies_while_buckets_are_busy(tmp_path: Path) -> None:
    command = (sys.executable, "-m", program_starts.__name__, str(tmp_path / "objects"))
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"grpc": True, "transfers": True}
    assert done.stderr == ""
