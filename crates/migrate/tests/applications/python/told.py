"""Rows as texts that are equal only if type and value are."""

import datetime
import json


def told(value):
    if isinstance(value, memoryview):
        value = bytes(value)
    if isinstance(value, datetime.datetime) and value.tzinfo:
        value = value.astimezone(datetime.timezone.utc)
    if hasattr(value, "raw_data"):
        value = [dict(block) for block in value.raw_data]  # Wagtail's streams
    kept = isinstance(value, (dict, list, str, int, float, bool, type(None)))
    return [type(value).__name__, value if kept else repr(value)]


def print_rows(name, columns, rows):
    lines = sorted(json.dumps(dict(zip(columns, map(told, row))), sort_keys=True) for row in rows)
    for line in lines:
        print(name, line)
