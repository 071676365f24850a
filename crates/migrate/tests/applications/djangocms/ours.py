"""Settings of a site with django CMS, as its documentation has them."""

import dj_database_url

DATABASES = {"default": dj_database_url.config()}
SECRET_KEY, ALLOWED_HOSTS, SITE_ID, USE_TZ, USE_I18N, ROOT_URLCONF, STATIC_URL, LANGUAGE_CODE = "secret", ["*"], 1, True, True, "addresses", "/static/", "en"
LANGUAGES, DEFAULT_AUTO_FIELD = [("en", "English"), ("de", "Deutsch")], "django.db.models.BigAutoField"
CMS_CONFIRM_VERSION4, CMS_TEMPLATES, CMS_PERMISSION, X_FRAME_OPTIONS = True, [("page.html", "Page")], True, "SAMEORIGIN"
INSTALLED_APPS = [f"django.contrib.{one}" for one in ("auth", "contenttypes", "sessions", "admin", "sites", "messages", "staticfiles")]
INSTALLED_APPS += ["cms", "menus", "treebeard", "sekizai", "djangocms_text", "djangocms_versioning"]
MIDDLEWARE = [f"django.{one}" for one in (
    "contrib.sessions.middleware.SessionMiddleware", "middleware.locale.LocaleMiddleware", "middleware.common.CommonMiddleware",
    "contrib.auth.middleware.AuthenticationMiddleware", "contrib.messages.middleware.MessageMiddleware")]
MIDDLEWARE += [f"cms.middleware.{one}Middleware" for one in ("user.CurrentUser", "page.CurrentPage", "toolbar.Toolbar", "language.LanguageCookie")]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": ["templates"], "APP_DIRS": True, "OPTIONS": {"context_processors": [
    "django.template.context_processors.request", "django.contrib.auth.context_processors.auth", "django.contrib.messages.context_processors.messages",
    "django.template.context_processors.i18n", "sekizai.context_processors.sekizai", "cms.context_processors.cms_settings"]}}]
