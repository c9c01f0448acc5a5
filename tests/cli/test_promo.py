"""`roost promo`, beside a server."""

import pytest

from tests.cli.process import Server
from tests.cli.test_account import fetch, invoke, opened, told


def test_a_code_from_its_making_to_its_end(server: Server) -> None:
    account_id, _, token = opened(server, "--email", "new@example.com")
    code = f"hello-{account_id}"
    terms = ("--monthly-cap", "20", "--days", "60", "--uses", "1", "--summary", "Welcome")
    told(server, "promo", "create", code, "100", *terms)
    status, promotion = server.send("POST", "/account/promo-codes", {"promo_code": code}, token)
    assert status == 200, promotion
    assert promotion["summary"] == "Welcome"
    assert promotion["this_month_credit_remaining"] == "20.00"
    (line,) = [row for row in told(server, "promo", "list").splitlines() if code.upper() in row]
    assert line.split()[:8] == [code.upper(), "100.00", "20.00", "all", "60", "-", "0", "1"]
    told(server, "promo", "delete", code)
    assert code.upper() not in told(server, "promo", "list")
    assert fetch(server, "/account", token)["active_promotions"] == [promotion]


def test_no_two_of_one_name(server: Server) -> None:
    told(server, "promo", "create", "TWICE", "5")
    done = invoke(server, "promo", "create", "twice", "5")
    assert (done.exit_code, done.stderr) == (1, "Error: There is a code TWICE already\n")
    done = invoke(server, "promo", "delete", "NEVER-WAS")
    assert (done.exit_code, done.stderr) == (1, "Error: There is no code NEVER-WAS\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("a b", "5"), "must be 1 to 32 letters, digits, hyphens and underscores"),
        (("x" * 33, "5"), "must be 1 to 32 letters, digits, hyphens and underscores"),
        (("A", "0"), "must be an amount such as 25.00"),
        (("A", "5", "--monthly-cap", "6"), "must not be more than USD"),
        (("A", "5", "--service", "cars"), "'cars' is not one of"),
        (("A", "5", "--days", "0"), "0 is not in the range"),
        (("A", "5", "--until", "soon"), "'soon' does not match"),
        (("A", "5", "--summary", "x" * 256), "must be at most 255 printable characters"),
    ],
)
def test_refused(server: Server, arguments: tuple[str, ...], reason: str) -> None:
    done = invoke(server, "promo", "create", *arguments)
    assert done.exit_code == 2
    assert reason in done.stderr
