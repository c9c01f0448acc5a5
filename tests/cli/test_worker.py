"""`roost worker` beside a server: what a monitor sees of it."""

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.process import ROOST, Server, wait_until

_OPTIONS = ("--engines", "simulated", "--metrics-listen", "127.0.0.1:0")


@pytest.fixture
def monitored(server: Server, tmp_path: Path) -> Iterator[str]:
    """Where a worker shows its metrics; it must end by SIGTERM."""
    with (tmp_path / "worker.log").open("w") as log:
        process = subprocess.Popen(
            [ROOST, "worker", "--state", server.state, *_OPTIONS],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    ready = next((line for line in process.stdout if line.startswith("roost worker")), "")
    beginning = "roost worker ready, metrics at "
    try:
        assert ready.startswith(beginning)
        yield ready.removeprefix(beginning).strip()
    finally:
        process.terminate()
        code = process.wait(timeout=60)
        process.stdout.close()
    assert code == 0


def fetch(url: str, **headers: str) -> str:
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


def status(url: str, **headers: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as refused:
        fetch(url, **headers)
    return refused.value.code


def test_metrics_of_a_worker(server: Server, monitored: str) -> None:
    base = monitored.removesuffix("/metrics")
    wait_until(lambda: json.loads(fetch(f"{base}/healthz"))["workers"] == 2)
    metrics = fetch(monitored)
    assert "\nroost_workers " in metrics
    assert "roost_job_lost_leases_total" in metrics
    assert status(monitored, **{"X-Forwarded-For": "127.0.0.1"}) == 403
    for path in ("/v4/regions", "/docs", "/login"):
        assert status(base + path) == 404
