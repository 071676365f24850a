"""Rows of every model, by the models."""

import datetime as dt
import random
import uuid
from decimal import Decimal

import django

django.setup()

from django.contrib.auth.models import Group, Permission, User
from django.core.files.base import ContentFile
from django.db import transaction

from every.models import *

chance = random.Random(45)
UTC = dt.timezone.utc
LENGTHS = [dt.timedelta(0), dt.timedelta(microseconds=1), dt.timedelta(days=-1, seconds=5), dt.timedelta(days=400, hours=25),
           dt.timedelta(days=-3, microseconds=-7), dt.timedelta(days=100_000)]
DOCUMENTS = [{}, [], {"a": [1, 2.5, None, True]}, "only text", 12345678901234567890, {"ü": "\u20ac \U0001f600", "1": {"deep": [[]]}}, 1.50, False]
ADDRESSES = ["192.0.2.1", "2001:db8::1", "::1", "10.0.0.255", "fe80::1:2"]


def identifier():
    return uuid.UUID(int=chance.getrandbits(128), version=4)


def fields(number):
    moment = dt.datetime(2024, 10, 27, 0, 30, tzinfo=UTC) + dt.timedelta(minutes=13 * number, microseconds=number * (number % 3))
    return Fields(
        char=chance.choice(["", " ", "Straße", "O'Hara \\ %", "line\nline"]) + str(number),
        char_without_end=chance.choice([None, "", "x" * 2000]), text=chance.choice(["", "\t", "日本語", "'\"`;--"]),
        slug=f"slug-{number}", email=f"Person{number}@example.org", url="https://example.org/?a=1&b=%20",
        small=chance.choice([-32768, 0, 32766]), positive_small=32767, integer=chance.choice([32767, 2147483647 - 60]) + number if number % 2 else number,
        positive=2147483647, big=chance.choice([-2**63, 2**63 - 1, 0]), positive_big=2**63 - 1,
        yes=number % 2 == 1, perhaps=chance.choice([None, True, False]),
        price=Decimal(chance.randint(0, 10**9)) / 100, precise=chance.choice([None, Decimal("0.000001"), Decimal("-123456789.123456"), Decimal(3)]),
        ratio=chance.choice([0.1, -1e-300, 1e300, 3.0, 2 / 3]), day=dt.date(1900, 1, 1) + dt.timedelta(days=number * 500),
        moment=moment, moment_or_none=chance.choice([None, moment]),
        clock=chance.choice([dt.time(0), dt.time(23, 59, 59, 999999), dt.time(12, 30, 15)]),
        length=chance.choice(LENGTHS), length_or_none=chance.choice([None, *LENGTHS]), identifier=identifier(),
        identifier_or_none=chance.choice([None, identifier()]), document=chance.choice(DOCUMENTS), document_or_none=chance.choice([None, *DOCUMENTS]),
        content=chance.randbytes(number), address=chance.choice(ADDRESSES), address_or_none=chance.choice([None, "::ffff:192.0.2.7", *ADDRESSES]),
        address4="198.51.100.7", path=None, choice="b", since=moment,
    )


with transaction.atomic():
    ann = User.objects.create_superuser("ann", "ann@example.org", "secret of ann", id=7)
    User.objects.create_user("bob", password="secret of bob", last_login=dt.datetime(2025, 1, 1, tzinfo=UTC))
    editors = Group.objects.create(name="editors")
    editors.permissions.set(Permission.objects.order_by("pk")[:5])
    ann.groups.add(editors)
    for number in range(1, 61):
        one = fields(number)
        one.file.save(f"{number}.txt", ContentFile(b"text"), save=False)
        one.save()
    # The greatest keys are gone: the next must be greater still.
    Fields.objects.filter(pk__gt=55).delete()
    tags = [Tag.objects.create(name=name) for name in ("red", "Red", "grün", "a b")]
    members = []
    for number in range(20):
        member = Member.objects.create(id=identifier(), name=f"member {number}", boss=chance.choice([None, *members]))
        member.tags.set(chance.sample(tags, 2))
        member.friends.add(*chance.sample(members, min(2, len(members))))
        member.notes.create(text=f"note {number}")
        Profile.objects.create(member=member, about="about")
        members.append(member)
    for number in range(4):
        team = Team.objects.create(name=f"team {number}")
        for member in chance.sample(members, 5):
            Membership.objects.create(team=team, member=member, joined=dt.date(2024, 2, 29))
    for number in range(5):
        Restaurant.objects.create(name=f"place {number}", stars=chance.choice([None, 1, 3]))
    Note.objects.create(of=tags and team, text="of a team")
