"""The HTTP tool of examples/recon against a site of the test's own: its limits, and attempts to
evade each of them.
"""

import asyncio
import importlib.util
import re
import ssl
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from toolbooth import ToolRegistry


def beside(name: str) -> ModuleType:
    """Import a module next to this one: the tests are not a package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sites = beside("recon_site")
sys.path.insert(
    0, str(Path(__file__).resolve().parents[2] / "examples")
)  # as `toolbooth serve` does
addresses, http_models, http_tools, stores = (
    importlib.import_module(f"recon.{name}")
    for name in ("addresses", "http_models", "http_tools", "store")
)


@pytest.fixture(scope="session")
def site() -> Iterator[int]:
    with sites.listening() as port:
        yield port


TLS = ssl.create_default_context()  # made once: it reads every certificate of the machine


class Recon:
    """The HTTP tool in a registry of its own, called as over the wire; names resolve to the
    addresses in `hosts`.
    """

    def __init__(
        self, database: Path, hosts: dict[str, list[str]] | None = None, **settings: Any
    ) -> None:
        self.hosts = hosts or {}
        self.looked_up: list[str] = []
        self.store = stores.Store(database)
        allowed = (ip_network("127.0.0.1"), ip_network("127.0.0.3"))
        settings = {"allowed": allowed, "resolve": self.look_up, "verify": TLS, **settings}
        config = http_models.HttpConfig(**settings)
        self.registry = ToolRegistry("recon")
        self.registry.tool(http_tools.HttpToolProvider(self.store, config).http_request)

    async def look_up(self, host: str, port: int) -> list[str]:
        self.looked_up.append(host)
        return self.hosts.get(host) or await addresses.look_up(host, port)

    def result(self, url: str, **arguments: Any) -> dict[str, Any]:
        return self.registry.dispatch("http_request", {"url": url, **arguments})

    def reply(self, url: str, **arguments: Any) -> Any:
        found = self.result(url, **arguments)
        assert not found["isError"], found["content"][0]["text"]
        return found["structuredContent"]

    def error(self, url: str, **arguments: Any) -> str:
        found = self.result(url, **arguments)
        assert found["isError"], found["content"][0]["text"]
        return found["content"][0]["text"].removeprefix("Tool 'http_request' failed: ")

    def errors_kept(self) -> list[str]:
        return [row["error"] for row in self.store.rows("SELECT error FROM requests")]


@pytest.mark.parametrize("body", [{}, {"method": "POST", "data": "hello"}], ids=["GET", "POST"])
@pytest.mark.parametrize(
    "name",
    [
        "Content-Length",
        "content-length",
        "Transfer-Encoding",
        "Host",
        "Connection",
        "Upgrade",
        "TE",
    ],
)
def test_headers_about_the_connection_are_refused_before_anything_is_sent(
    name, body, site, tmp_path
):
    recon = Recon(tmp_path / "db")
    told = recon.error(f"http://127.0.0.1:{site}/echo", headers={name: "5"}, **body)
    assert told == (
        "Refused: 1 problem in the arguments of 'http_request'. Nothing was done.\n"
        f"- $.headers: leave out the header {name}: the server sets it itself"
    )
    assert (recon.looked_up, recon.errors_kept()) == ([], [])


@pytest.mark.parametrize(
    "headers",
    [
        {"A": "x\r\nB: y"},
        {"A": "x\n"},
        {"A": "é"},
        {"A": "\x00"},
        {"A": " x"},
        {"A": "x\t"},
        {"A\n": "x"},
        {"A B": "x"},
        {"": "x"},
        {":authority": "x"},
        {"Accept": "a", "accept": "b"},
    ],
    ids=str,
)
def test_headers_that_cannot_be_sent_unchanged_are_refused(headers, site, tmp_path):
    recon = Recon(tmp_path / "db")
    told = recon.error(f"http://127.0.0.1:{site}/echo", headers=headers)
    assert told.startswith("Refused: 1 problem in the arguments of 'http_request'.")
    assert (recon.looked_up, recon.errors_kept()) == ([], [])


def test_an_empty_header_and_one_with_spaces_inside_are_sent(site, tmp_path):
    sent = {"A": "", "B": "x y\tz"}
    reply = Recon(tmp_path / "db").reply(f"http://127.0.0.1:{site}/echo", headers=sent)
    assert sent.items() <= reply["json"]["headers"].items()


@pytest.mark.parametrize("path", ["/endless", "/bomb"])
def test_a_reply_over_the_limit_is_not_read_to_its_end(path, site, tmp_path):
    recon = Recon(tmp_path / "db", max_response_bytes=100_000)
    told = (
        "the reply (200) is larger than 100000 bytes and was not read completely. "
        "The request was made; ask for less of it, e.g. with a Range header"
    )
    assert recon.error(f"http://127.0.0.1:{site}{path}") == told
    assert recon.errors_kept() == [told]


def test_response_body_of_exactly_the_limit_is_not_cut(site, tmp_path):
    recon = Recon(tmp_path / "db", max_response_bytes=3)
    assert recon.reply(f"http://127.0.0.1:{site}/body?hex=616263&type=text/plain")["text"] == "abc"


def test_a_server_that_does_not_answer_is_abandoned(site, tmp_path):
    recon = Recon(tmp_path / "db", timeout=0.2)
    told = "no whole reply within 0.2 s; the request may have had its effect"
    assert recon.error(f"http://127.0.0.1:{site}/hang") == told
    assert recon.errors_kept() == [told]


def test_a_cancelled_call_still_stores_its_row(site, tmp_path):
    reached = asyncio.Event()

    async def look_up(host: str, port: int) -> list[str]:
        reached.set()
        return ["127.0.0.1"]

    async def given_up(recon: Recon) -> None:
        call = recon.registry.dispatch_async(
            "http_request", {"url": f"http://shop.test:{site}/hang"}
        )
        waiting = asyncio.ensure_future(call)
        await reached.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    recon = Recon(tmp_path / "db", resolve=look_up)
    asyncio.run(given_up(recon))
    assert recon.errors_kept() == ["it was not finished"]


def test_an_unrecorded_request_is_reported_as_unsafe_to_repeat(site, tmp_path):
    recon = Recon(tmp_path / "db")
    with recon.store.writing() as db:
        db.execute("DROP TABLE requests")
    told = "the request was made, but it could not be recorded; do not repeat it blindly"
    assert recon.error(f"http://127.0.0.1:{site}/echo", method="POST") == told


def test_the_number_of_redirects_is_limited(site, tmp_path):
    recon = Recon(tmp_path / "db")
    url = f"http://127.0.0.1:{site}/loop"
    assert recon.error(url) == f"more than 5 redirects, at last to {url}"
    assert recon.reply(url, follow_redirects=False)["status_code"] == 302


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("http://127.0.0.2/", "127.0.0.2 is a loopback address"),
        ("http://inside.test/", "inside.test leads to 10.0.0.7, a private address"),
        ("ftp://127.0.0.1/", "ftp://127.0.0.1 is no http or https address"),
        (
            "http://ann:hunter22@127.0.0.1/",
            "the URL holds a user name or password; send them in auth instead",
        ),
        ("http://127.0.0.1:99999/", "there is no port 99999; the last one is 65535"),
        ("http://nowhere.invalid/", "no address was found for the host 'nowhere.invalid'"),
    ],
    ids=["loopback", "name of a private address", "ftp", "password", "port", "no such host"],
)
def test_a_redirect_is_checked_like_a_request(to, told, site, tmp_path):
    recon = Recon(tmp_path / "db", {"inside.test": ["10.0.0.7"], "nowhere.invalid": []})
    assert recon.error(f"http://127.0.0.1:{site}/go", params={"to": to}).startswith(told)


def test_credentials_are_not_sent_to_another_host(site, tmp_path):
    recon = Recon(tmp_path / "db", {"shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]})
    secrets: dict[str, Any] = {
        "headers": {"X-Api-Key": "key-12345", "Accept": "text/html"},
        "auth": {"username": "ann", "password": "hunter22"},
        "cookies": {"session": "sent-session"},
    }
    there = f"http://other.test:{site}/echo"
    reply = recon.reply(
        f"http://shop.test:{site}/go", params={"to": there, "status": "307"}, **secrets
    )
    assert (reply["url"], reply["redirects"]) == (there, [there])
    told = {
        "Host": f"other.test:{site}",
        "User-Agent": "toolbooth-recon/0.1",
        "Accept": "text/html",
    }
    assert reply["json"]["headers"] == told

    reply = recon.reply(f"http://shop.test:{site}/login", **secrets)
    assert reply["cookies"] == {"sid": "given-by-site"}
    assert reply["json"]["headers"] == {
        **told,
        "Host": f"shop.test:{site}",
        "X-Api-Key": "key-12345",
        "Authorization": "Basic YW5uOmh1bnRlcjIy",
        "Cookie": "session=sent-session; sid=given-by-site",
    }
    stored = (tmp_path / "db").read_bytes()
    assert [secret for secret in sites.SECRETS if secret.encode() in stored] == []


def test_name_is_resolved_once_and_the_checked_address_is_called(site, tmp_path):
    answers = [["127.0.0.1"], ["127.0.0.2"]]
    looked_up = []

    async def rebinding(host: str, port: int) -> list[str]:
        looked_up.append((host, port))
        return answers[len(looked_up) - 1]

    recon = Recon(tmp_path / "db", resolve=rebinding)
    assert (
        recon.reply(f"http://shop.test:{site}/echo")["json"]["headers"]["Host"]
        == f"shop.test:{site}"
    )
    assert looked_up == [("shop.test", site)]
    told = "shop.test leads to 127.0.0.2, a loopback address"
    assert recon.error(f"http://shop.test:{site}/echo").startswith(told)


def test_every_address_of_a_name_is_checked(site, tmp_path):
    recon = Recon(tmp_path / "db", {"shop.test": ["127.0.0.1", "10.0.0.7"]})
    told = "shop.test leads to 10.0.0.7, a private address"
    assert recon.error(f"http://shop.test:{site}/echo").startswith(told)


def test_the_next_address_is_tried_if_one_does_not_answer(site, tmp_path):
    recon = Recon(
        tmp_path / "db", {"shop.test": ["127.0.0.3", "127.0.0.1"]}
    )  # nothing listens at the first
    assert recon.reply(f"http://shop.test:{site}/echo")["status_code"] == 200


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
        ),
        *(
            "2002:7f00:1::",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "100.64.0.1",
            "10.1.2.3",
            "172.16.0.1",
        ),
        *(
            "192.168.1.1",
            "fd12:3456::1",
            "fec0::1",
            "169.254.1.1",
            "fe80::1%eth0",
            "0.0.0.0",
            "224.0.0.1",
        ),
        *("ff02::1", "255.255.255.255", *sorted(addresses.METADATA)),
    ],
)
def test_address_that_is_not_public_is_not_called(address, tmp_path):
    recon = Recon(tmp_path / "db", {"shop.test": [address]}, allowed=())
    assert recon.error("http://shop.test/").startswith(
        f"shop.test leads to {ip_address(address)}, "
    )


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_public_address_may_be_called(address):
    assert addresses.why_not(ip_address(address)) is None


@pytest.mark.parametrize(
    "spelling", ["2130706434", "0x7f.2", "127.2", "0177.0.0.2", "127.0.0.2.", "[::ffff:7f00:2]"]
)
def test_another_spelling_of_a_private_address_is_not_called(spelling, tmp_path):
    """The message depends on the first reader of the spelling: httpx2, or the system's lookup."""
    recon = Recon(tmp_path / "db")
    assert re.search(
        r"this server does not call|no address was found|cannot be read",
        recon.error(f"http://{spelling}/"),
    )


@pytest.mark.parametrize(
    ("name", "is_hidden"),
    [
        *(
            (name, True)
            for name in (
                "Authorization",
                "Proxy-Authorization",
                "Set-Cookie",
                "X-Api-Key",
                "apikey",
            )
        ),
        *(
            (name, True)
            for name in (
                "accessToken",
                "AWSAccessKeyId",
                "PHPSESSID",
                "sid",
                "code",
                "pwd",
                "X-Mine",
            )
        ),
        *(
            (name, False)
            for name in (
                "WWW-Authenticate",
                "keyword",
                "author",
                "design",
                "encoding",
                "x-mine-too",
            )
        ),
    ],
)
def test_values_are_hidden_because_of_their_names(name, is_hidden, site, tmp_path):
    recon = Recon(tmp_path / "db", sensitive_headers=("x-mine",))
    given = {"headers": {name: "abc"}, "params": {name: "d/e f"}}
    sent = recon.reply(f"http://127.0.0.1:{site}/go?to=x", follow_redirects=False, **given)[
        "request"
    ]
    assert sent["headers"][name.lower()] == ("[redacted]" if is_hidden else "abc")
    assert sent["url"].endswith(f"={'%5Bredacted%5D' if is_hidden else 'd%2Fe+f'}")


def certificate(folder: Path, name: str) -> Path:
    """A certificate for one name, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    start = datetime.now(UTC) - timedelta(days=1)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "certificate.pem"
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file


def test_tls_verifies_the_name_although_the_address_is_called(tmp_path):
    file = certificate(tmp_path, "shop.test")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    hosts = {"shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}
    recon = Recon(tmp_path / "db", hosts, verify=ssl.create_default_context(cafile=str(file)))
    with sites.listening(server) as port:
        assert (
            recon.reply(f"https://shop.test:{port}/echo")["json"]["headers"]["Host"]
            == f"shop.test:{port}"
        )
        told = recon.error(f"https://other.test:{port}/echo")
    assert "CERTIFICATE_VERIFY_FAILED" in told
    assert "other.test" in told


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("hex=636166c3a9&type=text/plain", {"text": "café", "json": None, "base64": None}),
        (
            "hex=636166e9&type=text/plain;charset=latin-1",
            {"text": "café", "json": None, "base64": None},
        ),
        ("hex=ff00&type=image/png", {"text": None, "json": None, "base64": "/wA="}),
        (
            "hex=6162&type=text/plain;charset=punycode",
            {"text": None, "json": None, "base64": "YWI="},
        ),
        (
            "hex=7b2261223a317d&type=application/problem%2Bjson",
            {"text": '{"a":1}', "json": {"a": 1}, "base64": None},
        ),
        (
            "hex=7b2261223a4e614e7d&type=application/json",
            {"text": '{"a":NaN}', "json": None, "base64": None},
        ),
    ],
    ids=["utf-8", "latin-1", "no text", "a codec of Python", "JSON", "no JSON after all"],
)
def test_response_body_is_returned_as_received(query, body, site, tmp_path):
    reply = Recon(tmp_path / "db").reply(f"http://127.0.0.1:{site}/body?{query}")
    assert {key: reply[key] for key in body} == body


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"cookie_profile": "bob"}, "there is no cookie profile 'bob'; known are: none"),
        (
            {"cookies": {"a": "1"}, "headers": {"cookie": "b=2"}},
            "both cookies and the header Cookie are given; send one of them",
        ),
        (
            {
                "auth": {"username": "ann", "password": "hunter22"},
                "headers": {"authorization": "x"},
            },
            "both auth and the header Authorization are given; send one of them",
        ),
        ({"data": "12345"}, "the body has 5 bytes; 4 are allowed"),
        (
            {"mission_id": "00000000-0000-4000-8000-000000000000"},
            "there is no mission 00000000-0000-4000-8000-000000000000; create_mission makes one and gives its id",
        ),
    ],
    ids=["profile", "cookies twice", "credentials twice", "large body", "mission"],
)
def test_a_contradictory_request_is_not_made(arguments, told, site, tmp_path):
    recon = Recon(tmp_path / "db", max_request_bytes=4)
    assert recon.error(f"http://127.0.0.1:{site}/echo", **arguments) == told
    assert recon.errors_kept() == []


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"headers": '{"A": null}'}, [("wrong-type", "$.headers.A")]),
        ({"headers": {"A": {"b": "c"}}}, [("wrong-type", "$.headers.A")]),
        ({"headers": {"A": "x\r\nB: y"}}, [("invalid", "$.headers.A")]),
        ({"headers": '{"A": "1", "A": "2"}'}, [("duplicate-key", "$.headers")]),
        ({"headers": "A: 1"}, [("wrong-type", "$.headers")]),
        ({"cookies": {"a": "1; b=2"}}, [("invalid", "$.cookies.a")]),
        ({"auth": {"username": "ann"}}, [("missing", "$.auth.password")]),
        (
            {"auth": {"user": "ann", "password": "x"}},
            [("unknown-key", "$.auth.user"), ("missing", "$.auth.username")],
        ),
        ({"url": "example.org"}, [("invalid", "$.url")]),
        ({"data": {"a": 1}}, [("wrong-type", "$.data")]),
        (
            {"follow_redirects": "maybe", "headers": "{bad"},
            [("wrong-type", "$.follow_redirects"), ("wrong-type", "$.headers")],
        ),
    ],
)
def test_all_mistakes_of_a_call_are_reported_at_once(arguments, problems, tmp_path):
    found = Recon(tmp_path / "db").result(**{"url": "http://127.0.0.1/", **arguments})
    assert [
        (each["code"], each["path"]) for each in found["_meta"]["toolbooth"]["problems"]
    ] == problems
