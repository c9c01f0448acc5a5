"""`roost account credit`, beside a server."""

import pytest

from tests.cli.process import Server
from tests.cli.test_account import fetch, invoke, opened, told

CREDIT = ("account", "credit")


def test_what_an_operator_gives_and_takes(server: Server) -> None:
    account_id, _, token = opened(server, "--email", "payer@example.com")
    why = ("--reason", "outage of May 3")
    told(server, *CREDIT, "give", account_id, "12.50", *why)
    told(server, *CREDIT, "take", account_id, "2.00", "--reason", "was too much")
    assert fetch(server, "/account", token)["balance"] == -10.5
    lines = told(server, *CREDIT, "list", account_id).splitlines()
    assert [line.split()[2] for line in lines] == ["USD", "-2.00", "12.50"]
    assert lines[2].endswith("outage of May 3")
    assert told(server, "billing", "verify") == "billing: 0 differences"


def test_a_key_gives_once(server: Server) -> None:
    account_id, _, token = opened(server, "--email", "payer@example.com")
    again = ("--reason", "refund", "--key", f"refund-{account_id}")
    first = told(server, *CREDIT, "give", account_id, "5.00", *again)
    assert told(server, *CREDIT, "give", account_id, "5.00", *again) == first
    assert fetch(server, "/account", token)["balance"] == -5
    done = invoke(server, *CREDIT, "give", account_id, "6.00", *again)
    reason = f"The key refund-{account_id} is of credit {first}, which is another one"
    assert (done.exit_code, done.stderr) == (1, f"Error: {reason}\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("1", "0", "--reason", "x"), "must be an amount such as 25.00"),
        (("1", "nan", "--reason", "x"), "must be an amount such as 25.00"),
        (("1", "1000000.01", "--reason", "x"), "must be an amount such as 25.00"),
        (("1", "1", "--reason", ""), "must be 1 to 255 printable characters"),
        (("1", "1", "--reason", "x" * 256), "must be 1 to 255 printable characters"),
        (("1", "1", "--reason", "a\nb"), "must be 1 to 255 printable characters"),
        (("1", "1", "--reason", "x", "--key", "k" * 65), "must be 1 to 64 printable characters"),
        (("1", "1"), "--reason"),
    ],
)
def test_refused(server: Server, arguments: tuple[str, ...], reason: str) -> None:
    done = invoke(server, *CREDIT, "give", *arguments)
    assert done.exit_code == 2
    assert reason in done.stderr


@pytest.mark.parametrize(
    "arguments", [("give", "99999999", "1", "--reason", "x"), ("list", "99999999")]
)
def test_an_account_that_is_none(server: Server, arguments: tuple[str, ...]) -> None:
    done = invoke(server, *CREDIT, *arguments)
    assert (done.exit_code, done.stderr) == (1, "Error: There is no account 99999999\n")
