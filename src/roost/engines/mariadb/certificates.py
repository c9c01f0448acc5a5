"""The authority of a state, and the certificates that its servers show."""

import os
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_AUTHORITY_DAYS, _SERVER_DAYS = 3650, 825
_SKEW = timedelta(days=1)


class Authority:
    """Its key never leaves the folder, which only root can read."""

    def __init__(self, folder: Path) -> None:
        self._certificate, self._key = folder / "ca.pem", folder / "ca.key"

    def ensure(self) -> str:
        """The certificate (PEM), made by whoever comes first; the caller holds a lock."""
        if not self._certificate.exists():
            key = ec.generate_private_key(ec.SECP256R1())
            name = _name("Roost Managed Databases")
            builder = _builder(name, name, key, _AUTHORITY_DAYS).add_extension(
                x509.BasicConstraints(ca=True, path_length=0), critical=True
            )
            _write(self._key, _private(key))
            certificate = builder.sign(key, hashes.SHA256())
            _write(self._certificate, certificate.public_bytes(serialization.Encoding.PEM))
        return self._certificate.read_text()

    def issue(self, folder: Path, names: tuple[str, ...], owner: tuple[int, int]) -> None:
        """Certificate and key of a server with these names or addresses, which `owner` reads."""
        authority = x509.load_pem_x509_certificate(self._certificate.read_bytes())
        signer = serialization.load_pem_private_key(self._key.read_bytes(), None)
        assert isinstance(signer, ec.EllipticCurvePrivateKey)
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(_name(names[0]), authority.subject, key, _SERVER_DAYS)
            .add_extension(x509.SubjectAlternativeName([_general(n) for n in names]), False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        )
        certificate = builder.sign(signer, hashes.SHA256())
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, *owner)
        _write(folder / "key.pem", _private(key), owner)
        pem = serialization.Encoding.PEM
        _write(folder / "certificate.pem", certificate.public_bytes(pem), owner)
        _write(folder / "ca.pem", self._certificate.read_bytes(), owner)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(days=days))
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:64])])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, content: bytes, owner: tuple[int, int] | None = None) -> None:
    """Whole or not at all, and nobody else reads it."""
    partial = path.with_suffix(".part")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    if owner is not None:
        os.chown(partial, *owner)
    partial.replace(path)
