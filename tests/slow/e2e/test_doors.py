"""A really running world with a certificate: every door encrypted, counted, and deaf to garbage."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

from tests.fakes.model_server import llm_page
from tests.sentences import table
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import PASSWORD, PATIENCE, GameClient, Player
from tests.slow.e2e.running import certify, running

PROXY = "127.0.0.1"
"""The address of a web server on this machine, which is believed; others of loopback are not."""
FRAMES = (
    *(*table("frames of no use"), "[" * 3000, "9" * 5000),
    *(b"\xff\xfe\x00", b'["text",["\x00\x01"],{}]'),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("doors")
    certify(made, "first")
    return made


@pytest.fixture(scope="module")
def copy(folder: Path, tables: Path) -> Iterator[Copy]:
    with running(
        folder,
        tables,
        llm=llm_page(agent="provider=ollama model=none", summarizer="provider=extractive"),
        KEEPSAKE_TLS_CERT=str(folder / "cert.pem"),
        KEEPSAKE_TLS_KEY=str(folder / "key.pem"),
        KEEPSAKE_HOSTNAME="world.example",
        OLLAMA_HOST="127.0.0.1:9",
    ) as made:
        assert f"https://localhost:{made.here.ports.web}/" in made.notes["first start"]
        for name in ("Piet", "Ilse"):
            player = Player.new(made, name)
            player.see("The Kettle")
            player.leave()
        yield made


def trust(folder: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(folder / "cert.pem"))


def browser(copy: Copy, folder: Path, source: str = PROXY, **headers: str) -> httpx.Client:
    transport = httpx.HTTPTransport(verify=trust(folder), local_address=source)
    address = f"https://localhost:{copy.here.ports.web}"
    return httpx.Client(base_url=address, transport=transport, timeout=PATIENCE, headers=headers)


def log_in(client: httpx.Client, name: str, password: str) -> httpx.Response:
    page = client.get("/auth/login/")
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert found is not None, page.text
    form = {"username": name, "password": password, "csrfmiddlewaretoken": found[1]}
    origin = {"Origin": f"https://{client.headers.get('Host', client.base_url.netloc.decode())}"}
    return client.post("/auth/login/", data=form, headers=origin)


@contextmanager
def web_socket(copy: Copy, folder: Path) -> Iterator[ClientConnection]:
    with _connected(copy, folder) as line:
        read_until(line, "create")
        yield line


def _connected(copy: Copy, folder: Path, tries: int = 5) -> ClientConnection:
    """Reads and writes of this client are two threads on one TLS object, which Python 3.13.0 does
    not lock: on a busy machine its request may be lost. So it is tried again."""
    address = f"wss://localhost:{copy.here.ports.websocket}/?&page&browser"
    try:
        return connect(address, ssl=trust(folder), open_timeout=10, ping_interval=None)
    except (InvalidHandshake, TimeoutError):
        if not tries:
            raise
        return _connected(copy, folder, tries - 1)


def read_until(line: ClientConnection, wanted: str) -> None:
    while wanted not in str(line.recv(timeout=PATIENCE)):
        pass


def code_after(frame: str | bytes, copy: Copy, folder: Path) -> int:
    """The code that a web socket is closed with for a frame; 0 if it goes on listening."""
    with web_socket(copy, folder) as line:
        try:
            line.send(frame, text=True)
            line.send('["text", ["help"], {}]')
            read_until(line, "not yet logged into")
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006
    return 0


def tracebacks(copy: Copy) -> int:
    return sum(each.read_text().count("Traceback") for each in copy.here.logs.glob("*.log"))


def test_telnet_is_encrypted_beside_the_plain_one(copy, folder):
    plain = socket.create_connection(("127.0.0.1", copy.here.ports.telnet_tls), timeout=PATIENCE)
    with trust(folder).wrap_socket(plain, server_hostname="localhost") as line:
        assert line.version() in ("TLSv1.2", "TLSv1.3")
        seen = b""
        for wanted, typed in ((b"create <name>", f"connect Piet {PASSWORD}"), (b"Kettle", "quit")):
            while wanted not in seen:
                seen += line.recv(65536)
            line.sendall(typed.encode() + b"\r\n")


def test_pages_and_web_socket_are_encrypted_and_their_cookies_stay_so(copy, folder):
    with browser(copy, folder) as client:
        answer = log_in(client, "Piet", PASSWORD)
        assert answer.status_code == 302
        cookies = answer.headers.get_list("set-cookie")
        assert cookies
        assert all("Secure" in each for each in cookies)
    with web_socket(copy, folder) as line:
        line.send(f'["text", ["connect Ilse {PASSWORD}"], {{}}]')
        read_until(line, "Kettle")
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"http://localhost:{copy.here.ports.web}/", timeout=PATIENCE)


def test_a_proxy_on_this_machine_is_believed_and_nobody_else(copy, folder):
    for number in range(5):  # the last address is the one that the proxy itself has seen
        told = {"X-Forwarded-For": f"6.6.6.{number}, 203.0.113.9"}
        with browser(copy, folder, **told) as client:
            assert "correct username" in log_in(client, "Piet", "summer").text
    with browser(copy, folder, **{"X-Forwarded-For": "203.0.113.9"}) as client:
        assert "Too many" in log_in(client, "Piet", PASSWORD).text
        assert log_in(client, "Ilse", PASSWORD).status_code == 302
    for number in range(6):
        with browser(copy, folder, "127.0.0.7", **{"X-Forwarded-For": f"7.7.7.{number}"}) as lied:
            last = log_in(lied, "Piet", "summer").text
    assert "Too many" in last
    with browser(copy, folder, Host="world.example") as client:
        assert log_in(client, "Piet", PASSWORD).status_code == 302
    with browser(copy, folder, Host="rebound.example") as client:
        assert client.get("/").status_code == 400
    for _ in range(5):
        robot = Player.back(copy, "Ilse", "summer")
        robot.see("incorrect")
        robot.leave()
    with browser(copy, folder) as client:  # telnet and pages share one count
        assert "Too many" in log_in(client, "Ilse", PASSWORD).text


def test_garbage_is_refused_and_leaves_no_traceback(copy, folder):
    before = tracebacks(copy)
    codes = [code_after(frame, copy, folder) for frame in FRAMES]
    assert codes.count(4400) > 15
    assert set(codes) == {0, 4400, 1006}  # what is no UTF-8 is cut off by Autobahn
    with browser(copy, folder) as client:
        for body in ({}, {"mode": "init"}, {"mode": "input", "csessid": "x", "data": "{"}):
            assert client.post("/webclientdata", data=body).status_code == 410
    garbage = Player(copy)
    for name in (b"self 5", b"text 5", b"session []", b"text [[1]]", b"client_options {"):
        garbage.line._socket.sendall(b"\xff\xfa\xc9" + name + b"\xff\xf0")
    garbage.type("connect " + "x" * 5000 + " y", "incorrect")
    garbage.leave()
    assert tracebacks(copy) == before


def test_game_clients_are_told_what_they_take(copy):
    """GMCP, ways and people that can be clicked, what lists of games ask."""
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
        shown = line.type("north", "The Guest Loft")
        assert '<SEND HREF="north">north' in shown
        assert '<SEND HREF="look Mira">Mira' in shown
        (told,) = (part for option, part in line.parts if option == GameClient.MSSP)
        facts = dict(each.split(b"\2", 1) for each in told.split(b"\1")[1:])
        assert (facts[b"NAME"], int(facts[b"PORT"])) == (b"Keepsake", copy.here.ports.telnet)
    finally:
        line.close()
