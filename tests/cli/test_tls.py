"""`roost tls`, and a server that shows what it made."""

import os
import shutil
import signal
import socket
import ssl
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509

from tests.cli.process import Server, ran, roost, wait_until
from tests.support.certificates import certificate_for


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def server(state: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """With a certificate that this process and those that it starts trust."""
    ran("tls", "--state", state)
    monkeypatch.setenv("SSL_CERT_FILE", str(state / "tls" / "ca.pem"))
    server = Server.start(state, "--lab", "--dialect", "linode=127.0.0.1:0", *files(state))
    yield server
    server.end()


def files(state: Path) -> tuple[str | Path, ...]:
    folder = state / "tls"
    return "--tls-cert", folder / "certificate.pem", "--tls-key", folder / "key.pem"


def read(state: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((state / "tls" / name).read_bytes())


def names(certificate: x509.Certificate) -> list[str]:
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return [str(name.value) for name in found.value]


def connect(server: Server) -> ssl.SSLSocket:
    port = int(server.url.rpartition(":")[2])
    plain = socket.create_connection(("127.0.0.1", port), timeout=60)
    return ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")


def shown(server: Server) -> int:
    """The serial number of the certificate."""
    with connect(server) as connection:
        found = connection.getpeercert(binary_form=True)
    assert found is not None
    return x509.load_der_x509_certificate(found).serial_number


def test_the_authority_stays_and_the_certificate_is_renewed(state: Path) -> None:
    said = ran("tls", "--state", state, "cloud.example.com", "10.0.0.1", "*.apps.example.com")
    wanted = ["cloud.example.com", "10.0.0.1", "*.apps.example.com", "localhost", "127.0.0.1"]
    assert said.startswith(f"for {', '.join(wanted)}, ::1; until 20")
    authority, before = read(state, "ca.pem"), read(state, "certificate.pem")
    ran("tls", "--state", state)
    after = read(state, "certificate.pem")
    assert read(state, "ca.pem") == authority
    assert before.serial_number != after.serial_number
    assert names(after) == names(before) == [*wanted, "::1"]
    after.verify_directly_issued_by(authority)
    ran("tls", "--state", state, "other.example.com")
    assert names(read(state, "certificate.pem"))[0] == "other.example.com"
    assert "10.0.0.1" not in names(read(state, "certificate.pem"))
    printed = ran("tls", "--state", state, "--print-ca")
    assert x509.load_pem_x509_certificate(printed.encode()) == authority


def test_nobody_else_reads_the_files(state: Path) -> None:
    ran("tls", "--state", state)
    folder = state / "tls"
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_makes_belongs_to_whoever_has_the_state(state: Path) -> None:
    state.mkdir()
    os.chown(state, 12345, 12346)
    ran("tls", "--state", state)
    found = [state / "tls", *(state / "tls").iterdir()]
    assert {(each.stat().st_uid, each.stat().st_gid) for each in found} == {(12345, 12346)}


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["a b"], 2, "a b is neither a host name nor an IP address"),
        (["-x"], 2, "No such option"),
        (["a..b"], 2, "a..b is neither"),
        (["https://example.com"], 2, "https://example.com is neither"),
        (["a" * 64], 2, "is neither"),
        (["münchen.example"], 2, "münchen.example is neither"),
        ([f"h{n}" for n in range(101)], 2, "at most 100 hosts"),
        (["--print-ca", "a"], 2, "--print-ca makes nothing: leave out HOST"),
        (["--print-ca"], 1, "No such file or directory; see `roost tls`"),
    ],
)
def test_what_is_written_wrongly(state: Path, arguments: list[str], code: int, reason: str) -> None:
    answer = roost("tls", "--state", state, *arguments)
    assert (answer.returncode, answer.stdout) == (code, "")
    assert reason in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not state.exists()


def test_everything_is_served_in_tls(server: Server) -> None:
    assert server.url.startswith("https://127.0.0.1:")
    assert "linode: https://127.0.0.1:" in server.greeting
    assert server.send("GET", "/regions")[0] == 200
    where = ("--url", server.url, "--state", server.state)
    assert "from real time" in ran("clock", "advance", "1h", *where)


def test_a_renewed_certificate_is_shown_without_a_restart(server: Server) -> None:
    before = shown(server)
    with connect(server) as old:
        ran("tls", "--state", server.state)
        after = read(server.state, "certificate.pem").serial_number
        assert shown(server) == before
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: shown(server) == after)
        old.sendall(b"GET /v4/regions HTTP/1.1\r\nHost: x\r\n\r\n")
        assert old.recv(12) == b"HTTP/1.1 200"
    key = server.state / "tls" / "key.pem"
    key.write_text(certificate_for("localhost").key_pem)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "certificate_not_renewed" in server.log.read_text())
    assert f"{key} is not the key of the certificate" in server.log.read_text()
    assert shown(server) == after


def test_idle_connections_do_not_keep_the_server(server: Server) -> None:
    with connect(server) as idle, socket.create_connection(idle.getpeername()):
        server.process.terminate()
        assert server.process.wait(timeout=60) == 0
    assert "stop_forced" not in server.log.read_text()


def refused(state: Path, *options: str | Path) -> tuple[int, str]:
    answer = roost("serve", "--state", state, "--listen", "127.0.0.1:0", *options)
    assert answer.stderr.count("\n") == 1, answer.stderr
    return answer.returncode, answer.stderr


def test_files_that_do_not_fit(state: Path, tmp_path: Path) -> None:
    ran("tls", "--state", state)
    _, certificate, _, key = files(state)
    other, text = tmp_path / "other.pem", tmp_path / "text"
    other.write_text(certificate_for("localhost").key_pem)
    text.write_text("hello\n")
    missing = tmp_path / "missing.pem"
    for options, code, reason in [
        (("--tls-cert", certificate), 2, "--tls-cert and --tls-key go together"),
        (("--tls-key", key), 2, "--tls-cert and --tls-key go together"),
        (("--tls-cert", missing, "--tls-key", key), 2, f"'{missing}' does not exist"),
        (("--tls-cert", tmp_path, "--tls-key", key), 2, f"'{tmp_path}' is a directory"),
        (("--tls-cert", text, "--tls-key", key), 1, f"{text} is not a certificate in PEM"),
        (("--tls-cert", certificate, "--tls-key", text), 1, f"{text} is not a private key in PEM"),
        (("--tls-cert", certificate, "--tls-key", other), 1, f"{other} is not the key of the cert"),
    ]:
        answer = refused(state, *options)
        assert answer[0] == code, answer
        assert reason in answer[1]
    assert not (state / "postgres").exists()


def test_files_that_the_environment_names(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOST_TLS_CERT", str(tmp_path / "missing.pem"))
    assert refused(state) == (2, "Error: " + _TOGETHER)
    monkeypatch.setenv("ROOST_TLS_KEY", str(tmp_path / "missing.key"))
    code, reason = refused(state)
    assert (code, reason) == (
        1,
        f"Error: cannot read {tmp_path / 'missing.pem'}: No such file or directory\n",
    )


_TOGETHER = "--tls-cert and --tls-key go together (ROOST_TLS_CERT, ROOST_TLS_KEY)\n"


def test_an_expired_certificate_is_served_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expired = certificate_for("localhost", days=(-10, -1))
    certificate, key, state = tmp_path / "c.pem", tmp_path / "k.pem", tmp_path / "state"
    certificate.write_text(expired.pem)
    key.write_text(expired.key_pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = Server.start(state, "--tls-cert", certificate, "--tls-key", key)
    try:
        with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
            shown(server)
        assert '"event":"certificate_expired"' in server.log.read_text()
    finally:
        server.end()
        shutil.rmtree(state)
