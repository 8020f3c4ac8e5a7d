"""The sentences that people read, extracted from templates, scripts and Python without running them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_SENTENCE_WORDS = 20
INLINE_TAG = re.compile(r"</?(?:a|abbr|b|bdi|cite|code|dfn|em|i|kbd|q|small|span|strong|sub|sup|time)\b[^>]*>")
INVISIBLE_TEXT = re.compile(
    r"<(script|style|svg|pre)\b.*?</\1>|<!--.*?-->|\{#.*?#\}|\{% comment %\}.*?\{% endcomment %\}", re.DOTALL
)
BRANCH_TAG = re.compile(r"\{% (?:elif|else|for|empty|endfor|include|block|endblock|extends|load|csrf_token)\b.*?%\}")
"""Template tags that end a sentence: only one of several branches is read."""
TEXT_ATTRIBUTE = re.compile(r'\b(?:title|aria-label|placeholder|content)="([^"]*)"')
SENTENCE_END = re.compile(r"(?<=[.?!])[”\")]*\s+(?=[A-Z“\"(×0-9`]|x [a-z])")
LINE_BREAK = "\n"
QUOTED_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`', re.DOTALL)
JS_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*|\s//\s[^\n]*$", re.DOTALL | re.MULTILINE)
PACKAGES_WITH_SENTENCES = ("beadbox", "games", "learning", "menace_site")
FILES_NOT_ON_PAGES = re.compile(
    r"migrations|management|metrics|models|lessons\.py|menace_site/(?!exception_handler|boundary|urls|web|passwords|staff|admin|health)"
)


@dataclass(frozen=True)
class Sentence:
    file: str
    text: str

    @property
    def n_words(self) -> int:
        """The number of words; a value inserted at run time counts as one."""
        return len(re.findall(r"\S*\w\S*", self.text))


def sentences() -> list[Sentence]:
    return [*_sentences_of_templates(), *_sentences_of_scripts(), *_sentences_of_python()]


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text. A line break ends a sentence."""
    for part in text.split(LINE_BREAK):
        for sentence in SENTENCE_END.split(" ".join(part.split())):
            if " " in sentence.strip():
                yield sentence.strip()


def text_of_template(source: str) -> str:
    """Return the visible text of a template, with a line for each block, and "x" for each value."""
    source = BRANCH_TAG.sub("<hr>", INVISIBLE_TEXT.sub("<hr>", source))
    source = re.sub(r"\{\{.*?\}\}", "x", source)
    source = re.sub(r"\{%.*?%\}", "", source)
    texts = [re.sub(r"<[^>]*>", "", one) for one in TEXT_ATTRIBUTE.findall(source)]
    text = re.sub(r"<[^>]*>", LINE_BREAK, INLINE_TAG.sub("", " ".join(source.split())))
    return LINE_BREAK.join([text, *texts])


def _sentences_of_templates() -> Iterator[Sentence]:
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.parent.name == "examples":  # programs
            continue
        if path.suffix == ".html":
            name = str(path.relative_to(ROOT))
            yield from (Sentence(name, text) for text in split_sentences(text_of_template(path.read_text())))
        elif path.suffix == ".txt":
            paragraphs = re.sub(r"\{%.*?%\}|\n\n", "<p>", path.read_text())
            yield from (
                Sentence(str(path.relative_to(ROOT)), one) for one in split_sentences(text_of_template(paragraphs))
            )


def _sentences_of_scripts() -> Iterator[Sentence]:
    for path in sorted((ROOT / "static" / "js").glob("*.js")):
        source = JS_COMMENT.sub("", path.read_text())
        for quoted in QUOTED_TEXT.findall(source):
            text = re.sub(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", "x", quoted[1:-1]).replace("\\n", LINE_BREAK)
            if re.match(r"[A-Z“]", text):
                yield from (Sentence(str(path.relative_to(ROOT)), one) for one in split_sentences(text))


def _sentences_of_python() -> Iterator[Sentence]:
    for folder in PACKAGES_WITH_SENTENCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if not FILES_NOT_ON_PAGES.search(name):
                for text in _strings(ast.parse(path.read_text())):
                    paragraphs = LINE_BREAK.join(" ".join(part.split()) for part in text.split("\n\n"))
                    yield from (Sentence(name, one) for one in split_sentences(paragraphs))


def _strings(tree: ast.AST) -> Iterator[str]:
    """Yield strings that read like sentences, without docstrings, log messages and SQL."""
    skipped_nodes: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):  # docstrings
            skipped_nodes.update(id(one) for one in ast.walk(node) if isinstance(node.value, ast.Constant))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOG_METHODS:
            skipped_nodes.update(id(one) for one in ast.walk(node))
        if isinstance(node, ast.JoinedStr):
            skipped_nodes.update(id(one) for one in node.values)
    for node in ast.walk(tree):
        if id(node) in skipped_nodes:
            continue
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(one.value) if isinstance(one, ast.Constant) else "x" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        text = re.sub(r"^[a-z_, ]+: (?=[A-Z])", "", text)  # the field of a refusal
        if re.match(r"[A-Z“][a-z’']*[ ,]|x [a-z]", text) and not re.match(r"[A-Z]{2,} ", text):
            yield text


LOG_METHODS = ("debug", "info", "warning", "error", "exception", "critical")
