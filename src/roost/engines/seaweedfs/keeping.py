"""What keeps other users of the host out of the ports that a server has for itself.

Its parts speak with each other by TLS alone, and each shows the certificate of this server, which
is its own authority: who cannot read the folder gets no further than the handshake. Tokens (JWT)
let only those read and write volumes who were let in by S3.
"""

import os
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from roost.engines.listeners import LOOPBACK

_TOKENS = ("jwt.filer_signing", "jwt.filer_signing.read", "jwt.signing", "jwt.signing.read")
_CALLS = tuple(f"grpc.{part}" for part in ("master", "volume", "filer", "s3", "client"))
_PAGES = ("https.master", "https.volume")
_NEVER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""As RFC 5280 (4.1.2.5) has it."""


def configure(folder: Path, secret: str) -> None:
    """Write `security.toml`, and what it names, for nobody else to read."""
    pair = folder / "peer.pem"
    if not pair.exists():
        write(pair, _pair())
    shown = f'cert = "{pair}"\nkey = "{pair}"\n'
    tables = [f'[{each}]\nkey = "{secret}"\n' for each in _TOKENS]
    tables.append(f'[grpc]\nca = "{pair}"\n')
    tables += [f"[{each}]\n{shown}" for each in _CALLS]
    tables += [f'[{each}]\n{shown}ca = "{pair}"\n' for each in _PAGES]
    tables.append(f'[https.client]\nenabled = true\n{shown}ca = "{pair}"\n')
    write(folder / "security.toml", "".join(tables))


def _pair() -> str:
    """A certificate that holds for ever, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "object storage")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(_NEVER)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK))]), critical=False
        )
        .sign(key, SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return (certificate.public_bytes(Encoding.PEM) + private).decode()


def write(path: Path, text: str) -> None:
    """For nobody else to read, and never seen half written."""
    partial = path.with_name(f"{path.name}.part")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    partial.replace(path)
