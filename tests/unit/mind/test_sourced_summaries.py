"""The memories that each sentence of a summary tells, as its writer names them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from keepsake.archive.summaries import EDITED, Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.language.sourced_text import sources_of, summary_sentences, with_marks, without_marks
from keepsake.memory.summary_text import extractive
from keepsake.memory.types import UNCHANGED
from keepsake.ports import FormName
from tests.unit.mind.test_summarise import SOURCE, says, summarised_by

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
MARKED = "Anneke told me that she goes to sea [12, 14]. I gave Jonas his soup. [15-16]"
PLAIN = "Anneke told me that she goes to sea. I gave Jonas his soup."
CITED = ((12, 14), (15, 16))


@pytest.mark.parametrize(
    ("text", "plain", "named"),
    [
        (MARKED, PLAIN, CITED),
        ("Ann sails [12][13].", "Ann sails.", ((12, 13),)),
        ("Ann sails. [12].", "Ann sails.", ((12,),)),
        ("- Ann sails [99].\n- Tom [12] stays.", "- Ann sails.\n- Tom stays.", ((), (12,))),
        ("Ann sails [see 12].", "Ann sails [see 12].", ()),
        ("アンは海へ行く [12]。トムは残る[13]。", "アンは海へ行く。トムは残る。", ((12,), (13,))),
        ("Ann sails [1-999999999].", "Ann sails.", ()),
    ],
)
def test_the_numbers_are_taken_out_of_the_text(text, plain, named):
    known = range(12, 40)
    without, cited = without_marks(text, known)
    assert without == plain
    assert sources_of(plain, cited) == named


def test_a_text_with_its_numbers_is_read_back():
    cited = dict(zip(summary_sentences(PLAIN), CITED, strict=True))
    assert with_marks(PLAIN, cited) == MARKED.replace(". [15-16]", " [15, 16].")
    assert without_marks(with_marks(PLAIN, cited), range(20)) == (PLAIN, cited)


def test_a_chat_model_is_asked_for_the_numbers_and_they_are_kept_beside_the_text():
    draft, asked = summarised_by([MARKED])
    assert "in square brackets" in asked[0].messages[0].text
    # memory 14 is a use of the memory, which no model is shown
    assert (draft.text, draft.sources) == (PLAIN, ((12,), (15, 16)))


@pytest.mark.parametrize("form", [each for each in FormName if not each.sends_messages])
def test_a_model_that_continues_text_is_not_asked_for_them(form):
    draft, asked = summarised_by([PLAIN], form=form.value)
    assert "square brackets" not in asked[0].messages[0].text
    assert draft.sources == ()


def test_numbers_that_the_prompt_did_not_show_are_not_believed():
    draft, _ = summarised_by([MARKED.replace("15-16", "3, 77")])
    assert draft.sources == ((12,), ())


def test_older_sentences_keep_their_numbers_when_they_are_summarised_again():
    older = "Jonas lost his boat to the spring tide."
    source = replace(
        SOURCE,
        tier=Tier.LONGTERM,
        memories=(),
        older=(older, PLAIN),
        cited={older: (3,), **dict(zip(summary_sentences(PLAIN), CITED, strict=True))},
        limit_tokens=20,
    )
    answer = f"{older} I fed Jonas [15, 16]."
    draft, asked = summarised_by([answer], source)
    assert "spring tide [3]." in asked[0].messages[1].text
    assert draft.sources == ((3,), (15, 16))
    whole, asked = summarised_by([answer], replace(source, limit_tokens=0))
    assert (whole.model, whole.sources) == (UNCHANGED, ((3,), *CITED))
    assert not asked


def test_numbers_stay_with_the_first_piece_of_a_long_summary():
    many = tuple(
        says(n, "Anneke", f"Wave {n} was higher than the mast of my boat.") for n in range(1, 60)
    )
    first = "Anneke told me of the first waves [1]."
    both = f"{first.replace(' [1]', '')} She told of the last one, too [59]."
    draft, asked = summarised_by([first, both], replace(SOURCE, memories=many), prompt_tokens=900)
    assert len(asked) > 1
    assert "first waves [1]." in asked[1].messages[1].text
    assert draft.sources == ((1,), (59,))


def test_a_summary_without_a_model_keeps_what_is_known():
    source = replace(SOURCE, memories=(), older=(PLAIN,), cited={PLAIN.split(". ")[1]: (15,)})
    assert (15,) in extractive(source).sources


def test_the_archive_has_the_numbers_and_an_edit_keeps_those_of_sentences_that_stay():
    made = Summary(Tier.RECENT, 1, 16, PLAIN, "a-model", NOON, sources=CITED)
    assert Summary.from_record(Tier.RECENT, made.to_record()) == made
    edit = {"type": "edit", "tier": "recent", "t": NOON.isoformat()}
    text = "Anneke goes to sea. I gave Jonas his soup."
    edited = SummaryState(None, made, 16, 1, NOON).after({**edit, "text": text}).recent
    assert (edited.model, edited.sources) == (EDITED, ((), (15, 16)))
    # An archive in which somebody was forgotten may have another text: then they are not believed.
    assert replace(made, text="Nobody.").cited == {}
    assert not Summary.from_record(Tier.RECENT, replace(made, sources=()).to_record()).sources
