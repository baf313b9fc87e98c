"""Reading a telnet line that comes in pieces."""

import socket
from threading import Thread

import pytest

from game.cli.world import login
from keepsake.errors import KeepsakeError
from tests.free_ports import free_port

IAC_DO_NAWS = b"\xff\xfd\x1f"
IAC_WILL_MCCP = b"\xff\xfb\x56"
SUBNEGOTIATION = b"\xff\xfa\x18\x01\xff\xf0"
GO_AHEAD = b"\xff\xf9"


def dripping(data):
    """A port on which one caller gets ``data`` byte by byte; what he sends is returned."""
    server = socket.create_server(("127.0.0.1", 0))
    heard = bytearray()

    def serve():
        with server, server.accept()[0] as caller:
            caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in data:
                caller.sendall(bytes([byte]))
            while more := caller.recv(1024):
                heard.extend(more)

    thread = Thread(target=serve)
    thread.start()
    return server.getsockname()[1], heard, thread


def test_options_are_refused_and_only_the_text_is_kept():
    data = IAC_DO_NAWS + b"\x1b[1mWel" + IAC_WILL_MCCP + SUBNEGOTIATION + b"come\x1b[0m \xc3\xa9"
    port, heard, thread = dripping(data + GO_AHEAD + b"end")
    line = login.Telnet("127.0.0.1", port)
    assert line.wait_for("end", 60)
    assert line.text.startswith("Welcome ")
    line.send("look")
    line.close()
    thread.join(60)
    assert heard == b"\xff\xfc\x1f" + b"\xff\xfe\x56" + b"look\r\n"


def test_nobody_there_is_said_so():
    with pytest.raises(KeepsakeError, match="does not work"):
        login.connection_screen("127.0.0.1", free_port(), 1)


def test_a_silent_line_is_said_so():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(KeepsakeError, match="silent"),
    ):
        login.connection_screen("127.0.0.1", server.getsockname()[1], 0.2)
