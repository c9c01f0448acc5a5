"""What an update sets, another one takes away: over the bodies of all updates.

A field that a new thing shows as null, empty text or an empty list can be as it was again.
"""

from collections.abc import Mapping

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.web.registry import Endpoint, Registry
from tests.api.conftest import Account
from tests.api.samples.paths import become_welcome, sample_path
from tests.support.client import Client, Json
from tests.support.keys import KEY

ENDPOINTS = tuple(Registry(GROUPS.endpoints))
SHOWING = {each.path: each for each in ENDPOINTS if each.method == "GET"}
UPDATES = [
    each
    for each in ENDPOINTS
    if each.method == "PUT" and each.body is not None and each.path in SHOWING
]
EMPTY: tuple[Json, ...] = (None, "", [])

_RULE = {
    "protocol": "TCP",
    "ports": "22",
    "addresses": {"ipv4": ["0.0.0.0/0"]},
    "action": "ACCEPT",
}
VALUES: Mapping[str, Json] = {
    "actions": ["compute_boot"],
    "address_1": "1 Main St",
    "address_2": "Suite 2",
    "authorized_keys": [KEY],
    "axfr_ips": ["192.0.2.1"],
    "check_body": "fine",
    "check_path": "/health",
    "city": "Philadelphia",
    "comments": "words",
    "company": "Heron & Co",
    "country": "DE",
    "description": "words",
    "entity_types": ["volume"],
    "email": "ada@example.com",
    "first_name": "Ada",
    "group": "web",
    "inbound": [_RULE],
    "interfaces": [{"purpose": "public"}],
    "label": "words",
    "last_name": "Heron",
    "name": "www",
    "outbound": [_RULE],
    "phone": "+1 555 0100",
    "rev_note": "words",
    "state": "PA",
    "tags": ["gold"],
    "tax_id": "DE123456789",
    "zip": "19103",
}
OTHERWISE: Mapping[str, str] = {
    "allow_list": "once its job has ended",
    "ip_ranges": "of interfaces in VPCs",
    "ipv4": "of interfaces in VPCs",
    "master_ips": "of domains that are slaves, which need one",
    "protocol": "of SRV records, which need one",
    "service": "of SRV records, which need one",
    "ssl_cert": "with its key, which is never shown",
    "ssl_key": "with its certificate",
    "tag": "of CAA records, which need one",
}
"""What the samples have none of, or take away in another way."""
EXEMPT: Mapping[str, str] = {
    "update_object_acl": "all of it is required",
    "update_user_grants": "a grant is taken away by its `permissions`",
}


@pytest.mark.parametrize(
    "endpoint", [each for each in UPDATES if each.name not in EXEMPT], ids=lambda e: e.name
)
async def test_a_value_is_taken_away(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    await become_welcome(endpoint, client, roost, account)
    path = await sample_path(endpoint, client, roost, account)
    assert endpoint.body is not None
    fresh, needed = await client.get(path), {}
    for name, field in endpoint.body.model_fields.items():
        if field.is_required():
            needed[name] = fresh[name]
    for name in sorted(endpoint.body.model_fields.keys() - OTHERWISE.keys()):
        if name not in fresh or fresh[name] not in EMPTY:
            continue
        await client.put(path, {**needed, name: VALUES[name]})
        assert (await client.get(path))[name] not in EMPTY, name
        await client.put(path, {**needed, name: fresh[name]})
        assert (await client.get(path))[name] in EMPTY, name
