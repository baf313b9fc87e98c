"""How summaries are written: a template in ``vault/config/compaction/`` for each way.

A template is one markdown file: settings as everywhere in the vault, and the prompt in a
fenced block whose info string is ``prompt`` (or ``prompt short-term``, ``prompt long-term``).
Prompts are Jinja, sandboxed, and tried out when they are read. Values are never templates.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import jinja2

from keepsake import templates
from keepsake.archive.records import Tier
from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile, ConfigSection, merged

LONGEST_NAME = 60
"""Characters of one heading."""
MOST_HEADINGS = 20
SHORT_TERM, LONG_TERM = "short-term", "long-term"
TIER_NAMES = {Tier.RECENT: SHORT_TERM, Tier.LONGTERM: LONG_TERM}
"""What a template calls the two summaries."""
DEFAULT_STOP = ("\n#", "\n\n", "\n>")
"""What ends a summary in prose; the stop strings of the acting profile would cut it short."""
VARIABLES = frozenset({"agent", "tier", "memories", "headings", "must_keep", "mattered", "words"})
"""The names that a template may use."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FENCE = re.compile(
    r"^[ \t]*(?P<mark>```|~~~)[`~]*(?P<info>[^\n]*)\n"
    r"(?P<body>.*?)(?:^[ \t]*(?P<end>(?P=mark))[^\n]*\n|\Z)",
    re.M | re.S,
)
_BUILT_IN = """\
# What {{ agent }} remembers ("I" is {{ agent }}):
{% for memory in memories %}
- {{ memory }}
{% endfor %}
{% if mattered %}

# What mattered most of it:
{% for line in mattered %}
- {{ line }}
{% endfor %}
{% endif %}
{% if must_keep %}

# What has to be said in any case:
{% for line in must_keep %}
- {{ line }}
{% endfor %}
{% endif %}

# The same lines, each made shorter (at most {{ words }} words in all)
# One line for each, in the same order: who told it, and every name, number, promise and rule in it.
{{ "" }}"""
_TRIED = ("A first trial, I hope.", "A second trial, I hope.")


class Layout(StrEnum):
    """Which tiers a strategy keeps."""

    CASCADE = "cascade"
    """Window, short-term and long-term summary."""
    REPLACE = "replace"
    """One summary of everything, and what is going on."""
    SLIDING = "sliding"
    """The newest memories and no summary."""


@dataclass(frozen=True, slots=True)
class TemplateLine:
    """What a template sees of one line that is to be summarised."""

    text: str  # the line; it is what the line itself stands for in a template
    number: int | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way of writing summaries."""

    name: str
    layout: Layout
    headings: tuple[str, ...]  # the headings that a summary must have, in order; none for prose
    path: Path
    stop: tuple[str, ...] = DEFAULT_STOP  # strings that end the model's answer
    # what Jinja made of the prompts, by tier; none where there are no summaries
    templates: Mapping[Tier, jinja2.Template] = field(default_factory=dict, repr=False, hash=False)

    def prompt(
        self,
        tier: Tier,
        agent: str,
        lines: Sequence[str],
        *,
        numbers: Sequence[int | None] = (),
        headings: Sequence[str] | None = None,
        must_keep: Sequence[str] = (),
        mattered: Sequence[tuple[int, str]] = (),
        words: int = 0,
    ) -> str:
        """The text that a model goes on with.

        ``lines``: What is to be summarised, oldest first; folded to one line each.
        ``numbers``: The memory number of each line, None for one without, or none at all.
        ``mattered``: Sentences that matter most: the position of the line in which each
        stands, from 0, and its words.

        Raises:
            ConfigError: The template fails on these values, or the strategy has no prompt.
        """
        if tier not in self.templates:
            raise ConfigError(self.path, 1, f"{self.name} writes no summaries")
        known: Sequence[int | None] = numbers if len(numbers) == len(lines) else [None] * len(lines)
        try:
            return self.templates[tier].render(
                agent=agent,
                tier=TIER_NAMES[tier],
                memories=[TemplateLine(_one_line(a), n) for a, n in zip(lines, known, strict=True)],
                headings=list(self.headings if headings is None else headings),
                must_keep=[_one_line(line) for line in must_keep],
                mattered=[TemplateLine(_one_line(text), known[at]) for at, text in mattered],
                words=words or USUAL_WORDS[tier],
            )
        except Exception as error:  # a template can raise whatever its expressions raise
            raise templates.failed(self.path, error) from error


USUAL_WORDS = {Tier.RECENT: 200, Tier.LONGTERM: 300}
"""Words of a summary where nobody set a limit."""

NARRATIVE = Strategy(
    "narrative",
    Layout.CASCADE,
    (),
    Path("narrative.md"),
    templates=dict.fromkeys(Tier, templates.ENVIRONMENT.from_string(_BUILT_IN)),
)
"""What holds where no template is given; ``narrative.md`` says the same."""


def load_strategy(path: Path) -> Strategy:
    """Read and check one template.

    Raises:
        ConfigError: It cannot be read or used; names file, line and cure.
    """
    settings = merged(path)
    settings.only(("layout", "headings", "stop"))
    layout = Layout(settings.choice("layout", list(Layout), Layout.CASCADE))
    prompts = _prompts(path, templates.read(path))
    compiled = {
        tier: templates.compiled(path, prompt.source, VARIABLES, above=prompt.line)
        for tier, prompt in prompts.items()
    }
    headings, stop = _headings(settings), _stop(settings)
    strategy = Strategy(path.stem, layout, headings, path, stop, compiled)
    if layout is not Layout.SLIDING:
        _try_out(strategy, prompts)
    return strategy


def strategy_names(*folders: Path) -> list[str]:
    """The names of the templates that stand in ``folders``, sorted."""
    found = (file.stem for folder in folders for file in folder.glob("*.md"))
    return sorted({name for name in found if _NAME.fullmatch(name)})


class Strategies:
    """The templates of a folder, each read again when its file changes.

    Args:
        spare: Stands in for what the folder lacks or has never had in a usable state.
        rest: Seconds in which a file is not looked at again.
    """

    def __init__(
        self,
        folder: Path,
        spare: Path | None = None,
        on_problem: Callable[[ConfigError], None] | None = None,
        *,
        rest: float = 0.0,
    ) -> None:
        self.folder = folder
        self._spare, self._rest = spare, rest
        self._on_problem = on_problem
        self._files: dict[str, ConfigFile[Strategy]] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        """What there is to choose from."""
        return strategy_names(self.folder, *([self._spare] if self._spare else []))

    @property
    def problems(self) -> list[ConfigError]:
        """Why the newest state of a template in use is not the one that holds."""
        with self._lock:
            files = list(self._files.values())
        return [file.problem for file in files if file.problem is not None]

    def get(self, name: str) -> Strategy:
        """The strategy of that name, as its file is now or in its last good state.

        Raises:
            ConfigError: There is no such template, or it has never been usable.
        """
        with self._lock:
            file = self._files.get(name) or self._open(name)
        return file.current

    def _open(self, name: str) -> ConfigFile[Strategy]:
        path = self.folder / f"{name}.md"
        if not _NAME.fullmatch(name) or name not in self.names:
            known = ", ".join(self.names) or "none"
            cure = f"There are: {known}. Or copy one of them to {path.name}"
            raise ConfigError(path, 1, f"there is no strategy {name!r}", cure)
        spare = self._spare / path.name if self._spare else None
        default = load_strategy(spare) if spare is not None and spare.exists() else None
        made = ConfigFile(path, load_strategy, default, self._on_problem, rest=self._rest)
        return self._files.setdefault(name, made)


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A fenced prompt as it was written, and the line (from 1) of its fence."""

    source: str
    line: int


def _prompts(path: Path, text: str) -> dict[Tier, _Prompt]:
    """The prompts of a file by tier; one without a tier holds where there is no other."""
    found: dict[str, _Prompt] = {}
    for fence in _FENCE.finditer(text + "\n"):
        kind, _, tier = fence["info"].strip().partition(" ")
        if kind != "prompt":
            continue
        line, tier = text.count("\n", 0, fence.start()) + 1, tier.strip()
        if fence["end"] is None:
            raise ConfigError(path, line, "the prompt has no end", f"End it with {fence['mark']}")
        if tier not in ("", *TIER_NAMES.values()):
            cure = f"Write prompt, prompt {SHORT_TERM} or prompt {LONG_TERM}"
            raise ConfigError(path, line, f"there is no summary {tier!r}", cure)
        if tier in found:
            what = f"line {found[tier].line} has that prompt already"
            raise ConfigError(path, line, what, "Keep one of them")
        found[tier] = _Prompt(fence["body"].removesuffix("\n"), line)
    both = {tier: found.get(name) or found.get("") for tier, name in TIER_NAMES.items()}
    return {tier: prompt for tier, prompt in both.items() if prompt}


def _try_out(strategy: Strategy, prompts: Mapping[Tier, _Prompt]) -> None:
    """Have every prompt rendered once, and see whether it shows what it is about."""
    for tier, name in TIER_NAMES.items():
        if tier not in prompts:
            cure = "Write it between ```prompt and ```, as narrative.md does"
            raise ConfigError(strategy.path, 1, f"it has no prompt for the {name} summary", cure)
        line = prompts[tier].line
        strategy.prompt(tier, "Mira", _TRIED)
        more: dict[str, Any] = {"must_keep": ("Trial.",), "mattered": [(0, _TRIED[0])]}
        shown = strategy.prompt(tier, "Mira", _TRIED, numbers=(1, 2), **more)
        if not all(text in shown for text in _TRIED):
            cure = "Go through them: {% for memory in memories %} … {{ memory }} … {% endfor %}"
            raise ConfigError(strategy.path, line, "the prompt does not show the memories", cure)
        if lost := [heading for heading in strategy.headings if heading not in shown]:
            cure = 'Name them: {{ headings | join(", ") }}'
            raise ConfigError(strategy.path, line, f"the prompt lacks {', '.join(lost)}", cure)


def _headings(settings: ConfigSection) -> tuple[str, ...]:
    if "headings" not in settings.entries:
        return ()
    headings = tuple(filter(None, map(_one_line, settings.text("headings").split(";"))))
    for heading in headings:
        if len(heading) > LONGEST_NAME or not re.fullmatch(r"[^\W_][\w '’/&-]*", heading):
            cure = "A heading is letters, digits and blanks; headings are parted by ;"
            raise settings.refuse("headings", f"{heading!r} cannot be a heading", cure)
    if len({heading.casefold() for heading in headings}) < len(headings):
        raise settings.refuse("headings", "one stands there twice", "Keep one of them")
    if len(headings) > MOST_HEADINGS:
        raise settings.refuse("headings", f"they are {len(headings)}, more than {MOST_HEADINGS}")
    return headings


def _stop(settings: ConfigSection) -> tuple[str, ...]:
    if "stop" not in settings.entries:
        return DEFAULT_STOP
    cure = 'Write a JSON list of strings, such as ["\\n\\n"]'
    try:
        stop = json.loads(settings.text("stop"))
    except ValueError as error:
        raise settings.refuse("stop", f"is no JSON ({error})", cure) from error
    if not isinstance(stop, list) or not all(isinstance(each, str) and each for each in stop):
        raise settings.refuse("stop", "is no list of strings", cure)
    if settings.entries.get("headings") and (ends := [each for each in stop if each in "\n## "]):
        cure = 'Every heading starts a line with "## ": leave it out'
        raise settings.refuse("stop", f"{ends[0]!r} would end the answer at a heading", cure)
    return tuple(stop)


def _one_line(text: str) -> str:
    return " ".join(text.split())
