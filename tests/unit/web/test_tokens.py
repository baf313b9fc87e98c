"""The file of tokens, and the command that makes and revokes them."""

from __future__ import annotations

import json

import pytest

from keepsake.errors import KeepsakeError
from keepsake.web.programs.tokens import FILE, MOST_TOKENS, TokenRefused, TokenStore
from tests.unit.lab.in_process import keepsake


def test_a_running_world_reads_what_the_command_made_and_revoked(tmp_path):
    world = TokenStore(tmp_path)
    assert world.all() == ()
    environ = {"KEEPSAKE_HOME": str(tmp_path), "KEEPSAKE_VAULT": str(tmp_path / "vault")}
    secret = keepsake(environ, "token", "make", "a bot", "--write").stdout.split()[0]
    found = world.find(secret)
    assert found is not None
    assert (found.name, found.writes, found.account) == ("a bot", True, 0)
    keepsake(environ, "token", "make", "reader")
    listed = json.loads(keepsake(environ, "token", "list", "--json").stdout)
    assert [(each["name"], each["writes"]) for each in listed] == [
        ("a bot", True),
        ("reader", False),
    ]
    assert secret not in json.dumps(listed)
    assert "a bot" in keepsake(environ, "token", "revoke", "A BOT").stdout
    assert world.find(secret) is None
    refused = keepsake(environ, "token", "revoke", "a bot")
    assert refused.returncode == 1
    assert "There are: reader" in refused.stderr


def test_a_damaged_file_says_what_to_do(tmp_path):
    (tmp_path / FILE).write_text("{")
    with pytest.raises(KeepsakeError, match="damaged") as found:
        TokenStore(tmp_path).all()
    assert "Delete it" in found.value.cure


def test_there_is_an_end_to_tokens(tmp_path):
    tokens = TokenStore(tmp_path)
    for number in range(MOST_TOKENS):
        tokens.make(f"bot {number}", writes=False)
    with pytest.raises(TokenRefused, match="100 tokens"):
        tokens.make("one more", writes=False)
    assert tokens.revoke("17").name == "bot 16"
