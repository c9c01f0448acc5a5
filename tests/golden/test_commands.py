"""The tenants' command line has each operation, and its names stay."""

import runpy
from pathlib import Path

from roost.app.groups import GROUPS
from roost.commands import command_of
from roost.web.registry import Registry
from tests.golden.gaps import read_list

ROOT = Path(__file__).parents[2]


def test_the_file_is_what_the_document_says() -> None:
    build = runpy.run_path(str(ROOT / "scripts/commands.py"))["build"]
    kept = (ROOT / "src/roost/commands/commands.json").read_text()
    assert kept == build(), "scripts/commands.py writes it anew"


def test_names_of_commands_stay() -> None:
    """Scripts have them: a name may be added to commands.txt, and none be taken from it."""
    found = {f"{command_of(each.name).name}: {each.name}" for each in Registry(GROUPS.endpoints)}
    kept = set(read_list("commands"))
    assert not kept - found, "scripts would miss these"
    assert not found - kept, "to be added to tests/golden/commands.txt"
