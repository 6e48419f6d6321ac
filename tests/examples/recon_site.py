"""A web site on loopback for the HTTP tool of examples/recon to call."""

import contextlib
import gzip
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

SECRETS = (
    "hunter22",
    "YW5uOmh1bnRlcjIy",
    "key-12345",
    "kept-session",
    "sent-session",
    "t0ken-123",
    "given-by-site",
)
"""Every secret that a test sends, or that the site returns: none of them may be stored."""


class Site(BaseHTTPRequestHandler):
    """/echo returns the request; /go?to= redirects; /login sets a cookie; the others never end."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        place = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        match place.path:
            case "/echo":
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                sent = {
                    "method": self.command,
                    "path": self.path,
                    "headers": dict(self.headers),
                    "body": body,
                }
                # Some servers include a caller's secrets in their replies.
                told = {
                    "Content-Type": "application/json",
                    "X-Told": self.headers.get("authorization", "nothing"),
                }
                address = f"127.0.0.1:{self.server.server_port}"
                self.reply(200, json.dumps(sent).replace(address, "SITE").encode(), **told)
            case "/go":
                self.reply(int(query.get("status", 302)), b"", Location=query["to"])
            case "/loop":
                self.reply(302, b"", Location="/loop")
            case "/login":
                self.reply(
                    302, b"", Location="/echo", **{"Set-Cookie": "sid=given-by-site; Path=/"}
                )
            case "/body":
                self.reply(200, bytes.fromhex(query["hex"]), **{"Content-Type": query["type"]})
            case "/bomb":
                self.reply(200, gzip.compress(bytes(64 << 20)), **{"Content-Encoding": "gzip"})
            case "/endless":
                self.reply(200, None, Connection="close")
                with contextlib.suppress(OSError):
                    while not self.server.stopped.is_set():
                        self.wfile.write(bytes(1 << 16))
            case "/hang":
                self.server.stopped.wait()

    do_GET = do_POST = do_HEAD = answer

    def reply(self, status: int, body: bytes | None, **headers: str) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if body is None:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), answers)
        self.stopped = threading.Event()


@contextlib.contextmanager
def listening(
    tls: ssl.SSLContext | None = None, answers: type[BaseHTTPRequestHandler] = Site
) -> Iterator[int]:
    """Yield the port of a site on 127.0.0.1."""
    site = Server(answers)
    if tls:
        site.socket = tls.wrap_socket(site.socket, server_side=True)
    thread = threading.Thread(target=site.serve_forever, args=[0.05])
    thread.start()
    try:
        yield site.server_port
    finally:
        site.stopped.set()
        site.shutdown()
        site.server_close()
        thread.join()
