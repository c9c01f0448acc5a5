"""What counts as an SSH public key."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic_core import PydanticCustomError
from tests.support.keys import BLOB, KEY
from tests.support.keys import public_key as made

from roost.resources.ssh_keys.rules import NOT_A_KEY, public_key

POINT = (
    ec.generate_private_key(ec.SECP256R1())
    .public_key()
    .public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
)
NO_POINT = b"\x04" + b"p" * 64


def openssh(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


@pytest.mark.parametrize(
    "key",
    [
        KEY,
        openssh(ed25519.Ed25519PrivateKey.generate()),
        openssh(rsa.generate_private_key(65537, 1024)),
        openssh(ec.generate_private_key(ec.SECP256R1())),
        openssh(ec.generate_private_key(ec.SECP384R1())),
        openssh(ec.generate_private_key(ec.SECP521R1())),
        made("ssh-dss", b"p", b"q", b"g", b"y"),
        made("sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", POINT, b"ssh:"),
        made("sk-ssh-ed25519@openssh.com", b"k" * 32, b"ssh:"),
        f"{KEY} me@laptop",
        f"{KEY} two words, caf\u00e9",
        f"{KEY} " + "c" * (16383 - len(KEY)),
    ],
    ids=lambda key: key.partition(" ")[0],
)
def test_keys(key: str) -> None:
    assert public_key(key) == key


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", "  {}", "{} \t"])
def test_white_space_around_a_key_is_dropped(around: str) -> None:
    assert public_key(around.format(KEY)) == KEY


@pytest.mark.parametrize(
    "key",
    [
        "",
        " ",
        "ssh-ed25519",
        BLOB,
        f"ssh-rsa {BLOB}",
        f"ssh-ed448 {BLOB}",
        f"ssh-ed25519 {BLOB[:-4]}",
        f"ssh-ed25519 {BLOB}AAAA",
        f"ssh-ed25519 {BLOB[:-1]}\u00e9",
        f"ssh-ed25519 {BLOB[:-1]}!",
        made("ssh-ed25519", b""),
        made("ssh-ed25519"),
        made("ssh-ed25519", b"k" * 31),
        made("ssh-ed25519", b"k" * 33),
        made("sk-ssh-ed25519@openssh.com", b"k" * 31, b"ssh:"),
        made("sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", NO_POINT, b"ssh:"),
        made("ecdsa-sha2-nistp256", b"nistp256", NO_POINT),
        made("ecdsa-sha2-nistp256", b"nistp256", POINT[:-1]),
        made("ecdsa-sha2-nistp256", b"nistp384", POINT),
        made("ssh-rsa", b"\1\0\1", b"\1"),
        made("ssh-rsa", b"\1\0\1", b""),
        made("ssh-rsa", b"\1\0\1", b"n", b"more"),
        made("ecdsa-sha2-nistp256", b"", POINT),
        f"{KEY}\n{KEY}",
        f"{KEY} bell\a",
        f"{KEY} \ud800",
        f"SSH-ED25519 {BLOB}",
        f'command="reboot" {KEY}',
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "ssh-ed25519 " + "A" * 100_000,
        f"{KEY} " + "c" * (16384 - len(KEY)),
        f"{KEY} " + "\u00e9" * 8192,
    ],
)
def test_what_is_no_key(key: str) -> None:
    with pytest.raises(PydanticCustomError) as refused:
        public_key(key)
    assert refused.value.message() == NOT_A_KEY
