"""`roost`: the operator's command. Commands are imported when they are used."""

import importlib

import click

_COMMANDS = {
    "serve": "roost.cli.serve",
    "worker": "roost.cli.serve",
    "down": "roost.cli.down",
    "account": "roost.cli.account",
    "user": "roost.cli.user",
    "token": "roost.cli.token",
    "oauth-client": "roost.cli.oauth_client",
    "image": "roost.cli.image",
    "maintenance": "roost.cli.maintenance",
    "ticket": "roost.cli.ticket",
    "billing": "roost.cli.billing",
    "fsck": "roost.cli.fsck",
    "clock": "roost.cli.clock",
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(importlib.import_module(module), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Lazy)
@click.version_option(package_name="roost")
def main() -> None:
    """Roost: a cloud you run yourself."""
