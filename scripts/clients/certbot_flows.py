"""certbot-dns-linode: the steps that certbot takes for a challenge, without a certificate
authority; the address is set in the object, as above."""

import tempfile
from pathlib import Path
from unittest import mock

from certbot_dns_linode._internal.dns_linode import Authenticator
from flows import TOKEN, URL, run
from lexicon._private.providers.linode import Provider
from linode_zone import call, zone

NAME = "certbot.example.org"


def challenge() -> None:
    """Challenge: the TXT record is written and taken back."""
    made = Provider.__init__

    def elsewhere(self: Provider, config: object) -> None:
        made(self, config)
        self.api_endpoint = f"{URL}/v4/"

    with tempfile.TemporaryDirectory() as directory, zone(NAME) as number:
        credentials = Path(directory) / "linode.ini"
        credentials.write_text(f"dns_linode_key = {TOKEN}\n")
        credentials.chmod(0o600)
        config = mock.Mock(
            dns_linode_credentials=str(credentials), dns_linode_propagation_seconds=0
        )
        with mock.patch.object(Provider, "__init__", elsewhere):
            authenticator = Authenticator(config, "dns-linode")
            authenticator._setup_credentials()
            challenge_name = f"_acme-challenge.{NAME}"
            authenticator._perform(NAME, challenge_name, "said")
            records = call("GET", f"/domains/{number}/records")["data"]
            assert [(each["name"], each["target"]) for each in records] == [
                ("_acme-challenge", "said")
            ]
            authenticator._cleanup(NAME, challenge_name, "said")
        assert call("GET", f"/domains/{number}/records")["data"] == []


run([challenge])
