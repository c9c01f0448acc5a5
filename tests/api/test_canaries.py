"""Secrets planted wherever users give or are given one: they are found nowhere afterwards."""

import io
import re
from base64 import b32decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zipfile import ZipFile

import pyotp
import pytest

from roost.store import Store
from tests.support.certificates import certificate_for
from tests.support.client import Client, Json
from tests.support.collector import fake_collector
from tests.support.lab import INSTANCE, Lab, running_lab
from tests.support.object_storage import made_bucket, path_of
from tests.support.payments import card, method_body
from tests.support.stackscripts import scripted

ROOT_PASS = "planted-Canary-5519"
PLANTED_ANSWER = "planted-Answer-7741"
PLANTED_CARD = "4916338506082832"
PLANTED_CVV = re.compile(rb"cvv\W{0,9}8817", re.IGNORECASE)
"""By its name: four digits alone are found by chance."""
ADMIN = "/account/users/admin"


@dataclass
class Planted:
    """The secrets, and what refusals said while they were used."""

    secrets: list[str] = field(default_factory=list)
    refusals: list[bytes] = field(default_factory=list)

    async def made(self, client: Client, path: str, body: Json, name: str) -> str:
        """A secret that an answer shows; asked for twice, as after a lost answer."""
        headers = {"Idempotency-Key": f"canary {path}"}
        first = await client.send("POST", path, body, headers)
        again = await client.send("POST", path, body, headers)
        assert (first.status, first.raw) == (200, again.raw)
        self.secrets.append(first.body[name])
        return str(first.body[name])

    async def refused(self, client: Client, path: str, body: Json = None) -> None:
        answer = await client.send("GET" if body is None else "POST", path, body)
        assert answer.status in (400, 401)
        self.refusals.append(answer.raw)


async def plant(lab: Lab) -> Planted:
    planted = Planted()
    token = await planted.made(lab.api, "/profile/tokens", {"label": "canary"}, "token")
    client = lab.api.as_user(token)
    await client.get(f"/regions?token={token}")
    await planted.refused(client, f"/profile/explain?path={token}")
    await planted.refused(client, "/profile/tokens", {"scopes": token, "expiry": token})
    await planted.refused(client.as_user(f"{token}0"), "/profile")

    secret = await planted.made(client, "/profile/tfa-enable", {}, "secret")
    confirm = "/profile/tfa-enable-confirm"
    await planted.refused(client, confirm, {"tfa_code": secret})
    code = present_code(secret, lab.running.roost.clock.now())
    scratch = await planted.made(client, confirm, {"tfa_code": code}, "scratch")
    await planted.refused(client, confirm, {"tfa_code": scratch})
    await client.put("/profile", {"two_factor_auth": True})

    await planted.refused(client, "/account/credit-card", {**card(PLANTED_CARD), "cvv": "none"})
    await client.post("/account/payment-methods", method_body(PLANTED_CARD, cvv="8817"))
    planted.secrets.append(PLANTED_CARD)

    await planted.made(client, "/object-storage/keys", {"label": "canary"}, "secret_key")

    bucket = await made_bucket(client)
    certificate = certificate_for(bucket["hostname"])
    own = {"certificate": certificate.pem, "private_key": certificate.key_pem}
    await planted.refused(
        client, f"{path_of(bucket)}/ssl", {**own, "certificate": own["private_key"]}
    )
    await client.post(f"{path_of(bucket)}/ssl", own)
    planted.secrets.append(certificate.key_pem.splitlines()[1])

    script = await scripted(client)
    asked = {"stackscript_id": script["id"], "stackscript_data": {"site": PLANTED_ANSWER}}
    planted.secrets.append(PLANTED_ANSWER)
    body = {**INSTANCE, **asked, "root_pass": ROOT_PASS}
    planted.secrets.append(ROOT_PASS)
    await planted.refused(client, "/compute/instances", {**body, "type": "none"})
    await planted.refused(client, "/compute/instances", {**body, "root_pass": ROOT_PASS * 8})
    await lab.settled(await lab.create(root_pass=ROOT_PASS, **asked))
    return planted


def present_code(secret: str, now: datetime) -> str:
    return pyotp.TOTP(secret).generate_otp(int((now - datetime(1970, 1, 1)).total_seconds()) // 30)


def forms(secret: str) -> Iterable[bytes]:
    """How a secret would look: as it is, in hexadecimal digits or in base64, or its raw bytes."""
    plain = secret.encode()
    yield from (plain, plain.hex().encode(), b64encode(plain).rstrip(b"="))
    if secret.isalnum() and secret.isupper():
        raw = b32decode(secret)
        yield from (raw, raw.hex().encode())


def assert_free(place: str, content: bytes, secrets: Iterable[str]) -> None:
    assert not PLANTED_CVV.search(content), f"the security code is in {place}"
    for number, secret in enumerate(secrets):
        for form in forms(secret):
            assert form not in content, f"secret {number} is in {place}"


async def dump(store: Store) -> dict[str, bytes]:
    """All rows of each table as text."""
    names = await store.fetch(
        "select tablename from pg_tables where schemaname = current_schema() order by 1"
    )
    dumped = {}
    for (name,) in names:
        rows = await store.fetch(f'select row_to_json(t)::text || t::text as row from "{name}" t')
        dumped[name] = "\n".join(row["row"] for row in rows).encode()
    return dumped


@pytest.mark.spec("A auth 1")
async def test_secrets_are_found_nowhere(
    tmp_path: Path, database_url: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    async with (
        fake_collector() as collector,
        running_lab(tmp_path, database_url, access_log=True, traces=collector.url) as lab,
    ):
        planted = await plant(lab)
        events = (await lab.api.send("GET", "/account/events")).raw
        user = (await lab.api.send("GET", ADMIN)).raw
        tables = await dump(lab.running.roost.store)
        state = await lab.save()
    traces = collector.said
    out, err = capfdbinary.readouterr()
    assert b'"path":"/v4/profile/tfa-enable-confirm"' in err, "the access log is not looked at"
    assert b"/profile/tfa-enable-confirm" in traces, "spans are not looked at"
    assert b"token_create" in events
    assert tables["compute_instance"]
    assert tables["idempotency"].count(b"canary /profile") >= 3
    assert len(planted.secrets) == 8

    for number, refusal in enumerate(planted.refusals):
        assert_free(f"refusal {number}", refusal, planted.secrets)
    places = {"events": events, "user": user, "stdout": out, "log": err, "traces": traces}
    for place, content in places.items():
        assert_free(place, content, planted.secrets)
    for table, content in tables.items():
        assert_free(f"table {table}", content, planted.secrets)
    with ZipFile(io.BytesIO(state)) as saved:
        for name in saved.namelist():
            assert_free(f"saved {name}", saved.read(name), planted.secrets)


def test_what_is_looked_for_would_be_found() -> None:
    secret = "JBSWY3DPEHPK3PXP"
    for form in forms(secret):
        with pytest.raises(AssertionError, match="secret 0 is in a place"):
            assert_free("a place", b"before " + form + b" after", [secret])


@pytest.mark.parametrize("form", ['{"cvv":"8817"}', "cvv='8817'", '\\"cvv\\": \\"8817\\"'])
def test_a_security_code_would_be_found(form: str) -> None:
    with pytest.raises(AssertionError, match="the security code is in a place"):
        assert_free("a place", form.encode(), [])
