"""`roost promo`: codes that give credit to new accounts."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path

import click

from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.app.terminal import fields
from roost.cli.options import USD, json_option, read_served_settings, run, show_all, state_option
from roost.resources.promotions import queries
from roost.resources.promotions.queries import ListedCode, PromoCode
from roost.resources.promotions.rules import CODE, SERVICE_TYPES
from roost.settings import Settings

_MOST_TEXT, _MOST_DAYS, _MOST_USES = 255, 3650, 10**9


def _code(context: click.Context, parameter: click.Parameter, text: str) -> str:
    code = text[:33].upper()
    if CODE.fullmatch(code) is None:
        reason = "must be 1 to 32 letters, digits, hyphens and underscores"
        raise click.BadParameter(reason, context, parameter)
    return code


def _text(context: click.Context, parameter: click.Parameter, text: str) -> str:
    if len(text) > _MOST_TEXT or not text.isprintable():
        reason = f"must be at most {_MOST_TEXT} printable characters"
        raise click.BadParameter(reason, context, parameter)
    return text


_COLUMNS = (
    "code",
    "credit",
    "monthly_cap",
    "service_type",
    "days",
    "ends",
    "uses_left",
    "redeemed",
    "summary",
)


@click.group()
def promo() -> None:
    """Codes that give credit to new accounts."""


@promo.command()
@state_option
@click.argument("code", callback=_code)
@click.argument("usd", type=USD)
@click.option("--monthly-cap", type=USD, help="At most so much in one month. Default: all.")
@click.option(
    "--service", type=click.Choice(SERVICE_TYPES), default="all", help="What it pays for."
)
@click.option("--days", type=click.IntRange(1, _MOST_DAYS), help="How long it lasts.")
@click.option("--until", type=click.DateTime(), help="Until when it is redeemed (UTC).")
@click.option("--uses", type=click.IntRange(1, _MOST_USES), help="By how many accounts.")
@click.option("--summary", callback=_text, default="", help="A few words for users.")
@click.option("--description", callback=_text, default="", help="The terms.")
@click.option("--image-url", callback=_text, default="", help="A picture for it.")
def create(
    state: Path | None,
    code: str,
    usd: Decimal,
    monthly_cap: Decimal | None,
    service: str,
    days: int | None,
    until: datetime | None,
    uses: int | None,
    summary: str,
    description: str,
    image_url: str,
) -> None:
    """Let new accounts redeem CODE for USD."""
    if monthly_cap is not None and monthly_cap > usd:
        raise click.BadParameter("must not be more than USD", param_hint="--monthly-cap")
    settings = read_served_settings(state=state)
    new = PromoCode(
        code=code,
        summary=summary or f"${usd:.2f} credit",
        description=description,
        image_url=image_url,
        service_type=service,
        credit=usd,
        monthly_cap=usd if monthly_cap is None else monthly_cap,
        days=days,
        ends=until,
        uses_left=uses,
        created=run(_now(settings)),
    )
    run(_create(settings, new))


@promo.command("list")
@state_option
@json_option
def list_all(state: Path | None, as_json: bool) -> None:
    """List all codes, the newest first."""
    found = run(_list(read_served_settings(state=state)))
    show_all([fields(row) for row in found], _COLUMNS, as_json)


@promo.command()
@state_option
@click.argument("code", callback=_code)
def delete(state: Path | None, code: str) -> None:
    """Let nobody redeem CODE any more; accounts keep what they were promised."""
    run(_delete(read_served_settings(state=state), code))


async def _now(settings: Settings) -> datetime:
    async with open_store(settings) as store:
        return (await clock_beside(settings, store)).seconds()


async def _create(settings: Settings, new: PromoCode) -> None:
    async with open_store(settings) as store:
        if not await queries.insert_code(store, new):
            raise click.ClickException(f"There is a code {new.code} already")


async def _list(settings: Settings) -> list[ListedCode]:
    async with open_store(settings) as store:
        return await queries.list_codes(store)


async def _delete(settings: Settings, code: str) -> None:
    async with open_store(settings) as store:
        if not await queries.delete_code(store, code):
            raise click.ClickException(f"There is no code {code}")
