"""What `make test` and `make test-real` run, and what of it a change reaches."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
DAY = timedelta(hours=24)

STATIC = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("lint-imports", "--no-logo"),
)
EVERY_CHANGE = "not real or story"
"""The marks of tests that every change runs."""
REPORT = ROOT / ".pytest_cache/report.xml"
"""Of the last run, for `scripts/minutes`."""
TYPES = ("mypy", "src", "tests", "scripts")


@dataclass(frozen=True)
class Suite:
    """Tests of one real engine, or of whole servers.

    A change of one of its packages, or of what these import, reaches it.
    """

    name: str
    packages: Sequence[str]
    select: str
    """Which marks its tests have."""


ENGINES = (
    Suite("qemu", ["roost.engines.qemu"], "qemu"),
    Suite("ceph", ["roost.engines.qemu.rbd", "roost.engines.qemu.volumes"], "ceph"),
    Suite("mariadb", ["roost.engines.mariadb"], "mariadb"),
    Suite("managed-postgresql", ["roost.engines.postgresql"], "managed_postgresql"),
    Suite("powerdns", ["roost.engines.powerdns"], "powerdns"),
    Suite("seaweedfs", ["roost.engines.seaweedfs", "roost.engines.gateway"], "seaweedfs"),
)
BROWSER = Suite("browser", ["roost.console", "roost.dashboard", "roost.oauth"], "browser")
"""All pages in Chromium."""
SERVERS = Suite(
    "e2e", ["roost.cli", "roost.app", "roost.jobs", *(e.packages[0] for e in ENGINES)], "e2e"
)
POSTGRES = Suite("postgresql", ["roost.store", "roost.jobs"], "")
"""The oldest PostgreSQL: the store, jobs, and one flow of each group with tables."""
S3_TESTS = Suite("s3-tests", ["roost.engines.seaweedfs", "roost.engines.gateway"], "")
"""The public conformance suite of S3, where it can be fetched."""
S3_CLIENTS = Suite("s3-clients", S3_TESTS.packages, "")
"""Stories of S3 clients that people have."""
GENERATORS = Suite("generators", ["roost.web.openapi"], "")
"""Clients that generators make of the OpenAPI document, where these can be fetched."""
SHARED = ("tests/engines", "tests/e2e", "tests/support", "tests/conftest.py", "scripts", "uv.lock")
"""What all suites stand on."""
SUITES = (*ENGINES, BROWSER, SERVERS, POSTGRES, S3_TESTS, S3_CLIENTS, GENERATORS)

FLOWS = (
    "account",
    "backups",
    "billing",
    "clones",
    "compute",
    "configs",
    "databases",
    "disks",
    "domain_records",
    "domains",
    "events",
    "firewalls",
    "idempotence",
    "logins",
    "maintenance",
    "networking",
    "nodebalancers",
    "oauth_tokens",
    "object_storage",
    "payments",
    "private_images",
    "reverse_dns",
    "ssh_keys",
    "stackscripts",
    "tags",
    "tickets",
    "tokens",
    "usage",
    "users",
    "volumes",
    "vpcs",
)


def reached(files: Iterable[Path]) -> list[Suite]:
    """Suites that a change of these files, relative to the project, reaches."""
    changed = list(files)
    if any(file.is_relative_to(shared) for file in changed for shared in SHARED):
        return list(SUITES)
    graph = grimp.build_graph("roost", cache_dir=None)
    modules = {module for module in map(module_of, changed) if module in graph.modules}
    return [suite for suite in SUITES if modules & imported(graph, suite.packages)]


def imported(graph: grimp.ImportGraph, packages: Iterable[str]) -> set[str]:
    """These packages with all that they import, directly or not."""
    found: set[str] = set()
    for package in packages:
        found |= {package, *graph.find_descendants(package)}
        found |= graph.find_upstream_modules(package, as_package=True)
    return found


def module_of(file: Path) -> str:
    """`roost.store.pool` for src/roost/store/pool.py; "" for what is no module."""
    if file.parts[:1] != ("src",) or file.suffix != ".py":
        return ""
    return ".".join(file.with_suffix("").parts[1:]).removesuffix(".__init__")


def changed_lately() -> list[Path]:
    """Files that differ from the last commit that is a day older than the newest one."""
    newest = int(git("log", "-1", "--format=%ct")[0])
    before = newest - int(DAY.total_seconds())
    base = git("rev-list", "-1", f"--before={before}", "HEAD") or git(
        "rev-list", "--max-parents=0", "HEAD"
    )
    return [Path(name) for name in git("diff", "--name-only", base[0], "HEAD")]


def git(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.splitlines()


def pytest(*arguments: str, shuffled: bool = True) -> tuple[str, ...]:
    """As many workers as processors; the order is one that the commit decides, and is printed."""
    seed = os.environ.get("ROOST_TEST_ORDER") or str(int(git("rev-parse", "HEAD")[0][:7], 16))
    shuffle = ("-p", "randomly", f"--randomly-seed={seed}", "--randomly-dont-reset-seed")
    order = shuffle if shuffled else ()
    workers = ("-n", str(len(os.sched_getaffinity(0))), "--dist", "worksteal")
    return ("python", "-m", "pytest", *workers, *order, f"--junitxml={REPORT}", *arguments)


def passes(*command: str, environment: dict[str, str] | None = None) -> bool:
    say("==", *command)
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}, check=False)
    return done.returncode == 0


def say(*words: str) -> None:
    print(*words, flush=True)
