"""`tables`: JupyterHub makes its tables where it starts. `fill`: people, groups, servers, tokens, shares by its REST API.
`read`: all rows of its models. `change`: by the API again. `sign-in`: a person, who opens pages."""

import asyncio
import json
import os
import re
import sys
from urllib.parse import urlencode

import sqlalchemy as sa
from jupyterhub import orm
from jupyterhub.app import JupyterHub
from jupyterhub.auth import DummyAuthenticator
from jupyterhub.proxy import Proxy
from jupyterhub.spawner import Spawner
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from traitlets.config import Config

import sqlalchemy_rows
from told import print_rows

url = os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:")


class Known(DummyAuthenticator):
    async def authenticate(self, handler, data):
        name = await super().authenticate(handler, data)
        return name and {"name": name, "auth_state": {"token": "日本語", "ids": [1, None]}}


class NoProxy(Proxy):
    async def add_route(self, routespec, target, data): pass
    async def delete_route(self, routespec): pass
    async def get_all_routes(self): return {}


class Itself(Spawner):
    """The hub takes itself for a person's server, until it stops."""

    here = False

    async def start(self):
        self.here = True
        return "127.0.0.1", self.hub.port

    async def stop(self, now=False): pass
    async def poll(self): return None if self.here else 0
    def get_state(self): return {"pid": 2**40, "note": "Straße 'quoted' \\"}


async def hub():
    socket, port = bind_unused_port()
    config = Config()
    config.JupyterHub.update(db_url=url, hub_port=port, proxy_class=NoProxy, spawner_class=Itself, authenticator_class=Known, cookie_secret=b"x" * 32,
                             allow_named_servers=True, log_level="WARN", services=[{"name": "prove", "api_token": "a" * 32, "display": False}],
                             load_roles=[{"name": "prove", "description": "ü", "scopes": ["admin:users", "admin:groups", "admin:servers", "tokens", "shares", "list:services"],
                                          "services": ["prove"]}])
    config.Authenticator.update(allow_all=True, admin_users={"ann"}, enable_auth_state=True)
    config.DummyAuthenticator.password = "secret"
    app = JupyterHub(config=config)
    await app.initialize([])
    HTTPServer(app.tornado_application).add_socket(socket)
    app._start_future.set_result(None)
    return app


async def call(app, method, path, body=None):
    answer = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{app.hub_port}/hub/api/{path}", method=method, headers={"Authorization": "token " + "a" * 32},
                                           body=json.dumps(body) if body is not None else None, allow_nonstandard_methods=True)
    return json.loads(answer.body or "null")


async def person(app, name):
    await call(app, "POST", f"users/{name}")
    await call(app, "POST", f"users/{name}/tokens", {"note": f"日本語 of {name}", "expires_in": 10**7})
    for server in ("", "named"):
        await call(app, "POST", f"users/{name}/servers/{server}", {"image": "Straße", "list": [1, 2.5, None, True]})
    await call(app, "DELETE", f"users/{name}/servers/named")
    await call(app, "POST", f"shares/{name}/named", {"user": "ann"})
    await call(app, "POST", f"share-codes/{name}/named", {"expires_in": 10**7})


async def sign_in(app, password="secret", pages=("home", "token", "admin")):
    cookies = {}

    async def open_page(path, **values):
        answer = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{app.hub_port}/hub/{path}", raise_error=False, follow_redirects=False,
                                               headers={"Cookie": "; ".join(f"{key}={value}" for key, value in cookies.items())}, **values)
        cookies.update(re.match("([^=]+)=([^;]*)", one).groups() for one in answer.headers.get_list("Set-Cookie"))
        return answer.code

    await open_page("login")
    code = await open_page("login", method="POST", body=urlencode({"username": "ann", "password": password, "_xsrf": cookies["_xsrf"]}))
    return code, [await open_page(page) for page in pages]


async def fill(app):
    assert await sign_in(app) == (302, [200] * 3)
    for name in ("bob", "cid", "dan", "eve"):
        await person(app, name)
    for name in ("one", "two"):
        await call(app, "POST", f"groups/{name}")
        await call(app, "POST", f"groups/{name}/users", {"users": ["ann", "bob", "cid"]})
        await call(app, "PUT", f"groups/{name}/properties", {"ü": {"1": [0.1, -1e300, None]}})
    await call(app, "POST", "shares/bob/named", {"group": "two"})
    await call(app, "DELETE", "users/eve")


async def change(app):
    await person(app, "new")
    await call(app, "PATCH", "users/bob", {"name": "edited"})
    await call(app, "DELETE", "users/dan")
    await call(app, "POST", "groups/new")
    await call(app, "POST", "groups/new/users", {"users": ["new", "edited"]})
    await call(app, "DELETE", "groups/one")
    await call(app, "PUT", "groups/two/properties", {"edited": "yes"})
    token = min((await call(app, "GET", "users/cid/tokens"))["api_tokens"], key=lambda one: int(one["id"][1:]))
    await call(app, "DELETE", f"users/cid/tokens/{token['id']}")
    found = await call(app, "GET", "users?sort=-id&limit=3"), await call(app, "GET", "shares/edited")
    await call(app, "PUT", "groups/new/properties", {"people": str([one["name"] for one in found[0]]), "shares": str(len(found[1]["items"]))})


def read():
    # What the clock and chance give to changes; and ids that SQLite gives again after the last row was deleted.
    hidden = ("id", "server_id", "secret", "created", "created_at", "last_activity", "started", "expires_at", "hashed", "prefix", "cookie_id", "port", "encrypted_auth_state",
              "session_id", "cookie_name") if sys.argv[2] == "changed" else ()
    engine = sa.create_engine(url)
    sqlalchemy_rows.read(orm.Base, engine, hidden)
    with engine.connect() as connection:
        for name, table in sorted(orm.Base.metadata.tables.items()):
            if name.endswith("_map"):
                print_rows(name, table.columns.keys(), connection.execute(table.select()))


async def signed_in(app):
    assert await sign_in(app, "wrong") == (403, [302] * 3)
    assert await sign_in(app) == (302, [200] * 3)
    assert (await app.users["ann"].get_auth_state())["token"] == "日本語"


async def run():
    app = await hub()
    work = {"fill": fill, "change": change, "sign-in": signed_in}.get(sys.argv[1])
    if work:
        await work(app)


read() if sys.argv[1] == "read" else asyncio.run(run())
