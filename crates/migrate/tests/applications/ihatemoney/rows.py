"""`tables`: I Hate Money makes its tables where it starts. `fill`: projects, people, bills by its REST API. `read`: all
rows, and the history that SQLAlchemy-Continuum writes. `change`: by the API again. `sign-in`: a project's page."""

import os
import sys
import types

import flask
from ihatemoney.models import Bill, db
from ihatemoney.run import create_app
from sqlalchemy.orm import configure_mappers

import sqlalchemy_rows
from told import print_rows

settings = types.SimpleNamespace(SQLALCHEMY_DATABASE_URI=os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"), SECRET_KEY="secret",
                                 WTF_CSRF_ENABLED=False, SESSION_COOKIE_SECURE=False, TESTING=True, MAIL_SUPPRESS_SEND=True, RATELIMIT_ENABLED=False)
app = create_app(settings)
client = app.test_client()


def call(method, address, wanted, **values):
    project = address.split("/")[1] if "/" in address else None
    answer = client.open(f"/api/{address}", method=method, data=values, auth=(project, "secret") if project else None)
    assert answer.status_code == wanted, (method, address, answer.status_code, answer.text)
    return answer.json


def bill(project, number, people):
    payed = people[: 1 + number % len(people)]
    return call("POST", f"projects/{project}/bills", 201, date=f"2024-02-{10 + number % 20}", what=f"Straße 日本語 'quoted' \\ {number}", payer=people[number % len(people)],
                payed_for=payed, amount=["10", "0.1", "1234567.89", "-5.55", "3.3333"][number % 5], bill_type=["Expense", "Reimbursement"][number % 2],
                original_currency="XXX", external_link=["", "https://example.org/?a=ü"][number % 2])


def project(name, bills):
    call("POST", "projects", 201, id=name, name=f"Project {name} ü", password="secret", contact_email="ann@example.org", project_history="y", default_currency="XXX")
    people = [call("POST", f"projects/{name}/members", 201, name=f"{one} O'Härä", weight=weight) for one, weight in [("Ann", 1), ("Bob", 0.5), ("Cid", 2.25)]]
    return [bill(name, number, people) for number in range(bills)]


def fill():
    for name in ("one", "two", "three"):
        bills = project(name, 20)
        call("DELETE", f"projects/{name}/bills/{bills[-1]}", 200)
    call("DELETE", "projects/three", 200)
    call("DELETE", "projects/one/members/3", 200)


def read():
    # What the clock and the salt of a password give to changes.
    hidden = ("issued_at", "creation_date", "password") if sys.argv[2] == "changed" else ()
    configure_mappers()
    with app.app_context():
        sqlalchemy_rows.read(db.Model, db.engine, hidden)
        for name, table in sorted(db.metadata.tables.items()):
            if name.startswith("billowers"):
                print_rows(name, table.columns.keys(), db.session.execute(table.select()))


def change():
    project("new", 5)
    people = [one["id"] for one in call("GET", "projects/one", 200)["members"]]
    bills = [one["id"] for one in call("GET", "projects/one/bills", 200)]
    bill("one", 100, people)
    call("PUT", f"projects/one/bills/{min(bills)}", 200, date="2024-03-31", what="edited", payer=people[1], payed_for=people[:2], amount="7.77", bill_type="Expense",
         original_currency="XXX")
    call("DELETE", f"projects/one/bills/{max(bills)}", 200)
    call("PUT", f"projects/two/members/{call('GET', 'projects/two', 200)['members'][1]['id']}", 200, name="Edited", weight=3, activated="")
    balances = call("GET", "projects/one/statistics", 200)
    call("POST", "projects/one/members", 201, name=str([round(one["balance"], 2) for one in balances]))


def sign_in():
    assert client.get("/one/").status_code == 303
    client.post("/authenticate", data={"id": "one", "password": "wrong"})
    assert client.get("/one/").status_code == 303
    client.post("/authenticate", data={"id": "one", "password": "secret"})
    for address in ("", "statistics", "settle_bills", "history", "edit", "export/bills.json"):
        assert client.get(f"/one/{address}").status_code == 200, address


{"tables": lambda: None, "fill": fill, "read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()
