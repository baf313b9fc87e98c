"""Who counts tokens: servers of several kinds over the wire, the real model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random

import pytest

from keepsake.errors import ModelError, ModelUnavailable
from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import LLAMA_CPP, Profiles
from keepsake.models.tokens.counting import ServerTokenCounter
from keepsake.models.tokens.tokenizer import ASK_AGAIN_SECONDS, Tokenizer
from keepsake.paths import Places
from keepsake.ports import GenerationRequest
from keepsake.prompt.tokens import MODEL_SERVER, Heuristic, TokenLedger
from tests.bench.talk import talk
from tests.fakes.model_server import FakeModelServer, Reply, tokens
from tests.llm.conftest import Owner, until

TEXTS = ["Good morning, Tom!\n", "", "Mind the goose.\n", "\n", "Größe <end_of_turn>\n"]
TRUE = [len(tokens(text)) for text in TEXTS]


@pytest.fixture
def client(fake: FakeModelServer) -> Iterator[OpenAIModel]:
    client = OpenAIModel(fake.address, "fake", time_limit=60)
    yield client
    client.close()


@pytest.mark.parametrize(
    ("kind", "asked"),  # one question to find out who it is, then one for all texts or one each
    [("llama.cpp", 1 + 1), ("vllm", 1 + len(TEXTS))],
)
def test_a_server_counts_as_it_can(
    client: OpenAIModel, fake: FakeModelServer, kind: str, asked: int
):
    fake.tokenizer = kind
    assert client.count_tokens(TEXTS) == TRUE
    assert len(fake.calls("/tokenize")) == asked
    assert client.count_tokens(TEXTS[:1]) == TRUE[:1]
    assert len(fake.calls("/tokenize")) == asked + 1
    assert client.count_tokens([]) == []
    if kind == "vllm":
        body = fake.calls("/tokenize")[1].body
        assert (body["model"], body["add_special_tokens"]) == ("fake", False)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=404),
        Reply(status=405),
        Reply(status=401),
        Reply(raw=b'{"error": "Unexpected endpoint or method"}'),
        Reply(raw=b"<html>hello</html>"),
        Reply(raw=b'{"tokens": "many"}'),
        Reply(raw=b'{"count": "many", "tokens": [1]}'),
    ],
)
def test_a_server_without_a_tokenizer_is_asked_seldom(
    client: OpenAIModel, fake: FakeModelServer, reply: Reply
):
    fake.always("/tokenize", reply)
    assert client.count_tokens(TEXTS) is None
    asked = len(fake.calls("/tokenize"))
    assert client.count_tokens(TEXTS) is None
    assert len(fake.calls("/tokenize")) == asked


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(status=503), Reply(hang_up=True)])
def test_a_server_in_trouble_is_asked_again(
    client: OpenAIModel, fake: FakeModelServer, reply: Reply
):
    fake.tokenizer = "llama.cpp"
    fake.plan("/tokenize", reply)
    with pytest.raises(ModelError):
        client.count_tokens(TEXTS)
    assert client.count_tokens(TEXTS) == TRUE
    fake.plan("/tokenize", reply)
    with pytest.raises(ModelError):
        client.count_tokens(TEXTS)
    assert client.count_tokens(TEXTS) == TRUE


@pytest.mark.parametrize(
    "raw",
    [
        b'{"tokens": [5, -1, 6]}',
        b'{"tokens": []}',
        b'{"tokens": [5, 6, 7, 8, 9]}',
        b'{"tokens": [-1, -1, -1, -1, -1, 5]}',
        b'{"tokens": null}',
        b"none",
    ],
)
def test_a_wrong_answer_to_many_texts_is_not_believed(
    client: OpenAIModel, fake: FakeModelServer, raw: bytes
):
    fake.tokenizer = "llama.cpp"
    fake.plan("/tokenize", Reply(), Reply(raw=raw))
    assert client.count_tokens(TEXTS) is None


def test_one_server_replaced_by_another_is_found_out(client: OpenAIModel, fake: FakeModelServer):
    now = 0.0
    tokenizer = Tokenizer(
        lambda body: client._http.call("POST", "/tokenize", body), "fake", lambda: now
    )
    fake.tokenizer = "llama.cpp"
    assert tokenizer.count(TEXTS) == TRUE
    fake.tokenizer = "vllm"
    fake.plan("/tokenize", Reply(status=400))
    assert tokenizer.count(TEXTS) is None
    now += ASK_AGAIN_SECONDS - 1
    assert tokenizer.count(TEXTS) is None
    now += 2
    assert tokenizer.count(TEXTS) == TRUE


# The counter behind the gateway.


@pytest.fixture
def gateway(home: Places, owner: Owner, fake: FakeModelServer) -> Iterator[Gateway]:
    configure(home, fake, "openai")
    gateway = Gateway(Profiles(home.config / "llm.md"), home, owner.post, {})
    owner.call(gateway.start)
    yield gateway
    owner.call(lambda: gateway.shutdown(stop_embedded=True))


def configure(home: Places, fake: FakeModelServer, provider: str, model: str = "fake") -> None:
    (home.config / "llm.md").write_text(
        f"## agent\n**provider**: {provider}\n**host**: {fake.address}\n**model**: {model}\n"
        "## summarizer\n**provider**: extractive\n"
    )


def test_the_server_counts_and_is_waited_for(gateway: Gateway, fake: FakeModelServer):
    counter = ServerTokenCounter(gateway)
    assert counter.count(TEXTS) is None, "nobody can"
    owner_asks_again(gateway)
    fake.tokenizer = "llama.cpp"
    fake.always("/tokenize", Reply(status=503))
    assert counter.count(TEXTS) is None
    fake.always("/tokenize", Reply())
    assert counter.count(TEXTS) == (TRUE, MODEL_SERVER)
    found = counter.count(["half \ud83d\n", "\x00\n"])  # cannot go over the wire as it is
    assert found is not None
    assert len(found[0]) == 2


def owner_asks_again(gateway: Gateway) -> None:
    """Forget that the server had no tokenizer, as after a while."""
    client = gateway._pool.models["agent"].client
    assert isinstance(client, OpenAIModel)
    client._tokenizer._asked = float("-inf")


def test_a_changed_profile_is_another_model_and_the_old_one_is_not_asked(
    gateway: Gateway, owner: Owner, home: Places, fake: FakeModelServer
):
    fake.tokenizer = "llama.cpp"
    counter = ServerTokenCounter(gateway)
    before = counter.model
    assert counter.count(TEXTS) is not None
    configure(home, fake, "ollama")
    assert counter.model != before
    with pytest.raises(ModelUnavailable):
        gateway.count_tokens("agent", TEXTS)
    assert counter.count(TEXTS) is None
    owner.call(gateway.statuses)
    assert gateway.count_tokens("agent", TEXTS) is None, "Ollama has no tokenizer for others"


# The real model.


def test_the_embedded_model_counts_many_lines_as_it_counts_each(embedded: Embedded):
    lines = [f"{line.text}\n" for line in itertools.islice(talk(Random(5)), 40)]
    model = OpenAIModel(embedded.address, kind=LLAMA_CPP, time_limit=240)
    try:
        together = model.count_tokens(lines)
        assert together == [model.count_tokens([line])[0] for line in lines]
        prompt = "".join(lines[:30])
        # Held to a word, without a blank before it: what it would say of itself may be nothing,
        # and a blank is nothing too.
        answer = model.generate(GenerationRequest(prompt, max_tokens=1, grammar='root ::= "say"'))
        assert abs(sum(together[:30]) - answer.prompt_tokens) <= 3, "lines add up to their prompt"
        assert abs(Heuristic().of(prompt) / answer.prompt_tokens - 1) < 0.08
    finally:
        model.close()


def test_a_ledger_filled_by_the_embedded_model(embedded: Embedded, owner: Owner):
    home = embedded._places
    (home.config / "llm.md").write_text("## agent\n## summarizer\n**provider**: extractive\n")
    gateway = Gateway(Profiles(home.config / "llm.md"), home, owner.post, {}, embedded=embedded)
    owner.call(gateway.start)
    try:
        ledger, counter = TokenLedger(Heuristic()), ServerTokenCounter(gateway)
        ledger.of("Good morning")
        texts = ledger.uncounted(10)
        until(lambda: counter.count(texts) is not None)
        found = counter.count(texts)
        assert found is not None
        ledger.learn(dict(zip(texts, *found[:1], strict=True)), found[1])
        assert (ledger.of("Good morning"), ledger.source) == (2, MODEL_SERVER)
    finally:
        owner.call(lambda: gateway.shutdown(stop_embedded=False))
