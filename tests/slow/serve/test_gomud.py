"""The script for GoMud in docs/examples runs under Node against a real service."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.doc_blocks import DOCS, blocks

SCRIPT = DOCS / "examples" / "gomud" / "mira.js"
ON_PAGE = blocks("other-programs.md", "javascript")[1]
GAME = Path(__file__).with_name("gomud.js")


def test_the_page_shows_the_script_as_it_is():
    assert ON_PAGE in SCRIPT.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node here")
def test_a_mob_of_gomud_hears_of_gifts_and_answers(service, model):
    model.script = lambda prompt: "It was good bread." if "loaf?" in prompt else "Hm?"
    command = ["node", GAME, SCRIPT, service.address, service.token("mira")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["handled"] == [False, False, True, False, False]
    assert told["commands"] == ["say It was good bread."]
    with service.client("mira") as mira:
        found = mira.get("/mira/recall", params={"q": "loaf"}).json()
        assert "Anneke does: give a loaf to you" in [each["text"] for each in found]
        assert [each["id"] for each in mira.get("/mira/people").json()] == ["gomud:3"]
        assert mira.get("/mira/status").json()["memories"] == 4
