"""A fake model server that answers questions, and an environment whose profiles use it."""

from contextlib import contextmanager

import pytest

from tests.fakes.model_server import FakeModelServer
from tests.sentences import table

NOT_KNOWN = "No information available"
PROFILES = "\n".join(table("profiles of answers"))
KNOWN = {"parrot": "Admiral.", "Who laid the cable": "Nadia's brother Piet"}


FURTHER = "What did Nadia buy for making bowls?"
CHOICE = f'The last line tells it. {{"lines": [3, 99], "searches": ["{FURTHER}"]}}'


def answer_to(prompt: str) -> str:
    """Answer two of the questions, and say that the others cannot be answered."""
    asked = prompt.rpartition("uestion: ")[2]
    if "A search of a memory" in prompt:
        return CHOICE if "parrot" in asked else "I found nothing that helps."
    if "Answer to grade" in prompt:
        return "Yes." if "Admiral" in prompt or NOT_KNOWN in prompt else "no"
    return next((answer for words, answer in KNOWN.items() if words in asked), NOT_KNOWN)


@contextmanager
def answering_server():
    """A fake llama.cpp server that answers two of the questions."""
    with FakeModelServer(script=answer_to) as fake:
        fake.kind = "llama.cpp"
        fake.template = "{{ messages }}"
        yield fake


@pytest.fixture
def server():
    with answering_server() as fake:
        yield fake


def environ_in(folder, server):
    """Return an environment for a home and a vault in the folder; profiles use the server."""
    config = folder / "vault" / "config"
    config.mkdir(parents=True)
    (config / "llm.md").write_text(PROFILES.format(host=server.address))
    return {"KEEPSAKE_HOME": str(folder / "home"), "KEEPSAKE_VAULT": str(folder / "vault")}


@pytest.fixture
def environ(tmp_path, server):
    return environ_in(tmp_path, server)
