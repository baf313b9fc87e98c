"""Places, ports and addresses come from the environment, and wrong ones are refused."""

from pathlib import Path

import pytest

from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, Ports, places


def test_defaults_stay_in_the_checkout_and_on_loopback():
    here = places({})
    assert here.home == REPOSITORY / ".run"
    assert here.vault == REPOSITORY / "vault"
    assert here.listen == "127.0.0.1"
    assert here.ports == Ports(4000)


def test_all_ports_follow_from_the_base():
    ports = places({"KEEPSAKE_PORT_BASE": "5000"}).ports
    assert (ports.telnet, ports.web, ports.websocket) == (5000, 5001, 5002)
    assert (ports.web_internal, ports.amp) == (5005, 5006)
    assert (ports.model, ports.vectors) == (5007, 5008)


@pytest.mark.parametrize("base", ["80", "65528", "-1", "4000.5", "four", "٤٠٠٠٠٠"])
def test_a_useless_port_base_is_refused_with_the_cure(base):
    with pytest.raises(KeepsakeError, match="Set it to a number from 1024 to 65527"):
        places({"KEEPSAKE_PORT_BASE": base})


@pytest.mark.parametrize("address", ["example.org", "::1", "127.0.0.256", "0"])
def test_a_useless_address_is_refused_with_the_cure(address):
    with pytest.raises(KeepsakeError, match="Set it to an IPv4 address"):
        places({"KEEPSAKE_LISTEN": address})


def test_the_control_socket_lies_in_the_home():
    home = Path("/srv/keepsake")  # short, as a temporary folder need not be
    assert places({"KEEPSAKE_HOME": str(home)}).control_socket == home / "control.sock"


def test_a_home_too_deep_for_a_socket_gets_a_short_name_of_its_own(tmp_path):
    deep, deeper = (tmp_path / ("d" * length) for length in (120, 121))
    one = places({"KEEPSAKE_HOME": str(deep)}).control_socket
    other = places({"KEEPSAKE_HOME": str(deeper)}).control_socket
    assert len(str(one)) < 108
    assert one != other
    assert one == places({"KEEPSAKE_HOME": str(deep)}).control_socket
