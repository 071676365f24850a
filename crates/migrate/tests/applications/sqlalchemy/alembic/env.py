from alembic import context

from models import Base, engine

# Types of ours are those that they are made of.
def render(kind, item, _):
    return f"sa.{item.impl!r}" if kind == "type" and type(item).__module__ == "models" else False


with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, render_item=render)
    with context.begin_transaction():
        context.run_migrations()
