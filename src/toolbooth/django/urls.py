"""`path("mcp", include("toolbooth.django.urls"))`: one endpoint, at /mcp and at /mcp/. Included at
"mcp/", it answers at /mcp/ only.
"""

from __future__ import annotations

from django.urls import re_path

from toolbooth.django.call.endpoint import endpoint

app_name = "toolbooth"
# In a group: a plain slash in front is what Django warns of (urls.W002).
urlpatterns = [re_path(r"^(?:/)?$", endpoint, name="mcp")]
