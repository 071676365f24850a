"""SQLAlchemy, with psycopg 3 for PostgreSQL."""

import os

import sqlalchemy

with sqlalchemy.create_engine(os.environ["SQLALCHEMY_URL"]).connect() as connection:
    assert connection.execute(sqlalchemy.text("SELECT count(*) FROM item")).scalar() == 3
