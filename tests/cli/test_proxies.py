"""The proxies in `examples/proxies`: as they stand, but for ports, names and paths."""

import gzip
import http.client
import json
import os
import random
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from roost.engines.listeners import free_tcp_port
from tests.cli.process import Json, Server, ran, wait_until
from tests.support.installation import ROOT
from tests.support.uploads import disk_bytes

EXAMPLES = ROOT / "examples/proxies"
CALLER = "127.0.0.2"
_SECONDS = 120

_NGINX = """\
daemon off;
user root;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/nginx.conf;
}}
"""
"""What Debian's has around it."""

_CADDY = """\
{{
    admin off
    http_port {plain}
    https_port {port}
}}
"""


@dataclass(frozen=True)
class Proxy:
    """Before a server; `folder` has the server's certificate."""

    name: str
    folder: Path
    port: int = field(default_factory=free_tcp_port)
    plain: int = field(default_factory=free_tcp_port)

    def command(self, server: Server) -> list[str | Path]:
        """What starts it. Writes its files."""
        example = {"nginx": "nginx.conf", "haproxy": "haproxy.cfg", "caddy": "Caddyfile"}[self.name]
        text = (EXAMPLES / example).read_text()
        own = self.folder / example
        for written, here in (
            ("127.0.0.1:8080", server.url.removeprefix("http://")),
            ("/etc/ssl/roost", str(self.folder)),
            ("cloud.example.com", "localhost"),
            ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            ("listen 80", f"listen 127.0.0.1:{self.plain}"),
            ("bind :443", f"bind 127.0.0.1:{self.port}"),
            ("bind :80", f"bind 127.0.0.1:{self.plain}"),
        ):
            text = text.replace(written, here)
        if self.name == "caddy":
            asked = text.partition("add a line: ")[2].partition("\n")[0]
            text = _CADDY.format(plain=self.plain, port=self.port) + text.replace(
                "localhost {", "localhost {\n" + asked
            )
        own.write_text(text)
        if self.name == "nginx":
            whole = self.folder / "whole.conf"
            whole.write_text(_NGINX.format(folder=self.folder))
            return ["nginx", "-e", self.folder / "nginx.log", "-c", whole]
        if self.name == "haproxy":
            return ["haproxy", "-db", "-f", own]
        return ["caddy", "run", "--config", own, "--adapter", "caddyfile"]

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """From an address that is not the proxy's."""
        trust = ssl.create_default_context(cafile=self.folder / "ca.pem")
        connection = http.client.HTTPSConnection(
            "localhost", self.port, source_address=(CALLER, 0), timeout=_SECONDS, context=trust
        )
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("behind")
    ran("tls", "--state", folder / "state")
    server = Server.start(folder / "state", ROOST_TRUSTED_PROXIES="127.0.0.1")
    yield server
    server.end()


@pytest.fixture(params=["nginx", "haproxy", "caddy"])
def proxy(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Iterator[Proxy]:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    proxy = Proxy(request.param, tmp_path)
    made = {path.name: path.read_text() for path in (server.state / "tls").glob("*.pem")}
    made["both.pem"] = made["certificate.pem"] + made["key.pem"]
    for name, text in made.items():
        (tmp_path / name).write_text(text)
    with (tmp_path / "proxy.log").open("w") as log:
        process = subprocess.Popen(
            proxy.command(server),
            env=os.environ | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
            stdout=log,
            stderr=log,
        )
    try:
        answers(process, proxy, log.name)
        yield proxy
    finally:
        process.terminate()
        process.wait(timeout=_SECONDS)


def answers(process: "subprocess.Popen[bytes]", proxy: Proxy, log: str) -> None:
    """Returns when the proxy does, and has seen that the server does."""
    deadline = time.monotonic() + _SECONDS
    while True:
        assert process.poll() is None, Path(log).read_text()
        assert time.monotonic() < deadline, Path(log).read_text()
        try:
            if proxy.send("GET", "/healthz")[0] == 200:
                return
        except OSError:
            time.sleep(0.02)


def callers(server: Server, path: str) -> list[str]:
    """Who has asked for it, by the access log, which is written a little later."""
    lines = server.log.read_text().splitlines()
    logged = [json.loads(line) for line in lines if line.startswith('{"time"')]
    return [line["client"] for line in logged if line["path"] == path]


def test_a_cloud_behind_a_proxy(proxy: Proxy, server: Server) -> None:
    token = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}

    def ask(method: str, path: str, body: Json = None, **headers: str) -> tuple[int, Json]:
        raw = None if body is None else json.dumps(body).encode()
        status, answer = proxy.send(method, f"/v4{path}", raw, **token, **headers)
        return status, json.loads(answer)

    # What a caller says of itself is not believed, what the proxy says is.
    forged = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9"}
    assert ask("POST", "/tags", {"label": proxy.name})[0] == 200
    assert ask("GET", f"/tags/{proxy.name}", **forged)[0] == 200
    wait_until(lambda: len(callers(server, f"/v4/tags/{proxy.name}")) > 0)
    assert set(callers(server, f"/v4/tags/{proxy.name}")) == {CALLER}

    # Monitoring is for those who come directly.
    assert proxy.send("GET", "/metrics")[0] == 403
    assert json.loads(proxy.send("GET", "/healthz")[1]).keys() == {"status"}

    # Bounds of bodies are Roost's own.
    status, row = ask("POST", "/tags", {"label": "x" * (2 << 20)})
    assert (status, list(row)) == (413, ["errors"])

    # Roost knows by which name and scheme it was called, and large uploads come through.
    upload = {"label": "mine", "region": "us-lake"}
    status, row = ask("POST", "/images/upload", upload)
    assert status == 200, row
    address = f"https://localhost:{proxy.port}"
    assert row["upload_to"].startswith(f"{address}/")
    noise = random.Random(1).randbytes(8 << 20)
    disk = gzip.compress(disk_bytes(proxy.name) + noise)
    path = row["upload_to"].removeprefix(address)
    status, answer = proxy.send("PUT", path, disk, **{"Content-Type": "application/octet-stream"})
    assert status == 200, answer


def test_without_tls_callers_are_sent_on(proxy: Proxy) -> None:
    connection = http.client.HTTPConnection("localhost", proxy.plain, timeout=_SECONDS)
    connection.request("GET", "/v4/regions?page=2")
    answer = connection.getresponse()
    assert answer.status in (301, 308)
    assert answer.headers["Location"].startswith("https://localhost")
    assert answer.headers["Location"].endswith("/v4/regions?page=2")
    connection.close()
