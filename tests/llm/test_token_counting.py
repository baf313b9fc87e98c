"""Who counts tokens: servers of several kinds over the wire, the real model, tiktoken."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from keepsake.errors import ModelError, ModelUnavailable
from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import LLAMA_CPP, Profiles
from keepsake.models.tokens import local_tokenizer
from keepsake.models.tokens.counting import ServerTokenCounter
from keepsake.models.tokens.local_tokenizer import LocalTokenizer, cache_folder, cached, installed
from keepsake.models.tokens.tokenizer import ASK_AGAIN_SECONDS, Tokenizer
from keepsake.paths import Places
from keepsake.ports import GenerationRequest
from keepsake.prompt.tokens import MODEL_SERVER, TIKTOKEN, Heuristic, TokenLedger
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
    [("llama.cpp", 1 + 1), ("old llama.cpp", 1 + 1 + len(TEXTS)), ("vllm", 1 + len(TEXTS))],
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
    assert client.count_tokens(TEXTS) == TRUE, "asked one by one"


def test_one_server_replaced_by_another_is_found_out(client: OpenAIModel, fake: FakeModelServer):
    now = 0.0
    tokenizer = Tokenizer(
        lambda body: client._http.call("POST", "/tokenize", body), "fake", lambda: now
    )
    fake.tokenizer = "llama.cpp"
    assert tokenizer.count(TEXTS) == TRUE
    fake.tokenizer = "vllm"
    fake.plan("/tokenize", *[Reply(status=400)] * 2)
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


@pytest.fixture
def nothing_local(tmp_path: Path) -> LocalTokenizer:
    return LocalTokenizer({"TIKTOKEN_CACHE_DIR": str(tmp_path / "empty")})


def test_the_server_counts_before_anybody_else_and_is_waited_for(
    gateway: Gateway, fake: FakeModelServer, ready: LocalTokenizer, nothing_local: LocalTokenizer
):
    assert ServerTokenCounter(gateway, local=nothing_local).count(TEXTS) is None, "nobody can"
    owner_asks_again(gateway)
    counter = ServerTokenCounter(gateway, local=ready)
    fake.tokenizer = "llama.cpp"
    fake.always("/tokenize", Reply(status=503))
    assert counter.count(TEXTS) is None, "tiktoken must not step in"
    fake.always("/tokenize", Reply())
    assert counter.count(TEXTS) == (TRUE, MODEL_SERVER)
    found = counter.count(["half \ud83d\n", "\x00\n"])  # cannot go over the wire as it is
    assert found is not None
    assert len(found[0]) == 2


def owner_asks_again(gateway: Gateway) -> None:
    """Forget that the server had no tokenizer, as after a while."""
    client = gateway._pool.fleets["agent"].first.client
    assert isinstance(client, OpenAIModel)
    client._tokenizer._asked = float("-inf")


def test_a_changed_profile_is_another_model_and_the_old_one_is_not_asked(
    gateway: Gateway, owner: Owner, home: Places, fake: FakeModelServer, ready: LocalTokenizer
):
    fake.tokenizer = "llama.cpp"
    counter = ServerTokenCounter(gateway, local=ready)
    before = counter.model
    assert counter.count(TEXTS) is not None
    configure(home, fake, "ollama")
    assert counter.model != before
    with pytest.raises(ModelUnavailable):
        gateway.count_tokens("agent", TEXTS)
    assert counter.count(TEXTS) is None
    owner.call(gateway.statuses)
    found = counter.count(TEXTS)
    assert found is not None
    assert found[1] == TIKTOKEN


# tiktoken: only if it is installed, and its data lies ready.


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LocalTokenizer:
    """A tiktoken that is installed, with data in its cache: a stand-in of the same shape."""
    library, cache = tmp_path / "library", tmp_path / "cache"
    library.mkdir()
    cache.mkdir()
    (library / "tiktoken.py").write_text(
        textwrap.dedent("""
        asked = []
        class Encoding:
            def encode_ordinary(self, text):
                return text.split()
        def encoding_name_for_model(model):
            if not model.startswith("gpt-4o"):
                raise KeyError(model)
            return "o200k_base"
        def get_encoding(name):
            asked.append(name)
            return Encoding()
        """)
    )
    data = {}
    for name in ("cl100k_base", "o200k_base"):
        (cache / name).write_text(name)
        data[name] = (name, hashlib.sha256(name.encode()).hexdigest())
    monkeypatch.setattr(local_tokenizer, "DATA", data)
    monkeypatch.syspath_prepend(str(library))
    monkeypatch.delitem(sys.modules, "tiktoken", raising=False)
    yield LocalTokenizer({"TIKTOKEN_CACHE_DIR": str(cache)})
    sys.modules.pop("tiktoken", None)


def test_tiktoken_takes_the_encoding_of_the_model(ready: LocalTokenizer):
    assert ready.count(["one two", "three"]) == [2, 1]
    assert ready.count(["one two"], "gpt-4o-mini") == [2]
    assert ready.count(["one two"], "gemma3:4b") == [2]
    assert sys.modules["tiktoken"].asked == ["cl100k_base", "o200k_base", "cl100k_base"]
    ready.count(["again"], "gemma3:4b")
    assert len(sys.modules["tiktoken"].asked) == 3, "an encoding is loaded once"


def test_tiktoken_takes_what_there_is_and_one_that_fails_is_none(
    ready: LocalTokenizer, monkeypatch
):
    (cache_folder(ready._environ) / "cl100k_base").unlink()
    assert ready.count(["one two"], "gemma3:4b") == [2]
    assert sys.modules["tiktoken"].asked == ["o200k_base"]
    monkeypatch.setattr(local_tokenizer.import_module("tiktoken"), "get_encoding", lambda _: 1 / 0)
    assert ready.count(["one two"], "another") is None


@pytest.mark.parametrize("damage", ["gone", "damaged"])
def test_tiktoken_is_not_even_imported_when_it_would_have_to_fetch(
    ready: LocalTokenizer, damage: str
):
    """With a file that is not whole, tiktoken itself would delete it and ask the network."""
    for file in cache_folder(ready._environ).iterdir():
        file.unlink() if damage == "gone" else file.write_text("half of it")
    assert ready.count(["one two"]) is None
    assert "tiktoken" not in sys.modules


def test_where_tiktoken_keeps_its_data():
    assert cache_folder({"TIKTOKEN_CACHE_DIR": "/a", "DATA_GYM_CACHE_DIR": "/b"}) == Path("/a")
    assert cache_folder({"DATA_GYM_CACHE_DIR": "/b"}) == Path("/b")
    assert cache_folder({"TIKTOKEN_CACHE_DIR": ""}) is None
    assert cache_folder({}).name == "data-gym-cache"
    assert cached(None) == []


@pytest.mark.skipif(
    not (installed() and cached(cache_folder())), reason="no tiktoken, or its data is not cached"
)
def test_the_real_tiktoken_counts_from_its_cache(tmp_path: Path):
    """In a process that cannot reach anything."""
    name = cached(cache_folder())[0]
    shutil.copy(cache_folder() / local_tokenizer.DATA[name][0], tmp_path)
    code = (
        "import socket\n"
        "def refused(*_, **__): raise AssertionError('the network was asked')\n"
        "socket.socket.connect = socket.getaddrinfo = refused\n"
        "from keepsake.models.tokens.local_tokenizer import LocalTokenizer\n"
        "print(LocalTokenizer().count(['Good morning, Tom!\\n', '<|endoftext|>'], 'gemma3:4b'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"TIKTOKEN_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    counts = eval(done.stdout)  # a list of two numbers that we printed
    assert counts[0] in (5, 6)
    assert counts[1] > 1, "what a player types is never a mark of the model's own"


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
