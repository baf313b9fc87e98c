"""What one line, one player and one address may send; the protocols are Evennia's own."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from autobahn.twisted.websocket import WebSocketServerFactory
from evennia.utils.create import create_account
from hypothesis import given
from hypothesis import strategies as st
from twisted.conch.telnet import NAWS
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from game.server import limits
from game.server.limits import (
    BYTES_A_LINE,
    LOGIN_SECONDS,
    LONGEST_LINE,
    LONGEST_MESSAGE,
    Allowance,
    Buckets,
)
from game.server.portal_lines import BoundedSocket, PromptTelnet
from game.server.telnet_session import WrappingSession, wrap
from tests.sentences import table
from typeclasses.accounts import Account

SMALL = Allowance(lines=5, a_second=1)


class Sessions:
    """Where the Portal's connections hand things on; keeps what came, in order."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.told: list[str] = []
        self.synced: list[object] = []
        self.left = 0

    def data_in(self, session: object, **message: Any) -> None:
        self.heard.append(message["text"])

    def data_out(self, session: object, **message: Any) -> None:
        self.told.append(message["text"][0][0])

    def disconnect(self, session: object) -> None:
        self.left += 1

    def sync(self, session: object) -> None:
        self.synced.append(session)


@pytest.fixture
def sessions():
    return Sessions()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def telnet(sessions, clock):
    line = PromptTelnet()
    line.timer, line.transport, line.line_buffer = clock, StringTransport(), b""
    line.nop_keep_alive = None
    line.init_session("telnet", "198.51.100.7", sessions)
    return line


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 3000)), max_size=200))
def test_nobody_gets_more_through_than_a_bucket_and_what_flows_into_it(sent):
    clock, lines, size, largest = Clock(), 0, 0, 0
    buckets = Buckets(clock.seconds)
    for pause, length in sent:
        clock.advance(pause)
        if buckets.refusing(length, [("Otto", SMALL)]) is None:
            lines, size, largest = lines + 1, size + length, max(largest, length)
    most = SMALL.lines + clock.seconds() * SMALL.a_second
    assert lines <= most + 1e-6
    assert size <= most * BYTES_A_LINE + largest


@given(st.integers(1, 50))
def test_clients_within_the_rate_are_never_refused(others):
    clock, tight = Clock(), Allowance(1, 0)
    buckets = Buckets(clock.seconds)
    for _ in range(50):
        clock.advance(1)
        for _ in range(others):
            buckets.refusing(900, [("Otto", SMALL)])
        # A line that is refused for one reason costs nothing elsewhere.
        for _ in range(others):
            buckets.refusing(11, [("Ada", SMALL), ("school", tight)])
        assert buckets.refusing(100, [("Ada", SMALL)]) is None


def test_buckets_are_forgotten_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr(limits, "MOST_KNOWN", 10)
    buckets = Buckets(lambda: 0.0)
    for number in range(100):
        buckets.refusing(1, [(number, SMALL)])
    assert len(buckets._known) == 10


def test_a_flood_is_told_once_in_a_while_and_passes_again_later(telnet, sessions, clock):
    telnet.dataReceived(b"look\r\n" * 1000)
    assert 0 < len(sessions.heard) < 100
    assert sessions.told == [limits.TOO_FAST]
    clock.advance(60)
    telnet.dataReceived(b"lo\0ok\r\n")  # which PostgreSQL does not take
    assert sessions.heard[-1] == [["look\n"], {}]


def test_a_line_without_an_end_is_not_kept(telnet, sessions):
    for _ in range(20):
        telnet.dataReceived(b"x" * 65536)
        assert len(telnet.line_buffer) <= LONGEST_LINE + 1
    telnet.dataReceived(b"\r\nlook\r\n")
    assert sessions.told == [limits.TOO_LONG]
    assert sessions.heard == [[["look\n"], {}]]


def test_options_without_an_end_are_hung_up_on(telnet):
    telnet.negotiationMap[NAWS] = Mock()
    telnet.dataReceived(b"\xff\xfa" + NAWS + b"x" * 65536)
    assert telnet.transport.disconnected


@pytest.mark.parametrize("size", [1, 3, 999])
@pytest.mark.parametrize(
    ("typed", "sent"),
    [("talk café ÿúÿðÿ", "latin-1"), ("talk я яр яъ ещё", "cp1251"), ("say Ъ", "koi8-r")],
)
def test_letters_of_old_clients_are_no_commands_of_telnet(telnet, sessions, typed, sent, size):
    resized = telnet.negotiationMap[NAWS] = Mock()
    telnet.protocol_flags["ENCODING"] = "" if sent == "latin-1" else sent
    options = b"\xff\xf1\xff\xfd\xc8\xff\xfa\x1f\0P\0\x18\xff\xf0"
    data = f"{typed}\r\n".encode(sent) + options + b"look\r\n"
    for at in range(0, len(data), size):
        telnet.dataReceived(data[at : at + size])
    assert [text for ((text,), _) in sessions.heard] == [f"{typed}\n", "look\n"]
    resized.assert_called_once()
    assert telnet.transport.value() == b"\xff\xfc\xc8", "it will not do what it does not know"


@pytest.mark.parametrize("logged_in", [True, False])
def test_who_does_not_log_in_is_asked_to_leave(telnet, sessions, clock, logged_in):
    telnet.logged_in = logged_in
    clock.advance(LOGIN_SECONDS - 1)
    assert not sessions.left
    clock.advance(2)
    assert bool(sessions.left) is not logged_in
    assert sessions.told == ([] if logged_in else [limits.NO_LOGIN])
    assert not clock.getDelayedCalls()


@pytest.fixture
def socket(sessions, clock):
    factory = WebSocketServerFactory(reactor=clock)
    factory.protocol = BoundedSocket
    line = factory.buildProtocol(None)
    line.timer = clock
    line.makeConnection(StringTransport())
    line.init_session("webclient/websocket", "198.51.100.7", sessions)
    return line


def test_a_handshake_without_an_end_is_hung_up_on_and_not_kept(socket):
    socket.dataReceived(b"GET /" + b"x" * (LONGEST_MESSAGE - 5))
    assert not socket.transport.disconnected
    socket.dataReceived(b"x")
    assert socket.transport.disconnected
    assert len(socket.data) <= LONGEST_MESSAGE


# -- the Server's end


class World(Sessions):
    """Where the Server's sessions hand things on."""

    call_inputfuncs = Sessions.data_in

    def data_out(self, session: object, **message: Any) -> None:
        self.told.append(message["text"])


def server_session(account: object, number: int) -> tuple[WrappingSession, World]:
    """A session of a new address; in the game if there is an account."""
    world, session = World(), WrappingSession()
    session.init_session("telnet", f"198.51.100.{number}", world)
    session.sessid, session.account = number, account
    session.logged_in, session.uid = account is not None, getattr(account, "id", None)
    return session, world


def test_a_player_is_held_back_and_told_and_a_builder_is_not():
    player = create_account("Fastotto", None, "long-password-12", typeclass=Account)
    builder = create_account("Fastbea", None, "long-password-12", typeclass=Account)
    try:
        builder.permissions.add("Builder")
        for account, number, some in ((None, 1, True), (player, 2, True), (builder, 3, False)):
            session, world = server_session(account, number)
            for _ in range(1000):
                session.data_in(text=[["look"], {}])
            assert (len(world.heard) < 1000) is some
            assert len(world.heard) >= limits.PLAYER.lines
            assert any(text.startswith("You are faster") for text in world.told) is some
            assert len(world.told) < 20
    finally:
        player.delete()
        builder.delete()


# -- what is shown on a line


@pytest.mark.parametrize(("text", "width", "shown"), table("wrapped lines"))
def test_what_fits_stays_and_what_is_wrapped_keeps_its_words_and_columns(text, width, shown):
    assert wrap(text, width) == shown
