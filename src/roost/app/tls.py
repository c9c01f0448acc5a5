"""The certificate that the server shows, in files that the operator names and renews."""

import asyncio
import signal
import ssl
from datetime import UTC, datetime
from pathlib import Path

import structlog
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from roost.errors import OperatorError
from roost.resources.object_storage.certificate_rules import server_context
from roost.settings import Settings
from roost.threads import DISK

_log = structlog.get_logger(__name__)


class TlsError(OperatorError):
    """Files that are no certificate with its key."""


class ServerCertificate:
    """A certificate, those of its issuers, and its key; read again on SIGHUP."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Raises TlsError."""
        self._files = (certificate, key)
        self._context = _read(*self._files)
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, settings: Settings) -> "ServerCertificate | None":
        """None where the server speaks no TLS; ValueError when only one of the files is named."""
        if settings.tls_cert is None and settings.tls_key is None:
            return None
        if settings.tls_cert is None or settings.tls_key is None:
            raise ValueError("--tls-cert and --tls-key go together (ROOST_TLS_CERT, ROOST_TLS_KEY)")
        return cls(settings.tls_cert, settings.tls_key)

    def context(self) -> ssl.SSLContext:
        """For the next connection; those that are open keep theirs."""
        return self._context

    def renew_on_signal(self) -> None:
        """From now on SIGHUP has the files read again."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._begin)

    def _begin(self) -> None:
        self._reading = asyncio.create_task(self._read_again())

    async def _read_again(self) -> None:
        try:
            self._context = await DISK.run(_read, *self._files)
        except TlsError as error:
            _log.error("certificate_not_renewed", reason=str(error))
        else:
            _log.info("certificate_read", file=str(self._files[0]))


def _read(certificate: Path, key: Path) -> ssl.SSLContext:
    chain_pem, key_pem = _content(certificate), _content(key)
    try:
        leaf = x509.load_pem_x509_certificates(chain_pem)[0]
    except ValueError:
        raise TlsError(f"{certificate} is not a certificate in PEM") from None
    try:
        private = load_pem_private_key(key_pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise TlsError(f"{key} is not a private key in PEM without a password") from None
    if leaf.public_key() != private.public_key():
        raise TlsError(f"{key} is not the key of the certificate {certificate}")
    try:
        context = server_context(chain_pem, key_pem)
    except ssl.SSLError as error:
        raise TlsError(f"{certificate} cannot be served: {error.reason or error}") from None
    _warn(certificate, leaf)
    return context


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TlsError(f"cannot read {path}: {error.strerror}") from None


def _warn(path: Path, leaf: x509.Certificate) -> None:
    """Time may be wrong, and a developer may not care: it is served all the same."""
    now = datetime.now(UTC)
    if leaf.not_valid_after_utc <= now:
        _log.warning(
            "certificate_expired", file=str(path), until=leaf.not_valid_after_utc.isoformat()
        )
    elif leaf.not_valid_before_utc > now:
        _log.warning(
            "certificate_not_valid_yet", file=str(path), since=leaf.not_valid_before_utc.isoformat()
        )
