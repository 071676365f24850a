"""`read`: all rows of all models. `change`: a talk, a speaker, a room and more inserted, edited, deleted. `sign-in`: the
organiser, who opens pages."""

import datetime as dt
import os
import random
import sys

import django

django.setup()

from django.conf import settings
from django.test import Client, override_settings
from django_scopes import scopes_disabled
from pretalx.event.models import Event, Organiser, Team
from pretalx.person.models import SpeakerProfile, User
from pretalx.schedule.models import Availability, Room, TalkSlot
from pretalx.submission.models import Answer, Question, Review, Submission, SubmissionType, Tag, Track

import django_rows

# What the clock and chance give to changes.
CHANGING = ("timestamp", "created", "updated", "code", "token", "password", "date_joined", "last_login", "invitation_token", "review_code")


def read():
    django_rows.read(hidden=CHANGING if sys.argv[2] == "changed" else ())


def change():
    os.urandom = random.Random(1).randbytes
    event = Event.objects.get()
    moment = dt.datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=dt.timezone.utc)
    user = User.objects.create_user(email="new@example.org", name="New Ü", password="secret")
    room = Room.objects.create(event=event, name="New room", position=9)
    track = Track.objects.create(event=event, name="New", color="#00ff00")
    kind = SubmissionType.objects.first()
    talk = Submission.objects.create(event=event, title="New talk", submission_type=kind, track=track, content_locale="en", abstract="日本語 'quoted' \\")
    talk.tags.add(Tag.objects.create(event=event, tag="new"))
    TalkSlot.objects.filter(room__isnull=False).order_by("pk").first().delete()
    slot = TalkSlot.objects.filter(room__isnull=False).order_by("pk").first()
    slot.start, slot.room = moment, room
    slot.save()
    Availability.objects.create(event=event, room=room, start=moment, end=moment + dt.timedelta(hours=3))
    question = Question.objects.create(event=event, question="Why?", variant="string", target="submission")
    Answer.objects.create(question=question, submission=talk, answer="so")
    Review.objects.create(submission=talk, user=user, text="good")
    edited = Submission.objects.exclude(pk=talk.pk).order_by("pk").first()
    edited.title, edited.duration = "Edited", 45
    edited.save()
    Team.objects.create(organiser=Organiser.objects.first(), name="new").members.add(user)
    User.objects.filter(email="ann@example.org").update(name="Ann edited")
    SubmissionType.objects.create(event=event, name="New type", default_duration=5)


# The wheel has no index of its style sheets.
@override_settings(VITE_DEV_MODE=True, STORAGES={**settings.STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}})
def sign_in():
    client = Client(headers={"host": "localhost"})
    assert client.get("/orga/event/", follow=True).redirect_chain
    client.post("/orga/login/", {"login_email": "ann@example.org", "login_password": "wrong"})
    assert "_auth_user_id" not in client.session
    client.post("/orga/login/", {"login_email": "ann@example.org", "login_password": "secret of ann"})
    assert "_auth_user_id" in client.session
    slug = Event.objects.get().slug
    for address in ("/orga/event/", f"/orga/event/{slug}/submissions/", f"/orga/event/{slug}/schedule/", f"/orga/event/{slug}/speakers/",
                    f"/orga/event/{slug}/reviews/", f"/{slug}/schedule/", f"/{slug}/talk/", f"/orga/event/{slug}/submissions/?q=Edited"):
        answer = client.get(address, follow=True)
        assert answer.status_code == 200, (address, answer.status_code)


with scopes_disabled():
    {"read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()
