"""A running world's connections: log-in limits, garbage, game clients and a proxy."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from keepsake.cli import processes
from keepsake.cli.processes import Component
from tests.fakes.model_server import llm_page
from tests.sentences import table
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import PASSWORD, PATIENCE, GameClient, Player, keep_at_home
from tests.slow.e2e.running import running

PROXY = "127.0.0.1"
"""The address of a trusted proxy on this machine. Other loopback addresses are not trusted."""
NAMED = "127.0.8.9"
"""An address in the network 127.0.8.0/24, which the world of these tests trusts."""
FRAMES = (
    *table("frames of no use"),
    "[" * 3000,
    "9" * 5000,
    b"\xff\xfe\x00",
    b'["text",["\x00\x01"],{}]',
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory, tables: Path) -> Iterator[Copy]:
    with running(
        tmp_path_factory.mktemp("doors"),
        tables,
        llm=llm_page(agent="provider=ollama model=none", summarizer="provider=none"),
        KEEPSAKE_HOSTNAME="world.example",
        KEEPSAKE_PROXIES="127.0.8.0/24, 192.0.2.1",
        OLLAMA_HOST="127.0.0.1:9",
    ) as made:
        assert f"http://localhost:{made.here.ports.web}/" in made.notes["first start"]
        for name in ("Piet", "Ilse"):
            player = Player.new(made, name)
            player.see("The Kettle")
            player.leave()
        keep_at_home(made)
        yield made


def browser(copy: Copy, source: str = PROXY, **headers: str) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=source)
    address = f"http://localhost:{copy.here.ports.web}"
    return httpx.Client(base_url=address, transport=transport, timeout=PATIENCE, headers=headers)


def log_in(client: httpx.Client, name: str, password: str) -> httpx.Response:
    page = client.get("/auth/login/")
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert found is not None, page.text
    form = {"username": name, "password": password, "csrfmiddlewaretoken": found[1]}
    origin = {"Origin": f"http://{client.headers.get('Host', client.base_url.netloc.decode())}"}
    return client.post("/auth/login/", data=form, headers=origin)


@contextmanager
def web_socket(copy: Copy) -> Iterator[ClientConnection]:
    address = f"ws://localhost:{copy.here.ports.websocket}/?&page&browser"
    with connect(address, open_timeout=PATIENCE, ping_interval=None) as line:
        read_until(line, "create")
        yield line


def read_until(line: ClientConnection, wanted: str) -> None:
    while wanted not in str(line.recv(timeout=PATIENCE)):
        pass


def code_after(frame: str | bytes, copy: Copy) -> int:
    """Send a frame to a web socket; return its close code, or 0 if it stays open."""
    with web_socket(copy) as line:
        try:
            line.send(frame, text=True)
            line.send('["text", ["help"], {}]')
            read_until(line, "not yet logged into")
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006
    return 0


def tracebacks(copy: Copy) -> int:
    return sum(each.read_text().count("Traceback") for each in copy.here.logs.glob("*.log"))


def test_cookies_are_secure_where_the_proxy_is_encrypted(copy):
    for proto, secure in (("https", True), ("http", False)):
        with browser(copy, **{"X-Forwarded-Proto": proto}) as client:
            cookies = client.get("/auth/login/").headers.get_list("set-cookie")
            assert cookies
            assert all(("Secure" in each) is secure for each in cookies)


def test_only_a_proxy_on_this_machine_is_trusted(copy):
    for number in range(5):  # the proxy itself has seen the last address
        told = {"X-Forwarded-For": f"6.6.6.{number}, 203.0.113.9"}
        with browser(copy, **told) as client:
            assert "correct username" in log_in(client, "Piet", "summer").text
    with browser(copy, **{"X-Forwarded-For": "203.0.113.9"}) as client:
        assert "Too many" in log_in(client, "Piet", PASSWORD).text
        assert log_in(client, "Ilse", PASSWORD).status_code == 302
    for number in range(6):
        with browser(copy, "127.0.0.7", **{"X-Forwarded-For": f"7.7.7.{number}"}) as lied:
            last = log_in(lied, "Piet", "summer").text
    assert "Too many" in last
    with browser(copy, Host="world.example") as client:
        assert log_in(client, "Piet", PASSWORD).status_code == 302
    with browser(copy, Host="rebound.example") as client:
        assert client.get("/").status_code == 400
    for _ in range(5):
        robot = Player.back(copy, "Ilse", "summer")
        robot.see("incorrect")
        robot.leave()
    with browser(copy) as client:  # telnet and web pages share the counts
        assert "Too many" in log_in(client, "Ilse", PASSWORD).text


def tried(copy: Copy, source: str, forwarded: str, name: str = "Tjark") -> str:
    """Try a wrong password on a web socket from an address; return what the game says.

    ``forwarded``: What the header ``X-Forwarded-For`` says.
    """
    address = f"ws://127.0.0.1:{copy.here.ports.websocket}/?&page&browser"
    told = {"X-Forwarded-For": forwarded}
    with connect(
        address,
        additional_headers=told,
        source_address=(source, 0),
        open_timeout=PATIENCE,
        ping_interval=None,
    ) as line:
        read_until(line, "create")
        line.send('["text", ["connect ' + name + ' winter"], {}]')
        while True:
            said = str(line.recv(timeout=PATIENCE))
            for each in ("incorrect", "Too many"):
                if each in said:
                    return each


def test_proxies_that_are_named_are_trusted_by_pages_and_web_sockets(copy):
    Player.new(copy, "Tjark").leave()
    several = [f"203.0.113.{number}" for number in range(20, 26)]
    assert {tried(copy, NAMED, each) for each in several} == {"incorrect"}
    # A player's own header comes first; what the proxies have seen comes last.
    forged = [f"6.6.6.{number}, 203.0.113.30, 192.0.2.1" for number in range(6)]
    assert [tried(copy, NAMED, each) for each in forged][-1] == "Too many"
    with browser(copy, NAMED, **{"X-Forwarded-For": "203.0.113.30"}) as client:
        assert "Too many" in log_in(client, "Tjark", PASSWORD).text
    with browser(copy, NAMED, **{"X-Forwarded-For": "203.0.113.31"}) as client:
        assert log_in(client, "Tjark", PASSWORD).status_code == 302


def test_the_header_of_somebody_else_changes_nothing(copy):
    """Who is no proxy is one address, whatever the header says: on pages and web sockets."""
    Player.new(copy, "Tjalda").leave()
    with browser(copy, "127.0.7.9", **{"X-Forwarded-Proto": "https"}) as client:
        cookies = client.get("/auth/login/").headers.get_list("set-cookie")
        assert not any("Secure" in each for each in cookies)
    lies = [*(f"203.0.113.{number}" for number in range(60, 63)), "127.0.0.1", NAMED, "-, ,x"]
    said = [tried(copy, "127.0.7.9", each, "Tjalda") for each in lies]
    assert said[-1] == "Too many"


def test_garbage_is_refused_and_leaves_no_traceback(copy):
    before = tracebacks(copy)
    codes = [code_after(frame, copy) for frame in FRAMES]
    assert codes.count(0) > 15
    assert set(codes) == {0, 1006}  # Autobahn closes on invalid UTF-8
    with browser(copy) as client:
        for body in ({}, {"mode": "init"}, {"mode": "input", "csessid": "x", "data": "{"}):
            assert client.post("/webclientdata", data=body).status_code == 410
    garbage = Player(copy)
    for name in (b"self 5", b"text 5", b"session []", b"text [[1]]", b"client_options {"):
        garbage.line._socket.sendall(b"\xff\xfa\xc9" + name + b"\xff\xf0")
    garbage.type("connect " + "x" * 5000 + " y", "incorrect")
    garbage.leave()
    assert tracebacks(copy) == before


def status_line(copy: Copy, request: bytes, body: int = 0) -> bytes:
    """Send a raw request with a body of that many bytes; return the first line of the answer."""
    address = ("127.0.0.1", copy.here.ports.web)
    with socket.create_connection(address, timeout=PATIENCE) as line, suppress(ConnectionError):
        line.sendall(request)
        with suppress(ConnectionError):  # the game hangs up before it has all of the body
            for _ in range(body // 65536):
                line.sendall(bytes(65536))
        return line.makefile("rb").readline()
    return b""


def test_a_large_body_is_refused_while_it_arrives(copy):
    head = b"POST /auth/login/ HTTP/1.1\r\nHost: localhost\r\n"
    before = max(memory_of(copy).values())
    announced = head + b"Content-Length: 200000000\r\n\r\n"
    assert status_line(copy, announced)[:12] == b"HTTP/1.1 413"
    chunk = b"FFFFFF\r\n" + bytes(0xFFFFFF) + b"\r\n"
    assert status_line(copy, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk)[:12] in (
        b"HTTP/1.1 413",
        b"",
    )
    for _ in range(3):
        status_line(copy, announced, 200_000_000)
    assert max(memory_of(copy).values()) < before + 50_000_000
    with browser(copy) as client:
        assert client.get("/").status_code == 200


def memory_of(copy: Copy) -> dict[Component, int]:
    """Return the resident memory of Portal and Server, in bytes."""
    found = {each.component: each.pid for each in processes.running(copy.here)}
    return {
        component: psutil.Process(found[component]).memory_info().rss
        for component in processes.EVENNIA_PROCESSES
    }


def test_an_address_with_a_zero_byte_is_refused(copy):
    before = tracebacks(copy)
    for path in (b"/static/keepsake/..%00/client.js", b"/agents/mine/%00", b"/?a=%00"):
        request = b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        assert status_line(copy, request)[:12] == b"HTTP/1.1 400"
    assert tracebacks(copy) == before


def test_a_flood_of_telnet_options_ends_its_connection_alone(copy):
    player = Player.new(copy, "Greta")
    player.see("The Kettle")
    flood = b"".join(bytes([255, command, 31]) for command in (253, 254)) * 50_000
    address = ("127.0.0.1", copy.here.ports.telnet)
    with socket.create_connection(address, timeout=PATIENCE) as line, suppress(ConnectionError):
        line.sendall(flood)
        while line.recv(65536):
            pass
    player.type("look", "The Kettle")
    player.leave()


@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        ("http://localhost", True),
        ("http://127.0.0.1:4001", True),
        ("https://world.example", True),
        ("https://hostile.example", False),
        ("null", False),
        ("http://localhost.hostile.example", False),
    ],
)
def test_only_the_games_own_pages_may_open_a_web_socket(copy, origin, welcome):
    address = f"ws://localhost:{copy.here.ports.websocket}/?&page&browser"
    told = {"open_timeout": PATIENCE, "ping_interval": None, "origin": origin}
    if welcome:
        with connect(address, **told) as line:
            read_until(line, "create")
    else:
        with pytest.raises(InvalidStatus, match="403"):
            connect(address, **told)


def test_a_form_from_another_site_is_refused(copy):
    with browser(copy) as client:
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', client.get("/auth/login/").text)
        form = {"username": "Ilse", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        foreign = {"Origin": "https://hostile.example"}
        assert client.post("/auth/login/", data=form, headers=foreign).status_code == 403


def test_a_session_that_was_planted_before_the_log_in_is_worth_nothing(copy):
    """Somebody plants the key of a session in a browser; its player logs in by the web client."""
    with browser(copy) as attacker, browser(copy) as victim:
        page = attacker.get("/webclient/")
        planted = attacker.cookies["sessionid"]
        victim.cookies.set("sessionid", planted, domain="localhost.local")
        address = f"ws://localhost:{copy.here.ports.websocket}/?{planted}&page&browser"
        with connect(address, open_timeout=PATIENCE, ping_interval=None) as line:
            read_until(line, "create")
            line.send(json.dumps(["text", [f"create Hanna {PASSWORD}"], {}]))
            while (told := json.loads(line.recv(timeout=PATIENCE)))[0] != "session_key":
                pass
            (key,) = told[1]
            assert key != planted
            assert "Hanna" not in attacker.get("/").text
            again = attacker.get("/agents/mine/")
            assert "login" in str(again.headers.get("location")) or again.status_code == 403
            # The player's own page gets the new session, and is logged in.
            page = victim.get("/webclient/")
            token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]
            form = {"key": key, "csrfmiddlewaretoken": token}
            origin = {"Origin": f"http://localhost:{copy.here.ports.web}"}
            assert victim.post("/webclient/session", data=form, headers=origin).status_code == 204
            assert victim.get("/agents/mine/").status_code == 200
            own = {each.value for each in victim.cookies.jar if each.name == "sessionid"} - {
                planted
            }
            again_at = f"ws://localhost:{copy.here.ports.websocket}/?{own.pop()}&page&browser"
            with connect(again_at, open_timeout=PATIENCE, ping_interval=None) as second:
                read_until(second, "You become")
            line.send(json.dumps(["text", ["say {{x}}"], {}]))
            read_until(line, "{{x}}")
        foreign = {"Origin": "https://hostile.example"}
        refused = attacker.post("/webclient/session", data=form, headers=foreign)
        assert refused.status_code == 403


def test_game_clients_get_the_options_that_they_support(copy):
    """GMCP, links to exits and people (MXP), and facts for lists of games (MSSP)."""
    takes = (GameClient.GMCP, GameClient.MXP, GameClient.MSSP)
    line = GameClient(copy, *takes)
    try:
        assert line.wait_for("to leave.", PATIENCE), line.text
        line.type(f"create Gijs {PASSWORD}", "help start")
        inn = line.gmcp("Room.Info")[-1]
        assert (inn["name"], list(inn["exits"])) == ("The Kettle", ["n", "s", "w", "u"])
        line.type("say Good evening.", "You say")
        spoken = {"channel": "say", "talker": "Gijs", "text": 'You say, "Good evening."'}
        assert spoken in line.gmcp("Comm.Channel.Text")  # agents may have spoken too
        line.type("south", "The Salt Pans")
        assert line.gmcp("Room.Info")[-1]["name"] == "The Quay"
        shown = line.type("north", '<SEND HREF="look Mira">Mira')
        assert '<SEND HREF="north">north' in shown
        (told,) = (part for option, part in line.parts if option == GameClient.MSSP)
        facts = dict(each.split(b"\2", 1) for each in told.split(b"\1")[1:])
        assert (facts[b"NAME"], int(facts[b"PORT"])) == (b"Keepsake", copy.here.ports.telnet)
    finally:
        line.close()
