"""Django by dj-database-url, then by django-environ."""

import os

import dj_database_url
import django
import environ
from django.conf import settings
from django.db import connections

url = os.environ["DJANGO_URL"]
databases = {"default": dj_database_url.parse(url), "environ": environ.Env.db_url_config(url)}
settings.configure(DATABASES=databases)
django.setup()
for name in databases:
    with connections[name].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM item")
        assert cursor.fetchone() == (3,), name
        if connections[name].vendor == "postgresql":
            cursor.execute("SHOW work_mem")
            assert cursor.fetchone() == ("5MB",), name
