"""octoDNS: a zone of a file is written by the provider that uses dns-lexicon."""

import tempfile
from pathlib import Path

from flows import TOKEN, URL, run
from lexicon._private.providers import linode as lexicon_linode
from linode_zone import call, zone
from octodns.manager import Manager

_init = lexicon_linode.Provider.__init__


def init(self: lexicon_linode.Provider, config: object) -> None:
    _init(self, config)
    self.api_endpoint = f"{URL}/v4/"


lexicon_linode.Provider.__init__ = init
_CONFIG = f"""
providers:
  files: {{class: octodns.provider.yaml.YamlProvider, directory: PLACE, default_ttl: 3600}}
  there:
    class: octodns_lexicon.LexiconProvider
    lexicon_config:
      provider_name: linode
      domain: octo.example.org
      linode: {{auth_token: {TOKEN}}}
zones:
  octo.example.org.: {{sources: [files], targets: [there]}}
"""


def sync() -> None:
    """Zone: records of a file are written, and nothing is left to do."""
    with tempfile.TemporaryDirectory() as place, zone("octo.example.org") as number:
        folder = Path(place)
        (folder / "octo.example.org.yaml").write_text("www: {type: A, value: 192.0.2.1}\n")
        (folder / "config.yaml").write_text(_CONFIG.replace("PLACE", place))
        assert Manager(str(folder / "config.yaml")).sync(dry_run=False) > 0
        rows = call("GET", f"/domains/{number}/records")["data"]
        assert [(row["name"], row["target"]) for row in rows] == [("www", "192.0.2.1")]
        assert Manager(str(folder / "config.yaml")).sync(dry_run=True) == 0


run([sync])
