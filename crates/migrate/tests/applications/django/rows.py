"""`read`: all rows. `change`: of each table a row inserted, one edited, one deleted. `sign-in`: a person."""

import datetime as dt
import sys
import uuid

import django

django.setup()

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.contrib.sites.models import Site
from django.test import Client

from django_rows import read
from every.models import *

MOMENT = dt.datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=dt.timezone.utc)


def again(row, **values):
    """The row once more, under a new key."""
    kept = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields
            if not field.generated and not field.primary_key and field.attname not in values}
    new = type(row)(**kept, **values)
    new.save(force_insert=True)
    return new


def change():
    new = again(Fields.objects.get(pk=2), slug="new", email="new@example.org", char="new", identifier=uuid.UUID(int=1))
    assert new.pk == 61, new.pk
    last = Fields.objects.get(pk=55)
    for field in Fields._meta.concrete_fields:
        if not (field.unique or field.generated or field.attname in ("char", "email", "integer", "yes", "small", "day")):
            setattr(last, field.attname, getattr(new, field.attname))
    last.save()
    Fields.objects.get(pk=3).delete()
    Fields.objects.filter(pk=4).update(length=models.F("length") + dt.timedelta(hours=1), small=-1)

    members = list(Member.objects.order_by("pk"))
    new = Member.objects.create(id=uuid.UUID(int=2), name="new", boss=members[0])
    new.friends.add(members[1], members[2])
    new.friends.remove(members[1])
    new.tags.add(Tag.objects.create(name="new"))
    Tag.objects.get(name="Red").delete()
    Profile.objects.create(member=new, about="new")
    members[3].profile.about = "edited"
    members[3].profile.save()
    members[4].profile.delete()
    members[5].delete()

    team = Team.objects.create(name="new")
    assert team.pk == 5, team.pk
    Membership.objects.create(team=team, member=new, joined=dt.date(2026, 1, 1))
    Membership.objects.filter(team_id=1).update(joined=dt.date(2026, 1, 2))
    Team.objects.get(pk=2).delete()
    note = Note.objects.create(of=team, text="new")
    note.text = "edited"
    note.save()
    Note.objects.order_by("pk").first().delete()

    place = Restaurant.objects.create(name="new", stars=2)
    assert place.pk == 6, place.pk
    Restaurant.objects.filter(pk=1).update(stars=3, name="edited")
    Restaurant.objects.get(pk=2).delete()
    for name in ("one", "two"):
        Empty.objects.create(name=name)
    Empty.objects.get(pk=1).delete()

    user = User.objects.create(username="new", date_joined=MOMENT)
    group = Group.objects.create(name="new")
    group.permissions.add(Permission.objects.order_by("pk").first())
    user.groups.add(group)
    user.user_permissions.add(Permission.objects.order_by("pk").last())
    User.objects.filter(username="ann").update(is_staff=True, last_name="edited", date_joined=MOMENT)
    User.objects.get(username="bob").delete()
    kind = ContentType.objects.create(app_label="every", model="new")
    permission = Permission.objects.create(content_type=kind, codename="new", name="new")
    permission.name = "edited"
    permission.save()
    Permission.objects.get(codename="delete_session").delete()
    LogEntry.objects.create(user=user, content_type=kind, object_id="1", action_flag=CHANGE, action_time=MOMENT)
    Site.objects.create(domain="new.example.org", name="new")
    Site.objects.filter(pk=1).update(name="edited")
    Session.objects.create(session_key="new", session_data="x", expire_date=MOMENT)

    # What the rules refuse is refused.
    from django.db import IntegrityError, transaction
    for wrong in ({"price": -1}, {"email": "NEW@example.org"}, {"slug": "new"}):
        try:
            with transaction.atomic():
                again(Fields.objects.get(pk=2), **{"slug": "w", "email": "w@x.org", "char": "w", "identifier": uuid.UUID(int=9), **wrong})
        except IntegrityError:
            continue
        raise AssertionError(f"{wrong} is not refused")


def sign_in():
    client = Client()
    assert client.post("/admin/login/", {"username": "ann", "password": "wrong"}).status_code == 200
    answer = client.post("/admin/login/?next=/admin/", {"username": "ann", "password": "secret of ann"})
    assert answer.status_code == 302, answer.status_code
    for model in ("fields", "note", "tag", "member", "team", "profile", "restaurant"):
        page = client.get(f"/admin/every/{model}/")
        assert page.status_code == 200, (model, page.status_code)
    page = client.get("/admin/every/fields/1/change/")
    assert page.status_code == 200 and b"slug-1" in page.content


{"read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()
