"""Limits on what a line, a player and an address may send, with Evennia's own protocols."""

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
    BYTES_PER_LINE,
    LOGIN_SECONDS,
    LONGEST_LINE,
    LONGEST_MESSAGE,
    Allowance,
    Buckets,
)
from game.server.portal_lines import LimitedTelnet, LimitedWebSocket
from game.server.telnet_session import WrappingSession, wrap
from tests.sentences import table
from typeclasses.accounts import Account

SMALL = Allowance(lines=5, per_second=1)


class Sessions:
    """A session handler of the Portal that keeps all messages in order."""

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
    line = LimitedTelnet()
    line.timer = clock
    line.transport = StringTransport()
    line.line_buffer = b""
    line.nop_keep_alive = None
    line.init_session("telnet", "198.51.100.7", sessions)
    return line


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 3000)), max_size=200))
def test_accepted_lines_stay_within_the_bucket_and_its_refill(sent):
    clock = Clock()
    lines = 0
    size = 0
    largest = 0
    buckets = Buckets(clock.seconds)
    for pause, length in sent:
        clock.advance(pause)
        if buckets.charge(length, [("Otto", SMALL)]) is None:
            lines = lines + 1
            size = size + length
            largest = max(largest, length)
    most = SMALL.lines + clock.seconds() * SMALL.per_second
    assert lines <= most + 1e-6
    assert size <= most * BYTES_PER_LINE + largest


@given(st.integers(1, 50))
def test_clients_within_the_rate_are_never_refused(others):
    clock = Clock()
    tight = Allowance(1, 0)
    buckets = Buckets(clock.seconds)
    for _ in range(50):
        clock.advance(1)
        for _ in range(others):
            buckets.charge(900, [("Otto", SMALL)])
        # A line that is refused for one reason costs nothing elsewhere.
        for _ in range(others):
            buckets.charge(11, [("Ada", SMALL), ("school", tight)])
        assert buckets.charge(100, [("Ada", SMALL)]) is None


def test_the_number_of_buckets_is_bounded(monkeypatch):
    monkeypatch.setattr(limits, "MOST_BUCKETS", 10)
    buckets = Buckets(lambda: 0.0)
    for number in range(100):
        buckets.charge(1, [(number, SMALL)])
    assert len(buckets._known) == 10


def test_a_flood_is_cut_with_one_warning_and_lines_pass_again_later(telnet, sessions, clock):
    telnet.dataReceived(b"look\r\n" * 1000)
    assert 0 < len(sessions.heard) < 100
    assert sessions.told == [limits.TOO_FAST]
    clock.advance(60)
    telnet.dataReceived(b"lo\0ok\r\n")  # PostgreSQL refuses NUL
    assert sessions.heard[-1] == [["look\n"], {}]


def test_a_line_without_an_end_is_not_kept(telnet, sessions):
    for _ in range(20):
        telnet.dataReceived(b"x" * 65536)
        assert len(telnet.line_buffer) <= LONGEST_LINE + 1
    telnet.dataReceived(b"\r\nlook\r\n")
    assert sessions.told == [limits.TOO_LONG]
    assert sessions.heard == [[["look\n"], {}]]


def test_telnet_options_without_an_end_close_the_connection(telnet):
    telnet.negotiationMap[NAWS] = Mock()
    telnet.dataReceived(b"\xff\xfa" + NAWS + b"x" * 65536)
    assert telnet.transport.disconnected


@pytest.mark.parametrize("size", [1, 3, 999])
@pytest.mark.parametrize(
    ("typed", "sent"),
    [("talk café ÿúÿðÿ", "latin-1"), ("talk я яр яъ ещё", "cp1251"), ("say Ъ", "koi8-r")],
)
def test_letters_in_old_encodings_are_no_telnet_commands(telnet, sessions, typed, sent, size):
    resized = Mock()
    telnet.negotiationMap[NAWS] = resized
    telnet.protocol_flags["ENCODING"] = "" if sent == "latin-1" else sent
    options = b"\xff\xf1\xff\xfd\xc8\xff\xfa\x1f\0P\0\x18\xff\xf0"
    data = f"{typed}\r\n".encode(sent) + options + b"look\r\n"
    for at in range(0, len(data), size):
        telnet.dataReceived(data[at : at + size])
    assert [text for ((text,), _) in sessions.heard] == [f"{typed}\n", "look\n"]
    resized.assert_called_once()
    assert telnet.transport.value() == b"\xff\xfc\xc8", "it refuses unknown options"


@pytest.mark.parametrize("logged_in", [True, False])
def test_a_connection_without_a_login_is_closed_after_a_while(telnet, sessions, clock, logged_in):
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
    factory.protocol = LimitedWebSocket
    line = factory.buildProtocol(None)
    line.timer = clock
    line.makeConnection(StringTransport())
    line.init_session("webclient/websocket", "198.51.100.7", sessions)
    return line


def test_a_handshake_without_an_end_is_cut_off_and_not_kept(socket):
    socket.dataReceived(b"GET /" + b"x" * (LONGEST_MESSAGE - 5))
    assert not socket.transport.disconnected
    socket.dataReceived(b"x")
    assert socket.transport.disconnected
    assert len(socket.data) <= LONGEST_MESSAGE


# -- the Server's end


class World(Sessions):
    """A session handler of the Server that keeps all messages in order."""

    call_inputfuncs = Sessions.data_in
    session_portal_sync = Sessions.sync

    def data_out(self, session: object, **message: Any) -> None:
        self.told.append(message["text"])


def server_session(account: object, number: int) -> tuple[WrappingSession, World]:
    """Return a session from a new address; logged in if there is an account."""
    world = World()
    session = WrappingSession()
    session.init_session("telnet", f"198.51.100.{number}", world)
    session.sessid = number
    session.account = account
    session.logged_in = account is not None
    session.uid = getattr(account, "id", None)
    return session, world


def test_a_window_has_a_usable_size_whatever_its_player_and_its_client_say():
    account = create_account("Wideotto", None, "long-password-12", typeclass=Account)
    try:
        session, world = server_session(account, 4)
        for typed, width in (("screenwidth = 99999999", 300), ("screenwidth = -5", 20)):
            account.execute_cmd(f"option {typed}", session=session)
            assert session.protocol_flags["SCREENWIDTH"] == {0: width}
        account.execute_cmd("option screenheight = 0", session=session)
        assert session.protocol_flags["SCREENHEIGHT"] == {0: 5}
        assert "That size cannot be used" in str(world.told), world.told
        session.load_sync_data({"protocol_flags": {"SCREENWIDTH": {0: 65535}}})
        assert session.protocol_flags["SCREENWIDTH"] == {0: 300}
    finally:
        account.delete()


def test_players_are_limited_with_a_warning_and_builders_are_not():
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
            assert any(text.startswith("You are sending too fast") for text in world.told) is some
            assert len(world.told) < 20
    finally:
        player.delete()
        builder.delete()


# -- the wrapping of lines


@pytest.mark.parametrize(("text", "width", "shown"), table("wrapped lines"))
def test_long_lines_are_wrapped_between_words_and_keep_columns(text, width, shown):
    assert wrap(text, width) == shown
