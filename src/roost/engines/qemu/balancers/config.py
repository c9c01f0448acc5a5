"""What HAProxy is told: its configuration as text, put together from what was checked, and quoted.

Nothing that a user wrote stands there but in strong quotes, within which HAProxy knows no escapes.
"""

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path

from roost.engines.qemu.balancers.addresses import USER
from roost.resources.nodebalancers.engine import BalancerSpec, ConfigSpec, NodeSpec

MOST_CONNECTIONS = 20_000
"""Of all NodeBalancers of a region at once."""
_OF_ONE_PORT = 10_000
_KEPT = 4
"""The last fourth of them is kept for accounts that have less than their share of it."""
MOST_CHANGES = 128
"""That open connections outlive: each leaves a worker with its memory behind while it has any."""
_PEERS = "127.0.0.1:1023"
"""Where a server that is about to end tells the next one which client goes where."""

_GLOBAL = """\
global
    master-worker
    user {user}
    group haproxy
    localpeer own
    maxconn {most}
    no strict-limits
    hard-stop-after 1h
    mworker-max-reloads {changes}
    description {digest}
    stats socket {socket} mode 600 level admin expose-fd listeners
    ssl-default-bind-options no-tls-tickets
    tune.ssl.default-dh-param 2048
.if version_atleast(2.6)
    httpclient.ssl.verify none
.endif

defaults
    maxconn {each}
    retries 3
    option redispatch 1
    option allbackups
    option idle-close-on-response
    timeout connect 5s
    timeout client 1h
    timeout server 1h
    timeout tunnel 1h
    timeout http-request 30s
    timeout http-keep-alive 30s

peers own
    peer own {peers}

backend {accounts}
    stick-table type integer size 100k store conn_cur
"""
"""HAProxy's own client of HTTP, which nothing here uses, would read all authorities of the host at
each start: 25 of 35 ms of a processor."""
_ACCOUNTS = "accounts"
"""Which one has how many connections; 0 stands for all of them."""
_RECOMMENDED = "ssl-min-ver TLSv1.2 ciphers ECDHE+AESGCM:ECDHE+CHACHA20"
_LEGACY = "ssl-min-ver TLSv1.0 ciphers ALL:!aNULL:!eNULL:@SECLEVEL=0"


def quoted(text: str) -> str:
    """One word of HAProxy's configuration. ValueError for what no word can hold."""
    if any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):
        raise ValueError("control characters cannot be quoted")
    return "'" + text.replace("'", "'\\''") + "'"


def pem_path(folder: Path, config: ConfigSpec) -> Path:
    """Of the certificate with its key; another one for any other."""
    pair = f"{config.certificate}{config.private_key}"
    digest = hashlib.sha256(pair.encode()).hexdigest()
    return folder / f"c{config.id}-{digest[:16]}.pem"


def render(folder: Path, socket: Path, balancers: Collection[BalancerSpec]) -> tuple[str, str]:
    """The digest by which a server says that it has it, and the whole configuration."""
    share = _share(len({each.account_id for each in balancers}))
    parts = [line for each in balancers for line in _balancer(folder, each, share)]
    body = "\n".join(parts)
    digest = hashlib.sha256(body.encode()).hexdigest()[:32]
    head = _GLOBAL.format(
        most=MOST_CONNECTIONS,
        each=_OF_ONE_PORT,
        changes=MOST_CHANGES,
        digest=digest,
        socket=socket,
        user=USER,
        peers=_PEERS,
        accounts=_ACCOUNTS,
    )
    return digest, f"{head}\n{body}\n"


def _share(accounts: int) -> int:
    """Connections that an account may have, whatever others do."""
    return MOST_CONNECTIONS // _KEPT // max(1, accounts)


def backend_name(config_id: int) -> str:
    """Of the nodes of a config."""
    return f"c{config_id}.nodes"


def server_name(node_id: int) -> str:
    """Of a node."""
    return f"n{node_id}"


def _balancer(folder: Path, balancer: BalancerSpec, share: int) -> Iterator[str]:
    if balancer.throttle:
        yield f"backend b{balancer.id}"
        yield "    stick-table type ip size 100k expire 10s store conn_rate(1s)"
    for config in balancer.configs:
        yield from _frontend(folder, balancer, config, share)
        yield from _backend(balancer.address, config)


def _frontend(
    folder: Path, balancer: BalancerSpec, config: ConfigSpec, share: int
) -> Iterator[str]:
    mode = "tcp" if config.protocol == "tcp" else "http"
    yield f"frontend c{config.id}"
    yield f"    mode {mode}"
    bind = f"    bind {balancer.address}:{config.port}"
    if config.protocol == "https":
        suite = _LEGACY if config.cipher_suite == "legacy" else _RECOMMENDED
        bind += f" ssl crt {quoted(str(pem_path(folder, config)))} alpn h2,http/1.1 {suite}"
    yield bind
    if balancer.throttle:
        yield f"    tcp-request connection track-sc0 src table b{balancer.id}"
        rate = f"sc0_conn_rate(b{balancer.id}) gt {balancer.throttle}"
        yield f"    tcp-request connection reject if {{ {rate} }}"
    yield f"    tcp-request connection track-sc1 int({balancer.account_id}) table {_ACCOUNTS}"
    yield f"    tcp-request connection track-sc2 int(0) table {_ACCOUNTS}"
    most = MOST_CONNECTIONS - MOST_CONNECTIONS // _KEPT
    full = f"{{ sc2_conn_cur({_ACCOUNTS}) gt {most} }} {{ sc1_conn_cur({_ACCOUNTS}) gt {share} }}"
    yield f"    tcp-request connection reject if {full}"
    if mode == "http":
        yield "    option forwardfor"
        yield f"    http-request set-header X-Forwarded-Proto {config.protocol}"
    yield f"    default_backend {backend_name(config.id)}"


def _backend(address: str, config: ConfigSpec) -> Iterator[str]:
    """Nodes on other hosts know the way to this address; the gateway's is their own host's."""
    mode = "tcp" if config.protocol == "tcp" else "http"
    yield f"backend {backend_name(config.id)}"
    yield f"    mode {mode}"
    yield f"    source {address}"
    yield f"    balance {config.algorithm}"
    if config.algorithm == "source":
        yield "    hash-type consistent"
    if config.stickiness == "table":
        yield "    stick-table type ip size 100k expire 30m peers own"
        yield "    stick on src"
    elif config.stickiness == "http_cookie":
        yield "    cookie NB_SRVID insert indirect nocache httponly"
    yield from _check(config)
    for node in config.nodes:
        yield _server(config, node)


def _check(config: ConfigSpec) -> Iterator[str]:
    check = config.check
    if check.kind == "none":
        return
    yield f"    timeout check {check.timeout}s"
    if check.kind in ("http", "http_body"):
        yield "    option httpchk"
        yield f"    http-check send meth GET uri {quoted(check.path)} ver HTTP/1.1 hdr Host nodes"
    if check.kind == "http":
        yield "    http-check expect status 200-399"
    elif check.kind == "http_body":
        yield f"    http-check expect string {quoted(check.body)}"


def _server(config: ConfigSpec, node: NodeSpec) -> str:
    check = config.check
    words = [f"    server {server_name(node.id)} {node.address}:{node.port}"]
    words.append(f"weight {0 if node.mode == 'drain' else node.weight}")
    if config.proxy_protocol != "none":
        words.append("send-proxy" if config.proxy_protocol == "v1" else "send-proxy-v2")
    if config.stickiness == "http_cookie":
        words.append(f"cookie {server_name(node.id)}")
    if check.kind != "none":
        words.append(f"check inter {check.interval}s fall {check.attempts} rise 2")
        if check.passive:
            layer = "layer4" if config.protocol == "tcp" else "layer7"
            words.append(f"observe {layer} error-limit {check.attempts} on-error mark-down")
    if node.mode == "reject":
        words.append("disabled")
    elif node.mode == "backup":
        words.append("backup")
    return " ".join(words)
