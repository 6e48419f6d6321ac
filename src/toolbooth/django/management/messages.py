"""The sentences of `mcp_doctor` about settings, the endpoint and the tools, and the sentences of
the other commands.

The doctor's sentences about views, callers and deployment are in `doctor/messages.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from toolbooth.jsonvalue import near_name

DOCTOR = (
    "Check how agents reach the project's views, and print each problem with its remedy. Exit code"
    " 1: there are errors; 2: it could not run, as with a user that does not exist."
)
DOCTOR_AS = "the tools are listed for an anonymous caller"
DOCTOR_DEPLOY = (
    "Also check the settings for production: cache, transactions, time limits, HTTPS, hosts, "
    "migrations."
)
DOCTOR_JSON = "Print one JSON document, with every place of every finding."

SETTINGS_ARE_RIGHT = "TOOLBOOTH has no mistakes"
NO_HOSTS = "no request is answered: ALLOWED_HOSTS is empty"
NAME_YOUR_HOSTS = "name the hosts that you serve"
NAME_YOUR_HOSTS_IN_SETTING = "name the hosts that you serve in ALLOWED_HOSTS"
LOOK_INTO_MIDDLEWARE = "find the middleware that answers, and exempt this path from it"
MOVE_ENDPOINT_UP = 'write path("mcp", …) before that pattern in the URLconf'
MOUNT_WITHOUT_SLASH = (
    'path("mcp", include("toolbooth.django.urls")) answers with and without the slash'
)
WIDEN_INCLUDE = "widen TOOLBOOTH['INCLUDE']"
ADD_VIEWS = "add REST framework views to the URLconf, as a router does"
USE_DISPATCHERS = (
    "TOOLBOOTH['DISPATCH'] = 'app' groups them behind a few tools; EXCLUDE leaves some out"
)
SET_ATOMIC_REQUESTS = "set it to True, and a refused call leaves no trace"
ATOMIC = "a call that fails is rolled back"
SHARE_A_CACHE = "with several workers, name a cache that they share: TOOLBOOTH['CACHE']"


WRONG_ENTRIES = "{count} entries of TOOLBOOTH['BODIES'] or ['VERBATIM'] cannot be used"
CORRECT_ENTRIES = "correct the names; `mcp_tools` lists the tools"
BROKEN_TOOLS = "{count} mistakes in the code of your own tools, which are left out"
UNUSED_PATTERNS = "{count} patterns in TOOLBOOTH add nothing"
CORRECT_PATTERNS = "correct or delete them; `mcp_tools` lists the names of tools and resources"
CLASHES = "{count} arguments of yours have names of protocol arguments, and replace them"
RENAME_ARGUMENTS = "to have both, rename the latter: TOOLBOOTH['ARGUMENTS'] = {'NAME': 'mcp_NAME'}"


def argument_not_offered(tool: str, argument: str) -> str:
    """The finding if a control argument is missing, because the tool has an argument with the same
    name.
    """
    return (
        f"{tool} does not offer the protocol argument {argument!r}: "
        "it has its own argument of that name"
    )


def rename_argument(argument: str) -> str:
    """The remedy if a tool should have both arguments. The user writes a setting that renames the
    control argument.
    """
    renamed = f"{{{argument!r}: 'mcp_{argument}'}}"
    return f"to have both, rename the former: TOOLBOOTH['ARGUMENTS'] = {renamed}"


def not_reached(path: str, status: int | None) -> str:
    """The finding if requests do not reach the endpoint."""
    return f"an agent does not reach {path}: something before it answers HTTP {status}"


def only_with_slash(path: str) -> str:
    """The finding if the endpoint answers only with a slash at the end of its path."""
    bare = path.rstrip("/")
    return f"{bare} does not answer, only {path}: without the slash, clients get a 404"


def shadowed(path: str, route: str) -> str:
    """The finding if an earlier pattern of the URLconf matches the path of the endpoint."""
    return f"an agent does not reach {path}: the pattern {route!r} comes first, and matches it"


def users_not_read(error: Exception) -> str:
    """The message if the users could not be read from the database."""
    return f"users could not be read: {error}"


def list_names(kind: str) -> str:
    """The advice to list the names that a pattern can match."""
    return f"`mcp_tools` lists the names of {kind}"


def cost_of_tools(count: int, hidden: int, tokens: int) -> str:
    """The finding with the number of tools and their cost in tokens."""
    behind = f" with {hidden:,} more behind them" if hidden else ""
    return f"{count:,} tools{behind} cost every agent {tokens:,} tokens"


def runs_around_calls(paths: str) -> str:
    """The finding with the middleware that runs around each call."""
    return f"runs around each call: {paths}"


def runs_around_endpoint(paths: str) -> str:
    """The finding with the middleware that runs once per message, but not around each call."""
    return f"runs only around the endpoint: {paths}"


def not_atomic(databases: Sequence[str]) -> str:
    """The finding if databases have no transaction for each request."""
    names = ", ".join(databases)
    return f"ATOMIC_REQUESTS is off for {names}: a view that fails does not undo its writes"


def cache_of_one_process(alias: str) -> str:
    """The finding if workers do not share the cache."""
    return (
        f"workers do not share the cache {alias!r}: agents may not get the rest of a large result, "
        "and receipts may lack possible_duplicate_of"
    )


def cache_without_memory(alias: str) -> str:
    """The finding if the cache stores nothing."""
    return (
        f"the cache {alias!r} keeps nothing: "
        "large results that cannot be repeated are returned whole, "
        "and receipts never have possible_duplicate_of"
    )


def cache_is_fit(alias: str) -> str:
    """The finding if workers share the cache."""
    return f"large results are kept in the cache {alias!r}"


# Sentences of `mcp_config` about credentials, and of `mcp_clean`.

NO_CREDENTIALS = "There are no credentials in it, so the API will refuse what needs a login."
ADD_USER_OR_TOKEN = "Add --as USERNAME for a token of that user, or --token TOKEN."
CLEAN_HELP = "Removes idempotency keys that have expired; run it once a day."
CLEAN_BATCH_HELP = "how many rows to remove at a time, from 1 on"
NO_TABLE_OF_KEYS = "the table of idempotency keys is missing"
MIGRATE = "run manage.py migrate"


def database_failed(reason: object) -> str:
    """The message if a database query of a command failed."""
    return f"a query failed: {reason}. Is the database running, and did you run manage.py migrate?"


def keys_removed(count: int) -> str:
    """The output of `mcp_clean`."""
    return f"Removed {count:,} expired idempotency {'key' if count == 1 else 'keys'}."


ADD_TOKEN = "Add --token"
OR_ADD_TOKEN = "Or add --token"
AS_OR_TOKEN = "give --as or --token, not both"
SUPERUSER = "This user is a superuser: give an agent a user of its own, with few permissions."
NO_TOKEN_APP = (
    "no token can be made: neither rest_framework.authtoken nor knox is in INSTALLED_APPS. "
    'For tokens, add "rest_framework.authtoken" there, run migrate, and add TokenAuthentication to '
    "DEFAULT_AUTHENTICATION_CLASSES."
)
TAKES_PASSWORD = "a user's name and password (--token 'Basic ' and the base64 of NAME:PASSWORD)"
TAKES_SESSION = "session cookies (agents have none)"
TAKES_JWT = "a JWT (--token JWT)"
TAKES_OAUTH = "an OAuth access token (--token TOKEN)"


def inactive_user(name: str) -> str:
    """The message if the user is not active, so that no token is made."""
    return f"the user {name!r} is not active, so no view would take their token"


def drf_token(name: str, *, is_new: bool) -> str:
    """The note about a token of `rest_framework.authtoken`."""
    made = "A token was created for" if is_new else "It has the token of"
    return f"{made} {name!r}. It does not expire; `drf_create_token -r {name}` replaces it."


def knox_token(name: str, expiry: datetime | None) -> str:
    """The note about a token of knox."""
    until = (
        "It does not expire." if expiry is None else f"It expires at {expiry:%Y-%m-%d %H:%M %Z}."
    )
    return (
        f"A new knox token was created for {name!r}. {until} "
        "knox stores only its hash, so it cannot be shown again: each run creates another one."
    )


def token_not_stored(error: Exception) -> str:
    """The message if the database could not store a token."""
    return f"the token could not be stored ({error}); has `manage.py migrate` been run?"


def token_app_missing(app: str) -> str:
    """The message if views accept tokens of an app that is not installed."""
    return f"the API takes tokens of {app}; add {app!r} to INSTALLED_APPS and run migrate"


def tokens_not_taken(app: str, authenticator: str) -> str:
    """The message if an installed app makes tokens, but no view accepts them."""
    return (
        f"{app} is installed, but no view takes its tokens; "
        f"add {authenticator!r} to DEFAULT_AUTHENTICATION_CLASSES"
    )


def what_views_take(kinds: Iterable[str]) -> str:
    """A sentence with the kinds of credentials that the REST API accepts."""
    return f"the REST API takes {', '.join(kinds) or 'no credentials'}"


# Commands.

_SAME_OPTION = {
    "--user": "--as",
    "--username": "--as",
    "-u": "--as",
    "--format": "--json",
    "--output": "--json",
    "--args": "ARGUMENTS",
    "--arguments": "ARGUMENTS",
    "--data": "ARGUMENTS",
    "--tool": "TOOL",
    "--host": "--url",
    "--header": "--token",
    "--env": "--settings",
}
"""Options of other commands, and what to write here."""


def unknown_words(words: Sequence[str], known: Sequence[str]) -> str:
    """The message for words that a command does not take, with the right option."""
    wrong = next((each for each in words if each.startswith("-")), words[0])
    same = _SAME_OPTION.get(wrong)
    if same is not None and (same in known or not same.startswith("-")):
        return f"there is no option {wrong!r}; write {same}"
    if not wrong.startswith("-"):
        return f"{wrong!r} is one word too many"
    near = near_name(wrong.lstrip("-"), [each.lstrip("-") for each in known])
    return f"there is no option {wrong!r}" + (f"; did you mean '--{near}'?" if near else "")


def wrong_usage(reason: str, command: str) -> str:
    """The sentence about wrong usage, with the command that shows the help."""
    end = "" if reason.endswith("?") else "."
    return f"{reason}{end} See `{command} --help`."


def arguments_not_json(reason: str) -> str:
    """The message for ARGUMENTS that are not JSON."""
    return f"ARGUMENTS: {reason}. Write one JSON object in single quotes, such as '{{\"a\": 1}}'"


NO_INPUT = (
    "standard input is empty, and - reads the arguments from there: write `- < arguments.json`, or "
    "the JSON object itself"
)
LOCK_IS_FOR_ALL = "--lock is for the names of all tools; leave out TOOL, --as and --json"
TOO_FEW_ROWS = "--batch has to be 1 or more"

CALL_HELP = (
    "Call TOOL with ARGUMENTS (JSON; - reads standard input) through the whole project, and print"
    " what the agent would read. Exit code 1: the call was refused or failed; 2: there is no such"
    " tool or user."
)
CALL_META_HELP = "Also print `_meta`: repairs, problems, the correction."
CALL_WITHOUT_USER = "the call is anonymous"
CALL_WAS_ANONYMOUS = "This call was anonymous; --as USERNAME calls as a user."

TOOLS_HELP = "List the tools with their cost in tokens (bytes / 4), or show one of them whole."
TOOLS_NAME_HELP = "Show only this tool, as in `tools/list`."
TOOLS_JSON_HELP = "Print all tools as JSON, as in `tools/list`."
TOOLS_LOCK_HELP = "Write the names of all tools into mcp_names.lock, so that they keep them."
TOOLS_CHECK_HELP = "With --lock: write nothing, and exit with 1 if the file would change."
CHECK_WITHOUT_LOCK = "--check needs --lock"
NO_LOCK_PATH = (
    "the folder of mcp_names.lock is not known. Set BASE_DIR, or TOOLBOOTH['NAMES_LOCK']."
)


def no_tools(username: str | None) -> str:
    """The line of `mcp_tools` if there is no tool to list."""
    if username is None:
        return "There are no tools; `manage.py mcp_doctor` shows why."
    return (
        f"The user {username!r} may call no tool; `manage.py mcp_tools` lists those of all users."
    )


def names_are_locked(path: object, count: int) -> str:
    """The output of `mcp_tools --lock` if the file is up to date."""
    return f"{path} is up to date: {_tools(count)}"


def names_written(path: object, count: int) -> str:
    """The output of `mcp_tools --lock` if the file was written."""
    return f"{path} written: {_tools(count)}"


def names_would_change(path: object) -> str:
    """The output of `mcp_tools --lock --check` if the file is not up to date."""
    return f"{path} is not up to date: run `manage.py mcp_tools --lock`, and commit it"


WARM_HELP = (
    "Write the list of all tools into the file in TOOLBOOTH['WARM_FILE']. Run it wherever the"
    " server runs, after each change of code, settings or packages."
)
NO_WARM_PATH = "no file is configured. Set TOOLBOOTH['WARM_FILE'] to its path."


def warm_file_written(path: object, count: int, size: int) -> str:
    """The output of `mcp_warm` if the file was written."""
    return f"{path} written: {_tools(count)}, {size / 1000:,.0f} kB"


def warm_file_not_written(path: object, error: OSError) -> str:
    """The output of `mcp_warm` if the file could not be written."""
    return f"{path} cannot be written: {error.strerror or error}"


RUN_WARM = "run `manage.py mcp_warm` where the server runs, after each change of the project"


def warm_file_is_used(path: object, count: int) -> str:
    """The finding if the file in WARM_FILE matches the project."""
    return f"tools/list comes from {path}: {_tools(count)}"


def warm_file_is_ignored(path: object, reason: str) -> str:
    """The finding if the file in WARM_FILE cannot be used."""
    return f"{path} is not used: {reason}"


def _tools(count: int) -> str:
    return f"{count:,} tool{'' if count == 1 else 's'}"


CONFIG_HELP = (
    "Print the JSON to paste into an MCP client's configuration; the path of that file goes to "
    "stderr."
)
CONFIG_URL_HELP = "Where the project is served, e.g. %(default)s"
CONFIG_TOKEN_HELP = "Credentials: a bare token, or a whole header such as 'Basic YW5uOnB3'."
CONFIG_USER_HELP = (
    "Use a token of this user: of rest_framework.authtoken, created if there is none, or a new one"
    " of knox."
)
CONFIG_NAME_HELP = "Name of the server in the client's configuration; default: TOOLBOOTH['NAME']."


def act_as_user(otherwise: str) -> str:
    """The help text of `--as`. `otherwise` describes what the command does without this option."""
    return f"Act as this user; without it, {otherwise}."


def no_such_user(name: str) -> str:
    """The message if no user has this name."""
    return f"there is no user {name!r}; `manage.py createsuperuser` creates one"


def tools_are_listed(answer: str) -> str:
    """The refusal of a call to a tool that does not exist. It ends with the command that lists the
    tools.
    """
    # The refusal may end in a question: "did you mean 'contacts__create'?"
    separator = "" if answer.endswith("?") else ";"
    return f"{answer}{separator} `manage.py mcp_tools` lists them all"


def no_such_tool(name: str, known: Sequence[str]) -> str:
    """The message of `mcp_tools` if there is no tool of this name."""
    of_resource = [each for each in known if each.startswith(f"{name}__")]
    if of_resource:
        return f"{name!r} is a resource and not a tool; its tools are {', '.join(of_resource)}"
    near = near_name(name, known)
    hint = f"did you mean {near!r}?" if near else ""
    return tools_are_listed(f"there is no tool {name!r}{'; ' + hint if hint else ''}")


def total_cost(tokens: int, tools: int, behind: int) -> str:
    """The last line of `mcp_tools`. `behind` is the number of tools behind dispatchers."""
    ending = "" if tools == 1 else "s"
    more = f", with {behind:,} more behind" if behind else ""
    return f"{tokens:>8,}  tokens for {tools:,} tool{ending}{more} (bytes / 4)"


def url_needs_scheme(given: str) -> str:
    """The message if `--url` is not a URL."""
    return f"--url should begin with http:// or https://, not {given!r}"
