"""The form of a transcript: a play script that the model continues with one command."""

from __future__ import annotations

from dataclasses import replace

from keepsake.archive.transcript import script
from keepsake.books.persona import open_lines
from keepsake.language.perception import for_prompt
from keepsake.ports import FormName, GenerationRequest
from keepsake.prompt.sections import PromptLine, Rendered
from keepsake.tasks.answer_reader import AnswerReader
from keepsake.tasks.forms.form import SHRINK_ORDER, Prompt, PromptForm, PromptLimits
from keepsake.tasks.others import OtherVoices
from keepsake.tasks.scene import Scene, shrinking


class ScriptForm(PromptForm):
    """A transcript to continue at a cursor: ``~Mira>``."""

    name = FormName.SCRIPT

    @property
    def limits(self) -> PromptLimits:
        """The settings of the memory decide, and the whole window is shown."""
        return PromptLimits()

    @property
    def budget(self) -> int:
        """The most tokens of a prompt: the model's limit, or that of the memory if it is less."""
        return min(self.target.prompt_tokens, self.memory_tokens or self.target.prompt_tokens)

    def render(self, scene: Scene) -> Prompt:
        """Return the transcript. It has no rule about secrets, so the persona is shown without."""
        scene = replace(scene, persona=" ".join(open_lines(scene.persona)))
        talk = script(scene.window, scene.name)
        lines: list[PromptLine] = []
        shown = scene
        for shown, values in shrinking(scene, (*SHRINK_ORDER, "told", "examples")):
            lines = self.lines(
                self.talk,
                "transcript",
                values,
                window=talk,
                cursor=f"~{scene.name}>",
                examples=[*map(_script_line, shown.examples)],
            )
            if self.tokens_of(lines) <= self.budget:
                break
        text = "\n".join(line for line, _ in lines)
        return Prompt(
            request=GenerationRequest(text, stop=("\n",)),
            rendered=Rendered(text, tuple(lines)),
            budget=self.budget,
            rests_on=shown.rests_on("recalled"),
            instructions="\n".join(shown.examples),  # a transcript shows them as answers
            said=self.said(scene),
            asked=self.asked(scene),
            others=OtherVoices.of_scene(scene),
        )

    def answer_reader(self, name: str, others: OtherVoices) -> AnswerReader:
        """Return a reader of one command: ``say Good day! | kind``."""
        return AnswerReader(name, script=True, others=others)


def _script_line(line: str) -> str:
    """Clean a script line by the character's author, but keep its cursor."""
    head, sign, rest = line.partition(">")
    return f"{head}> {for_prompt(rest)}" if sign and head.startswith("~") else for_prompt(line)
