"""`roost tls`."""

import re
from ipaddress import ip_address
from pathlib import Path

import click

from roost.app.own_tls import OwnTls, make_tls, read_authority
from roost.cli.options import read_settings, state_option
from roost.errors import OperatorError

_MOST_HOSTS = 100
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(\*\.)?({_LABEL}\.)*{_LABEL}")


class _Host(click.ParamType[str]):
    name = "host"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return str(ip_address(value.strip("[]")))
        except ValueError:
            name = value.lower().rstrip(".")
        if len(name) > 253 or _NAME.fullmatch(name) is None:
            self.fail(f"{value} is neither a host name nor an IP address", param, ctx)
        return name


@click.command()
@click.argument("hosts", metavar="[HOST…]", nargs=-1, type=_Host())
@state_option
@click.option("--print-ca", is_flag=True, help="Print the authority's certificate; make nothing.")
def tls(hosts: tuple[str, ...], state: Path | None, print_ca: bool) -> None:
    """Make a certificate for the server, of an authority below the state.

    It is for every HOST, a name or an address, and for this machine. Run it again to renew it: the
    authority stays, and without HOST the names do.
    """
    if len(hosts) > _MOST_HOSTS:
        raise click.UsageError(f"at most {_MOST_HOSTS} hosts")
    if print_ca and hosts:
        raise click.UsageError("--print-ca makes nothing: leave out HOST")
    folder = read_settings(state=state).state
    try:
        click.echo(read_authority(folder) if print_ca else _describe(make_tls(folder, hosts)))
    except OperatorError as error:
        raise click.ClickException(str(error)) from error


def _describe(made: OwnTls) -> str:
    return f"""\
for {", ".join(made.names)}; until {made.until:%Y-%m-%d}
serve with: --tls-cert {made.certificate} --tls-key {made.key}
clients trust: {made.authority}"""
