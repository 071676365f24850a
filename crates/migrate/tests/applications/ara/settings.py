"""ARA's own settings, with the address of the database."""

import dj_database_url

from ara.server.settings import *

DATABASES = {"default": dj_database_url.config()}
