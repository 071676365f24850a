"""`tables`: Mailman makes its tables where it starts. `fill`: domains, lists, people, a held message by its REST API and
its own functions. `read`: all rows of its models. `change`: by the API again. `sign-in`: what Postorius asks for a person."""

import datetime as dt
import email
import os
import sys

import falcon.testing
import sqlalchemy as sa

url = os.environ["DATABASE_URL"]
kind = "postgresql.PostgreSQL" if url.startswith("postgresql") else "sqlite.SQLite"
with open("mailman.cfg", "w") as file:
    url = url.replace("postgresql:", "postgresql+psycopg2:")
    file.write(f"[mailman]\nlayout: here\nrun_as_root: yes\n[paths.here]\nvar_dir: {os.getcwd()}/var\n[mta]\nincoming: mailman.mta.null.NullMTA\n"
               f"[database]\nclass: mailman.database.{kind}Database\nurl: {url}\n")

from mailman.config import config
from mailman.core.initialize import initialize

initialize("mailman.cfg")

from mailman.app.moderator import hold_message
from mailman.database.model import Model
from mailman.database.transaction import transaction
from mailman.email.message import Message
from mailman.interfaces.autorespond import IAutoResponseSet, Response
from mailman.interfaces.bounce import IBounceProcessor
from mailman.interfaces.listmanager import IListManager
from mailman.interfaces.usermanager import IUserManager
from mailman.rest.wsgiapp import make_application
from zope.component import getUtility

import sqlalchemy_rows
from told import print_rows

application = make_application()
client = falcon.testing.TestClient(lambda environ, start: application(environ, start))


def call(method, path, **values):
    answer = client.simulate_request(method, f"/3.1/{path}", headers={"Authorization": "Basic cmVzdGFkbWluOnJlc3RwYXNz"}, json=values or None)
    assert answer.status_code < 300, (method, path, answer.status, answer.text)
    return answer.json if answer.text else None


def a_list(name):
    call("POST", "lists", fqdn_listname=f"{name}@example.org")
    at = f"lists/{name}@example.org"
    call("PATCH", f"{at}/config", display_name=f"{name} Straße 日本語", subscription_policy="moderate", max_num_recipients=17, digest_size_threshold=0.1,
         autoresponse_grace_period="3d", description="it's 'quoted' \\ ü", acceptable_aliases=[f"{name}-alias@example.org"], autorespond_owner="respond_and_continue")
    call("POST", f"{at}/bans", email=f"banned-{name}@example.com")
    call("POST", f"{at}/header-matches", header="x-spam", pattern="^ü+$", action="discard")
    call("PATCH", f"{at}/uris", **{"list:member:digest:masthead": "https://example.org/ü.txt"})
    for number, (person, role) in enumerate([("ann", "owner"), ("ann", "member"), ("bob", "member"), ("cid", "moderator")]):
        call("POST", "members", list_id=f"{name}.example.org", subscriber=f"{person}@example.org", role=role, pre_verified=True, pre_confirmed=True, pre_approved=True)
    call("POST", "members", list_id=f"{name}.example.org", subscriber=f"waiting-{name}@example.org", display_name="Wärts", pre_verified=True, pre_confirmed=True)
    with transaction():
        there = getUtility(IListManager).get(f"{name}@example.org")
        text = f"From: ann@example.org\nTo: {name}@example.org\nSubject: held\nMessage-ID: <{name}@example.org>\n\ntext\n"
        message = email.message_from_string(text, Message)
        message["Message-ID-Hash"] = name.upper()
        hold_message(there, message, {"extra": 7, "when": dt.datetime(2024, 2, 29, 1, 30, 0, 123456)}, "a reason")
        getUtility(IBounceProcessor).register(there, "bob@example.org", message)
        IAutoResponseSet(there).response_sent(getUtility(IUserManager).get_address("ann@example.org"), Response.hold)


def person(name):
    call("POST", "users", email=f"{name}@example.org", display_name=f"{name} O'Härä", password=f"secret of {name}", is_server_owner=name == "ann")
    call("POST", f"users/{name}@example.org/addresses", email=f"{name}@example.net")
    call("PATCH", f"users/{name}@example.org/preferences", acknowledge_posts=True, preferred_language="en", delivery_mode="mime_digests")


def fill():
    call("POST", "domains", mail_host="example.org", description="日本語", owner=["owner@example.org"])
    for name in ("ann", "bob", "cid", "dan"):
        person(name)
    for name in ("one", "two", "three"):
        a_list(name)
    call("DELETE", "lists/three@example.org")
    call("DELETE", "users/dan@example.org")
    call("POST", "bans", email="^.*@bad.example")


def read():
    # What the clock and chance give to changes.
    hidden = ("_created_on", "created_at", "registered_on", "_verified_on", "last_warning_sent", "_password", "_user_id", "_member_id", "uid", "token", "date_sent", "last_post_at", "timestamp",
              "expiration_date", "path", "digest_last_sent_at", "data_hash", "value", "data") if sys.argv[2] == "changed" else ()
    sqlalchemy_rows.read(Model, config.db.engine, hidden)
    mapped = {mapper.local_table.name for mapper in Model.registry.mappers}
    for name, table in sorted(Model.metadata.tables.items()):
        if name not in mapped:
            print_rows(name, table.columns.keys(), config.db.store.execute(sa.select(table)))


def change():
    person("new")
    a_list("new")
    call("PATCH", "lists/one@example.org/config", display_name="edited", posting_pipeline="default-posting-pipeline")
    call("PATCH", "users/cid@example.org", display_name="edited")
    call("DELETE", "users/bob@example.org")
    call("DELETE", "lists/two@example.org")
    call("DELETE", "lists/one@example.org/bans/banned-one@example.com")
    held = call("GET", "lists/one@example.org/held")["entries"]
    call("POST", f"lists/one@example.org/held/{held[0]['request_id']}", action="discard")
    for one in call("GET", "lists/one@example.org/requests")["entries"]:
        call("POST", f"lists/one@example.org/requests/{one['token']}", action="accept")
    found = call("POST", "members/find", subscriber="ann@example.org")["total_size"], call("GET", "lists/one@example.org/roster/member")["total_size"]
    call("POST", "domains", mail_host="new.example", description=str(found))


def sign_in():
    at = "/3.1/users/ann@example.org/login"
    for password, wanted in (("wrong", 403), ("secret of ann", 204)):
        answer = client.simulate_post(at, headers={"Authorization": "Basic cmVzdGFkbWluOnJlc3RwYXNz"}, json={"cleartext_password": password})
        assert answer.status_code == wanted, answer.status
    for path in ("lists", "users", "domains", "lists/one@example.org/config", "users/ann@example.org/preferences", "members?count=2&page=1"):
        call("GET", path)


{"tables": lambda: None, "fill": fill, "read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()
