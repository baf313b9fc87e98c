"""An act's prompt as chat messages: the part that stays in front, what changes last."""

from datetime import UTC, datetime

from keepsake.paths import REPOSITORY
from keepsake.prompt.act_messages import ASK, ASK_SPEECH, act_messages
from keepsake.prompt.script import RenderedMemory
from keepsake.prompt.template import PromptContext, Situation, load_template

TEMPLATE = load_template(REPOSITORY / "vault" / "config" / "prompt.md")
CONTEXT = PromptContext(
    name="Mira",
    profile="You are Mira.",
    commands=("say <words>: speak",),
    window=(RenderedMemory('Tom says, "Hello."', datetime(2025, 3, 4, tzinfo=UTC)),),
    people=("Tom, a friend.",),
    related_notes=("mill: it needs oil",),
    situation=Situation("The Mill", "It is old.", ("north",), ("Tom",)),
)


def test_what_seldom_changes_is_the_system_message():
    system, user = act_messages(TEMPLATE.rendered(CONTEXT), ("say <words>", "go north"))
    assert (system.role, user.role) == ("system", "user")
    assert system.text.startswith("You are Mira.")
    assert system.text.endswith('Tom says, "Hello."')
    assert "mill: it needs oil" in user.text
    assert "You are Mira in The Mill. It is old." in user.text
    assert "- say <words>\n- go north\n" in user.text
    assert user.text.endswith(f'Tom says, "Hello."\n{ASK}')
    assert "~Mira>" not in user.text


def test_who_has_to_speak_is_asked_for_words():
    _, user = act_messages(TEMPLATE.rendered(CONTEXT), ("go north",), lead="say")
    assert user.text.endswith(ASK_SPEECH)
    assert "go north" not in user.text
