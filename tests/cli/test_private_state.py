"""Others on the machine do not look into a state."""

import stat
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from roost.app.state import open_store
from tests.support.server import running_roost, simulated


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("before", "after"), [(0o755, 0o711), (0o750, 0o710), (0o777, 0o711)])
async def test_a_folder_that_others_may_read_is_closed_to_them(
    tmp_path: Path, database_url: str, before: int, after: int
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(before)
    with capture_logs() as logs:
        for _ in range(2):
            async with open_store(simulated(state, database_url)):
                assert mode(state) == after
    told = [line for line in logs if line["event"] == "state_made_private"]
    assert len(told) == 1


async def test_what_simulated_engines_remember_is_nobody_elses(
    tmp_path: Path, database_url: str
) -> None:
    state = tmp_path / "state"
    async with running_roost(simulated(state, database_url)):
        pass
    files = [each for each in state.rglob("*") if each.is_file()]
    assert {mode(each) & 0o077 for each in files if each.suffix != ".listener"} == {0}
    assert mode(state) == 0o700
