"""The live stream on real sockets in a process of its own: Portal's proxy, Server's resource, log.

It obeys lines of standard input, each answered by one of JSON: ``new FOLDER`` begins anew and gives
the ports; ``emit N``, ``say WORDS``, ``forbid``, ``break``, ``server down``, ``server up``,
``streams``, ``rename NAME`` … are the methods of :class:`Server`.
"""

from __future__ import annotations

import json
import sys
import threading
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred, fail, succeed
from twisted.web.resource import Resource
from twisted.web.server import Site

from game.web.static_files import StaticFiles
from keepsake.archive.records import Memory, MemoryKind
from keepsake.events.log import EventLog, Taps
from keepsake.events.types import Fault, MemoryChange, World
from keepsake.paths import REPOSITORY
from keepsake.web.hub import Hub, Timing
from keepsake.web.stream import LiveResource

with warnings.catch_warnings():  # Evennia's proxy is built on what Twisted will drop one day
    warnings.simplefilter("ignore", DeprecationWarning)
    from twisted.web.proxy import ReverseProxyResource

    from game.web.portal import DisconnectingClient, let_browsers_leave

SECRET = "sk-a-key-of-somebody"
COOKIE = b"sessionid=ada"
reactor: Any = _reactor
DisconnectingClient.patience = 1.0
let_browsers_leave(ReverseProxyResource)


class Server:
    """All of it."""

    def __init__(self, folder: Path, *, kept: int, most: int) -> None:
        self.taps = Taps()
        timing = Timing(flush=0.02, beat=0.3, patience=1.0, rights=0.6)
        self.memories: dict[tuple[int, int], Memory] = {}
        self.hub = Hub(
            reactor,
            [SECRET],
            memory_of=lambda *which: self.memories.get(which),
            kept=kept,
            most=most,
            timing=timing,
        )
        self.taps.on_written(self.hub.written)
        self.taps.agent_ids["Mira"] = 7
        self.events = EventLog(folder, secrets=[SECRET], taps=self.taps)
        self.allowed, self.broken, self.number = True, False, 0
        self.there = {7, 8}
        root = Resource()
        live = LiveResource(self.hub, self.check, reactor, lambda n: n not in self.there)
        root.putChild(b"agents-live", live)
        root.putChild(b"static", StaticFiles(str(REPOSITORY / "keepsake" / "web" / "static")))
        self.site = Site(root)
        self.inner = reactor.listenTCP(0, self.site, interface="127.0.0.1")
        self.port = self.inner.getHost().port
        outer = Resource()
        proxy = ReverseProxyResource("127.0.0.1", self.port, b"/agents-live", reactor)
        outer.putChild(b"agents-live", proxy)
        self.outer = reactor.listenTCP(0, Site(outer), interface="127.0.0.1")

    def check(self, cookies: bytes) -> Deferred[bool]:
        if self.broken:
            return fail(RuntimeError("the database is away"))
        return succeed(self.allowed and cookies == COOKIE)

    def obey(self, word: str, rest: str) -> dict[str, Any]:
        getattr(self, f"do_{word}")(rest)
        return {"streams": self.hub.streams, "last": self.hub.last}

    def end(self) -> None:
        self.hub.close()
        self.inner.stopListening()
        self.outer.stopListening()
        self.events.close()

    def do_emit(self, count: str) -> None:
        for _ in range(int(count)):
            self.number += 1
            self.events.emit(Fault(level="warning", text=f"{self.number} " + "x" * 400))

    def do_say(self, words: str) -> None:
        """Mira remembers something, as the game tells it: the event first, then the words."""
        self.number += 1
        memory = Memory(
            self.number, datetime.now(UTC), MemoryKind.PERCEPTION, words, "The Kettle", "Tom"
        )
        self.events.emit(
            MemoryChange(agent="Mira", op="append", n=self.number, of="perception", size=len(words))
        )
        self.memories[7, self.number] = memory

    def do_world(self, op: str) -> None:
        self.events.emit(World(op=op))

    def do_forbid(self, _: str) -> None:
        self.allowed = False

    def do_delete(self, number: str) -> None:
        self.there.discard(int(number))

    def do_break(self, _: str) -> None:
        self.broken = True

    def do_streams(self, _: str) -> None:
        pass

    def do_server(self, how: str) -> None:
        if how == "down":
            self.inner.stopListening()
            self.hub.close()
        else:
            self.inner = reactor.listenTCP(self.port, self.site, interface="127.0.0.1")


class Process:
    """One server after the other: to start Python for each test would take most of the time."""

    def __init__(self) -> None:
        self.server: Server | None = None

    def obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "new":
            self.end()
            self.server = Server(Path(rest), kept=200, most=5)
            ports = (self.server.port, self.server.outer.getHost().port)
            answer: dict[str, Any] = dict(zip(("inner", "outer"), ports, strict=True))
        else:
            assert self.server is not None
            answer = self.server.obey(word, rest)
        print(json.dumps({"done": line, **answer}), flush=True)

    def end(self) -> None:
        if self.server is not None:
            self.server.end()


def main() -> None:
    process = Process()

    def read() -> None:
        for line in sys.stdin:
            reactor.callFromThread(process.obey, line.removesuffix("\n"))
        reactor.callFromThread(reactor.stop)

    threading.Thread(target=read, daemon=True).start()
    reactor.run()
    process.end()


if __name__ == "__main__":
    main()
