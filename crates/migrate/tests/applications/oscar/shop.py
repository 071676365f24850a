"""Settings of a shop, as Oscar's documentation has them."""

import dj_database_url
from oscar import INSTALLED_APPS
from oscar.defaults import *

DATABASES = {"default": dj_database_url.config()}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
SECRET_KEY, DEBUG, SITE_ID, USE_TZ, ROOT_URLCONF, STATIC_URL, MEDIA_ROOT = "secret", True, 1, True, "addresses", "/static/", "media"
ALLOWED_HOSTS, TIME_ZONE, LANGUAGE_CODE = ["*"], "Europe/Berlin", "en"
INSTALLED_APPS = [*INSTALLED_APPS, "sorl.thumbnail"]
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}
AUTHENTICATION_BACKENDS = ["oscar.apps.customer.auth_backends.EmailBackend", "django.contrib.auth.backends.ModelBackend"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
OSCAR_INITIAL_ORDER_STATUS, OSCAR_INITIAL_LINE_STATUS = "Pending", "Pending"
OSCAR_ORDER_STATUS_PIPELINE = OSCAR_LINE_STATUS_PIPELINE = {"Pending": ("Sent", "Cancelled"), "Sent": (), "Cancelled": ()}
MIDDLEWARE = [f"django.{one}" for one in (
    "contrib.sessions.middleware.SessionMiddleware", "middleware.common.CommonMiddleware", "contrib.auth.middleware.AuthenticationMiddleware",
    "contrib.messages.middleware.MessageMiddleware")] + ["oscar.apps.basket.middleware.BasketMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {"context_processors": [
    "django.template.context_processors.request", "django.contrib.auth.context_processors.auth", "django.template.context_processors.i18n",
    "django.contrib.messages.context_processors.messages", "oscar.apps.search.context_processors.search_form",
    "oscar.apps.checkout.context_processors.checkout", "oscar.core.context_processors.metadata"]}}]
