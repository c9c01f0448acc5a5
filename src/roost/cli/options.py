"""Options that several commands share, turned into settings."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from roost.settings import Settings

F = TypeVar("F", bound=Callable[..., None])

_STATE = click.option(
    "--state", type=click.Path(path_type=Path, file_okay=False), help="Folder of all state."
)
_ENGINES = click.option(
    "--engines",
    type=click.Choice(["auto", "simulated", "local"]),
    help="auto: real where it can run; local: real or fail.",
)
_CATALOG = click.option(
    "--catalog", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="TOML file."
)


def roost_options(command: F) -> F:
    """--state, --engines and --catalog."""
    return _STATE(_ENGINES(_CATALOG(command)))


def read_settings(**options: object) -> Settings:
    """Settings from the environment, where the command line does not say otherwise."""
    given = {name: value for name, value in options.items() if value is not None}
    settings = Settings.model_validate({**Settings().model_dump(), **given})
    return settings.model_copy(update={"state": settings.state.absolute()})
