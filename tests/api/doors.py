"""Knocking at endpoints: users and tokens for each kind of caller, and requests that fit."""

import uuid
from datetime import timedelta
from functools import cache

from roost.app.roost import Roost
from roost.core import account_queries
from roost.core.grant_queries import give
from roost.core.identity import UserType
from roost.core.scopes import Scopes
from roost.ids import new_token, new_uuid
from roost.resources.account import queries as accounts
from roost.resources.tokens.queries import revoke_token
from roost.resources.tokens.service import make_token
from roost.web.bodies import Body
from roost.web.grants import Global, Read, Write
from roost.web.registry import Endpoint
from roost.web.routing import path_params
from tests.api.callers import NAMING, Caller
from tests.api.conftest import Account
from tests.api.samples.paths import SHOWN, missing_path
from tests.api.samples.sample import NO_ID
from tests.support.apps import let_in
from tests.support.client import Answer, Client, Json
from tests.support.families import adopt
from tests.support.forms import FormPart, form
from tests.support.pictures import picture

_SPECIAL = ("company", "scopes", "tags")
"""Fields that need more of the caller than the declaration says."""

_NOWHERE: Json = {"address": "192.0.2.10", "compute_id": NO_ID}


class Doors:
    """Callers are shared, save where a call may change what the next one finds."""

    def __init__(self, roost: Roost, nobody: Client, endpoints: tuple[Endpoint, ...]) -> None:
        self._roost = roost
        self._nobody = nobody
        self._kinds = {e.grant.kind for e in endpoints if isinstance(e.grant, Read | Write)}
        rights = {e.grant.name for e in endpoints if isinstance(e.grant, Global)}
        beside = {e.grant.right for e in endpoints if isinstance(e.grant, Read | Write)}
        self._rights = sorted(rights | {right for right in beside if right is not None})
        self._clients: dict[tuple[Caller, str], Client] = {}

    async def client(self, caller: Caller, endpoint: Endpoint) -> Client:
        if caller.scopes is None:
            return self._nobody
        scopes = caller.scopes(endpoint)
        if endpoint.writes and not path_params(endpoint.path):
            return await self._make(caller, scopes)
        key = caller, scopes
        if key not in self._clients:
            self._clients[key] = await self._make(caller, scopes)
        return self._clients[key]

    async def _make(self, caller: Caller, scopes: str) -> Client:
        if caller.token == "unknown":
            return self._nobody.as_user(new_token())
        account = await self.account(caller.user_type)
        if caller.restricted:
            await self._restrict(caller, account.user_id)
        return self._nobody.as_user(await self._token(caller, account, scopes))

    async def account(self, user_type: UserType) -> Account:
        """An unrestricted user of a fresh account, with the family that the type means."""
        first = await self._account()
        if user_type == "default":
            return first
        second = await self._account()
        if user_type == "parent":
            await adopt(self._roost, second.id, first.id)
            return first
        proxy = await adopt(self._roost, first.id, second.id)
        if user_type == "proxy":
            return Account(proxy.account_id, proxy.user_id, proxy.username)
        return first

    async def _account(self) -> Account:
        now, store = self._roost.clock.seconds(), self._roost.store
        account_id = await accounts.create_account(store, new_uuid(), now)
        name = f"caller-{account_id}"
        user_id = await account_queries.create_user(store, account_id, name, False, now)
        return Account(account_id, user_id, name)

    async def _restrict(self, caller: Caller, user_id: int) -> None:
        store = self._roost.store
        await store.execute(
            "update api_user set restricted = true, account_access = $2, rights = $3 where id = $1",
            user_id,
            caller.held,
            self._rights if caller.rights else [],
        )
        for kind in self._kinds:
            for missing in {s.missing for s in SHOWN.values() if isinstance(s.missing, int)}:
                await give(store, user_id, kind, missing, caller.held)

    async def _token(self, caller: Caller, account: Account, scopes: str) -> str:
        roost = self._roost
        age = timedelta(seconds=-1 if caller.token == "expired" else 3600)
        app_id = await self._let_in(account) if caller.kind == "oauth" else None
        made = await make_token(
            roost.store,
            roost.clock,
            account.user_id,
            "knocking",
            Scopes.parse(scopes),
            roost.clock.seconds() + age,
            caller.kind,
            app_id,
        )
        if caller.token == "revoked":
            assert await revoke_token(roost.store, made.id, roost.clock.seconds())
        return made.text

    async def _let_in(self, account: Account) -> int:
        client_id = uuid.uuid4().hex[:20]
        await self._roost.store.execute(
            "insert into oauth_client (id, account_id, label, redirect_uri, public, secret_hash,"
            " created) values ($1, $2, 'app', 'https://app.example.com', false, '', $3)",
            client_id,
            account.id,
            self._roost.clock.seconds(),
        )
        return await let_in(self._roost, account.user_id, client_id)


async def knock(endpoint: Endpoint, client: Client, path: str | None = None) -> Answer:
    """Call with the example of the document; by default for something that does not exist."""
    path = missing_path(endpoint) if path is None else path
    if "multipart/form-data" in endpoint.accepts:
        content_type, data = form(FormPart("note.txt", b"hello"))
        headers = {"Content-Type": content_type}
        return await client.send(endpoint.method, path, headers=headers, data=data)
    if endpoint.accepts:
        headers = {"Content-Type": endpoint.accepts[0]}
        return await client.send(endpoint.method, path, headers=headers, data=picture())
    return await client.send(endpoint.method, path, body_of(endpoint))


@cache
def example(model: type[Body]) -> Json:
    """The one of the document."""
    return model.model_json_schema()["examples"][0]


def body_of(endpoint: Endpoint) -> Json:
    """A body that everybody may send; None for an endpoint without one."""
    if endpoint.body is None:
        return None
    body = dict(example(endpoint.body))
    if "username" in body:
        body["username"] = f"new-{uuid.uuid4().hex[:16]}"
    if "domain" in body:
        body["domain"] = f"{uuid.uuid4().hex}.example"
    if endpoint.name == "create_bucket":
        body["label"] = f"b-{uuid.uuid4().hex}"
    if endpoint.name in NAMING:
        body |= {"compute_id": NO_ID} if "compute_id" in body else {"assignments": [_NOWHERE]}
    if endpoint.name == "update_profile":
        del body["email"]  # A proxy user's stays as it is.
    return {name: value for name, value in body.items() if name not in _SPECIAL}
