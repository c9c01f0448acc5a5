"""The operator's commands: what they are called, and what they cost to import."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from roost.cli.lazy import LazyGroup
from roost.cli.main import main


def groups() -> list[LazyGroup]:
    account = main.get_command(click.Context(main), "account")
    assert isinstance(main, LazyGroup)
    assert isinstance(account, LazyGroup)
    return [main, account]


@pytest.mark.parametrize("group", groups(), ids=lambda group: group.name)
def test_help_of_commands_is_their_own(group: LazyGroup) -> None:
    for name, later in group.later.items():
        command = group.get_command(click.Context(group), name)
        assert command is not None
        assert command.name == name
        words = " ".join((command.help or "").split())
        assert words.startswith(later.help)
        assert later.help.endswith(".")


def test_all_commands_are_listed() -> None:
    shown = CliRunner().invoke(main, ["account", "--help"]).output
    for name in ("list", "create", "limit"):
        assert f"  {name} " in shown


def test_help_and_tokens_import_no_groups() -> None:
    program = """
import sys
from click.testing import CliRunner
from roost.cli.main import main
assert CliRunner().invoke(main, ["--help"]).exit_code == 0
assert "roost.cli.token" not in sys.modules
assert CliRunner().invoke(main, ["token", "create", "--help"]).exit_code == 0
assert "roost.cli.token" in sys.modules
assert "roost.app.groups" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_server_loads_no_clients_that_nothing_asks_for() -> None:
    """They take 23 MB and two tenths of a second."""
    program = """
import sys
import roost.cli.running
clients = {"aiohttp", "botocore", "grpclib", "obstore", "urllib3"}
assert not clients & set(sys.modules), clients & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_what_is_no_command() -> None:
    answer = CliRunner().invoke(main, ["nothing"])
    assert answer.exit_code == 2
    assert "No such command 'nothing'" in answer.output
