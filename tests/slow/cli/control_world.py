"""A process that answers on the control socket named by its argument, for tests."""

import sys
from pathlib import Path

from twisted.internet import defer, reactor

from game.server.control import ControlServer
from keepsake.errors import KeepsakeError


def refuse(request):
    raise KeepsakeError(f"No {request['what']} here", "Bring some")


def break_down(request):
    return {}["missing"]


def later(request):
    waiting = defer.Deferred()
    reactor.callLater(0.05, waiting.callback, "late")
    return waiting


# Its stop comes two turns of the reactor later: in the first of them the answer is sent.
server = ControlServer(
    {
        "echo": lambda request: request,
        "refuse": refuse,
        "break": break_down,
        "later": later,
        "unspeakable": lambda request: {("a", "pair"): 1},
        "stop": lambda request: reactor.callLater(0, reactor.callLater, 0, reactor.stop) and "bye",
    }
)


def main():
    try:
        server.listen(Path(sys.argv[1]))
    except KeepsakeError as error:
        print(error, flush=True)
        sys.exit(1)
    reactor.addSystemEventTrigger("before", "shutdown", server.close)
    print("up", flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
