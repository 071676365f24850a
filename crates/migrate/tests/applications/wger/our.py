"""wger's own settings, with what each place says for itself."""

import dj_database_url

from wger.settings_global import *

DATABASES = {"default": dj_database_url.config()}
SECRET_KEY, ALLOWED_HOSTS, SITE_URL, MEDIA_ROOT, MEDIA_URL, EMAIL_PAGE_DOMAIN = "secret", ["*"], "http://localhost", "media", "/media/", "http://localhost"
DEFAULT_FROM_EMAIL, EMAIL_BACKEND, COMPRESS_ENABLED = "wger@example.org", "django.core.mail.backends.locmem.EmailBackend", False
RECAPTCHA_PUBLIC_KEY, RECAPTCHA_PRIVATE_KEY, SILENCED_SYSTEM_CHECKS = "", "", ["captcha.recaptcha_test_key_error"]
