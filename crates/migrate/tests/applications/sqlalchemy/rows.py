"""`fill`: rows of every model. `read`: all of them. `change`: of each table a row inserted, one edited, one deleted."""

import datetime as dt
import random
import sys
import uuid
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

import sqlalchemy_rows
from models import *
from told import print_rows

UTC = dt.timezone.utc
LENGTHS = [dt.timedelta(0), dt.timedelta(microseconds=1), dt.timedelta(days=-1, seconds=5), dt.timedelta(days=400, hours=25),
           dt.timedelta(days=-3, microseconds=-7), dt.timedelta(days=20_000)]
DOCUMENTS = [{}, [], {"a": [1, 2.5, None, True]}, "only text", 2**53, {"ü": "\u20ac \U0001f600", "1": {"deep": [[]]}}, None, False]


def fields(chance, number):
    local = dt.datetime(2024, 10, 27, 2, 30) + dt.timedelta(minutes=13 * number, microseconds=number * (number % 3))
    identifier = uuid.UUID(int=chance.getrandbits(128), version=4)
    return Fields(
        big=chance.choice([-2**63, 2**63 - 1, 0]), small=chance.choice([-16384, 0, 1000]), whole=chance.choice([None, -2**31, 2**31 - 1]),
        yes=number % 2 == 1, perhaps=chance.choice([None, True, False]), name=chance.choice(["", " ", "Straße", "O'Hara \\ %", "line\nline"]) + str(number),
        code=f"code {number}", text=chance.choice([None, "", "日本語", "x" * 5000]),
        price=Decimal(chance.randint(0, 10**9)) / 100, precise=chance.choice([None, Decimal("0.000001"), Decimal("-123456789.123456"), Decimal(3)]),
        as_float=chance.choice([None, 0.1, 2.5]), ratio=chance.choice([0.1, -1e-300, 1e300, 3.0]), double=2 / 3 * number,
        day=dt.date(1900, 1, 1) + dt.timedelta(days=number * 500), clock=chance.choice([dt.time(0), dt.time(23, 59, 59, 999999), dt.time(12, 30, 15)]),
        local=local, moment=local.replace(tzinfo=dt.timezone(dt.timedelta(hours=number % 5))), length=chance.choice(LENGTHS),
        length_or_none=chance.choice([None, *LENGTHS]), colour=chance.choice(list(Colour)), colour_or_none=chance.choice([None, "thin", "thick"]),
        colour_as_text=chance.choice(list(Colour)), identifier=identifier, identifier_as_text=chance.choice([None, str(identifier)]),
        document=chance.choice(DOCUMENTS), document_or_none=chance.choice(DOCUMENTS), content=chance.randbytes(number),
        pickled=chance.choice([None, {"a": (1, 2)}]), since=local)


def fill():
    chance = random.Random(45)
    with Session(engine) as session, session.begin():
        people = []
        for number in range(20):
            identifier, boss = uuid.UUID(int=chance.getrandbits(128), version=4), chance.choice([None, *people])
            kind = Worker(wage=Decimal(number) / 8) if number % 3 == 0 else Person()
            kind.id, kind.Name, kind.boss = identifier, f"person {number}", boss
            people.append(kind)
        session.add_all(people)
        for number in range(1, 61):
            session.add(one := fields(chance, number))
            one.people = chance.sample(people, 2)
        session.flush()
        session.add_all([Line(document=1, number=1), Line(document=1, number=2)])
        session.flush()
        session.add(Line(document=2, number=1, after_document=1, after_number=2))
        session.add_all([Numbered(name=f"name {number}") for number in range(10)])
        session.flush()
        session.execute(sa.delete(Numbered).where(Numbered.id > 7))
        session.execute(sa.delete(Fields).where(Fields.id.in_([7, 8])))


def read():
    sqlalchemy_rows.read(Base, engine)
    with Session(engine) as session:
        print_rows("pairs", ["of", "to"], [(row.id, [str(person.id) for person in row.people]) for row in session.scalars(sa.select(Fields))])


def change():
    with Session(engine) as session, session.begin():
        session.add(new := fields(random.Random(1), 100))
        session.flush()
        assert new.id == 61, new.id
        session.get(Fields, 1).people = []
        edited = session.get(Fields, 2)
        for name in ("big", "yes", "text", "clock", "moment", "length", "colour", "colour_or_none", "document", "content"):
            setattr(edited, name, getattr(new, name))
        edited.perhaps, edited.precise = not edited.perhaps, Decimal("7.000001")
        session.delete(session.get(Fields, 3))
        person = Worker(id=uuid.UUID(int=1), Name="new", wage=Decimal("1.125"))
        session.add(person)
        new.people = [person]
        people = session.scalars(sa.select(Worker).where(Worker.id != person.id).order_by(Worker.id)).all()
        people[0].wage, people[0].Name, people[0].boss = Decimal("9.999"), "edited", person
        session.delete(people[1])
        session.add(Line(document=2, number=2, after_document=2, after_number=1))
        session.delete(session.get(Line, (1, 1)))
        session.get(Line, (2, 1)).after_number = None
        session.get(Line, (2, 1)).after_document = None
        session.add(numbered := Numbered(name="new"))
        session.flush()
        assert numbered.id == 11, numbered.id
        session.get(Numbered, 1).name = "edited"
        session.delete(session.get(Numbered, 2))
        session.add_all([Empty(name="one"), Empty(name="two")])
        session.flush()
        session.delete(session.get(Empty, 1))
        session.get(Empty, 2).name = "edited"
    # Questions with a value of each type find the same rows.
    with Session(engine) as session:
        for question in (Fields.yes.is_(True), Fields.perhaps == False, Fields.colour == Colour.dark_green, Fields.identifier == edited_identifier(session),
                         Fields.length > dt.timedelta(days=1), Fields.clock < dt.time(13), Fields.moment > dt.datetime(2024, 10, 27, 3, tzinfo=UTC),
                         Fields.price > Decimal("1000.5"), Fields.day.between(dt.date(1910, 1, 1), dt.date(1950, 1, 1)), Fields.content > b"\x80"):
            session.add(Empty(name=f"{session.scalar(sa.select(sa.func.count()).select_from(Fields).where(question))} rows"))
        session.commit()
    # What the rules refuse is refused.
    for wrong in ({"price": Decimal(-1)}, {"small": 1001}, {"code": "code 2"}):
        with Session(engine) as session:
            one = fields(random.Random(2), 200)
            for name, value in wrong.items():
                setattr(one, name, value)
            session.add(one)
            try:
                session.commit()
            except DBAPIError:
                continue
        raise AssertionError(f"{wrong} is not refused")


def edited_identifier(session):
    return session.get(Fields, 2).identifier


{"fill": fill, "read": read, "change": change}[sys.argv[1]]()
