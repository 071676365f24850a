"""A small shop on SQLite or PostgreSQL, chosen by DATABASE_URL; db.sqlite3 where there is none."""

from pathlib import Path

import dj_database_url

FILE = Path(__file__).resolve().parent.parent / "db.sqlite3"
DATABASES = {"default": dj_database_url.config(default=f"sqlite:///{FILE}", conn_max_age=60)}
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "shop"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "shop.urls"
WSGI_APPLICATION = "shop.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SECRET_KEY = "for measurements only"
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
USE_TZ = True
