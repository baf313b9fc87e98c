"""Places, ports, time zone and secrets of a copy."""

import os
import re
import socket
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from game.server.private_files import read_or_create
from keepsake.cli import processes
from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, Ports, places


def test_defaults_stay_in_the_checkout_and_on_loopback():
    here = places({})
    assert here.home == REPOSITORY / ".run"
    assert here.vault == REPOSITORY / "vault"
    assert here.listen == "127.0.0.1"
    assert here.ports == Ports(4000)


@pytest.mark.parametrize(
    ("environ", "cure"),
    [
        ({"KEEPSAKE_PORT_BASE": "80"}, "Set it to a number from 1024 to 65527"),
        ({"KEEPSAKE_PORT_BASE": "65528"}, "Set it to a number from 1024 to 65527"),
        ({"KEEPSAKE_PORT_BASE": "four"}, "Set it to a number from 1024 to 65527"),
        ({"KEEPSAKE_LISTEN": "example.org"}, "Set it to an IPv4 address"),
        ({"KEEPSAKE_LISTEN": "::1"}, "Set it to an IPv4 address"),
        ({"KEEPSAKE_TLS_CERT": "/somewhere/cert.pem"}, "KEEPSAKE_TLS_KEY is not. Set both"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_cure(environ, cure):
    with pytest.raises(KeepsakeError, match=cure):
        places(environ)


def test_a_taken_port_is_named_with_its_holder_and_a_base_that_is_free(copy):
    processes.refuse_taken(copy.here)
    with socket.create_server(("127.0.0.1", copy.here.ports.web)):
        refused = copy.process("start")
    assert refused.returncode == 1
    told = " ".join(refused.stderr.split())
    assert f"Port {copy.here.ports.web} (web) on 127.0.0.1 is in use" in told
    assert f"(process {os.getpid()})" in told
    base = re.search(r"KEEPSAKE_PORT_BASE=(\d+)", told)[1]
    assert processes.taken(places(copy.environ | {"KEEPSAKE_PORT_BASE": base})) == []
    assert not copy.here.database.exists()


@pytest.mark.parametrize("option", [socket.SO_REUSEADDR, socket.SO_REUSEPORT])
def test_what_a_server_that_has_ended_leaves_of_its_connections_is_no_obstacle(copy, option):
    number = copy.here.ports.model
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, option, 1)
        server.bind(("127.0.0.1", number))
        server.listen()
        with pytest.raises(KeepsakeError, match="model server"):
            processes.refuse_taken(copy.here)
        server.accept()[0].close()  # who had looked whether somebody listens
        with socket.create_connection(("127.0.0.1", number)) as caller:
            server.accept()[0].close()  # who closes first keeps the port for a minute
            assert caller.recv(1) == b""
    processes.refuse_taken(copy.here)


def test_a_secret_is_made_once_and_for_its_owner_alone(tmp_path):
    path = tmp_path / "home" / "secret"
    with ThreadPoolExecutor(8) as many:
        found = set(many.map(lambda _: read_or_create(path, nbytes=24), range(16)))
    assert found == {path.read_text().strip()}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    read_or_create(path, nbytes=24)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "file").touch()
    with pytest.raises(KeepsakeError, match="KEEPSAKE_HOME"):
        read_or_create(tmp_path / "file" / "secret", nbytes=24)
