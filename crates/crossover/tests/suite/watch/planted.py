# An application with a planted hold: its arguments are the file, the journal mode, seconds of a hold and of the pause after it.
# It ends with its standard input and says its true share of time and its commits a second.
import json
import select
import sqlite3
import sys
import time

path, mode, hold, pause = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
db = sqlite3.connect(path, isolation_level=None, timeout=30)
db.execute("PRAGMA journal_mode = " + mode)
# A checkpoint after a commit is no part of the write lock's time.
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("CREATE TABLE IF NOT EXISTS t(a)")
print("ready", flush=True)
held, commits, began = 0.0, 0, time.monotonic()
while not select.select([sys.stdin], [], [], 0)[0]:
    db.execute("BEGIN IMMEDIATE")
    locked = time.monotonic()
    db.execute("INSERT INTO t VALUES (1)")
    time.sleep(max(0, locked + hold - time.monotonic()))
    db.execute("COMMIT")
    held += time.monotonic() - locked
    commits += 1
    time.sleep(pause)
elapsed = time.monotonic() - began
print(json.dumps({"share": held / elapsed, "commits_per_second": commits / elapsed}), flush=True)
