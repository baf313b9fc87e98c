"""A taken port is named, with its holder and the cure."""

import os
import re
import socket
from dataclasses import replace

import pytest

from game.cli.world import ports
from keepsake.errors import KeepsakeError
from keepsake.paths import places


@pytest.fixture
def blocked(copy):
    """A copy whose web port another program listens on."""
    with socket.create_server(("127.0.0.1", copy.here.ports.web)):
        yield copy


def test_free_ports_are_no_obstacle(copy):
    ports.refuse_taken(copy.here)


def test_a_taken_port_is_named_with_its_holder_and_a_base_that_is_free(blocked):
    with pytest.raises(KeepsakeError) as refused:
        ports.refuse_taken(blocked.here)
    told = str(refused.value)
    assert f"Port {blocked.here.ports.web} (web) on 127.0.0.1 is in use" in told
    assert f"(process {os.getpid()})" in told
    base = int(re.search(r"KEEPSAKE_PORT_BASE=(\d+)", told)[1])
    assert base != blocked.here.ports.base
    assert not ports.taken(ports.of(places(blocked.environ | {"KEEPSAKE_PORT_BASE": str(base)})))


def test_a_port_of_our_own_is_no_obstacle(blocked):
    ports.refuse_taken(blocked.here, ours=frozenset({os.getpid()}))


@pytest.mark.parametrize("option", [socket.SO_REUSEADDR, socket.SO_REUSEPORT])
def test_what_a_server_that_has_ended_leaves_of_its_connections_is_no_obstacle(copy, option):
    number = copy.here.ports.model
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, option, 1)
        server.bind((ports.LOOPBACK, number))
        server.listen()
        with socket.create_connection((ports.LOOPBACK, number)) as caller:
            server.accept()[0].close()  # who closes first keeps the port for a minute
            assert caller.recv(1) == b""
    ports.refuse_taken(copy.here)
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, option, 1)
        server.bind((ports.LOOPBACK, number))
        server.listen()
        with pytest.raises(KeepsakeError, match="model server"):
            ports.refuse_taken(copy.here)


def test_an_address_of_another_machine_is_named(copy):
    elsewhere = replace(copy.here, listen="192.0.2.1")
    with pytest.raises(KeepsakeError, match="does not have that address"):
        ports.refuse_taken(elsewhere)


def test_start_refuses_and_leaves_nothing_behind(blocked):
    refused = blocked.process("start")
    assert refused.returncode == 1
    assert f"Port {blocked.here.ports.web} (web)" in refused.stderr
    assert "KEEPSAKE_PORT_BASE=" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not blocked.here.database.exists()
