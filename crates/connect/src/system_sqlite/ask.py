# Asks a SQLite library of this machine for its version, compile options and plans. The question comes as
# JSON on standard input, the answer leaves so. `library` is "module" (that of python3's sqlite3) or
# "loader" (libsqlite3.so.0). Nothing is executed but PRAGMA and EXPLAIN QUERY PLAN, read-only.
import functools
import json
import sys

asked = json.load(sys.stdin)


def loaded():
    """The path of the library in this process, where it is a file of its own."""
    with open("/proc/self/maps") as maps:
        return next((line.split(maxsplit=5)[-1].strip() for line in maps if "libsqlite3" in line), "")


class Absent(dict):
    """NULL for every named parameter."""

    def __missing__(self, name):
        return None


def module(uri):
    import sqlite3

    plain = sqlite3.connect(":memory:")
    told = {
        "origin": "python3's module sqlite3" + (loaded() and ", " + loaded()),
        "is_loaders": loaded().startswith(("/lib", "/usr/lib")),
        "version": sqlite3.sqlite_version,
        "source_id": plain.execute("SELECT sqlite_source_id()").fetchone()[0],
        "compile_options": [row[0] for row in plain.execute("PRAGMA compile_options")],
    }

    @functools.lru_cache
    def opened():
        return sqlite3.connect(uri, uri=True)

    def rows(sql):
        return opened().execute(sql, Absent()).fetchall()

    return told, rows


def loader(uri):
    import ctypes

    library = ctypes.CDLL("libsqlite3.so.0")
    for name in ("libversion", "sourceid", "compileoption_get", "errmsg", "column_text"):
        getattr(library, "sqlite3_" + name).restype = ctypes.c_char_p
    text = lambda value: (value or b"").decode("utf-8", "replace")
    options, place = [], 0
    while library.sqlite3_compileoption_get(place):
        options.append(text(library.sqlite3_compileoption_get(place)))
        place += 1
    told = {
        "origin": "the loader's, " + (loaded() or "libsqlite3.so.0"),
        "is_loaders": True,
        "version": text(library.sqlite3_libversion()),
        "source_id": text(library.sqlite3_sourceid()),
        "compile_options": options,
    }

    READ_ONLY, URI, ROW, DONE = 0x1, 0x40, 100, 101

    @functools.lru_cache
    def opened():
        database = ctypes.c_void_p()
        if library.sqlite3_open_v2(uri.encode(), ctypes.byref(database), READ_ONLY | URI, None):
            raise Exception(text(library.sqlite3_errmsg(database)))
        return database

    def rows(sql):
        database, statement = opened(), ctypes.c_void_p()
        if library.sqlite3_prepare_v2(database, sql.encode(), -1, ctypes.byref(statement), None):
            raise Exception(text(library.sqlite3_errmsg(database)))
        found = []
        while (code := library.sqlite3_step(statement)) == ROW:
            column = lambda number: text(library.sqlite3_column_text(statement, number))
            found.append((int(column(0)), int(column(1)), 0, column(3)))
        library.sqlite3_finalize(statement)
        if code != DONE:
            raise Exception(text(library.sqlite3_errmsg(database)))
        return found

    return told, rows


def plan(rows):
    depths, lines = {}, []
    for number, parent, _, detail in rows:
        depths[number] = depths.get(parent, -1) + 1
        lines.append("  " * depths[number] + detail)
    return "\n".join(lines)


told, rows = {"module": module, "loader": loader}[asked["library"]](asked["uri"])
told["plans"] = []
for statement in asked["statements"]:
    try:
        told["plans"].append({"Ok": plan(rows("EXPLAIN QUERY PLAN " + statement))})
    except Exception as error:
        told["plans"].append({"Err": str(error)})
json.dump(told, sys.stdout)
