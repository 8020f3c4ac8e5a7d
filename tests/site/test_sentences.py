"""Sentences on pages are short, begin with their subject, and avoid phrases that readers had to read twice."""

from __future__ import annotations

import ast
import re

import pytest

from tests.sentences import ROOT, Sentence, sentences, split_sentences, text_of_template

MOST_WORDS = 20
NO_SUBJECT_PATTERN = re.compile(
    r"(Whoever|Somebody|Nobody|Anybody)\b|(Who|What|Those (that|who)|So (many|long|that)|Such as)\b.*\.$"
)
"""Relative clauses and indefinite words as subjects. Questions and headings ("What the columns mean") may use them."""
HARD_WORD_PATTERN = re.compile(
    "|".join(
        (
            r"\bwhoever\b",
            r"somebody else",
            r"\bplays? any(thing| move at all)",
            r"\b(here|tournament|schedule|machine|that) is gone\b",
            r"of the house",
            r"\bin it lies?\b",
            r"\blie beads",
            r"would not lose",
            r"what comes of it",
            r"not tried out but",
            r"worst enemy",
            r"its curve of training",
            r"part with it",
            r"asks once more",
            r"what you want to say about",
            r"stretch the beginning",
            r"leave out",
            r"makes? sense",
            r"lay this rule",
            r"first what\?",
            r"the middle (machine|one|pair|tournament)\b",
            r"equals meet equals",
            r"a plain one",
            r"again and again",
            r"by a crontab",
            r"made up for",
            r"may not say",
            r"need not give one",
            r"behind the shelf",
            r"as many as (it|an account|a guest|there) may",
            r"very many (are|people)",
            r"no more than it",
            r"run dry",
            r"nothing left to say",
            r"nobody is followed",
            r"\b\d+ times in 100\b",
        )
    ),
    re.IGNORECASE,
)
"""Phrases that readers stumbled over, and similar ones."""


def sentence_faults(sentence: Sentence) -> list[str]:
    """Return the faults of a sentence."""
    faulty = []
    if sentence.n_words > MOST_WORDS:
        faulty.append(f"{sentence.n_words} words")
    if NO_SUBJECT_PATTERN.match(sentence.text) and not sentence.text.endswith("?"):
        faulty.append("no subject at the beginning")
    if turn := HARD_WORD_PATTERN.search(sentence.text):
        faulty.append(f"“{turn[0]}”")
    return faulty


def test_sentences_are_short_and_begin_with_their_subject() -> None:
    read = sentences()
    assert len(read) > 2000
    bad = [f"{one.file}: {', '.join(wrong)}: {one.text}" for one in read if (wrong := sentence_faults(one))]
    assert bad == [], "\n".join(bad)


def test_labels_of_experiments_are_easy_to_read() -> None:
    """The words of this test are no sentences, so the tests above do not read them."""
    for path in (ROOT / "beadbox" / "experiments").glob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        unread = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        strings = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in unread]
        wrong = [one.value for one in strings if HARD_WORD_PATTERN.search(str(one.value))]
        assert wrong == [], path.name


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Whoever has this link can watch.", 2),
        ("Nobody is waiting just now.", 1),
        (" ".join(["word"] * 21) + ".", 1),
        ("Who begins?", 0),
        ("What the columns mean", 0),
        ("What it learnt stays.", 1),
        ("Anyone with this link can watch.", 0),
    ],
)
def test_faults_of_example_sentences_are_counted(text: str, wrong: int) -> None:
    assert len(sentence_faults(Sentence("here", text))) == wrong


def test_template_text_is_split_into_sentences() -> None:
    source = (
        "<p>A <b>box</b> of {{ name }} opens. {% if it %}One{% else %}The other{% endif %} bead rolls.</p><p>So.</p>"
    )
    assert list(split_sentences(text_of_template(source))) == ["A box of x opens.", "The other bead rolls."]
