"""The clients for Ollama's API and OpenAI's, over HTTP, also with servers that misbehave."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from keepsake.errors import (
    BadAnswer,
    CallCancelled,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    PromptTooLong,
)
from keepsake.models import retries
from keepsake.models.http import ServerTexts, error_from_status
from keepsake.models.ollama import OllamaModel
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import CHAT, DIALOGUE, LLAMA_CPP, OTHER, VLLM, ModelProfile
from keepsake.models.thoughts import AnswerText
from keepsake.ports import ChatMessage, GenerationRequest, Tool, ToolCall
from tests.fakes.model_server import FakeModelServer, Reply
from tests.free_ports import free_base
from tests.sentences import table

Model = OllamaModel | OpenAIModel
RAW = GenerationRequest(
    "~Mira>", max_tokens=9, stop=("\n",), temperature=0.3, seed=5, repeat_penalty=1.1
)
MESSAGES = (ChatMessage("system", "You are Mira."), ChatMessage("user", "Who are you?"))
TALK = replace(RAW, prompt="", messages=MESSAGES)
SCHEMA = {"type": "object", "properties": {"verb": {"type": "string"}}}
GIVE = Tool("give", "Give a thing", {"type": "object", "properties": {"what": {"type": "string"}}})
TEMPLATE = "{% for message in messages %}<|im_start|>{{ message.role }}{% endfor %}"
RAW_PATHS = {"ollama": "/api/generate", "openai": "/v1/completions"}
CHAT_PATHS = {"ollama": "/api/chat", "openai": "/v1/chat/completions"}


@pytest.fixture(params=["ollama", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def client_of(host: str, provider: str = "openai", **settings: Any) -> Model:
    own = {name: settings.pop(name) for name in ("key", "kind") if name in settings}
    settings = {"model": "fake", "provider": provider, "host": host, **settings}
    kind = OllamaModel if provider == "ollama" else OpenAIModel
    return kind(ModelProfile("agent", **settings), **own)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE", 0.01)


@pytest.fixture
def model(provider: str, fake: FakeModelServer) -> Model:
    fake.capabilities = ["completion", "tools"]
    return client_of(fake.address, provider, time_limit=20)


def streaming(request: GenerationRequest) -> tuple[list[str], GenerationRequest]:
    pieces: list[str] = []
    return pieces, replace(request, on_text=pieces.append)


# -- requests and answers


def test_answers_are_streamed_and_have_token_counts(
    provider: str, model: Model, fake: FakeModelServer
):
    fake.script = lambda asked: f" say I read {asked}\nand this is cut"
    pieces, request = streaming(RAW)
    answer = model.generate(request)
    assert answer.text == "".join(pieces) == " say I read ~Mira>"
    assert len(pieces) == 4
    assert (answer.prompt_tokens, answer.completion_tokens) == (3, 4)
    assert (answer.finish_reason, answer.model) == ("stop", "fake")
    assert model.generate(TALK).text == " say I read system: You are Mira."


def test_a_caller_that_waits_for_the_whole_answer_learns_how_much_is_written(
    model: Model, fake: FakeModelServer
):
    fake.script = lambda _: "It is late."
    written: list[int] = []
    answer = model.generate(replace(TALK, on_progress=written.append))
    assert written == sorted(written)
    assert len(written) > 2
    assert written[-1] == len(answer.text)


def test_texts_and_chats_are_sent_over_one_connection(
    provider: str, model: Model, fake: FakeModelServer
):
    model.generate(RAW)
    model.generate(TALK)
    raw, chat = (fake.calls(paths[provider])[0].body for paths in (RAW_PATHS, CHAT_PATHS))
    assert raw["prompt"] == "~Mira>"
    assert chat["messages"] == [{"role": each.role, "content": each.text} for each in MESSAGES]
    assert "prompt" not in chat
    assert len({call.port for call in fake.calls()}) == 1, "the connection is reused"


def test_requests_to_ollama_have_its_fields(fake: FakeModelServer):
    fake.template = "{{ .System }} {{ .Prompt }}"
    model = client_of(fake.address, "ollama", context_tokens=4096)
    model.generate(RAW)
    model.check()
    model.generate(replace(TALK, json_schema=SCHEMA))  # Ollama refuses "think" for this model
    fake.capabilities = ["completion", "thinking"]
    model = client_of(fake.address, "ollama")
    model.check()
    model.generate(TALK)
    options = {"temperature": 0.3, "num_predict": 9, "repeat_penalty": 1.1, "stop": ["\n"]}
    assert fake.calls("/api/generate")[0].body == {
        "model": "fake",
        "prompt": "~Mira>",
        "raw": True,
        "stream": True,
        "keep_alive": "30m",
        "options": {**options, "seed": 5, "num_ctx": 4096},
    }
    plain, thinker = (call.body for call in fake.calls("/api/chat"))
    assert "think" not in plain
    assert plain["format"] == SCHEMA
    assert thinker["think"] is False
    assert thinker["options"]["num_ctx"] == 11264
    fake.plan("/api/show", Reply(raw=b'{"details": {}}'))  # no capabilities, no context
    model = client_of(fake.address, "ollama")
    model.check()
    assert (model.capabilities.known, model.capabilities.form) == (True, CHAT)
    assert model.resolved().prompt_tokens < model.capabilities.context == 11264


PLAIN = {"prompt", "max_tokens", "temperature", "model", "stream", "stream_options"}
FULL = GenerationRequest("x", 9, (), 0.3, None, 1.2, json_schema=SCHEMA, cache_key="agent-7")
LLAMA = {"json_schema": SCHEMA, "repeat_penalty": 1.2, "cache_prompt": True}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
UNTHINKING = {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize(
    ("server", "more", "raw", "chat"),
    [
        (LLAMA_CPP, LLAMA, {"min_p": 0.1}, UNTHINKING),
        (VLLM, {"response_format": FORMAT, "repetition_penalty": 1.2}, {}, UNTHINKING),
        ("", {"response_format": FORMAT}, {}, {}),
    ],
)
def test_a_server_gets_only_the_fields_that_it_accepts(
    fake: FakeModelServer, server: str, more: Any, raw: Any, chat: Any
):
    fake.kind = server
    fake.template = TEMPLATE
    model = client_of(fake.address)
    model.check()
    model.generate(FULL)
    model.generate(replace(FULL, prompt="", messages=MESSAGES))
    for path, own in (("completions", raw), ("chat/completions", chat)):
        body = (call := fake.calls(f"/v1/{path}")[-1]).body
        session = call.session
        assert session == "keepsake-agent-7"
        assert body.items() >= (more | own).items()
        assert (body.keys() | {"prompt"}) - {"messages"} == PLAIN | more.keys() | own.keys()


def test_tools_are_sent_and_tool_calls_are_read(provider: str, model: Model, fake: FakeModelServer):
    given = {"what": "the cap"} if provider == "ollama" else '{"what": "the cap",}'
    fake.always(CHAT_PATHS[provider], Reply(text="", calls=[("give", given), ("give", given)]))
    answer = model.generate(replace(TALK, tools=(GIVE,)))
    assert answer.tool_calls == (ToolCall("give", {"what": "the cap"}),) * 2
    assert answer.text == ""
    (sent,) = fake.calls(CHAT_PATHS[provider])[0].body["tools"]
    assert sent["type"] == "function"
    assert (sent["function"]["name"], sent["function"]["description"]) == ("give", "Give a thing")
    assert sent["function"]["parameters"]["properties"]["what"]["type"] == "string"
    if provider == "openai":
        fake.always(CHAT_PATHS[provider], Reply(text="", calls=[("give", '{"what": ')]))
        with pytest.raises(BadAnswer, match="unreadable"):
            model.generate(replace(TALK, tools=(GIVE,)))


def test_control_characters_are_removed_from_answers(model: Model, fake: FakeModelServer):
    fake.script = lambda _: "I keep\u0085bees\u009b, \u202eTom.\u2028All\ufffd\ufffd year."
    pieces, request = streaming(RAW)
    assert model.generate(request).text == "".join(pieces) == "I keep bees, Tom. All year."


# -- thoughts


@pytest.mark.parametrize(("text", "left"), table("answers with thoughts"))
@pytest.mark.parametrize("size", [1, 3, 999])
def test_thoughts_are_removed_from_streamed_answers(text: str, left: str, size: int):
    pieces: list[str] = []
    answer = AnswerText(pieces.append, hold=text.startswith("hm, so"))
    for at in range(0, len(text), size):
        answer.feed(text[at : at + size])
    answer.feed("", whole=True)
    assert answer.text == left
    assert "".join(pieces) == left, "no piece of a thought is passed on"


def test_a_model_that_thinks_anyway_gets_room_and_its_thoughts_are_hidden(
    provider: str, model: Model, fake: FakeModelServer
):
    fake.script = lambda _: "<think>\nHm. Who am I?\n</think>\n\nI am Mira.\nAnd more."
    with pytest.raises(BadAnswer):  # the stop string, a line end, cut its thought off
        model.generate(TALK)
    pieces, request = streaming(TALK)
    assert model.generate(request).text == "".join(pieces) == "I am Mira."
    fake.script = lambda _: "He asks who I am.</think> I am Mira."
    pieces, request = streaming(TALK)
    assert model.generate(request).text == "".join(pieces) == "I am Mira.", "held back"
    body = fake.calls(CHAT_PATHS[provider])[1].body
    told = body["options"] if provider == "ollama" else body
    assert "stop" not in told
    assert told.get("num_predict", told.get("max_tokens")) > 500
    fake.always(CHAT_PATHS[provider], Reply(thought="Hm."))  # in a field of its own
    with pytest.raises(BadAnswer, match=r"a thought and no answer.*Raise max_tokens"):
        model.generate(TALK)


# -- detection of the server


@pytest.mark.parametrize(
    ("provider", "server", "template", "form"),
    [
        ("ollama", "ollama", "", DIALOGUE),
        ("ollama", "ollama", "{{ .System }} {{ .Prompt }}", CHAT),
        ("openai", LLAMA_CPP, "", DIALOGUE),
        ("openai", LLAMA_CPP, TEMPLATE, CHAT),
        ("openai", VLLM, "", CHAT),
        ("openai", "", "", CHAT),
    ],
)
def test_the_capabilities_of_a_model_are_detected_once(
    fake: FakeModelServer, provider: str, server: str, template: str, form: str
):
    fake.kind = server
    fake.template = template
    model = client_of(fake.address, provider)
    assert not model.capabilities.known
    model.check()
    takes = model.capabilities
    asked = len(fake.calls())
    assert (takes.known, takes.form, takes.kind) == (True, form, server or OTHER)
    assert not any("completion" in call.path for call in fake.calls()), "nothing is generated"
    model.check()
    assert len(fake.calls()) == asked + 1


@pytest.mark.parametrize(
    ("server", "listed", "serves"),
    [
        (LLAMA_CPP, ["a file.gguf"], True),  # it serves its one model under any name
        (LLAMA_CPP, ["a file.gguf", "another.gguf"], False),  # its router does not
        (VLLM, ["another"], False),
        ("", ["another"], False),
    ],
)
def test_a_server_of_one_model_need_not_call_it_as_llm_md_does(
    fake: FakeModelServer, server: str, listed: list[str], serves: bool
):
    fake.kind = server
    fake.models = listed
    model = client_of(fake.address, "openai")
    if serves:
        model.check()
        assert model.capabilities.kind == server
    else:
        with pytest.raises(ModelMissing, match=r"it has (?:another|a file)"):
            model.check()


@pytest.mark.parametrize(
    ("words", "count", "most"),
    [
        ((0, 3000), 1000, 1000),
        ((1400, 100), 1000, 1000),  # more than the 100 new words: the figure has cached tokens too
        ((2900, 100), 130, 0),  # the rest is cached
        ((1500, 1500), 1520, 0),
        ((0, 3000), 2900, 0),
        ((0, 3000), 60, 0),  # the rest is cached, since before the start
    ],
)
def test_prompts_shrink_to_what_ollama_evaluates(
    fake: FakeModelServer, caplog: Any, words: tuple[int, int], count: int, most: int
):
    asked = replace(RAW, prompt="word " * words[0], cache_key="mira")
    model = client_of(fake.address, "ollama")
    model.generate(asked)
    fake.evaluates = count
    for _ in range(2 if most else 1):
        model.generate(replace(asked, prompt=f"{asked.prompt}{'more ' * words[1]}"))
    assert model.resolved().prompt_tokens == (most * 3 // 4 or 8000)
    assert caplog.text.count("evaluates 1,000 tokens") == (most > 0)
    fake.evaluates = 0  # the whole prompt again
    model.generate(replace(asked, prompt="other " * 3000))
    assert model.resolved().prompt_tokens == 8000


# -- servers that misbehave


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (Reply(status=500, text="boom"), ModelFailed, "HTTP 500: .*boom"),
        (Reply(status=400, text="bad option"), ModelRejected, "HTTP 400: .*bad option"),
        (Reply(status=401, text="who"), ModelRejected, "KEEPSAKE_OPENAI_API_KEY"),
        (Reply(status=429, text="slow", retry_after="90"), ModelBusy, "HTTP 429"),
        (Reply(status=503, text="loading", retry_after="90"), ModelBusy, "not ready"),
        (Reply(raw=b"<html>hello</html>"), BadAnswer, "sent"),
        (Reply(raw=b"[" * 50_000), BadAnswer, "sent"),
        (Reply(raw=b"{}"), ModelError, "sent|closed"),
        (Reply(raw=b'error: {"message": "context size"}\n\n'), ModelError, "sent|too long"),
        (Reply(raw=b"\xff\xfe\x00"), BadAnswer, "sent"),
        (Reply(raw=b'{"response": 5, "choices": [{"text": 5}]}'), BadAnswer, "sent"),
        (Reply(text="  \n"), BadAnswer, "empty answer"),
        (Reply(text="<think>Hmm. What"), BadAnswer, "a thought and no answer"),
        (Reply(hang_up=True), ModelUnavailable, "closed|does not answer"),
        (Reply(text="I am", cut=0), ModelUnavailable, "closed"),
        (Reply(delay=300), ModelTimeout, r"within 0\.5 s"),
        (Reply(drip=0.05, text="x " * 10_000), ModelTimeout, r"within 0\.5 s"),
    ],
)
def test_each_failure_raises_its_own_error_with_a_cure(
    provider: str, fake: FakeModelServer, reply: Reply, error: type[Exception], words: str
):
    limit = {ModelTimeout: 0.5, ModelBusy: 30}.get(error, 60)
    model = client_of(fake.address, provider, time_limit=limit)
    fake.always(RAW_PATHS[provider], reply)
    with pytest.raises(error, match=words):
        model.generate(GenerationRequest("x"))
    if limit == 60:
        fake.always(RAW_PATHS[provider], Reply())
        assert model.generate(RAW).text, "the connection pool still works"


def test_a_timeout_shrinks_prompts_only_for_ollama(provider: str, fake: FakeModelServer):
    model = client_of(fake.address, provider, time_limit=0.4)
    whole = model.resolved().prompt_tokens
    fake.always(RAW_PATHS[provider], Reply(delay=300))
    with pytest.raises(ModelTimeout):
        model.generate(GenerationRequest("one two " * 1000))
    assert (model.resolved().prompt_tokens < whole) == (provider == "ollama")


def test_a_slow_server_shrinks_prompts_no_further_than_a_dialogue_needs(fake: FakeModelServer):
    model = client_of(fake.address, context_tokens=16_384)
    whole = model.resolved().prompt_tokens
    model.capabilities = replace(model.capabilities, rate=100.0)
    assert 2048 < model.resolved().prompt_tokens < whole
    model.capabilities = replace(model.capabilities, rate=0.5)
    assert model.resolved().prompt_tokens == 2048
    small = client_of(fake.address, context_tokens=1024)
    small.capabilities = replace(small.capabilities, rate=0.5)
    assert small.resolved().prompt_tokens == 768, "a context is a limit that no reason extends"


def test_a_missing_model_and_a_missing_server_are_reported(provider: str, fake: FakeModelServer):
    model = client_of(fake.address, provider, model="absent:7b")
    cure = "ollama pull absent:7b" if provider == "ollama" else "Load 'absent:7b'"
    with pytest.raises(ModelMissing, match=cure):
        model.generate(RAW)
    with pytest.raises(ModelMissing, match="absent:7b"):
        model.check()
    fake.models = ["absent:7b:latest" if provider == "ollama" else "absent:7b"]
    model.check()
    model = client_of(f"http://tom:sesame@127.0.0.1:{free_base()}", provider)
    with pytest.raises(ModelUnavailable, match=r"http://\[secret\]@127.*Start (it|the)") as caught:
        model.generate(RAW)
    assert "sesame" not in str(caught.value)
    with pytest.raises(ModelUnavailable):
        model.check()


def test_a_cancelled_request_ends(provider: str, model: Model, fake: FakeModelServer):
    fake.plan(CHAT_PATHS[provider], Reply(text="one two three four", drip=0.05))
    pieces, request = streaming(TALK)
    with pytest.raises(ModelUnavailable, match="cancelled"):
        model.generate(replace(request, is_cancelled=lambda: len(pieces) > 1))
    assert pieces == ["one", " two"]
    path = CHAT_PATHS[provider]
    fake.always(path, Reply(status=429))
    with pytest.raises(CallCancelled):
        model.generate(replace(TALK, is_cancelled=lambda: len(fake.calls(path)) > 1))


@pytest.mark.parametrize("status", [401, 500])
def test_no_error_contains_the_api_key_even_if_the_server_quotes_it(
    provider: str, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch, status: int
):
    key = "sesame-open-4f9a"
    monkeypatch.setenv("OLLAMA_API_KEY", key)  # Ollama's library reads this variable
    own = {"key": key} if provider == "openai" else {}
    reply = Reply(status=status, text=f"{'no ' * 62}key {key} is not known")
    fake.always(RAW_PATHS[provider], reply)
    model = client_of(fake.address, provider, **own)
    with pytest.raises(ModelError, match=r"no no") as caught:
        model.generate(RAW)
    assert "sesame" not in json.dumps([str(caught.value), repr(caught.value)])
    assert "sesame" not in repr(model.server)


# -- retries


@pytest.mark.parametrize(
    ("reply", "seed", "calls"),
    [
        (Reply(status=500), None, 2),
        (Reply(text=" "), None, 2),
        (Reply(text=" "), 1, 1),  # a fixed seed would give the same answer
        (Reply(status=404), None, 1),
        (Reply(status=400), None, 1),
    ],
)
def test_only_temporary_failures_are_retried(
    fake: FakeModelServer, reply: Reply, seed: int | None, calls: int
):
    path = "/v1/completions"
    request = GenerationRequest("x", seed=seed)
    model = client_of(fake.address)
    fake.plan(path, reply)
    if calls == 2:
        assert model.generate(request).text
    else:
        with pytest.raises(ModelError):
            model.generate(request)
    assert len(fake.calls(path)) == calls
    fake.plan(path, *[reply] * 2)
    with pytest.raises(ModelError):
        model.generate(request)


def test_retry_after_is_respected(provider: str, fake: FakeModelServer):
    path = RAW_PATHS[provider]
    fake.plan(path, Reply(status=429, retry_after="0"))
    model = client_of(fake.address, provider)
    assert model.generate(RAW).text
    fake.always(path, Reply(status=429, retry_after="90"))
    for _ in range(2):
        with pytest.raises(ModelBusy):
            model.generate(RAW)
    assert len(fake.calls(path)) == 3


def test_a_process_that_has_ended_is_waited_for_before_it_is_asked_again(fake: FakeModelServer):
    hang_up = Reply(hang_up=True)
    fake.plan("/v1/completions", hang_up, hang_up)  # a closed connection is tried once more at once
    seen: list[str] = []
    profile = ModelProfile("agent", provider="embedded", host=fake.address)
    model = OpenAIModel(
        profile, ready=lambda: seen.append("ready"), lost=lambda: seen.append("lost")
    )
    assert model.generate(RAW).text
    assert seen == ["ready", "lost", "ready"]


def test_a_broken_answer_is_retried_only_before_its_first_piece(
    provider: str, model: Model, fake: FakeModelServer
):
    path = CHAT_PATHS[provider]
    fake.plan(path, Reply(text="I am Mira, and", cut=2))
    pieces, request = streaming(TALK)
    with pytest.raises(BadAnswer, match=r"closed|cut off"):
        model.generate(request)
    assert pieces == ["I", " am"]
    assert len(fake.calls(path)) == 1
    fake.plan(path, Reply(text="I am", cut=0))
    assert model.generate(request).text == "".join(pieces[2:])
    assert len(fake.calls(path)) == 3


# -- refusals


@pytest.mark.parametrize("body", table("prompts too long"))
def test_refusals_of_long_prompts_are_recognised(body: str):
    assert isinstance(error_from_status(400, body, ServerTexts("It", "", "")), PromptTooLong)


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (400, "Jinja Exception: System role not supported"),
        (500, "Conversation roles must alternate user/assistant/user/assistant/..."),
    ],
)
def test_refused_roles_are_merged_from_then_on(fake: FakeModelServer, status: int, refusal: str):
    path = "/v1/chat/completions"
    more = ChatMessage("assistant", "Mira.")
    fake.plan(path, Reply(status=status, text=refusal))
    model = client_of(fake.address)
    for _ in range(2):
        model.generate(replace(TALK, messages=(*MESSAGES, more, MESSAGES[0])))
    first, *others = ([each["role"] for each in call.body["messages"]] for call in fake.calls(path))
    assert first == ["system", "user", "assistant", "system"]
    assert others == [["user", "assistant", "user"]] * 2
    told = fake.calls(path)[-1].body["messages"][0]["content"]
    assert told == "You are Mira.\n\nWho are you?"


@pytest.mark.parametrize(
    ("provider", "reply", "kept"),
    [
        ("openai", Reply(status=400, text="this model does not support tools"), False),
        ("ollama", Reply(text="", calls=[("give", '{"what": "cap"}')]), False),  # not an object
        ("openai", Reply(status=500, text="Failed to parse tool call arguments as JSON"), True),
    ],
)
def test_tools_are_left_out_after_a_refusal_or_an_unreadable_call(
    fake: FakeModelServer, provider: str, reply: Reply, kept: bool
):
    path = CHAT_PATHS[provider]
    fake.capabilities = ["completion", "tools"]
    fake.plan(path, reply)
    model = client_of(fake.address, provider, tools="yes")
    assert model.resolved().takes_tools
    assert model.generate(replace(TALK, tools=(GIVE,))).text
    assert model.resolved().takes_tools == kept
    assert [bool(call.body.get("tools")) for call in fake.calls(path)] == [True, kept]
