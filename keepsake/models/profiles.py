"""Profiles: which model answers and with which settings, read from ``vault/config/llm.md``.

Each section of the file is a profile; :class:`ModelProfile` has the defaults. The file is read
again when it changes. If it cannot be used, the last good version stays in effect as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile, ConfigSection, between, one_of, parse
from keepsake.ports import FormName, GenerationRequest

LLM_PAGE = "llm.md"
"""The file with the profiles of a game."""
EMBEDDED = "embedded"
OLLAMA = "ollama"
OPENAI = "openai"
NO_MODEL = "none"
SCRIPTED = "scripted"
PROVIDERS = ("auto", EMBEDDED, OLLAMA, OPENAI, NO_MODEL, SCRIPTED)
"""The values of ``provider``. ``auto`` is the best model that :mod:`keepsake.models.detection`
finds. ``none`` is no model: agents answer by the rules of :mod:`keepsake.tasks.fallback`, and
summaries are extractive. ``scripted`` is not a language model either: agents play by the rules of
:mod:`keepsake.models.scripted`."""
LLAMA_CPP = "llama.cpp"
VLLM = "vllm"
OTHER = "other"
"""Kinds of servers behind the provider ``openai``; the client finds out which."""
AUTO = "auto"
DIALOGUE = FormName.DIALOGUE.value
SCRIPT = FormName.SCRIPT.value
CHAT = FormName.CHAT.value
FORMS = (AUTO, CHAT, DIALOGUE, SCRIPT)
"""The forms of a prompt: messages of a chat, a dialogue as raw text to continue, or the transcript
of ``talk.md``, which asks for one command. ``auto`` is the form that ``models.md`` names for the
model's family, else the form that the server says."""
YES = "yes"
NO = "no"

EMBEDDER = "embedder"
"""The section that names the embedder, which is not a profile."""
LARGEST_PROMPT = 8000
"""The default limit of a prompt in tokens. A profile's ``prompt_tokens`` may set a higher one."""
AGENT = "agent"
"""The profile that plays the agents."""
CHAT_ANSWER = FormName.CHAT.answer_tokens
"""The default limit of an answer of a chat model, in tokens."""


@dataclass(frozen=True, slots=True)
class FoundModel:
    """The model that ``provider: auto`` stands for."""

    provider: str  # ``ollama``, ``openai``, ``embedded``, or ``none`` for no model
    why: str  # how it was found, for messages
    host: str = ""  # the server's address
    model: str = ""  # the model's name on the server
    model_file: str = ""  # the GGUF file in the home's ``models``
    embedder: str = ""  # the server's best multilingual embedding model
    writes: bool = True  # whether it follows instructions well enough to write summaries

    @property
    def line(self) -> str:
        """A text such as ``qwen3:8b (an Ollama answers at http://127.0.0.1:11434)``."""
        return f"{self.model or self.model_file or NO_MODEL} ({self.why})"

    def fill(self, profile: ModelProfile) -> ModelProfile:
        """Return the profile with this model; a model that only talks is used for agents alone."""
        if not self.writes and profile.name != AGENT:
            return replace(profile, provider=NO_MODEL)
        own: dict[str, Any] = {"model": self.model, "model_file": self.model_file}
        return replace(profile, provider=self.provider, host=self.host, **own)


NOTHING_FOUND = FoundModel(
    NO_MODEL, "rules answer players; to get a model: keepsake model list, or start an Ollama"
)
"""The result of the detection if it finds no model."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The model and settings of one kind of call.

    As read from ``llm.md``, ``form`` may be ``auto`` and sizes may be 0. :meth:`resolved` fills
    them in, and its result is a :class:`keepsake.ports.TargetModel`.
    """

    name: str  # the section's heading: ``agent``, ``summarizer`` …
    provider: str = one_of(AUTO, PROVIDERS)
    host: str = ""  # base address of the server; empty for the provider's own default
    model: str = ""  # the model's name on the server; not for ``embedded``
    temperature: float = between(0.7, high=5.0)  # sampling temperature, 0 is greedy
    max_tokens: int = between(CHAT_ANSWER, low=1, high=32768)  # of an answer; 0 for the form's
    # seconds that one answer may take, retries included
    time_limit: float = between(60.0, low=0.1, high=3600.0)
    repeat_penalty: float = between(1.0, high=5.0)  # 1.0 is none
    seed: int | None = None  # fixed seed, or None for a new one each time
    # context window in tokens; None to use what the server says
    context_tokens: int | None = between(None, low=256)
    in_flight: int = between(2, low=1, high=64)  # calls that may run on the server at once
    form: str = one_of(AUTO, FORMS)
    # the most tokens of a prompt; 0 for three quarters of the context, 8,000 at most
    prompt_tokens: int = between(0, low=256, high=1_000_000)
    tools: str = one_of(AUTO, (AUTO, YES, NO))  # whether to offer tools; ``auto``: ask the server
    model_file: str = ""  # GGUF file for ``embedded``, absolute or in ``$KEEPSAKE_HOME/models``
    # -- not in the file: learned from the server
    takes_tools: bool = False  # the model can call tools
    tail_tokens: int = 0  # the most tokens of a prompt that may be new; 0 for no limit
    where: str = LLM_PAGE  # where a person changes the settings, for the cures of errors

    def resolved(self, form: str, context: int = 0) -> ModelProfile:
        """Return the profile with its open settings filled in for a model.

        Args:
            form: The model's own form, used if the profile does not set one.
            context: The model's context window in tokens; 0 if unknown.
        """
        form = form if self.form == AUTO else self.form
        share = context * 3 // 4 or LARGEST_PROMPT
        return replace(
            self,
            form=form,
            prompt_tokens=self.prompt_tokens or min(share, LARGEST_PROMPT),
            max_tokens=self.max_tokens or FormName(form).answer_tokens,
        )

    def request(self, asked: GenerationRequest) -> GenerationRequest:
        """Return a request with its open settings filled in from the profile."""
        own = asked.temperature
        return replace(
            asked,
            prompt=asked.prompt or "\n\n".join(each.text for each in asked.messages),
            max_tokens=asked.max_tokens or self.max_tokens or CHAT_ANSWER,
            temperature=self.temperature if own is None else own,
            seed=self.seed,
            repeat_penalty=self.repeat_penalty,
        )


_HOSTS = "Such as http://127.0.0.1:11434; for several servers put a gateway in front of them"
SHIPPED: Mapping[str, ModelProfile] = {
    AGENT: ModelProfile(AGENT, max_tokens=0),
    "summarizer": ModelProfile("summarizer", time_limit=120.0, repeat_penalty=1.15),
}
"""The profiles that must exist, with the defaults of keys that ``llm.md`` leaves out."""

_SPECIAL = {"name", "host", "takes_tools", "tail_tokens", "where"}
"""Fields that need special code to read, or are not in the file."""
_PLAIN = tuple(each for each in fields(ModelProfile) if each.name not in _SPECIAL)
_KEYS = {"host", *(each.name for each in _PLAIN)}


class Profiles(ConfigFile[Mapping[str, ModelProfile]]):
    """The current profiles of ``llm.md``, with the detected model in place of ``auto``.

    Attributes:
        found: The model that stands for ``provider: auto``.
        detects: Whether a profile has ``provider: auto``.

    Args:
        on_problem: Called once for each version of the file that was refused.
        rest: Seconds between two checks whether the file has changed.
    """

    def __init__(
        self,
        path: Path,
        on_problem: Callable[[ConfigError], None] | None = None,
        *,
        rest: float = 0.0,
    ) -> None:
        unread = {name: NOTHING_FOUND.fill(each) for name, each in SHIPPED.items()}
        super().__init__(path, self._filled, unread, on_problem, rest=rest)
        self.found = NOTHING_FOUND
        self.detects = False
        _ = self.current

    @property
    def agent_model_line(self) -> str:
        """A line about the agents' model and how it was found, or that there is none."""
        own = self.get(AGENT)
        if own.provider == NO_MODEL:
            return NOTHING_FOUND.line
        is_found = self.found.fill(own) == own
        return self.found.line if is_found else f"{model_name(own)} (as llm.md says)"

    def use(self, found: FoundModel) -> None:
        """Use this model for ``provider: auto``; safe in any thread."""
        self.found = found
        self.reread()

    def get(self, name: str) -> ModelProfile:
        """Return the profile with this name.

        Raises:
            ConfigError: There is no such profile.
        """
        known = self.current
        if name not in known:
            names = ", ".join(sorted(known))
            cure = f"Add a section '## {name}', or use one of {names}"
            raise ConfigError(self.path, 0, f"there is no profile {name!r}", cure)
        return known[name]

    def _filled(self, path: Path) -> Mapping[str, ModelProfile]:
        written = load(path)
        found = self.found
        self.detects = any(each.provider == AUTO for each in written.values())
        files = (e.model_file for e in written.values() if e.provider == EMBEDDED and e.model_file)
        if found.provider == EMBEDDED and (own := next(files, "")):  # only one embedded server
            found = replace(found, model_file=own)
        return {
            name: found.fill(each) if each.provider == AUTO else each
            for name, each in written.items()
        }


def load(path: Path) -> Mapping[str, ModelProfile]:
    """Read the profiles of a file; the embedded ones share one server, its file and its context.

    Raises:
        ConfigError: The file cannot be read, or a value in it cannot be used.
    """
    found: dict[str, ModelProfile] = {}
    for section in parse(path):
        if section.name.lower() == EMBEDDER:
            continue  # see keepsake.models.embedders
        profile = profile_of(section)
        if profile.name in found:
            raise ConfigError(path, section.line, f"there are two profiles {profile.name!r}")
        found[profile.name] = profile
    for name in SHIPPED:
        if name not in found:
            raise ConfigError(path, 0, f"the profile {name!r} is missing", f"Add '## {name}'")
    embedded = [each for each in found.values() if each.provider == EMBEDDED]
    if len({each.model_file for each in embedded}) > 1:
        names = " and ".join(repr(each.name) for each in embedded)
        what = f"the profiles {names} name different model_files, and there is one embedded server"
        cure = "Name the same file in all, or give one of them another provider"
        raise ConfigError(path, 0, what, cure)
    largest = max((each.context_tokens or 0 for each in embedded), default=0) or None
    return found | {each.name: replace(each, context_tokens=largest) for each in embedded}


def model_name(profile: ModelProfile) -> str:
    """Return the name of a profile's model for messages."""
    return profile.model or Path(profile.model_file).name or profile.provider


def profile_of(section: ConfigSection) -> ModelProfile:
    """Read the profile in a section.

    Raises:
        ConfigError: A value cannot be used, or a required value is missing.
    """
    section = section.only(_KEYS)
    default = SHIPPED.get(section.name.lower(), ModelProfile(section.name))
    profile = ModelProfile(
        name=section.name.lower(),
        host=section.address("host", _HOSTS),
        **{each.name: section.value(each, getattr(default, each.name)) for each in _PLAIN},
    )
    provider = profile.provider
    model = profile.model
    host = profile.host
    if profile.model_file and provider != EMBEDDED:
        cure = "Write **provider**: embedded, or remove model_file"
        raise section.refuse("model_file", f"provider {provider} does not use a file", cure)
    if provider == EMBEDDED and not profile.model_file and profile.name != EMBEDDER:
        cure = "Write **model_file**: NAME.gguf; `keepsake model list` shows some to fetch"
        raise section.refuse("model_file", "provider embedded needs a GGUF file", cure)
    if provider == AUTO and (model or host):
        key = "model" if model else "host"
        cure = f"Write **provider**: ollama or openai, or remove {key}"
        raise section.refuse(key, "provider auto finds the model itself", cure)
    if provider in (OLLAMA, OPENAI) and not model:
        raise section.refuse("model", f"provider {provider} needs the name of a model")
    if provider == OPENAI and not host:
        raise section.refuse("host", "openai needs a host", "Such as http://127.0.0.1:8000")
    return profile
