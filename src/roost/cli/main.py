"""`roost`: the operator's command."""

import click

from roost.cli.lazy import Later, LazyGroup


class _Commands(LazyGroup):
    later = {
        "serve": Later("roost.cli.serve", "Serve the API, and run jobs in the same process."),
        "worker": Later(
            "roost.cli.serve",
            "Run jobs only; any number of workers share one DATABASE_URL.",
        ),
        "down": Later("roost.cli.down", "Stop the server of a state, all guests and the database."),
        "account": Later("roost.cli.account", "Accounts of this cloud."),
        "user": Later("roost.cli.user", "Users of any account."),
        "token": Later("roost.cli.token", "Personal access tokens."),
        "oauth-client": Later("roost.cli.oauth_client", "OAuth clients of any account."),
        "image": Later("roost.cli.image", "Images on this host."),
        "maintenance": Later(
            "roost.cli.maintenance", "Maintenance of instances, which users see coming."
        ),
        "ticket": Later(
            "roost.cli.ticket", "Support tickets of all accounts, also while the server runs."
        ),
        "billing": Later("roost.cli.billing", "What accounts are charged."),
        "payment": Later("roost.cli.payment", "What accounts have paid."),
        "fsck": Later(
            "roost.cli.fsck",
            "Compare the database with what the engines hold, whether the server runs or not.",
        ),
        "clock": Later("roost.cli.clock", "See or move the clock of a server with a lab."),
    }


@click.group(cls=_Commands)
@click.version_option(package_name="roost")
def main() -> None:
    """Roost: a cloud you run yourself."""
