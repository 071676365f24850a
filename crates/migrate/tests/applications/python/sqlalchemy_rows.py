"""All rows of all models of a declarative base."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from told import print_rows


def read(base, engine, hidden=()):
    with Session(engine) as session:
        for mapper in sorted(base.registry.mappers, key=lambda mapper: mapper.class_.__name__):
            names = [column.key for column in mapper.column_attrs if column.key not in hidden]
            rows = session.scalars(sa.select(mapper.class_))
            print_rows(mapper.class_.__name__, names, [[getattr(row, name) for name in names] for row in rows])
