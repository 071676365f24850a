"""A column of each type that SQLAlchemy has for every database, and each kind of relation and constraint."""

import datetime as dt
import decimal
import enum
import os
import uuid

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

engine = sa.create_engine(os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://"))
if engine.dialect.name == "sqlite":
    sa.event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA foreign_keys = ON"))


class Utc(sa.TypeDecorator):
    """A moment: SQLite has it without its zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return value and value.astimezone(dt.timezone.utc)

    def process_result_value(self, value, dialect):
        return value and (value if value.tzinfo else value.replace(tzinfo=dt.timezone.utc))


class Colour(enum.Enum):
    red = "r"
    dark_green = "g"


class Base(DeclarativeBase):
    metadata = sa.MetaData(naming_convention={
        "ix": "ix_%(column_0_label)s", "ck": "ck_%(table_name)s_%(constraint_name)s", "uq": "uq_%(table_name)s_%(column_0_name)s"})


pairs = sa.Table(
    "pairs", Base.metadata,
    sa.Column("left_id", sa.ForeignKey("fields.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("right_id", sa.ForeignKey("people.id", ondelete="CASCADE"), primary_key=True))


class Fields(Base):
    __tablename__ = "fields"
    id: Mapped[int] = mapped_column(primary_key=True)
    big: Mapped[int] = mapped_column(sa.BigInteger)
    small: Mapped[int] = mapped_column(sa.SmallInteger)
    whole: Mapped[int | None]
    yes: Mapped[bool] = mapped_column(default=True)
    perhaps: Mapped[bool | None] = mapped_column(sa.Boolean(create_constraint=True, name="perhaps"))
    name: Mapped[str] = mapped_column(sa.String(40), index=True)
    code: Mapped[str] = mapped_column(sa.Unicode(20), unique=True)
    text: Mapped[str | None] = mapped_column(sa.UnicodeText)
    price: Mapped[decimal.Decimal] = mapped_column(sa.Numeric(12, 2))
    precise: Mapped[decimal.Decimal | None] = mapped_column(sa.Numeric(15, 6))
    as_float: Mapped[float | None] = mapped_column(sa.Numeric(10, 4, asdecimal=False))
    ratio: Mapped[float] = mapped_column(sa.Float)
    double: Mapped[float] = mapped_column(sa.Double)
    day: Mapped[dt.date]
    clock: Mapped[dt.time]
    local: Mapped[dt.datetime]
    moment: Mapped[dt.datetime] = mapped_column(Utc)
    length: Mapped[dt.timedelta]
    length_or_none: Mapped[dt.timedelta | None]
    colour: Mapped[Colour]
    colour_or_none: Mapped[str | None] = mapped_column(sa.Enum("thin", "thick", name="width"))
    colour_as_text: Mapped[Colour] = mapped_column(sa.Enum(Colour, native_enum=False, create_constraint=True, name="as_text"))
    identifier: Mapped[uuid.UUID] = mapped_column(unique=True)
    identifier_as_text: Mapped[str | None] = mapped_column(sa.Uuid(as_uuid=False))
    document: Mapped[dict | None] = mapped_column(sa.JSON)
    document_or_none: Mapped[dict | None] = mapped_column(sa.JSON(none_as_null=True))
    content: Mapped[bytes]
    pickled: Mapped[object | None] = mapped_column(sa.PickleType)
    since: Mapped[dt.datetime] = mapped_column(sa.DateTime, server_default=sa.func.current_timestamp())
    state: Mapped[str] = mapped_column(sa.String(10), server_default="new")
    doubled: Mapped[int] = mapped_column(sa.Integer, sa.Computed("small * 2", persisted=True))
    people: Mapped[list["Person"]] = relationship(secondary=pairs, back_populates="fields", order_by="Person.id")
    __table_args__ = (sa.CheckConstraint("price >= 0", name="price"), sa.CheckConstraint("small <= 1000", name="small"),
                      sa.Index("ix_fields_two", "day", "name", unique=True))


class Person(Base):
    __tablename__ = "people"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(10))
    Name: Mapped[str] = mapped_column("Full Name", sa.String(60))
    boss_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("people.id", ondelete="SET NULL"))
    boss: Mapped["Person | None"] = relationship(remote_side=id)
    fields: Mapped[list[Fields]] = relationship(secondary=pairs, back_populates="people")
    __mapper_args__ = {"polymorphic_on": "kind", "polymorphic_identity": "person"}


class Worker(Person):
    """A table of its own for what a person has not."""

    __tablename__ = "workers"
    id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    wage: Mapped[decimal.Decimal] = mapped_column(sa.Numeric(10, 3))
    __mapper_args__ = {"polymorphic_identity": "worker"}


class Line(Base):
    """A key of two columns, and a foreign key to it."""

    __tablename__ = "lines"
    document: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    after_document: Mapped[int | None]
    after_number: Mapped[int | None]
    __table_args__ = (sa.ForeignKeyConstraint(["after_document", "after_number"], ["lines.document", "lines.number"], name="after"),)


class Numbered(Base):
    """Keys that are never given out again."""

    __tablename__ = "numbered"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    __table_args__ = {"sqlite_autoincrement": True}


class Empty(Base):
    __tablename__ = "empty"
    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    name: Mapped[str | None]
