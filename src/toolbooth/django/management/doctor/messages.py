"""The doctor's sentences about views, callers and deployment, and its advice at the end.

Sentences about settings, the endpoint and the tools themselves are in `management/messages.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def examination_failed(error: Exception) -> str:
    """The finding if an examination has raised an exception."""
    return f"this check failed: {type(error).__name__}: {error}"


def look_at(file: str, line: int) -> str:
    """The advice to look at the line that raised an exception."""
    return f"see {file}:{line}"


START_THE_DATABASE = "check that the database in DATABASES runs, and that its settings are right"


# --- tools and fields that are left out ---

NOTHING_LEFT_OUT = "every view and every field is published"

TAKE_FILES = "{count} tools or fields are left out: they take files, which MCP does not send"
SEND_FILES_OVER_REST = "send files over REST, or write a serializer field that reads base64 text"
RENDER_ONLY_HTML = "{count} REST framework views are left out: they only render pages for people"
CHOSEN_BY_AUTHOR = (
    "{count} actions are left out as their authors want it (@mcp_ignore, exclude=True, …)"
)
LEFT_OUT_BY_HOOK = "{count} actions are left out by a hook of your drf-spectacular settings"
LOOK_AT_HOOKS = "if agents need them, look at PREPROCESSING_HOOKS in SPECTACULAR_SETTINGS"
ONLY_PARTIAL_UPDATES = "{count} full updates are left out: TOOLBOOTH['UPDATES'] is 'partial'"
LOGIN_VIEWS = "{count} login or token views are left out: agents should not handle passwords"
UNKNOWN_BODIES = "{count} actions are left out: the fields of their body are not known"
GIVE_A_SERIALIZER = (
    "set serializer_class on the view, or write @extend_schema(request=…) above the method"
)
TAKE_JSON_API = "{count} actions are left out: they take JSON:API documents"
DESCRIBE_JSON_API = "describe the body with @extend_schema(request=...), or let it take plain JSON"
DESCRIBING_FAILED = "{count} actions are left out: their code raised while it was described"
CORRECT_WHAT_RAISES = "`mcp_doctor -v 2` shows each exception; make the code run without a caller"
LEFT_OUT_FOR_OTHER_REASONS = "{count} tools or fields are left out for other reasons"
ALL_REASONS = "`mcp_doctor -v 2` shows each reason"

# --- complaints of drf-spectacular ---

ALL_DESCRIBED = "drf-spectacular could describe everything"
DESCRIBE_WITH_EXTEND_SCHEMA = "describe it with @extend_schema"
RUN_LINT = "`toolbooth lint URL` says which, and why"
NEED_A_REQUEST = "{count} tools are described without their views' code, which needs a real request"
SET_DESCRIBE = "if `mcp_tools NAME` lacks fields, set TOOLBOOTH['DESCRIBE'] (docs/guides/django.md)"
UNTYPED = "{count} tools work, with arguments of unknown type, which take any value"
COMPLAINTS = "{count} tools cause other messages of drf-spectacular"


def trouble_for_clients(rules: str) -> str:
    """The finding with the lint rules that the tools break."""
    return f"some clients have trouble with: {rules}"


# --- bodies ---

BODIES_ARE_DECLARED = "every view declares the bodies that it gets"
READ_UNDECLARED_BODIES = (
    "{count} tools take no fields: their code reads request.data, but declares no body"
)
DECLARE_BODIES = (
    "write @extend_schema(request=SERIALIZER) above the method, or set TOOLBOOTH['BODIES']"
)
DECLARE_NO_BODY = "{count} tools take no fields: their actions declare none, and seem to read none"
DELETES_READ_BODIES = "{count} deletes seem to read a body, but declare none: it is not sent"
DECLARE_BODIES_OF_DELETES = (
    "write @extend_schema(request=SERIALIZER) above the method, or request=None"
)
DELETES_WITH_NEW_BODIES = "{count} deletes now send the body that they declare"
UNMARKED_LISTS = "{count} creates seem to take lists of rows; rows are sent one by one"
MARK_LISTS = "if they do, write @mcp_bulk (from toolbooth.django.decorators) above their classes"


def action_without_body(tool: str, handler: str) -> str:
    """The finding if a custom action declares no body."""
    return f"{tool}: {handler} declares no body, so the tool takes no fields"


def declare_that_there_is_none(handler: str) -> str:
    """The remedy if a custom action takes no body: the decorator to write."""
    return f"if that is right, write @extend_schema(request=None) above {handler}"


def declare_body_of_action(tool: str, handler: str, reader: str | None) -> str:
    """The remedy if a custom action takes a body. `reader` is the serializer of the view, or None
    if the action does not seem to use it.
    """
    lines = [
        f"write @extend_schema(request=...) above {handler}",
        f"or TOOLBOOTH['BODIES'] = {{{tool!r}: 'path.to.Serializer'}}",
    ]
    if reader is not None:
        lines.append(f"or, if it reads {reader}, TOOLBOOTH['INHERITED_BODIES'] = [{tool!r}]")
    return ", ".join(lines)


def undeclared_body(tool: str, view: str) -> str:
    """The finding if a DELETE seems to read a body, but declares none."""
    return f"{tool}: {view} seems to read a body that it does not declare; it is called without one"


def declare_body(view: str, handler: str, serializer: str) -> str:
    """The remedy if a DELETE does not declare its body: the decorator to write."""
    line = f"@extend_schema_view({handler}=extend_schema(request={serializer}))"
    return f"write {line} above class {view}; if it reads no body, request=None"


def newly_sent_body(tool: str, view: str) -> str:
    """The finding if a DELETE declares a body that earlier versions of Toolbooth did not send."""
    return f"{tool}: {view} declares a body; earlier versions called it without one"


def declare_no_body(view: str, handler: str) -> str:
    """The remedy if a DELETE should be sent without a body, as before."""
    line = f"@extend_schema_view({handler}=extend_schema(request=None))"
    return f"if it reads no body, write {line} above class {view}"


def unmarked_list(tool: str, view: str) -> str:
    """The finding if a create seems to accept lists, but has no `@mcp_bulk`."""
    return f"{tool}: {view} seems to take lists, but is not marked; rows are sent one by one"


def mark_as_bulk(view: str) -> str:
    """The remedy if a create accepts lists: the decorator to write."""
    return (
        f"if it takes a list of rows, write @mcp_bulk above class {view}; "
        "from toolbooth.django.decorators import mcp_bulk"
    )


# --- views that are not REST framework's ---

NINJA_VIEWS = (
    "{count} addresses of Django Ninja are not covered: only REST framework views are tools"
)
PLAIN_VIEWS = "{count} plain Django views are not covered: only REST framework views are tools"
WRITE_A_TOOL = "for what agents need, write a function with @mcp_tool in your app's mcp_tools.py"


def ninja_view(address: str) -> str:
    """The finding for a view of Django Ninja."""
    return f"{address} is a Django Ninja view, and not covered: only REST framework views are tools"


def plain_view(path: str) -> str:
    """The finding for a plain Django view."""
    return f"{path} is a plain Django view, and not covered: only REST framework views are tools"


# --- callers ---

ANONYMOUS = "an anonymous caller"
ONLY_SESSIONS = "the API accepts only session cookies, and agents have none"
ADD_TOKEN_AUTHENTICATION = (
    "add TokenAuthentication or another of its kind to DEFAULT_AUTHENTICATION_CLASSES"
)
NOTHING_FOR_ANYBODY = "every tool requires a login"
LOGIN_IS_REQUIRED = "TOOLBOOTH['LOGIN_REQUIRED'] is set: anonymous callers get no tool"
OPEN_WRITES = "{count} tools that write are open to anonymous callers"
OPEN_READS = "{count} tools that read are open to anonymous callers"
CLOSE_OPEN_TOOLS = "set permission_classes on the views, or TOOLBOOTH['LOGIN_REQUIRED'] = True"
REQUIRE_LOGIN = "if agents should log in, TOOLBOOTH['LOGIN_REQUIRED'] = True asks them to (401)"
LET_IN = "look at the authentication and permission classes of the views"
GIVE_PERMISSIONS = "give this user permissions, or name another user with --as"


def open_write(name: str) -> str:
    """The finding for a tool that writes and is open to anonymous callers."""
    return f"anybody may write: {name}"


def open_read(name: str) -> str:
    """The finding for a tool that reads and is open to anonymous callers."""
    return f"anybody may read: {name}"


def anonymous_refused(words: str) -> str:
    """The finding if `tools/list` without credentials was refused."""
    return f"without credentials, {words}"


def list_refused(who: str, words: str) -> str:
    """The finding if a user's `tools/list` was refused."""
    return f"tools/list as {who} was refused: {words}"


def listed(who: str, count: int, tokens: int) -> str:
    """The finding after a successful `tools/list`, with the number of tools."""
    tools = "1 tool" if count == 1 else f"{count:,} tools"
    return f"tools/list as {who} returned {tools}, {tokens:,} tokens"


def listed_nothing(who: str) -> str:
    """The finding if `tools/list` returned no tools."""
    return f"tools/list as {who} returned no tools"


# --- idempotency keys ---

KEYS_TAKEN = "every write takes an idempotency key"
KEYS_OFF = "idempotency keys are switched off (TOOLBOOTH['ARGUMENTS'])"

NO_TRANSACTIONS = "{count} writes take no idempotency key: the keys' database has no transactions"
MOVE_KEYS = "let a router (DATABASE_ROUTERS) send toolbooth.UsedKey to a database with transactions"
NON_ATOMIC = "{count} writes take no idempotency key: their views have non_atomic_requests"
MAKE_ATOMIC = "remove non_atomic_requests, if these views can run in a transaction"
DURABLE = "{count} writes take no idempotency key: their views use atomic(durable=True)"
NOT_DURABLE = "write atomic() without durable=True, if these blocks can be part of a transaction"
OTHER_DATABASE = "{count} writes take no idempotency key: they are not to the keys' database"
MOVE_KEYS_TO_WRITES = (
    "let a router (DATABASE_ROUTERS) send toolbooth.UsedKey to the database of most"
)
WITHOUT_LOGIN = "{count} writes take no idempotency key: their callers are all anonymous"
AUTHENTICATE = "set authentication_classes on the views: a key belongs to one caller"


def key_not_taken(tool: str, place: str, reason: str) -> str:
    """The finding for a tool that refuses idempotency keys."""
    return f"{tool} ({place}): an idempotency key {reason}"


# --- deployment ---

USE_A_SHARED_CACHE = (
    "set CACHES['default'] to Redis, Memcached or the database, or name another cache of CACHES in "
    "TOOLBOOTH['CACHE']"
)
LIMIT_POSTGRESQL = 'DATABASES[…]["OPTIONS"] = {"options": "-c statement_timeout=30000"}'
LIMIT_MARIADB = 'DATABASES[…]["OPTIONS"] = {"init_command": "SET max_statement_time=30"}'
SERVERS_TIME_LIMIT = (
    "a call has no time limit of its own in Django; clients give up after about a minute"
)
LIMIT_THE_SERVER = "limit requests in your server, as with `gunicorn --timeout 60`"
HTTPS_NOT_SET = (
    "agents send credentials with each request, and nothing in the settings asks for HTTPS"
)
SET_HTTPS = (
    "SECURE_SSL_REDIRECT = True; behind a proxy that ends TLS also SECURE_PROXY_SSL_HEADER = "
    '("HTTP_X_FORWARDED_PROTO", "https")'
)
REDIRECTS_BEHIND_PROXY = (
    "SECURE_SSL_REDIRECT is set, SECURE_PROXY_SSL_HEADER is not: behind a proxy that ends TLS, "
    "every request is redirected"
)
SET_PROXY_HEADER = (
    'behind a proxy, SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https"); else nothing'
)
STRIP_PROXY_HEADER = "make sure that your proxy removes this header from what clients send"
THROTTLES_TRUST_CALLERS = (
    "throttles count anonymous callers by X-Forwarded-For, which callers can make up"
)
SET_NUM_PROXIES = "REST_FRAMEWORK['NUM_PROXIES'] = 1 behind one proxy, 0 without one"
DEBUG_IS_ON = "DEBUG is on: failures show your code and settings to callers"
SWITCH_DEBUG_OFF = "DEBUG = False"
ANY_HOST = "ALLOWED_HOSTS has '*': requests for any host are answered"
NAME_YOUR_HOSTS_IN_SETTING = "name the hosts that you serve in ALLOWED_HOSTS"
NOT_MIGRATED = "{count} migrations are not applied"
RUN_MIGRATE = "run `manage.py migrate`"
MIGRATED = "all migrations are applied"
KEYS_PILE_UP = "idempotency keys stay in the database until they are removed"
SCHEDULE_CLEANING = "run `manage.py mcp_clean` once a day, by cron or your task queue"
ATOMIC = "a call that fails is rolled back"


def cache_not_shared(alias: str) -> str:
    """The finding if the cache belongs to one process, or stores nothing."""
    return (
        f"workers do not share the cache {alias!r}: agents may not get the rest of a large result, "
        "and receipts may lack possible_duplicate_of"
    )


def cache_is_shared(alias: str) -> str:
    """The finding if workers share the cache."""
    return f"workers share the cache {alias!r}"


def writes_stay(databases: Sequence[str]) -> str:
    """The finding if databases have no transaction for each request."""
    return f"a view that fails does not undo its writes in {', '.join(databases)}"


def set_atomic_requests(databases: Sequence[str]) -> str:
    """The remedy for databases without a transaction for each request: the settings to write."""
    lines = (f"DATABASES[{each!r}]['ATOMIC_REQUESTS'] = True" for each in databases)
    return ", ".join(lines)


def no_time_limit(alias: str) -> str:
    """The finding if a database has no time limit for queries."""
    return f"queries in {alias!r} have no time limit: a slow one keeps a worker busy"


def time_limit(alias: str, limit: Any) -> str:
    """The finding if a database has a time limit for queries."""
    return f"queries in {alias!r} end after {limit}"


def proxy_header_is_trusted(header: Sequence[str]) -> str:
    """The finding if Django trusts a header of the proxy that marks HTTPS requests."""
    return f"a request counts as HTTPS if it has {header[0]}: {header[1]}"


def hosts_are_named(hosts: Sequence[str]) -> str:
    """The finding if ALLOWED_HOSTS has hosts and no wildcard."""
    return f"ALLOWED_HOSTS: {', '.join(hosts)}"


def not_migrated(name: str, alias: str) -> str:
    """The finding for a migration that is not applied."""
    return f"the migration {name} is not applied to {alias!r}"


# --- the report ---

NEXT = "What to do next"
CORRECT_ERRORS = "Correct each error above, from the top, and run this again."
READ_WARNINGS = "Go through each warning above. Tools that none of them names work already."
TRY_A_USER = "See what the user of your agent gets: manage.py mcp_doctor --as USERNAME"
TRY_DEPLOY = "Before you deploy: manage.py mcp_doctor --deploy"
SHOW_ALL = " (`manage.py mcp_doctor -v 2` names every place)"


def connect_a_client(username: str | None) -> str:
    """The next step after a successful `tools/list`. With None, no token can be made for a user."""
    option = "" if username is None else f" --as {username}"
    return f"Connect a client: manage.py mcp_config --client claude-code{option}"


def more_places(count: int) -> str:
    """A line with the number of places that are not shown."""
    return f"and {count:,} more"


def more_groups(count: int) -> str:
    """A line with the number of groups that are not shown."""
    return f"and {count:,} more, which `manage.py mcp_doctor -v 2` shows"


def fine(count: int) -> str:
    """A line with the number of findings without a problem. It is used if there is no room to name
    them.
    """
    return f"{count} other things are fine"


def counted(counts: dict[str, int]) -> str:
    """One line with the number of groups for each level."""
    return ", ".join(_count(word, count) for word, count in counts.items())


def _count(word: str, count: int) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
