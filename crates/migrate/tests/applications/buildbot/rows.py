"""`fill`: its master takes changes and builds them. `read`: all rows of its tables.
`change`: the master goes on, forgets old logs and a user."""

import os
import sys

import sqlalchemy as sa
from buildbot.db.model import Model
from buildbot.master import BuildMaster
from twisted.internet import defer, reactor, task

from told import print_rows


async def of(master, number):
    sets = await master.data.get(("buildsets",))
    return [one for one in sets if one["sourcestamps"][0]["revision"] == f"{number:040}"]


async def commits(master, numbers):
    """A change for each number, when the builds of the one before are done."""
    for number in numbers:
        await master.data.updates.addChange(files=["a.py", f"ü/{number}.py"], comments=f"it's 'quoted' \\ 日本語 {number}", author=f"Ann <ann{number % 3}@example.org>",
                                            committer="Bob", revision=f"{number:040}", when_timestamp=1_700_000_000 + number, branch=["main", None][number % 2],
                                            category="c", properties={"number": number, "list": [1, 2.5, None]}, repository="https://example.org/r", src="git")
        while not (sets := await of(master, number)) or not all(one["complete"] for one in sets):
            await task.deferLater(reactor, 0.2)


async def fill(master):
    await commits(master, range(6))
    state = await master.db.state.getObjectId("state", "of.us")
    await master.db.state.setState(state, "value", {"a": [None, 0.1, "ü"]})


async def change(master):
    await commits(master, [100, 101])
    await master.db.users.updateUser(uid=1, identifier="edited", bb_username="ann", bb_password="secret", attr_type="email", attr_data="new@example.org")
    await master.db.users.removeUser(2)
    await master.data.updates.set_worker_paused(1, True, "edited")
    state = await master.db.state.getObjectId("state", "of.us")
    await master.db.state.setState(state, "value", "edited")
    await master.db.logs.deleteOldLogChunks(2**31 - 1)
    await master.db.build_data.deleteOldBuildData(1)
    found = [one["buildid"] for one in await master.data.get(("builders", 1, "builds"))], len(await master.data.get(("changes",)))
    await master.db.state.setState(state, "found", str(found))


async def run():
    master = BuildMaster(os.getcwd(), "master.cfg")
    await master.startService()
    await {"fill": fill, "change": change}[sys.argv[1]](master)
    await master.stopService()


def read():
    # What the clock gives to changes; the keys that PostgreSQL's upserts use up; and a text made by two tasks at once.
    ending = ("_at", "last_active", "when_timestamp", "build_data.id", "builds.state_string") if sys.argv[2] == "changed" else ()
    with sa.create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg2:")).connect() as connection:
        for name, table in sorted(Model.metadata.tables.items()):
            columns = [column for column in table.columns if not str(column).endswith(ending)]
            print_rows(name, [column.name for column in columns], connection.execute(sa.select(*columns)))


read() if sys.argv[1] == "read" else task.react(lambda _: defer.ensureDeferred(run()))
