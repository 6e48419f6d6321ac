"""A project's own schema class."""

from drf_spectacular.openapi import AutoSchema


class OwnSchema(AutoSchema):
    def get_tags(self) -> list[str]:
        return ["own"]
