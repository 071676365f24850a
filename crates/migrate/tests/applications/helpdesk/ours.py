"""Settings of a helpdesk, as its documentation has them."""

import dj_database_url

DATABASES = {"default": dj_database_url.config()}
SECRET_KEY, ALLOWED_HOSTS, SITE_ID, USE_TZ, ROOT_URLCONF, STATIC_URL, MEDIA_ROOT = "secret", ["*"], 1, True, "addresses", "/static/", "media"
HELPDESK_TEAMS_MODE_ENABLED, DEFAULT_AUTO_FIELD, LOGIN_URL = False, "django.db.models.BigAutoField", "helpdesk:login"
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
INSTALLED_APPS = [f"django.contrib.{one}" for one in ("auth", "contenttypes", "sessions", "admin", "sites", "messages", "staticfiles", "humanize")]
INSTALLED_APPS += ["rest_framework", "helpdesk"]
MIDDLEWARE = [f"django.contrib.{one}" for one in ("sessions.middleware.SessionMiddleware", "auth.middleware.AuthenticationMiddleware", "messages.middleware.MessageMiddleware")]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {"context_processors": [
    "django.template.context_processors.request", "django.contrib.auth.context_processors.auth", "django.contrib.messages.context_processors.messages"]}}]
