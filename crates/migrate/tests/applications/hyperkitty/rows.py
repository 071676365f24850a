"""`fill`: messages by HyperKitty's interface for Mailman; its pages for votes, tags, favourites. `read`: all rows of all
models. `change`: by the same again. `sign-in`: a reader, who opens lists and threads. Mailman itself does not run."""

import datetime as dt
import sys
from email.message import EmailMessage
from email.utils import format_datetime

import django

django.setup()

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hyperkitty.models import Email, MailingList, Thread, ThreadCategory
from postorius.models import EmailTemplate

import django_rows


def send(to, number, parent=None):
    message = EmailMessage()
    message["From"], message["To"], message["Message-ID"] = f"Ünal {number % 4} <writer{number % 4}@example.org>", to, f"<{number}@example.org>"
    message["Subject"] = f"{'Re: ' if parent is not None else ''}Straße {number if parent is None else parent}"
    message["Date"] = format_datetime(dt.datetime(2024, 2, 29, number % 24, 30, tzinfo=dt.timezone(dt.timedelta(hours=number % 5 - 2, minutes=30))))
    if parent is not None:
        message["In-Reply-To"] = f"<{parent}@example.org>"
    message.set_content(f"日本語 'quoted' \\ {number}\n> before\n" * 20)
    if number % 3 == 0:
        message.add_attachment(bytes(range(256)), maintype="image", subtype="png", filename=f"bild ü {number}.png")
    file = SimpleUploadedFile("message", message.as_bytes())
    answer = Client(headers={"authorization": f"Token {settings.MAILMAN_ARCHIVER_KEY}"}).post("/hyperkitty/api/mailman/archive", {"mlist": to, "message": file})
    assert answer.status_code == 200, answer.content


def page(client, address, **values):
    answer = client.post(f"/hyperkitty/list/{address}", values)
    assert answer.status_code in (200, 302), (address, answer.status_code)


def signed(name):
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def opinions(client, email, value, tag):
    mlist, thread = email.mailinglist.name, email.thread.thread_id
    page(client, f"{mlist}/message/{email.message_id_hash}/vote", vote=value)
    page(client, f"{mlist}/thread/{thread}/tags", tag=tag, action="add")
    page(client, f"{mlist}/thread/{thread}/favorite", action="add")


def fill():
    for name, make in (("ann", User.objects.create_superuser), ("bob", User.objects.create_user)):
        EmailAddress.objects.create(user=make(name, f"{name}@example.org", f"secret of {name}"), email=f"{name}@example.org", verified=True, primary=True)
    for name in ("ask", "news"):
        for number in range(20):
            send(f"{name}@example.org", number, None if number % 4 == 0 else number - number % 4)
    MailingList.objects.filter(name="news@example.org").update(description="日本語", archive_policy=1)
    ThreadCategory.objects.create(name="question", color="#00ff00")
    for number, email in enumerate(Email.objects.filter(mailinglist__name="ask@example.org").order_by("message_id")):
        opinions(signed(("ann", "bob")[number % 2]), email, (1, -1)[number % 3 == 0], f"tag {number % 4}")
    # `create` would tell Mailman.
    EmailTemplate.objects.bulk_create([EmailTemplate(name="list:user:notice:welcome", data="Welcome ü", language="en", context="list", identifier="ask.example.org")])


def read():
    # What the clock and chance give to changes.
    hidden = ("archived_date", "created_at", "modified_at", "view_date", "last_login", "date_joined", "password") if sys.argv[2] == "changed" else ()
    django_rows.read(without=("django_q", "sessions") if hidden else (), hidden=hidden)


def change():
    ann, bob = signed("ann"), signed("bob")
    for number, parent in ((100, None), (101, 100), (102, 4)):
        send("ask@example.org", number, parent)
    send("new@example.org", 1)
    opinions(bob, Email.objects.get(message_id="100@example.org"), 1, "new")
    opinions(ann, Email.objects.filter(message_id="5@example.org", mailinglist__name="ask@example.org").get(), -1, "new")
    gone = Email.objects.get(message_id="8@example.org", mailinglist__name="ask@example.org")
    page(ann, f"ask@example.org/message/{gone.message_id_hash}/delete", email=gone.pk)
    thread = Email.objects.get(message_id="12@example.org", mailinglist__name="ask@example.org").thread
    page(ann, f"ask@example.org/thread/{thread.thread_id}/category", category="question")
    page(bob, f"ask@example.org/thread/{thread.thread_id}/favorite", action="rm")
    EmailTemplate.objects.update(data=str(Thread.objects.filter(emails__sender_name="Ünal 1").distinct().count()))
    ThreadCategory.objects.create(name="new ü", color="#0000ff")
    MailingList.objects.filter(name="ask@example.org").update(description="edited")
    User.objects.create_user("new")


def sign_in():
    client = Client()
    for secret in ("wrong", "secret of bob"):
        assert "_auth_user_id" not in client.session
        client.post("/accounts/login/", {"login": "bob@example.org", "password": secret})
    assert "_auth_user_id" in client.session
    thread = Email.objects.get(message_id="4@example.org", mailinglist__name="ask@example.org").thread.thread_id
    for address in ("", "list/ask@example.org/", "list/ask@example.org/2024/2/", f"list/ask@example.org/thread/{thread}/", "list/ask@example.org/latest", "profile/votes",
                    "list/ask@example.org/export/ask.mbox.gz?start=2024-02-01&end=2024-04-01", "profile/favorites", "api/lists/", f"list/ask@example.org/thread/{thread}/replies?sort=thread"):
        answer = client.get(f"/hyperkitty/{address}")
        assert answer.status_code == 200, (address, answer.status_code)


{"fill": fill, "read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()
