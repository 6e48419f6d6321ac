"""The first answer of a new process: the list of tools, or without a gateway a REST call."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.test import Client
from django_calls import LISTING, REST


class Command(BaseCommand):
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        sent = REST["list"] if settings.GATEWAY == "none" else LISTING
        headers = {
            **sent.headers,
            "Authorization": f"Token token-of-{sent.user}",
            "Host": "127.0.0.1",
        }
        answer = Client().generic(
            sent.method, sent.path, sent.body, "application/json", headers=headers
        )
        if answer.status_code != sent.status:
            raise CommandError(f"answered {answer.status_code}: {answer.content!r}")
