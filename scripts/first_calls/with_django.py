"""The extra `django`: a project of one view set; its tools are called, its table is migrated."""

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "rest_framework",
        "toolbooth.django",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    ROOT_URLCONF="__main__",
    SECRET_KEY="x" * 50,
    ALLOWED_HOSTS=["*"],
    USE_TZ=True,
)
django.setup()

# The models can only be imported after the set-up.
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.urls import include, path  # noqa: E402
from rest_framework import routers, serializers, viewsets  # noqa: E402

from toolbooth.django.testing import acting_as  # noqa: E402


class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ("id", "username", "first_name")


class Users(viewsets.ModelViewSet):
    """People."""

    queryset = User.objects.order_by("id")
    serializer_class = UserSerializer


router = routers.SimpleRouter()
router.register("users", Users, "users")
urlpatterns = [path("api/", include(router.urls)), path("mcp", include("toolbooth.django.urls"))]

call_command("migrate", verbosity=0)
agent = acting_as(User.objects.create_user("ann"))
right = agent.call("users__create", username="bob", idempotency_key="first")
wrong = agent.call("users__create", data={"username": "eve"})
assert not right.is_error, right
assert wrong.is_error, wrong
assert [user.username for user in User.objects.all()] == ["ann", "bob"]
