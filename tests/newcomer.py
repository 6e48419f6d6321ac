"""An agent for any dispatched API, without prior knowledge of it. It can read JSON Schema, and has
a list of things to create.

Every name that it sends was in a reply: in the tool list, in help, or in a refusal.
"""

import json
import re
from itertools import count

_numbers = count(2)


class Newcomer:
    """Decides only by the replies that it reads."""

    def __init__(self, client, habit):
        self.client = client
        self.habit = habit
        """Where it puts the fields of a call until a refusal corrects it."""
        self.refusals = 0
        self.made = {}
        """For each thing that it created, the reply and the arguments that it had sent."""

    async def call(self, tool, arguments):
        """Send a call, and again as corrected if it is refused. Returns the reply."""
        for _ in range(3):
            reply = await self.client.call_tool(tool, arguments)
            if not reply.is_error:
                return reply.structured_content
            self.refusals += 1
            instead = re.search(r"^Send instead: (.*)$", reply.content[0].text, re.MULTILINE)
            assert instead, reply.content[0].text
            arguments = json.loads(instead[1])
        raise AssertionError(f"refused again and again: {reply.content[0].text}")

    async def asked(self, tool, question):
        """Return all pages of one help answer."""
        told = await self.call(tool, question)
        more = told
        while "next_page" in more:
            more = await self.call(tool, more["next_page"])
            for key, each in more.items():
                told[key] = {**told[key], **each} if isinstance(each, dict) else each
        return told

    async def find(self, thing):
        """Return the dispatcher that knows a thing, and its help about the actions."""
        start = thing.lower()[:4]
        for tool in (await self.client.list_tools()).tools:
            fields = tool.input_schema["properties"]
            if "action" not in fields:
                continue
            told = await self.asked(tool.name, {"help": True})
            found = [name for name in told.get("resources", ()) if name.startswith(start)]
            if found:
                nearest = thing if thing in found else found[0]
                return tool.name, await self.asked(tool.name, follow(told["next_step"], nearest))
            if "actions" in told and start in f"{tool.name} {tool.description}".lower():
                return tool.name, told
        raise LookupError(f"no tool knows of {thing!r}")

    async def create(self, thing):
        """Create a thing with its required fields and the rows in it, after the rows that it refers
        to. Returns the reply.
        """
        tool, told = await self.find(thing)
        action = next(
            each
            for each, about in told["actions"].items()
            if about["description"].startswith("Create")
        )
        about = await self.asked(tool, follow(told["next_step"], action))
        way = {key: about[key] for key in ("resource", "action") if key in about}
        rows = [
            name
            for name, each in about["fields"].items()
            if each.get("items", {}).get("type") == "object"
        ]
        fields = {
            name: await self.value(name, about["fields"][name], about, name)
            for name in (*about["required"], *rows)
        }
        # A field has the same name as one of the dispatcher's own arguments.
        in_params = "params" in about["example"]
        made = await self.call(
            tool, {**way, **({"params": fields} if in_params else self.habit(fields))}
        )
        self.made[thing] = (made, fields)
        return made

    async def value(self, name, schema, about, path):
        if path in about.get("relations", {}):
            row = self.made[name][0] if name in self.made else await self.create(name)
            keys = [each for each in about["relations"][path]["names"] if row.get(each)]
            return {keys[-1]: row[keys[-1]]}  # by a dispatcher whose reply asked for its name
        if "$ref" in schema:
            schema = about["$defs"][schema["$ref"].rpartition("/")[2]]
        schema = schema.get("anyOf", [schema])[0]
        match schema.get("type"):
            case "array":
                return [
                    await self.value(name, schema["items"], about, f"{path}[]") for _ in range(2)
                ]
            case "object":
                fields = schema.get("properties", {}).items()
                return {
                    key: await self.value(key, each, about, f"{path}.{key}") for key, each in fields
                }
            case kind:
                return scalar(kind, schema)


def follow(step, name):
    """Return the question that a reply shows, asked about this thing."""
    shown = json.loads(re.match(r"\{.*\}", step)[0])
    return {key: name if each == "…" else each for key, each in shown.items()}


def scalar(kind, schema):
    if "enum" in schema:
        return schema["enum"][-1]
    number = next(_numbers)
    texts = {
        "date-time": f"2027-01-{number % 27 + 1:02}T09:30:00Z",
        "YYYY-MM-DD": f"2027-01-{number % 27 + 1:02}",
        "URL": f"https://example.org/{number}",
        "UUID": f"0c2d8bd6-7a3c-4c57-9d3f-{number:012}",
    }
    if kind == "string":
        said = f"{schema.get('format')} {schema.get('description')}"
        fitting = (text for words, text in texts.items() if words in said)
        return next(fitting, f"value {number}")[: schema.get("maxLength")]
    return {"integer": number, "number": number + 0.25, "boolean": True}[kind]
