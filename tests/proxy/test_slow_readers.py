"""The connection to a server that several clients share, while some of them read too slowly."""

import asyncio
import sys
from pathlib import Path

from toolbooth.proxy.link import ChildLink

FAULTY = Path(__file__).with_name("faulty_server.py")


def test_a_child_is_read_again_when_the_last_slow_client_has_caught_up():
    async def test() -> list[bool]:
        link = ChildLink([sys.executable, str(FAULTY)])
        link.session = Session()
        await link.start()
        output = link.child.process.transport.get_pipe_transport(1)
        found = []
        for change in (link.pause, link.pause, link.resume, link.resume):
            change()
            found.append(output.is_reading())
        await link.stop()
        return found

    assert asyncio.run(test()) == [False, False, False, True]


class Session:
    """Takes the end of the child."""

    def upstream_ended(self, *reasons: object) -> None: ...
