"""How hosts of one cloud know each other: by certificates of the key file that all of them have."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import NameOID

_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "roost hosts")])
_PEM = serialization.Encoding.PEM
_SINCE, _YEARS = datetime(2020, 1, 1, tzinfo=UTC), timedelta(days=36500)


class Identity:
    """TLS in which both sides prove that they have the key file."""

    def __init__(self, key_file: Path) -> None:
        """Blocks. Raises OSError."""
        key = _derive(key_file.read_bytes())
        pem, private = _certificate(key), _private(key)
        self.server = self._context(ssl.PROTOCOL_TLS_SERVER, pem, private)
        self.client = self._context(ssl.PROTOCOL_TLS_CLIENT, pem, private)

    def _context(self, protocol: int, pem: bytes, private: bytes) -> ssl.SSLContext:
        context = ssl.SSLContext(protocol)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_verify_locations(cadata=pem.decode())
        with _in_memory(private + pem) as path:
            context.load_cert_chain(path)
        return context


def _derive(secret: bytes) -> Ed25519PrivateKey:
    derived = HKDF(hashes.SHA256(), 32, salt=None, info=b"roost hosts").derive(secret)
    return Ed25519PrivateKey.from_private_bytes(derived)


def _certificate(key: Ed25519PrivateKey) -> bytes:
    """A certificate that all hosts make alike, to the byte, as signatures of this kind are."""
    builder = (
        x509.CertificateBuilder()
        .subject_name(_NAME)
        .issuer_name(_NAME)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(_SINCE)
        .not_valid_after(_SINCE + _YEARS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    return builder.sign(key, None).public_bytes(_PEM)


def _private(key: Ed25519PrivateKey) -> bytes:
    form, locked = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(_PEM, form, locked)


@contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    """A path for what only reads files; nothing is on a disk."""
    with os.fdopen(os.memfd_create("identity"), "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"
