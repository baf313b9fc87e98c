"""The address from which a request came is taken from trusted proxies alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.errors import KeepsakeError
from keepsake.paths import places
from keepsake.proxies import LOOPBACK, client_of, trusted_proxies

BRIDGE = trusted_proxies("172.18.0.0/16, 192.0.2.1 2001:db8::/32")


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("172.18.0.1", "203.0.113.9", "203.0.113.9"),
        ("172.18.0.1", "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("172.18.0.1", "6.6.6.6, 203.0.113.9, 192.0.2.1, 172.18.0.7", "203.0.113.9"),
        ("::ffff:172.18.0.1", "203.0.113.9", "203.0.113.9"),
        ("2001:db8::1", "203.0.113.9", "203.0.113.9"),
        ("172.18.0.1", "", "172.18.0.1"),
        ("172.18.0.1", "172.18.0.7,,", "172.18.0.1"),
        ("172.19.0.1", "203.0.113.9", "172.19.0.1"),
        ("192.0.2.2", LOOPBACK, "192.0.2.2"),
        ("", "203.0.113.9", ""),
    ],
)
def test_the_last_address_that_is_no_proxy_counts(peer, forwarded, client):
    assert client_of(peer, forwarded, BRIDGE) == client


@given(st.text(max_size=60), st.ip_addresses(v=4).map(str))
def test_an_untrusted_peer_is_itself_whatever_it_says(header, peer):
    proxies = trusted_proxies("")
    assert client_of(peer, header, proxies) == peer or peer == LOOPBACK


@pytest.mark.parametrize("wrong", ["proxy", "172.18.0.1/16", "0.0.0.0/0", "::/0", "1.2.3.4:80"])
def test_what_is_no_address_is_refused_at_the_start(wrong):
    with pytest.raises(KeepsakeError, match="KEEPSAKE_PROXIES has") as refused:
        places({"KEEPSAKE_PROXIES": f"10.0.0.1 {wrong}"})
    assert "such as 172.18.0.1" in refused.value.cure


def test_loopback_is_always_trusted():
    assert LOOPBACK in places({}).proxies
    assert [*places({"KEEPSAKE_PROXIES": "10.0.0.1"}).proxies] == [LOOPBACK, "10.0.0.1"]
