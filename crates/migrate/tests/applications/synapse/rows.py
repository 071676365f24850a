"""`tables`: Synapse makes its tables where it starts. `fill`: people and rooms by its client API. `read`: all rows of its
tables, which have no models; not those that only one engine has. `change`: by the API again. `sign-in`: a person, who reads a room."""

import json
import os
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import quote

import psycopg2

from told import print_rows

url = os.environ["DATABASE_URL"]
postgres = url.startswith("postgresql")
PORT = 28000 + os.getpid() % 1000
KINDS = {"name": "psycopg2", "args": {"dsn": url}, "allow_unsafe_locale": True} if postgres else {"name": "sqlite3", "args": {"database": url.replace("sqlite:///", "")}}
with open("hs.yaml", "w") as file:
    json.dump({"server_name": "example.org", "pid_file": "hs.pid", "report_stats": False, "media_store_path": "media", "signing_key_path": "key", "macaroon_secret_key": "m",
               "form_secret": "f", "background_updates": {"sleep_enabled": False}, "enable_registration": True, "enable_registration_without_verification": True, "database": KINDS, "trusted_key_servers": [],
               "listeners": [{"port": PORT, "type": "http", "bind_addresses": ["127.0.0.1"], "resources": [{"names": ["client"]}]}],
               **{name: {key: {"per_second": 1000, "burst_count": 1000} for key in ("local", "address", "account", "failed_attempts")} for name in ("rc_login", "rc_joins", "rc_invites")},
               "rc_registration": {"per_second": 1000, "burst_count": 1000}, "rc_message": {"per_second": 1000, "burst_count": 1000}}, file)


def call(method, path, body=None, token=None, wanted=200):
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/_matrix/client/{path}", method=method, data=json.dumps(body).encode() if body is not None else None,
                                     headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        answer = urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        answer = error
    text = answer.read()
    assert answer.status == wanted, (path, answer.status, text)
    return json.loads(text)


def person(name):
    token = call("POST", "v3/register", {"username": name, "password": f"secret of {name}", "auth": {"type": "m.login.dummy"}})["access_token"]
    call("PUT", f"v3/profile/@{name}:example.org/displayname", {"displayname": f"{name} O'Härä 日本語"}, token)
    call("PUT", f"v3/user/@{name}:example.org/account_data/of.us", {"a": [None, True, "ü"]}, token)
    call("PUT", f"v3/pushrules/global/override/of.{name}", {"actions": ["notify"], "conditions": []}, token)
    return token


def room(name, tokens):
    made = call("POST", "v3/createRoom", {"name": f"{name} Straße", "room_alias_name": name, "preset": "public_chat", "topic": "'quoted' \\"}, tokens[0])["room_id"]
    at = f"v3/rooms/{quote(made)}"
    for token in tokens[1:]:
        call("POST", f"{at}/join", {}, token)
    for number in range(8):
        event = call("PUT", f"{at}/send/m.room.message/{name}{number}", {"msgtype": "m.text", "body": f"日本語 {number}"}, tokens[number % len(tokens)])["event_id"]
        call("POST", f"{at}/receipt/m.read/{quote(event)}", {}, tokens[0])
    call("PUT", f"{at}/redact/{quote(event)}/r{name}", {"reason": "ü"}, tokens[(number) % len(tokens)])
    return made


def sign_in(name, password=None, wanted=200):
    body = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": name}, "password": password or f"secret of {name}"}
    return call("POST", "v3/login", body, wanted=wanted).get("access_token")


def fill():
    tokens = [person(name) for name in ("ann", "bob", "cid")]
    for name in ("one", "two"):
        room(name, tokens)


def change():
    ann, new = sign_in("ann"), person("new")
    room("three", [new, ann])
    at = f"v3/rooms/{quote(call('GET', 'v3/directory/room/%23one:example.org')['room_id'])}"
    call("PUT", f"{at}/state/m.room.topic", {"topic": "edited"}, ann)
    call("POST", f"{at}/invite", {"user_id": "@new:example.org"}, ann)
    call("POST", f"{at}/join", {}, new)
    call("POST", f"{at}/leave", {}, sign_in("bob"))
    call("DELETE", "v3/pushrules/global/override/of.ann", None, ann)
    call("POST", "v3/user/@cid:example.org/openid/request_token", {}, sign_in("cid"))
    call("DELETE", "v3/directory/room/%23two:example.org", None, ann)


def signed_in():
    sign_in("ann", "wrong", 403)
    ann = sign_in("ann")
    rooms = call("GET", "v3/joined_rooms", token=ann)["joined_rooms"]
    assert len(rooms) == 3, rooms
    for one in rooms:
        texts = call("GET", f"v3/rooms/{quote(one)}/messages?dir=b&limit=100", token=ann)["chunk"]
        assert sum(text["type"] == "m.room.message" for text in texts) == 8, texts
    call("GET", "v3/sync?timeout=0", token=ann)


def rows_of(question):
    connection = psycopg2.connect(url) if postgres else sqlite3.connect(url.replace("sqlite:///", ""))
    cursor = connection.cursor()
    cursor.execute(question)
    found = [column[0].lower() for column in cursor.description], cursor.fetchall()
    connection.close()
    return found


# Without current_state_events of a room's numbers: a room made after a move counts one less, after synapse_port_db too.
KEPT = ("type", "sender", "state_key", "membership", "user_id", "name", "displayname", "room_alias", "creator", "topic", "content", "rule_id", "actions",
        "receipt_type", "history_visibility", "full_user_id", "depth", "prev_state", "outlier", "is_public", "key", "joined_members")


def read():
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1" if postgres else "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1"
    for (table,) in rows_of(tables)[1]:
        if table.startswith(("schema_", "applied_", "event_search", "user_directory_search", "sqlite_", "cache_invalidation_", "instance_map")):
            continue
        names, rows = rows_of(f'SELECT * FROM "{table}"')
        if sys.argv[2] == "changed":  # most of what it writes is of the clock and chance: ids, hashes, signatures
            kept = [index for index, name in enumerate(names) if name in KEPT]
            names, rows = [names[index] for index in kept], [[row[index] for index in kept] for row in rows]
        # Booleans as SQLite has them.
        print_rows(table, names, [[int(value) if isinstance(value, bool) else value for value in row] for row in rows])


def run(work):
    server = subprocess.Popen([sys.executable, "-m", "synapse.app.homeserver", "-c", "hs.yaml"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(240):
            try:
                call("GET", "versions")
                break
            except urllib.error.URLError:
                assert server.poll() is None, "Synapse does not start"
                time.sleep(0.5)
        work()
        # Its updates in the background make indexes and fill columns; synapse_port_db too wants them done.
        while rows_of("SELECT * FROM background_updates")[1]:
            time.sleep(1)
        time.sleep(3)
    finally:
        server.terminate()
        server.wait()


subprocess.run([sys.executable, "-m", "synapse.app.homeserver", "-c", "hs.yaml", "--generate-keys"], check=True) if not os.path.exists("key") else None
read() if sys.argv[1] == "read" else run({"tables": lambda: None, "fill": fill, "change": change, "sign-in": signed_in}[sys.argv[1]])
