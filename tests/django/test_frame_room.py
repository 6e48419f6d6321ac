"""At every depth of a view in the stack, its loops do not allocate memory for the frames of their
calls.
"""

import resource

from django.urls import include, path
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from toolbooth.django.call.frame_room import with_frame_room

CALLS = 2_000
DEPTHS = 200
"""More frames than fit in a chunk of CPython's stack, so that some depth is at the end of one."""


def nothing():
    pass


def call_often():
    for _ in range(CALLS):
        nothing()


def run_deeper(depth, work):
    return run_deeper(depth - 1, work) if depth else work()


def page_faults(work):
    """Return how often the process touched newly allocated memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    work()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def most_page_faults():
    """Return the counts of the same loop at every depth."""
    return max(page_faults(lambda at=at: run_deeper(at, call_often)) for at in range(DEPTHS))


def test_function_with_frame_room_causes_few_page_faults():
    assert with_frame_room(lambda: most_page_faults())() < CALLS // 10


class Looping(APIView):
    permission_classes = (AllowAny,)

    def get(self, request):
        return Response({"page_faults": most_page_faults()})


def test_view_called_over_mcp_causes_few_page_faults(settings_of, mcp):
    patterns = [
        path("mcp/", include("toolbooth.django.urls")),
        path("looping/", Looping.as_view()),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}), TOOLBOOTH={})
    assert mcp("looping__get")["structuredContent"]["page_faults"] < CALLS // 10
