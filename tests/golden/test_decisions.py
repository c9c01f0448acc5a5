"""Every decision is in the list of them."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_list_is_the_newest() -> None:
    script = runpy.run_path(str(ROOT / "scripts/index-decisions"))
    listed = (ROOT / "docs/decisions/README.md").read_text()
    assert listed == script["index"](), "scripts/index-decisions writes it anew"
