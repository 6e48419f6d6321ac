"""Finds views that log users in or give out tokens. They do not become tools: an agent has its
credentials already, and the model would read a password or a token and keep it in its history.
"""

from __future__ import annotations

from functools import lru_cache

_ALLAUTH = "allauth.headless.base.views"
_DJOSER = "djoser.views"
_KNOX = "knox.views"
_REST_AUTH = "dj_rest_auth"
_SIMPLE_JWT = "rest_framework_simplejwt.views"

LOGIN_VIEWS = frozenset(
    (
        "rest_framework.authtoken.views.ObtainAuthToken",
        f"{_KNOX}.LoginView",
        f"{_KNOX}.LogoutView",
        f"{_KNOX}.LogoutAllView",
        # The base class of all its views: obtain, refresh, verify, blacklist.
        f"{_SIMPLE_JWT}.TokenViewBase",
        f"{_REST_AUTH}.views.LoginView",
        f"{_REST_AUTH}.views.LogoutView",
        # It answers with a token of the new user.
        f"{_REST_AUTH}.registration.views.RegisterView",
        f"{_REST_AUTH}.mfa.views.MFAVerifyView",
        f"{_REST_AUTH}.mfa.views.TOTPActivateView",
        f"{_REST_AUTH}.mfa.views.RecoveryCodesView",
        f"{_REST_AUTH}.mfa.views.RecoveryCodesRegenerateView",
        f"{_DJOSER}.TokenCreateView",
        f"{_DJOSER}.TokenDestroyView",
        "djoser.social.views.ProviderAuthView",
        # Plain Django views never become tools, but a project may derive REST views from them.
        f"{_ALLAUTH}.APIView",
    )
)
"""Import paths, because a project need not have these packages. Subclasses count too."""


@lru_cache(1024)
def is_login_view(cls: type) -> bool:
    """Return True if a view or one of its base classes is in `LOGIN_VIEWS`."""
    return any(f"{each.__module__}.{each.__qualname__}" in LOGIN_VIEWS for each in cls.__mro__)
