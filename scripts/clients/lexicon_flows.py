"""dns-lexicon: its provider has its address built in, so the address is set in the object."""

from flows import TOKEN, URL, run
from lexicon._private.providers.linode import Provider
from lexicon.config import ConfigResolver
from linode_zone import zone


def provider(kind: str) -> Provider:
    options = {
        "provider_name": "linode",
        "domain": "lexicon.example.org",
        "type": kind,
        "linode": {"auth_token": TOKEN},
    }
    made = Provider(ConfigResolver().with_dict(options))
    made.api_endpoint = f"{URL}/v4/"
    made.authenticate()
    return made


def records() -> None:
    """Record: create, list, update, delete."""
    with zone("lexicon.example.org"):
        dns = provider("TXT")
        assert dns.create_record("TXT", "note", "first")
        (found,) = dns.list_records("TXT", "note")
        assert found["content"] == "first"
        assert dns.update_record(found["id"], "TXT", "note", "second")
        assert [each["content"] for each in dns.list_records("TXT")] == ["second"]
        assert dns.delete_record(found["id"])
        assert dns.list_records("TXT") == []


run([records])
