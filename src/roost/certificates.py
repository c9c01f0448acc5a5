"""An authority of our own, and the certificates that servers show to those who trust it."""

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
_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)

_PEM = serialization.Encoding.PEM

Owner = tuple[int, int]
"""User and group, by number."""


class Authority:
    """Its key never leaves the folder, and only its owner can read it."""

    def __init__(self, folder: Path, title: str) -> None:
        self.certificate, self._key = folder / "ca.pem", folder / "ca.key"
        self._title = title

    def ensure(self, owner: Owner | None = None) -> str:
        """The certificate (PEM), made by whoever comes first; the caller holds a lock."""
        if not self.certificate.exists():
            key = ec.generate_private_key(ec.SECP256R1())
            name = _name(self._title)
            until = datetime.now(UTC) + timedelta(days=_AUTHORITY_DAYS)
            builder = (
                _builder(name, name, key, until)
                .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
                .add_extension(_SIGNS_CERTIFICATES, critical=True)
            )
            _write(self._key, _private(key), owner)
            certificate = builder.sign(key, hashes.SHA256())
            _write(self.certificate, certificate.public_bytes(_PEM), owner)
        return self.certificate.read_text()

    def issue(self, folder: Path, names: tuple[str, ...], owner: Owner | None) -> datetime:
        """Certificate and key of a server with these names or addresses, which `owner` reads; until
        when it holds. ValueError when that of the authority holds no longer."""
        authority = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        signer = serialization.load_pem_private_key(self._key.read_bytes(), None)
        assert isinstance(signer, ec.EllipticCurvePrivateKey)
        now = datetime.now(UTC)
        if authority.not_valid_after_utc <= now:
            raise ValueError(f"{self.certificate} has expired")
        until = min(authority.not_valid_after_utc, now + timedelta(days=_SERVER_DAYS))
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        builder = (
            _builder(_name(names[0]), authority.subject, key, until)
            .add_extension(issuer, critical=False)
            .add_extension(x509.SubjectAlternativeName([_general(n) for n in names]), False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        )
        certificate = builder.sign(signer, hashes.SHA256())
        folder.mkdir(mode=0o700, exist_ok=True)
        if owner is not None:
            os.chown(folder, *owner)
        _write(folder / "key.pem", _private(key), owner)
        _write(folder / "certificate.pem", certificate.public_bytes(_PEM), owner)
        _write(folder / "ca.pem", self.certificate.read_bytes(), owner)
        return certificate.not_valid_after_utc


def certificate_names(certificate: Path) -> tuple[str, ...]:
    """The names and addresses that a server's certificate is for; none where there is no file."""
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
    except FileNotFoundError:
        return ()
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return tuple(str(name.value) for name in names)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - _SKEW)
        .not_valid_after(until)
        # Strict clients, such as those of Python 3.13, want the key identifiers of RFC 5280.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:64])])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def _write(path: Path, content: bytes, owner: Owner | None = None) -> None:
    """Whole or not at all, and nobody else reads it."""
    partial = path.with_suffix(".part")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    if owner is not None:
        os.chown(partial, *owner)
    partial.replace(path)
