"""What commands import: each of them is waited for, and most look at rows alone."""

import subprocess
import sys
from collections.abc import Iterable

from roost.cli.main import main

ALL_GROUPS = {"serve", "worker", "down", "engine", "fsck", "restore", "dashboard"}
"""Commands that work with all that Roost has."""
HTTP = {"clock", "top", "dashboard"}
"""Those that ask a server."""
LATER = (
    "PIL",
    "aiohttp",
    "aiosmtplib",
    "botocore",
    "dns.asyncresolver",
    "fpdf",
    "grpclib",
    "jinja2",
    "obstore",
    "phonenumbers",
    "pycdlib",
    "pyroute2",
    "uharfbuzz",
)
"""Libraries that are imported when something is first done with them."""
ENGINES = ("roost.engines.mariadb.databases", "roost.engines.qemu.instances")


def imported(modules: Iterable[str]) -> set[str]:
    """All that a process has which imported these."""
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    return set(done.stdout.decode().split())


def test_the_command_alone_imports_no_libraries_of_the_server() -> None:
    heavy = {"asyncpg", "cryptography", "jinja2", "pydantic", "starlette", "structlog", "uvicorn"}
    assert imported(["roost.cli"]) & heavy == set()


def test_commands_that_look_at_rows_import_no_groups_and_no_engines() -> None:
    modules = {later.module for name, later in main.later.items() if name not in ALL_GROUPS | HTTP}
    heavy = {"roost.app.groups", "roost.app.roost", "roost.web.registry", "starlette", "uvicorn"}
    assert imported(modules) & {*heavy, *LATER, *ENGINES} == set()


def test_a_server_imports_the_program_while_its_database_starts() -> None:
    heavy = {"roost.app.groups", "roost.app.roost", "roost.web.registry", "starlette", "uvicorn"}
    assert imported(["roost.cli.serve"]) & heavy == set()


def test_a_server_imports_engines_when_regions_are_bound_to_them() -> None:
    assert imported(["roost.cli.running"]) & {*LATER, *ENGINES} == set()
