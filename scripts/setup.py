#!/usr/bin/env python3
"""Install the system packages that Roost's own engines need, and the libraries for browsers; with
--tests, those of the tests, too.

Root on Debian or Ubuntu gets them by apt-get. Everybody else is told what is missing: Roost then
simulates the engines that it cannot run.
"""

import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import libraries

ROOT = Path(__file__).resolve().parent.parent
IMAGES = runpy.run_path(str(ROOT / "src/roost/engines/qemu/images/packages.py"))
MISSING: Callable[[Iterable[str]], Sequence[str]] = IMAGES["missing_packages"]

NETWORK = ("dnsmasq-base", "iproute2", "nftables")
BALANCER = "haproxy"
DNS = ("pdns-server", "pdns-backend-sqlite3", "pdns-backend-pgsql")
DATABASES = ("mariadb-server", "mariadb-backup", "mariadb-client", "zstd")
TOOLS = ("curl", "openssh-client")
PROMETHEUS = "prometheus"
"""Whose promtool reads the rules and the dashboard in examples/."""
BROWSER = "chromium"
"""That the tests of pages drive."""
PROXIES = ("nginx-light", "caddy")
"""That run the examples for them."""
S3_CLIENTS = ("rclone", "restic", "s3cmd", "s3fs", "duplicity", "python3-boto3")
"""The last is how duplicity speaks S3."""
CEPH = ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-common", "qemu-block-extra")
"""Of which `scripts/ceph-lab` makes a cluster."""
SAMPLE_SCHEMAS = "pgmodeler"
"""Which has Pagila, that managed PostgreSQL is tried with."""
POSTGRES_COMMON, POSTGRES = "postgresql-common", "postgresql"
CLUSTERS = Path("/etc/postgresql-common/createcluster.conf")
SERVICE_POLICY = Path("/usr/sbin/policy-rc.d")
SERVICES = {
    DNS[0]: "pdns.service",
    DATABASES[0]: "mariadb.service",
    PROMETHEUS: "prometheus.service",
    PROXIES[0]: "nginx.service",
    BALANCER: "haproxy.service",
    PROXIES[1]: "caddy.service",
}
"""That packages bring along."""


def main() -> None:
    libraries.main()
    wanted = [*IMAGES["QEMU_PACKAGES"], *IMAGES["IMAGE_PACKAGES"], *NETWORK, BALANCER, *DNS]
    wanted += [*DATABASES, *TOOLS]
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        wanted += [POSTGRES_COMMON, POSTGRES]
    if "--tests" in sys.argv[1:]:
        wanted += [PROMETHEUS, BROWSER, *PROXIES, *S3_CLIENTS, *CEPH, SAMPLE_SCHEMAS]
    missing = list(MISSING(wanted))
    if not missing:
        say("all system packages are there")
    elif os.geteuid() != 0 or shutil.which("apt-get") is None:
        say(f"not installed, so some engines are simulated: {' '.join(missing)}")
        say(f"on Debian or Ubuntu: sudo apt-get install {' '.join(missing)}")
    else:
        install(missing)


def install(missing: list[str]) -> None:
    say("apt-get update")
    apt("update")
    plain = [name for name in missing if name != POSTGRES]
    say(f"installing {' '.join(plain)}")
    with no_services():
        if not apt("install", *plain):
            for name in plain:
                if not apt("install", name):
                    say(f"{name} cannot be installed; going on without it")
    for package, service in SERVICES.items():
        if package in plain:
            disable(service)
    if POSTGRES in missing:
        say("installing postgresql, without starting a server")
        with no_cluster():
            if not apt("install", POSTGRES):
                say("postgresql cannot be installed; going on without it")


@contextmanager
def no_services() -> Iterator[None]:
    """Roost runs what it needs itself; Debian's packages would start PowerDNS on port
    53, and a MariaDB."""
    if SERVICE_POLICY.exists():
        yield
        return
    SERVICE_POLICY.write_text("#!/bin/sh\nexit 101\n")
    SERVICE_POLICY.chmod(0o755)
    try:
        yield
    finally:
        SERVICE_POLICY.unlink()


def disable(service: str) -> None:
    """Nor shall the package's own server start with the machine. Only after we installed it."""
    if shutil.which("systemctl") is not None:
        say(f"disabling {service}: Roost runs servers of its own")
        command = ["systemctl", "--quiet", "disable", service]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=False)  # noqa: S603


@contextmanager
def no_cluster() -> Iterator[None]:
    """Debian's package makes and starts a server unless its configuration says otherwise."""
    before = CLUSTERS.read_text() if CLUSTERS.exists() else None
    if before is not None:
        CLUSTERS.write_text(f"{before}\ncreate_main_cluster = false\n")
    try:
        yield
    finally:
        if before is not None:
            CLUSTERS.write_text(before)


def apt(action: str, *packages: str) -> bool:
    options = ["-qq", "--no-install-recommends"] if action == "install" else ["-qq"]
    answer = subprocess.run(  # noqa: S603
        ["apt-get", *options, action, *packages],  # noqa: S607
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        say(answer.stderr.strip())
    return answer.returncode == 0


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
