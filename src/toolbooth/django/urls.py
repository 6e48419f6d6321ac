"""`path("mcp/", include("toolbooth.django.urls"))`: one endpoint."""

from __future__ import annotations

from django.urls import path

from toolbooth.django.view import endpoint

app_name = "toolbooth"
urlpatterns = [path("", endpoint, name="mcp")]
