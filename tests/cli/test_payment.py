"""`roost payment`, beside a server."""

import pytest

from tests.cli.process import Server
from tests.cli.test_account import fetch, invoke, opened, told


def test_what_an_operator_records(server: Server) -> None:
    account_id, _, token = opened(server, "--email", "payer@example.com")
    payment_id = told(server, "payment", "record", account_id, "12.50")
    assert fetch(server, "/account", token)["balance"] == -12.5
    (row,) = fetch(server, "/account/payments", token)["data"]
    assert (str(row["id"]), row["usd"]) == (payment_id, 12.5)
    done = invoke(server, "payment", "settle", payment_id, "declined")
    assert (done.exit_code, done.stderr) == (
        1,
        f"Error: There is no pending payment {payment_id}\n",
    )


@pytest.mark.parametrize("usd", ["0", "1.001", "much", "nan", "1e9", "1000000.01"])
def test_what_is_no_amount(server: Server, usd: str) -> None:
    done = invoke(server, "payment", "record", "1", usd)
    assert done.exit_code == 2
    assert "must be an amount such as 25.00" in done.stderr


def test_an_account_that_is_none(server: Server) -> None:
    done = invoke(server, "payment", "record", "99999999", "1.00")
    assert (done.exit_code, done.stderr) == (1, "Error: There is no account 99999999\n")
