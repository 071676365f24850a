"""Mailman web's own settings, with the address of the database; tasks run at once, in the program that asks for them."""

import dj_database_url

from mailman_web.settings.base import *
from mailman_web.settings.mailman import *

DATABASES = {"default": dj_database_url.config()}
SECRET_KEY, ALLOWED_HOSTS, LOGGING, COMPRESS_ENABLED, COMPRESS_OFFLINE, COMPRESS_PRECOMPILERS = "secret", ["*"], {}, False, False, ()
Q_CLUSTER = {**Q_CLUSTER, "sync": True, "log_level": "ERROR"}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
