"""`fill`: queues, tickets, answers, files by django-helpdesk's models and functions. `read`: all rows. `change`: tickets
go on. `sign-in`: one of the staff, who answers a ticket; and a visitor."""

import datetime as dt
import sys

import django

django.setup()

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from helpdesk.models import (Checklist, ChecklistTemplate, CustomField, FollowUp, IgnoreEmail, KBCategory, KBItem, Queue, SavedSearch, Ticket, TicketCC,
                             TicketCustomFieldValue, TicketDependency)
from helpdesk.query import query_to_base64
from helpdesk.update_ticket import update_ticket

import django_rows

MOMENT = dt.datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=dt.timezone.utc)


def ticket(queue, number, user):
    one = Ticket.objects.create(queue=queue, title=f"Straße {number}", description="日本語 'quoted' \\", submitter_email="c@example.org", priority=1 + number % 5,
                                due_date=MOMENT + dt.timedelta(days=number), assigned_to=user, created=MOMENT)
    file = SimpleUploadedFile(f"datei ü {number}.txt", bytes(range(32, 127)), "text/plain")
    update_ticket(user, one, comment=f"answer {number}", files=[file] if number % 2 else None, public=True, time_spent=dt.timedelta(hours=1, microseconds=5))
    update_ticket(user, one, title=f"Title {number}", new_status=(Ticket.OPEN_STATUS, Ticket.CLOSED_STATUS)[number % 3 == 0], priority=2)
    TicketCustomFieldValue.objects.create(ticket=one, field=CustomField.objects.first(), value=f"{number}.50")
    return one


def fill():
    ann, bob = User.objects.create_superuser("ann", "ann@example.org", "secret of ann"), User.objects.create_user("bob", "bob@example.org", "secret of bob")
    CustomField.objects.create(name="price", label="Price ü", data_type="decimal", max_length=9, decimal_places=2, required=False)
    queues = [Queue.objects.create(title=f"Queue {name}", slug=name, allow_public_submission=True, dedicated_time=dt.timedelta(days=3)) for name in ("one", "two")]
    tickets = [ticket(queues[number % 2], number, (ann, bob)[number % 2]) for number in range(20)]
    TicketDependency.objects.create(ticket=tickets[0], depends_on=tickets[1])
    TicketCC.objects.create(ticket=tickets[1], user=bob, can_view=True)
    TicketCC.objects.create(ticket=tickets[2], email="d@example.org", can_update=True)
    item = KBItem.objects.create(category=KBCategory.objects.create(name="help", title="Help", slug="help", description="ü"), title="Why?", question="why", answer="so", last_updated=MOMENT)
    item.voted_by.add(ann, bob)
    ChecklistTemplate.objects.create(name="steps", task_list=["a", "ü", 'c "d"'])
    Checklist.objects.create(ticket=tickets[3], name="steps").tasks.create(description="first", completion_date=MOMENT, position=0)
    SavedSearch.objects.create(user=ann, title="mine", shared=True, query=query_to_base64({"filtering": {"status__in": [1, 2]}}))
    IgnoreEmail.objects.create(name="spam", email_address="*@spam.example.org", date=dt.date(2024, 2, 29)).queues.add(*queues)


def read():
    # What the clock and chance give to changes.
    hidden = ("created", "modified", "date", "date_joined", "last_login", "password", "secret_key", "file") if sys.argv[2] == "changed" else ()
    django_rows.read(hidden=hidden)


def change():
    ann, bob = User.objects.get(username="ann"), User.objects.get(username="bob")
    queue = Queue.objects.create(title="New", slug="new", dedicated_time=dt.timedelta(seconds=1.5))
    new = ticket(queue, 101, bob)
    first, second, third = Ticket.objects.exclude(queue=queue).order_by("pk")[:3]
    open_ones = Ticket.objects.filter(status=Ticket.OPEN_STATUS, due_date__lt=MOMENT + dt.timedelta(days=9)).count()
    update_ticket(ann, first, comment=f"see #{new.pk}, {open_ones} open", owner=bob.pk, queue=queue.pk, new_status=Ticket.RESOLVED_STATUS, due_date=MOMENT)
    second.delete()
    TicketDependency.objects.create(ticket=new, depends_on=third)
    TicketCC.objects.filter(email="d@example.org").delete()
    Checklist.objects.create(ticket=new, name="new").tasks.create(description="ü", position=1)
    KBItem.objects.get().downvoted_by.add(ann)
    KBCategory.objects.update(description="edited")
    SavedSearch.objects.update(title="edited")
    IgnoreEmail.objects.get().queues.add(queue)
    User.objects.create_user("new")


def sign_in():
    client, visitor = Client(), Client()
    client.post("/login/", {"username": "ann", "password": "wrong"})
    assert client.get("/dashboard/").status_code == 302
    client.post("/login/", {"username": "ann", "password": "secret of ann"})
    one = Ticket.objects.filter(status=Ticket.OPEN_STATUS).earliest("pk")
    assert client.post(f"/tickets/{one.pk}/update/", {"comment": "by the page", "new_status": 1, "priority": 1, "public": 1, "title": one.title, "queue": one.queue_id, "owner": 0}).status_code == 302
    assert FollowUp.objects.filter(ticket=one, comment="by the page").exists()
    for who, address in ((client, "dashboard/"), (client, "tickets/"), (client, f"tickets/{one.pk}/"), (client, "reports/"), (client, "reports/usermonth/"), (client, "saved-searches/"),
                         (client, "api/tickets/?status=Open"), (client, "kanban/"), (visitor, "kb/help/"), (visitor, f"view/?ticket={one.ticket_for_url}&email=c@example.org&key={one.secret_key}")):
        answer = who.get(f"/{address}")
        assert answer.status_code == 200, (address, answer.status_code)


{"fill": fill, "read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()
