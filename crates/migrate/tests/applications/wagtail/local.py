import dj_database_url

from .base import INSTALLED_APPS

INSTALLED_APPS += ["blog", "django.contrib.postgres", "wagtail.contrib.settings", "wagtail.contrib.simple_translation", "wagtail.locales"]
DATABASES = {"default": dj_database_url.config()}
ALLOWED_HOSTS = ["*"]
