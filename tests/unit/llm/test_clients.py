"""The clients of Ollama and of OpenAI's protocol, over the wire, with servers that misbehave."""

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
from keepsake.models import model as models
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


def asking(host: str, provider: str = "openai", **settings: Any) -> Model:
    own = {name: settings.pop(name) for name in ("key", "kind") if name in settings}
    settings = {"model": "fake", "provider": provider, "host": host, **settings}
    kind = OllamaModel if provider == "ollama" else OpenAIModel
    return kind(ModelProfile("agent", **settings), **own)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_FIRST_PAUSE", 0.01)


@pytest.fixture
def model(provider: str, fake: FakeModelServer) -> Model:
    fake.capabilities = ["completion", "tools"]
    return asking(fake.address, provider, time_limit=20)


def heard_by(request: GenerationRequest) -> tuple[list[str], GenerationRequest]:
    heard: list[str] = []
    return heard, replace(request, on_text=heard.append)


# -- what is asked and answered


def test_text_and_messages_are_answered_in_pieces_with_figures(
    provider: str, model: Model, fake: FakeModelServer
):
    fake.script = lambda asked: f" say I read {asked}\nand this is cut"
    heard, request = heard_by(RAW)
    answer = model.generate(request)
    assert answer.text == "".join(heard) == " say I read ~Mira>"
    assert len(heard) == 4
    assert (answer.prompt_tokens, answer.completion_tokens) == (3, 4)
    assert (answer.finish_reason, answer.model) == ("stop", "fake")
    assert model.generate(TALK).text == " say I read system: You are Mira."
    raw, chat = (fake.calls(paths[provider])[0].body for paths in (RAW_PATHS, CHAT_PATHS))
    assert raw["prompt"] == "~Mira>"
    assert chat["messages"] == [{"role": each.role, "content": each.text} for each in MESSAGES]
    assert "prompt" not in chat
    assert len({call.port for call in fake.calls()}) == 1, "connections are kept"


def test_what_ollama_is_asked(fake: FakeModelServer):
    fake.template = "{{ .System }} {{ .Prompt }}"
    model = asking(fake.address, "ollama", context_tokens=4096)
    model.generate(RAW)
    model.check()
    model.generate(replace(TALK, json_schema=SCHEMA))  # it refuses think for such a model
    fake.capabilities = ["completion", "thinking"]
    model = asking(fake.address, "ollama")
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
    fake.plan("/api/show", Reply(raw=b'{"details": {}}'))  # something else, which tells nothing
    model = asking(fake.address, "ollama")
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
def test_a_server_that_says_what_it_is_gets_all_it_takes_and_no_more(
    fake: FakeModelServer, server: str, more: Any, raw: Any, chat: Any
):
    fake.kind, fake.template = server, TEMPLATE
    model = asking(fake.address)
    model.check()
    model.generate(FULL)
    model.generate(replace(FULL, prompt="", messages=MESSAGES))
    for path, own in (("completions", raw), ("chat/completions", chat)):
        body, session = (call := fake.calls(f"/v1/{path}")[-1]).body, call.session
        assert session == "keepsake-agent-7"
        assert body.items() >= (more | own).items()
        assert (body.keys() | {"prompt"}) - {"messages"} == PLAIN | more.keys() | own.keys()


def test_tools_are_offered_and_called(provider: str, model: Model, fake: FakeModelServer):
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


def test_signs_that_no_screen_shows_are_in_no_answer(model: Model, fake: FakeModelServer):
    fake.script = lambda _: "I keep\u0085bees\u009b, \u202eTom.\u2028All\ufffd\ufffd year."
    heard, request = heard_by(RAW)
    assert model.generate(request).text == "".join(heard) == "I keep bees, Tom. All year."


# -- thoughts


@pytest.mark.parametrize(("text", "left"), table("thoughts aloud"))
@pytest.mark.parametrize("size", [1, 3, 999])
def test_thoughts_are_taken_out_whole_or_in_pieces(text: str, left: str, size: int):
    heard: list[str] = []
    answer = AnswerText(heard.append, hold=text.startswith("hm, so"))
    for at in range(0, len(text), size):
        answer.feed(text[at : at + size])
    answer.feed("", whole=True)
    assert answer.text == left
    assert "".join(heard) == left, "no piece of a thought is handed on"


def test_a_model_that_thinks_all_the_same_is_let_and_its_thought_never_heard(
    provider: str, model: Model, fake: FakeModelServer
):
    fake.script = lambda _: "<think>\nHm. Who am I?\n</think>\n\nI am Mira.\nAnd more."
    with pytest.raises(BadAnswer):  # its thought ended at the first line's end
        model.generate(TALK)
    heard, request = heard_by(TALK)
    assert model.generate(request).text == "".join(heard) == "I am Mira."
    fake.script = lambda _: "He asks who I am.</think> I am Mira."
    heard, request = heard_by(TALK)
    assert model.generate(request).text == "".join(heard) == "I am Mira.", "its beginning was held"
    body = fake.calls(CHAT_PATHS[provider])[1].body
    told = body["options"] if provider == "ollama" else body
    assert "stop" not in told
    assert told.get("num_predict", told.get("max_tokens")) > 500
    fake.always(CHAT_PATHS[provider], Reply(thought="Hm."))  # which the server keeps apart
    with pytest.raises(BadAnswer, match=r"a thought and no answer.*Raise max_tokens"):
        model.generate(TALK)


# -- what the server is


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
def test_a_server_is_asked_once_what_its_model_was_made_for(
    fake: FakeModelServer, provider: str, server: str, template: str, form: str
):
    fake.kind, fake.template = server, template
    model = asking(fake.address, provider)
    assert not model.capabilities.known
    model.check()
    takes, asked = model.capabilities, len(fake.calls())
    assert (takes.known, takes.form, takes.kind) == (True, form, server or OTHER)
    assert not any("completion" in call.path for call in fake.calls()), "no answer is asked for"
    model.check()
    assert len(fake.calls()) == asked + 1


@pytest.mark.parametrize(
    ("words", "count", "most"),
    [
        ((0, 3000), 1000, 1000),
        ((1400, 100), 1000, 1000),  # more than the 100 new ones: cached tokens count, too
        ((2900, 100), 130, 0),  # the rest is cached
        ((1500, 1500), 1520, 0),
        ((0, 3000), 2900, 0),
        ((0, 3000), 60, 0),  # the rest is cached, since before the start
    ],
)
def test_an_ollama_that_evaluates_a_part_of_a_prompt_gets_prompts_that_fit(
    fake: FakeModelServer, caplog: Any, words: tuple[int, int], count: int, most: int
):
    asked = replace(RAW, prompt="word " * words[0], cache_key="mira")
    model = asking(fake.address, "ollama")
    model.generate(asked)
    fake.evaluates = count
    for _ in range(2 if most else 1):
        model.generate(replace(asked, prompt=f"{asked.prompt}{'more ' * words[1]}"))
    assert model.resolved().prompt_tokens == (most * 3 // 4 or 8000)
    assert caplog.text.count("evaluates 1,000 tokens") == (most > 0)
    fake.evaluates = 0  # it has more after all
    model.generate(replace(asked, prompt="other " * 3000))
    assert model.resolved().prompt_tokens == 8000


# -- servers that misbehave


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (Reply(status=500, text="boom"), ModelFailed, "HTTP 500: .*boom"),
        (Reply(status=400, text="bad option"), ModelRejected, "HTTP 400: .*bad option"),
        (Reply(status=401, text="who"), ModelRejected, "KEEPSAKE_OPENAI_API_KEY"),
        (Reply(status=429, text="slow"), ModelBusy, "HTTP 429"),
        (Reply(status=503, text="loading"), ModelBusy, "not ready"),
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
def test_each_failure_has_a_name_and_a_cure(
    provider: str, fake: FakeModelServer, reply: Reply, error: type[Exception], words: str
):
    limit = {ModelTimeout: 0.5, ModelBusy: 2}.get(error, 60)
    model = asking(fake.address, provider, time_limit=limit)
    fake.always(RAW_PATHS[provider], reply)
    with pytest.raises(error, match=words):
        model.generate(GenerationRequest("x"))
    if limit == 60:
        fake.always(RAW_PATHS[provider], Reply())
        assert model.generate(RAW).text, "the connection pool is none the worse"


def test_a_timeout_makes_prompts_smaller_only_where_a_later_answer_tells_better(
    provider: str, fake: FakeModelServer
):
    model = asking(fake.address, provider, time_limit=0.4)
    whole = model.resolved().prompt_tokens
    fake.always(RAW_PATHS[provider], Reply(delay=300))
    with pytest.raises(ModelTimeout):
        model.generate(GenerationRequest("one two " * 1000))
    assert (model.resolved().prompt_tokens < whole) == (provider == "ollama")


def test_a_missing_model_and_an_absent_server(provider: str, fake: FakeModelServer):
    model = asking(fake.address, provider, model="absent:7b")
    cure = "ollama pull absent:7b" if provider == "ollama" else "Load 'absent:7b'"
    with pytest.raises(ModelMissing, match=cure):
        model.generate(RAW)
    with pytest.raises(ModelMissing, match="absent:7b"):
        model.check()
    fake.models = ["absent:7b:latest" if provider == "ollama" else "absent:7b"]
    model.check()
    model = asking(f"http://tom:sesame@127.0.0.1:{free_base()}", provider)
    with pytest.raises(ModelUnavailable, match=r"http://\[secret\]@127.*Start (it|the)") as caught:
        model.generate(RAW)
    assert "sesame" not in str(caught.value)
    with pytest.raises(ModelUnavailable):
        model.check()


def test_an_answer_that_is_given_up_ends(provider: str, model: Model, fake: FakeModelServer):
    fake.plan(CHAT_PATHS[provider], Reply(text="one two three four", drip=0.05))
    heard, request = heard_by(TALK)
    with pytest.raises(ModelUnavailable, match="cancelled"):
        model.generate(replace(request, is_cancelled=lambda: len(heard) > 1))
    assert heard == ["one", " two"]
    path = CHAT_PATHS[provider]
    fake.always(path, Reply(status=429))
    with pytest.raises(CallCancelled):
        model.generate(replace(TALK, is_cancelled=lambda: len(fake.calls(path)) > 1))


@pytest.mark.parametrize("status", [401, 500])
def test_the_key_is_in_no_error_though_the_server_quotes_it(
    provider: str, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch, status: int
):
    key = "sesame-open-4f9a"
    monkeypatch.setenv("OLLAMA_API_KEY", key)  # which its own library reads
    own = {"key": key} if provider == "openai" else {}
    reply = Reply(status=status, text=f"{'no ' * 62}key {key} is not known")
    fake.always(RAW_PATHS[provider], reply)
    model = asking(fake.address, provider, time_limit=0.5, **own)
    with pytest.raises(ModelError, match=r"no no") as caught:
        model.generate(RAW)
    assert "sesame" not in json.dumps([str(caught.value), repr(caught.value)])
    assert "sesame" not in repr(model.server)


# -- what is asked again


@pytest.mark.parametrize(
    ("reply", "seed", "calls"),
    [
        (Reply(status=500), None, 2),
        (Reply(text=" "), None, 2),
        (Reply(text=" "), 1, 1),  # a fixed seed gives the same again
        (Reply(status=404), None, 1),
        (Reply(status=400), None, 1),
    ],
)
def test_what_may_pass_is_asked_once_more(
    fake: FakeModelServer, reply: Reply, seed: int | None, calls: int
):
    path, request = "/v1/completions", GenerationRequest("x", seed=seed)
    model = asking(fake.address)
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


def test_a_server_that_wants_to_be_left_alone_is(provider: str, fake: FakeModelServer):
    path = RAW_PATHS[provider]
    fake.plan(path, Reply(status=429, retry_after="0"))
    model = asking(fake.address, provider, time_limit=4)
    assert model.generate(RAW).text
    fake.always(path, Reply(status=429, retry_after="60"))
    for _ in range(2):
        with pytest.raises(ModelBusy):
            model.generate(RAW)
    assert len(fake.calls(path)) == 3


def test_an_answer_that_breaks_off_is_asked_again_before_its_first_piece_alone(
    provider: str, model: Model, fake: FakeModelServer
):
    path = CHAT_PATHS[provider]
    fake.plan(path, Reply(text="I am Mira, and", cut=2))
    heard, request = heard_by(TALK)
    with pytest.raises(BadAnswer, match=r"closed|cut off"):
        model.generate(request)
    assert heard == ["I", " am"]
    assert len(fake.calls(path)) == 1
    fake.plan(path, Reply(text="I am", cut=0))
    assert model.generate(request).text == "".join(heard[2:])
    assert len(fake.calls(path)) == 3


# -- what is learnt from refusals


@pytest.mark.parametrize("body", table("prompts too long"))
def test_how_servers_say_that_a_prompt_is_too_long(body: str):
    assert isinstance(error_from_status(400, body, ServerTexts("It", "", "")), PromptTooLong)


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (400, "Jinja Exception: System role not supported"),
        (500, "Conversation roles must alternate user/assistant/user/assistant/..."),
    ],
)
def test_roles_that_a_template_refuses_are_folded_and_that_is_remembered(
    fake: FakeModelServer, status: int, refusal: str
):
    path, more = "/v1/chat/completions", ChatMessage("assistant", "Mira.")
    fake.plan(path, Reply(status=status, text=refusal))
    model = asking(fake.address)
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
        ("ollama", Reply(text="", calls=[("give", '{"what": "cap"}')]), False),  # it takes no text
        ("openai", Reply(status=500, text="Failed to parse tool call arguments as JSON"), True),
    ],
)
def test_tools_that_a_server_refuses_or_sends_wrong_are_left_out(
    fake: FakeModelServer, provider: str, reply: Reply, kept: bool
):
    path, fake.capabilities = CHAT_PATHS[provider], ["completion", "tools"]
    fake.plan(path, reply)
    model = asking(fake.address, provider, tools="yes")
    assert model.resolved().takes_tools
    assert model.generate(replace(TALK, tools=(GIVE,))).text
    assert model.resolved().takes_tools == kept
    assert [bool(call.body.get("tools")) for call in fake.calls(path)] == [True, kept]
