"""libpq by psycopg; for SQLite there is no such form."""

import os

import psycopg

address = os.environ["LIBPQ"]
if address:
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT count(*) FROM item").fetchone() == (3,)
else:
    assert os.environ["SQLALCHEMY_URL"].startswith("sqlite:")
