"""A payment gateway that answers as Stripe's API does, for a few of its test cards."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.support.client import Json

KEY = "sk_test_0123456789abcdef"

WRONG_CODE = "4000000000000127"
DECLINED = "4000000000000341"
SLOW = "4000000000000077"
"""Stays `processing` until the test decides."""

_DECLINE = {"type": "card_error", "code": "card_declined", "message": "Your card was declined."}


@dataclass
class StripeServer:
    url: str = ""
    cards: dict[str, str] = field(default_factory=dict)
    """Numbers by payment method."""
    customers: dict[str, str] = field(default_factory=dict)
    """Payment methods by customer."""
    intents: list[Json] = field(default_factory=list)
    """The newest first."""
    keys: dict[str, Json] = field(default_factory=dict)
    """Answers by idempotency key; a test may forget them, as the gateway does after a day."""
    refunds: list[str] = field(default_factory=list)
    fault: int = 0
    """The status of all answers, unless 0."""
    loses: bool = False
    """Does what it is asked, and does not tell."""
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    @property
    def charged(self) -> dict[str, int]:
        """Cents by key that were charged and not given back."""
        return {
            each["metadata"]["roost_payment"]: each["amount"]
            for each in self.intents
            if each["status"] == "succeeded" and each["id"] not in self.refunds
        }

    def decide(self, status: str) -> None:
        for each in self.intents:
            if each["status"] == "processing":
                each["status"] = status

    async def answer(self, request: web.Request) -> web.StreamResponse:
        assert request.headers["Stripe-Version"]
        if request.headers["Authorization"] != f"Bearer {KEY}":
            return _refused(401, {"type": "invalid_request_error", "message": "Invalid API Key"})
        if self.fault:
            return web.Response(status=self.fault, text="<html>")
        key = request.headers.get("Idempotency-Key", "")
        if key in self.keys:
            return web.json_response(self.keys[key])
        form = {name: str(value) for name, value in (await request.post()).items()}
        act: Callable[[str, Json], web.Response] = getattr(
            self, f"{request.method.lower()}_{request.path.split('/')[2]}"
        )
        found = act(request.path.partition("/v1/")[2].partition("/")[2], {**request.query, **form})
        if key and found.status == 200:
            assert found.text is not None
            self.keys[key] = self.intents[0] if "intents" in request.path else {"id": "re_1"}
        if self.loses:
            assert request.transport is not None
            request.transport.close()
        return found

    def post_payment_methods(self, _: str, form: Json) -> web.Response:
        name = f"pm_{next(self._numbers)}"
        self.cards[name] = form["card[number]"]
        assert form["card[cvc]"]
        assert int(form["card[exp_year]"]) > 2000
        return web.json_response({"id": name})

    def post_customers(self, _: str, form: Json) -> web.Response:
        if self.cards[form["payment_method"]] == WRONG_CODE:
            message = "Your card's security code is incorrect."
            return _refused(402, {**_DECLINE, "code": "incorrect_cvc", "message": message})
        name = f"cus_{next(self._numbers)}"
        self.customers[name] = form["payment_method"]
        return web.json_response({"id": name})

    def delete_customers(self, name: str, _: Json) -> web.Response:
        if self.customers.pop(name, None) is None:
            return _missing()
        return web.json_response({"id": name, "deleted": True})

    def get_payment_intents(self, _: str, form: Json) -> web.Response:
        found = [each for each in self.intents if each["customer"] == form["customer"]]
        return web.json_response({"data": found[: int(form["limit"])]})

    def post_payment_intents(self, rest: str, form: Json) -> web.Response:
        if rest.endswith("/cancel"):
            (found,) = (each for each in self.intents if each["id"] == rest.removesuffix("/cancel"))
            found["status"] = "canceled"
            return web.json_response(found)
        if self.customers.get(form["customer"]) != form["payment_method"]:
            return _missing()
        number = self.cards[form["payment_method"]]
        failed = number == DECLINED
        intent = {
            "id": f"pi_{next(self._numbers)}",
            "customer": form["customer"],
            "amount": int(form["amount"]),
            "metadata": {"roost_payment": form["metadata[roost_payment]"]},
            "status": "requires_payment_method"
            if failed
            else "processing"
            if number == SLOW
            else "succeeded",
            "last_payment_error": _DECLINE if failed else None,
        }
        assert (form["confirm"], form["off_session"], form["currency"]) == ("true", "true", "usd")
        self.intents.insert(0, intent)
        if failed:
            return _refused(402, {**_DECLINE, "payment_intent": intent})
        return web.json_response(intent)

    def post_refunds(self, _: str, form: Json) -> web.Response:
        if form["payment_intent"] in self.refunds:
            code = "charge_already_refunded"
            return _refused(400, {"type": "invalid_request_error", "code": code, "message": "x"})
        self.refunds.append(form["payment_intent"])
        return web.json_response({"id": "re_1"})


def _refused(status: int, error: Json) -> web.Response:
    return web.json_response({"error": error}, status=status)


def _missing() -> web.Response:
    error = {"type": "invalid_request_error", "code": "resource_missing", "message": "No such: x"}
    return _refused(404, error)


@asynccontextmanager
async def stripe_server() -> AsyncIterator[StripeServer]:
    """On a port of this machine until the end of the block."""
    server, app = StripeServer(), web.Application()
    app.router.add_route("*", "/v1/{rest:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()
