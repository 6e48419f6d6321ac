"""A project that uses third-party packages for REST framework."""

from pathlib import Path

STATE = Path(__file__).resolve().parents[3] / ".hosts" / "libraries" / "state"
SECRET_KEY = "only for tests, and long enough for tokens"
ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "rest_framework",
    "django_filters",
    "adrf",
    "drf_standardized_errors",
    "polymorphic",
    "simple_history",
    "taggit",
    "guardian",
    "djoser",
    "knox",
    "rest_framework_json_api",
    "toolbooth.django",
    "shop",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
]
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
ROOT_URLCONF = "libraries_urls"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": STATE / "db.sqlite3",
        "ATOMIC_REQUESTS": True,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
USE_TZ = True
TIME_ZONE = "UTC"
MEDIA_ROOT = STATE / "media"
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"allow_overwrite": True},
    }
}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.BasicAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
}
DJOSER = {"SEND_ACTIVATION_EMAIL": False, "TOKEN_MODEL": None}
ANONYMOUS_USER_NAME = None
# Its serializer for them is that of the view, and `me` reads it.
TOOLBOOTH = {
    "PREVIEW_MIDDLEWARE": ["simple_history.middleware.HistoryRequestMiddleware"],
    "INHERITED_BODIES": ["user__me_p*"],
    "LOGIN_VIEWS": True,  # all views of the packages
    "EXCLUDE": ["knox_login__post"],  # every token is different, in the rows too
}
