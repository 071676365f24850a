"""`fill`: Ansible runs a playbook that ARA records. `read`: all rows of all models. `change`: by ARA's REST API.
`sign-in`: an administrator, and pages of the report."""

import os
import subprocess
import sys

import django

django.setup()

from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

import django_rows
from ara.api.models import Host, Playbook, Record, Result, Task
from ara.setup.action_plugins import action_plugins
from ara.setup.callback_plugins import callback_plugins

api = APIClient(headers={"host": "localhost"})


def call(method, address, **values):
    answer = getattr(api, method)(f"/api/v1/{address}", values, format="json")
    assert answer.status_code in (200, 201, 204), (method, address, answer.content)
    return answer.data


def fill():
    User.objects.create_superuser("ann", "ann@example.org", "secret of ann")
    settings = dict(os.environ, ANSIBLE_CALLBACK_PLUGINS=callback_plugins, ANSIBLE_ACTION_PLUGINS=action_plugins, ARA_CALLBACK_THREADS="0")
    for label in ("one", "two", "Straße"):
        done = subprocess.run(["ansible-playbook", "-i", "one,two,three,", "-c", "local", "-e", f"ansible_python_interpreter={sys.executable} ara_playbook_labels={label},all", "book.yml"], env=settings)
        assert done.returncode == 2, done
    assert (Playbook.objects.count(), Record.objects.count()) == (3, 6)


def read():
    # What the clock and chance give to changes.
    hidden = ("created", "updated", "last_login", "date_joined", "password") if sys.argv[2] == "changed" else ()
    django_rows.read(hidden=hidden)


def change():
    moment = {"started": "2026-03-29T01:30:00.123456Z", "ended": "2026-03-29T03:30:01.5Z", "status": "completed"}
    book = call("post", "playbooks", ansible_version="2", path="/tmp/new.yml", arguments={"ü": [1, None]}, labels=["new", "all"], **moment)["id"]
    play = call("post", "plays", playbook=book, name="new", uuid="00000000-0000-0000-0000-00000000000a", **moment)["id"]
    file = call("post", "files", playbook=book, path="/tmp/new.yml", content="# 日本語 'quoted' \\")["id"]
    task = call("post", "tasks", playbook=book, play=play, file=file, name="new", action="debug", lineno=1, tags=["a"], handler=True, **moment)["id"]
    hosts = [call("post", "hosts", playbook=book, name=name, facts={"a": 1.5}, ok=1)["id"] for name in ("one", "four")]
    call("post", "results", playbook=book, play=play, task=task, host=hosts[0], delegated_to=hosts, content={"changed": True}, changed=True, **{**moment, "status": "ok"})
    call("post", "records", playbook=book, key="new", value={"x": [1]}, type="json")
    call("patch", "playbooks/1", labels=["edited"], status="failed", name="edited")
    call("patch", f"tasks/{Task.objects.earliest('pk').pk}", status="expired")
    call("patch", f"records/{Record.objects.earliest('pk').pk}", value="edited")
    call("delete", "playbooks/2")
    for question in ("playbooks?label=all&order=-duration", "results?status=failed", "tasks?name=Run", "hosts?name=one", "latesthosts?order=name"):
        call("post", "records", playbook=book, key=question, value=call("get", question)["count"], type="text")
    User.objects.create_user("new")


def sign_in():
    client = Client(headers={"host": "localhost"})
    client.post("/admin/login/", {"username": "ann", "password": "wrong"})
    assert client.get("/admin/").status_code == 302
    client.post("/admin/login/", {"username": "ann", "password": "secret of ann"})
    result = Result.objects.filter(status="failed").earliest("pk")
    for address in ("/admin/", "/admin/api/record/", "/admin/auth/user/", "/", "/hosts", "/tasks", "/playbooks/1.html", f"/results/{result.pk}.html",
                    f"/hosts/{Host.objects.earliest('pk').pk}.html", f"/records/{Record.objects.earliest('pk').pk}.html", "/?label=all"):
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code)


{"fill": fill, "read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()
