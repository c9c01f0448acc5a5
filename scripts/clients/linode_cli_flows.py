"""The command line."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flows import IMAGE, PASSWORD, PLAN, REGION, TOKEN, URL, run, until

Rows = Any
HOME = tempfile.TemporaryDirectory()


def cli(*arguments: str) -> Rows:
    """What the command prints as JSON."""
    where = urlsplit(URL)
    environment = {
        **os.environ,
        "HOME": HOME.name,
        "LINODE_CLI_TOKEN": TOKEN,
        "LINODE_CLI_API_HOST": where.netloc,
        "LINODE_CLI_API_SCHEME": where.scheme,
        "LINODE_CLI_API_VERSION": "v4",
    }
    program = Path(sys.executable).with_name("linode-cli")
    done = subprocess.run(
        [program, "--json", "--all-columns", "--no-defaults", "--suppress-warnings", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments[:2])}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout) if done.stdout.strip() else []


def instances() -> None:
    """linodes create, list, view, reboot, delete."""
    wanted = ("--type", PLAN, "--region", REGION, "--image", IMAGE, "--root_pass", PASSWORD)
    (made,) = cli("linodes", "create", *wanted, "--label", "cli-instance")
    number = str(made["id"])
    until(lambda: cli("linodes", "view", number)[0]["status"] == "running")
    (found,) = cli("linodes", "list", "--label", "cli-instance")
    assert (found["image"], found["disk_encryption"]) == (IMAGE, "disabled")
    assert cli("linodes", "disks-list", number)
    cli("linodes", "reboot", number)
    until(lambda: cli("linodes", "view", number)[0]["status"] == "running")
    cli("linodes", "delete", number)


def volumes() -> None:
    """volumes create, list, resize, delete."""
    (made,) = cli("volumes", "create", "--label", "cli-volume", "--size", "20", "--region", REGION)
    number = str(made["id"])
    until(lambda: cli("volumes", "view", number)[0]["status"] == "active")
    cli("volumes", "resize", number, "--size", "30")
    until(lambda: cli("volumes", "view", number)[0]["status"] == "active")
    cli("volumes", "delete", number)


def domains() -> None:
    """domains create, records-create, records-list, delete."""
    wanted = ("--type", "master", "--soa_email", "admin@example.org")
    (made,) = cli("domains", "create", "--domain", "cli.example.org", *wanted)
    number = str(made["id"])
    record = ("--type", "A", "--name", "www", "--target", "192.0.2.7")
    cli("domains", "records-create", number, *record)
    assert [each["target"] for each in cli("domains", "records-list", number)] == ["192.0.2.7"]
    cli("domains", "delete", number)


def nodebalancers() -> None:
    """nodebalancers create, config-create, configs-list, delete."""
    (made,) = cli("nodebalancers", "create", "--region", REGION, "--label", "cli-balancer")
    number = str(made["id"])
    wanted = ("--port", "8080", "--protocol", "http", "--algorithm", "leastconn")
    cli("nodebalancers", "config-create", number, *wanted)
    found = cli("nodebalancers", "configs-list", number)
    assert [(each["port"], each["algorithm"]) for each in found] == [(8080, "leastconn")]
    cli("nodebalancers", "delete", number)


def databases() -> None:
    """databases mysql- and postgresql-create, view, delete."""
    engines = {each["engine"]: each["id"] for each in cli("databases", "engines")}
    for kind in ("mysql", "postgresql"):
        wanted = ("--label", f"cli-{kind}", "--engine", engines[kind])
        (made,) = cli("databases", f"{kind}-create", *wanted, "--region", REGION, "--type", PLAN)
        database(kind, str(made["id"]))


def database(kind: str, number: str) -> None:
    until(lambda: cli("databases", f"{kind}-view", number)[0]["status"] == "active")
    cli("databases", f"{kind}-delete", number)


def lists() -> None:
    """The lists of regions, images, types, kernels, events, users, tags, keys, engines, VPCs."""
    for group, command in (
        ("regions", "list"),
        ("images", "list"),
        ("linodes", "types"),
        ("kernels", "list"),
        ("events", "list"),
        ("users", "list"),
        ("tags", "list"),
        ("sshkeys", "list"),
        ("databases", "engines"),
        ("vpcs", "list"),
        ("volumes", "types"),
        ("lke", "clusters-list"),
        ("placement", "groups-list"),
        ("nodebalancers", "list"),
    ):
        assert isinstance(cli(group, command), list)


run([instances, volumes, domains, nodebalancers, databases, lists])
