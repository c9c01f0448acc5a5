"""`roost`: the operator's command."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from roost.cli.lazy import Later, LazyGroup


@contextmanager
def _briefly() -> Iterator[None]:
    """click writes the usage above an error whose context it knows."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        raise click.UsageError(" ".join(error.format_message().split())) from error


class _Commands(LazyGroup):
    """Says in one line what is wrong with a command that is used wrongly: exit code 2."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        with _briefly():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with _briefly():
            return super().invoke(ctx)

    later = {
        "serve": Later("roost.cli.serve", "Serve the API, and run jobs in the same process."),
        "worker": Later(
            "roost.cli.serve",
            "Run jobs only; any number of workers share one DATABASE_URL.",
        ),
        "down": Later("roost.cli.down", "Stop the server of a state, all guests and the database."),
        "instance": Later("roost.cli.instance", "Instances of all accounts, and their guests."),
        "nodebalancer": Later("roost.cli.things", "NodeBalancers of all accounts."),
        "volume": Later("roost.cli.things", "Volumes of all accounts."),
        "database": Later("roost.cli.things", "Managed databases of all accounts."),
        "bucket": Later("roost.cli.things", "Buckets of all accounts."),
        "domain": Later("roost.cli.things", "Domains of all accounts."),
        "console": Later(
            "roost.cli.console", "Type in the serial console of a guest; Ctrl-] ends."
        ),
        "host": Later("roost.cli.host", "The machines that have guests."),
        "job": Later("roost.cli.job", "What is being done, what waits and what has failed."),
        "event": Later("roost.cli.event", "What all accounts are told."),
        "engine": Later("roost.cli.engine", "What serves each region, and how it is."),
        "top": Later("roost.cli.top", "How the cloud is at this moment."),
        "dashboard": Later(
            "roost.cli.dashboard",
            "Show all accounts, hosts and jobs in a browser of this machine, until interrupted.",
        ),
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
        "promo": Later("roost.cli.promo", "Codes that give credit to new accounts."),
        "fsck": Later(
            "roost.cli.fsck",
            "Compare the database with what the engines hold, whether the server runs or not.",
        ),
        "tls": Later(
            "roost.cli.tls", "Make a certificate for the server, of an authority below the state."
        ),
        "backup": Later(
            "roost.cli.backup",
            "Save the state in a new FILE, whether the server runs or not.",
        ),
        "check-backup": Later(
            "roost.cli.backup",
            "Read all of the backup FILE, and say whether it is whole; nothing is changed.",
        ),
        "prune-backups": Later(
            "roost.cli.backup",
            "Remove from the folder DISKS what none of the backups FILES needs.",
        ),
        "restore": Later(
            "roost.cli.restore",
            "Fill an empty state from the backup FILE, and compare it with the engines.",
        ),
        "unit": Later("roost.cli.unit", "Print the unit of systemd for a server or a worker."),
        "completion": Later("roost.cli.completion", "Print what completes commands in a shell."),
        "clock": Later("roost.cli.clock", "See or move the clock of a server with a lab."),
    }


@click.group(cls=_Commands)
@click.version_option(package_name="roost")
def main() -> None:
    """Roost: a cloud you run yourself."""
