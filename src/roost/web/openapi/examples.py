"""Examples of answers: what a server has answered, kept by `scripts/record-examples`."""

from collections.abc import Mapping
from importlib.resources import files

import orjson

FILE = "examples.json"


def recorded() -> Mapping[str, object]:
    """An example of each record that answers show, by the record's name."""
    examples: Mapping[str, object] = orjson.loads(files(__package__).joinpath(FILE).read_bytes())
    return examples
