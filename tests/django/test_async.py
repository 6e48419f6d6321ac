"""The twin of an invocation, for code that runs in an event loop."""

import asyncio

import orjson
from django.test import AsyncRequestFactory

from sales.models import Company
from toolbooth.django.caller import answering
from toolbooth.django.catalogue import catalogue
from toolbooth.django.invocation import AsyncInvocation


def test_an_action_is_awaited_from_an_event_loop(ann):
    action = catalogue().actions["companies__list"]
    arguments = catalogue().registry.tools["companies__list"].function.call.arguments
    call = AsyncInvocation(tool="companies__list", action=action, arguments=arguments)
    Company.objects.create(name="Acme")

    async def visit():
        request = AsyncRequestFactory().post("/mcp/", headers={"Authorization": "Basic YW5uOnB3"})
        with answering(request):
            return await call({"search": "acme"})

    told = orjson.loads(orjson.dumps(asyncio.run(visit())))
    assert [each["name"] for each in told["results"]] == ["Acme"]
