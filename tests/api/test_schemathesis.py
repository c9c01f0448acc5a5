"""Requests that a generator makes up from the OpenAPI document, against a running server.

Whatever is sent, the server answers as the document says and never with an error of its own.
"""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from roost.app.groups import GROUPS
from roost.web.registry import Registry
from tests.api.conftest import Account, NewToken
from tests.support.server import RunningRoost

EXAMPLES = "5"
"""For each operation and phase; all operations take a minute."""
SECONDS = 120
"""For a request, on a busy machine."""
PARTS = 5
"""`make test` asks for one part of the operations, which the order of its tests decides."""

SETTINGS = """
[parameters]  # Answers come at once, however long they could wait for events.
"query.wait" = 0
"query.seconds" = 0

[checks.negative_data_rejection]  # Versions are compared before bodies are read.
expected-statuses = [400, 401, 403, 404, 406, 409, 412, 415, 422, 428, 429, "5xx"]
"""
PHASES = "examples,coverage,fuzzing"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "ignored_auth",
)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("phases", "parts", "least"),
    [
        pytest.param(PHASES, PARTS, 60, id="part"),
        pytest.param(PHASES, 1, 500, id="whole", marks=pytest.mark.e2e),
        pytest.param("stateful", 1, 25, id="stateful"),
    ],
)
async def test_generated_requests(
    running: RunningRoost,
    account: Account,
    new_token: NewToken,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    phases: str,
    parts: int,
    least: int,
) -> None:
    token = await new_token(account)
    seed = pytestconfig.getoption("randomly_seed", 0)
    names = sorted(endpoint.name for endpoint in Registry(GROUPS.endpoints))
    asked = names[(seed if isinstance(seed, int) else 0) % parts :: parts]
    (tmp_path / "schemathesis.toml").write_text(SETTINGS)
    program = Path(sys.executable).with_name("schemathesis")
    process = await asyncio.create_subprocess_exec(
        program,
        "run",
        f"{running.url}/v4/openapi.json",
        f"--header=Authorization: Bearer {token}",
        f"--phases={phases}",
        f"--checks={','.join(CHECKS)}",
        f"--max-examples={EXAMPLES}",
        f"--request-timeout={SECONDS}",
        "--generation-deterministic",
        # Nothing that is sent after a cancellation would be let in.
        "--exclude-operation-id=cancel_account",
        *(f"--include-operation-id={name}" for name in asked if parts > 1),
        "--continue-on-failure",
        "--suppress-health-check=all",
        "--no-color",
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    report = output.decode()
    assert process.returncode == 0, report
    counts = re.search(r"(\d+) generated, (\d+) passed", report)
    assert counts is not None, report
    assert counts[1] == counts[2]
    assert int(counts[1]) >= least
