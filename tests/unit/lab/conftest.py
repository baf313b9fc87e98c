"""A fake model server that answers questions, and an environment whose profiles use it."""

import pytest

from tests.fakes.model_server import FakeModelServer
from tests.sentences import table

NOT_KNOWN = "No information available"
PROFILES = "\n".join(table("profiles of answers"))
KNOWN = {"parrot": "Admiral.", "Who laid the cable": "Nadia's brother Piet"}


def answer_to(prompt: str) -> str:
    """Answer two of the questions, and say that the others cannot be answered."""
    asked = prompt.rpartition("Question: ")[2]
    if "Answer to grade" in prompt:
        return "Yes." if "Admiral" in prompt or NOT_KNOWN in prompt else "no"
    return next((answer for words, answer in KNOWN.items() if words in asked), NOT_KNOWN)


@pytest.fixture
def server():
    with FakeModelServer(script=answer_to) as fake:
        fake.kind = "llama.cpp"
        fake.template = "{{ messages }}"
        yield fake


@pytest.fixture
def environ(tmp_path, server):
    config = tmp_path / "vault" / "config"
    config.mkdir(parents=True)
    (config / "llm.md").write_text(PROFILES.format(host=server.address))
    return {"KEEPSAKE_HOME": str(tmp_path / "home"), "KEEPSAKE_VAULT": str(tmp_path / "vault")}
