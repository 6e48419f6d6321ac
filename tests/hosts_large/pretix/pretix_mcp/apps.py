"""Adds the URL of the endpoint to pretix's own."""

from importlib import import_module

from django.apps import AppConfig
from django.urls import include, path


class PretixMcp(AppConfig):
    name = "pretix_mcp"

    def ready(self) -> None:
        urls = import_module("pretix.multidomain.maindomain_urlconf")
        urls.urlpatterns.insert(0, path("mcp/", include("toolbooth.django.urls")))
