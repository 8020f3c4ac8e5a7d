"""Counts words and sentences that a stranger has to read twice. ``python -m tests.language`` prints each figure.

``make check`` refuses a figure above its limit. When a figure falls, its limit is lowered to the new figure. Issue 36
sets the targets. ``python -m tests.language PART`` lists the counted places of all figures with PART in their names.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from tests.house import PACKAGES, ROOT, CountedFigure, report
from tests.private_words import EXCEPTIONS, ORDINARY_WORDS, PRIVATE_WORDS

MAX_SENTENCE_WORDS = 40
MAX_LINE_CHARACTERS = 120
MAX_TEST_NAME_CHARACTERS = 60
SHORT_CHARACTERS = 28
PERSON_PATTERN = "who(?:ever|m|se)?|(?:some|any|every|no)(?:body|one)"
PERSON_PRONOUN = re.compile(rf"\b(?:{PERSON_PATTERN})\b", re.IGNORECASE)
FIRST_PRONOUN = re.compile(rf"(?:{PERSON_PATTERN}|what(?:ever)?|which|those|that|its?)\b", re.IGNORECASE)
COMMENT_PATTERNS = {
    ".js": re.compile(r"/\*.*?\*/|(?:^|\s)//.*?$", re.DOTALL | re.MULTILINE),
    ".css": re.compile(r"/\*.*?\*/", re.DOTALL),
    **dict.fromkeys((".sh", ".yml", "Makefile", ".ci/run"), re.compile(r"^\s*#(?!!).*?$", re.MULTILINE)),
}
COMMENT_MARKS = re.compile(r"^\s*(?:/\*+|//|#)|\*/$|^\s*\*", re.MULTILINE)
CODE_OR_TABLE = re.compile(r"^```.*?^```|^ *\|.*?$|^    .*?$|<!--.*?-->", re.DOTALL | re.MULTILINE)
CODE_IN_LINE = re.compile(r"`[^`\n]*`|(?<=\])\([^)\n]*\)")
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[*#-]|\d+\.) )")
SENTENCE_END = re.compile(r"(?<=[.?!:;])[)\"*]*\s+")
TABLE_ROW = re.compile(r"^\|.*$", re.MULTILINE)
NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
REPEATING_FILES = re.compile(r"^beadbox/(?:rules|learners|experiments|public)/|^learning/kinds/|/migrations/")
"""Files that each game, learner or experiment has: their classes and constants repeat by design.

Public names of the library repeat the names of the things that they stand for."""
IGNORED_FILES = re.compile(r"^tests/data/|^static/vendor/|/fonts/")


class Text(NamedTuple):
    """A docstring or comment, with its place."""

    path: str
    line: int
    text: str

    @property
    def first_line(self) -> str:
        """The first line of the text, which a reader sees first."""
        return self.text.strip().partition("\n")[0]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.first_line}"


def all_figures() -> list[CountedFigure]:
    """Return every figure for the present files."""
    python = files("*.py")
    docstrings = [text for path in python for text in docstrings_of(path)]
    comments = [text for path in files("*") for text in comments_of(path)]
    documents = files("*.md")

    def figure_of_first_lines(
        name: str, texts: list[Text], is_found: Callable[[str], object], limit: int, target: int
    ) -> CountedFigure:
        return CountedFigure(name, tuple(str(text) for text in texts if is_found(text.first_line)), limit, target)

    def figure_of_documents(name: str, found: Callable[[str], Iterator[str]], limit: int) -> CountedFigure:
        return CountedFigure(name, tuple(chain.from_iterable(map(found, documents))), limit, 0)

    return [
        figure_of_first_lines(
            "docstrings with a pronoun for a person in the first line", docstrings, PERSON_PRONOUN.search, 11, 25
        ),
        figure_of_first_lines("docstrings that begin with a pronoun", docstrings, FIRST_PRONOUN.match, 10, 30),
        figure_of_first_lines("docstrings of one short line", docstrings, is_short, 5, 40),
        figure_of_first_lines("comments that begin with a pronoun", comments, FIRST_PRONOUN.match, 2, 30),
        CountedFigure("public names of beadbox without docstring", tuple(without_docstring()), 9, 0),
        CountedFigure("entries of the glossary", tuple(TABLE_ROW.findall(source("docs/glossary.md")))[2:], 20, 20),
        CountedFigure("class names in several modules", repeated_names(class_names), 8, 8),
        CountedFigure("constant names in several modules", repeated_names(constant_names), 27, 30),
        CountedFigure(f"test names over {MAX_TEST_NAME_CHARACTERS} characters", tuple(long_test_names(python)), 0, 0),
        figure_of_documents(f"sentences over {MAX_SENTENCE_WORDS} words in documents", long_sentences, 0),
        figure_of_documents(f"lines over {MAX_LINE_CHARACTERS} characters in documents", long_lines, 0),
        CountedFigure("private words in names", tuple(private_names(python)), 0, 0),
        figure_of_documents("private words in documents", private_words, 0),
    ]


@cache
def files(pattern: str) -> list[str]:
    """The files of the repository that fit a pattern, by their paths from its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    file_names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines()
    return [one for one in sorted(file_names) if fnmatch(one, pattern) and IGNORED_FILES.search(one) is None]


@cache
def source(path: str) -> str:
    """The text of a file, read once."""
    return (ROOT / path).read_text()


@cache
def tree(path: str) -> ast.Module:
    """The syntax tree of a module, parsed once."""
    return ast.parse(source(path))


def docstrings_of(path: str) -> Iterator[Text]:
    """The docstrings of a module, its classes and functions, and the strings under constants and fields."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for before, one in pairwise([None, *node.body]):
                match before, one:
                    case None | ast.Assign() | ast.AnnAssign(), ast.Expr(ast.Constant(str(text))):
                        yield Text(path, one.lineno, text)


def comments_of(path: str) -> Iterator[Text]:
    """The comments of a file. Consecutive lines are one comment."""
    if path.endswith(".py"):
        tokens = tokenize.generate_tokens(io.StringIO(source(path)).readline)
        found = [(token.start[0], token.string.lstrip("# ")) for token in tokens if token.type == tokenize.COMMENT]
    elif (
        pattern := next((pattern for end, pattern in COMMENT_PATTERNS.items() if path.endswith(end)), None)
    ) is not None:
        text = source(path)
        matches = pattern.finditer(text)
        found = [(text.count("\n", 0, one.start()) + 1, COMMENT_MARKS.sub("", one[0]).strip()) for one in matches]
    else:
        return
    last = 0
    for line, text in found:
        if line != last + 1:
            yield Text(path, line, text)
        last = line


def is_short(line: str) -> bool:
    """Whether a line is too short to explain anything."""
    return len(line) <= SHORT_CHARACTERS


def without_docstring() -> Iterator[str]:
    """The public functions and classes of the library without a docstring.

    An overriding method needs none, because the overridden method has one.
    """
    definitions = [
        (path, owner, one)
        for path in files("beadbox/*.py")
        for owner in ast.walk(tree(path))
        if isinstance(owner, ast.Module | ast.ClassDef)
        for one in owner.body
        if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    documented_names = {
        one.name for _, owner, one in definitions if isinstance(owner, ast.ClassDef) and ast.get_docstring(one)
    }
    for path, owner, one in definitions:
        overrides = isinstance(owner, ast.ClassDef) and owner.bases and one.name in documented_names
        if not (one.name.startswith("_") or ast.get_docstring(one) or overrides):
            yield f"{path}:{one.lineno} {one.name}"


def repeated_names(names: Callable[[ast.Module], Iterator[str]]) -> tuple[str, ...]:
    """The public names that several modules of the site define, with these modules."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in files("*.py"):
        if path.startswith(PACKAGES) and REPEATING_FILES.search(path) is None:
            for name in sorted(set(names(tree(path)))):
                places[name].append(path)
    return tuple(f"{name}: {', '.join(paths)}" for name, paths in sorted(places.items()) if len(paths) > 1)


def class_names(module: ast.Module) -> Iterator[str]:
    """The public classes of a module; each command of Django has its ``Command``."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name != "Command":
            yield node.name


def constant_names(module: ast.Module) -> Iterator[str]:
    """The public constants of a module."""
    for node in module.body:
        for target in node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]:
            if isinstance(target, ast.Name) and CONSTANT.fullmatch(target.id):
                yield target.id


def long_test_names(paths: list[str]) -> Iterator[str]:
    """The names of tests that are too long."""
    for path in paths:
        for node in ast.walk(tree(path)):
            is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
            if is_test and len(node.name) > MAX_TEST_NAME_CHARACTERS:
                yield f"{path}:{node.lineno} {node.name}"


def prose(path: str) -> str:
    """A document without tables and blocks of code; line numbers stay the same."""
    return CODE_OR_TABLE.sub(lambda one: "\n" * one[0].count("\n"), source(path))


def long_sentences(path: str) -> Iterator[str]:
    """The sentences of a document that are too long."""
    for paragraph in PARAGRAPH.split(prose(path)):
        for sentence in SENTENCE_END.split(" ".join(CODE_IN_LINE.sub("x", paragraph).split())):
            if len(sentence.split()) > MAX_SENTENCE_WORDS:
                yield f"{path}: {sentence}"


def long_lines(path: str) -> Iterator[str]:
    """The lines of a document that are too long to be read in an editor."""
    for number, line in enumerate(prose(path).splitlines(), 1):
        if len(line) > MAX_LINE_CHARACTERS:
            yield f"{path}:{number} {line[:60]}…"


def private_names(paths: list[str]) -> Iterator[str]:
    """The names in Python that contain a private word, once for each file."""
    for path in paths:
        tokens = tokenize.generate_tokens(io.StringIO(source(path)).readline)
        for name in sorted({token.string for token in tokens if token.type == tokenize.NAME}):
            for word in {part.lower() for part in NAME_PART.findall(name)} & PRIVATE_WORDS.keys():
                if not (is_exempt(path, word) or is_exempt(path, name)):
                    yield f"{path}: {name} ({word}: {PRIVATE_WORDS[word]})"


def private_words(path: str) -> Iterator[str]:
    """The private words in a document, once for each line."""
    for number, line in enumerate(source(path).splitlines(), 1):
        for word in {part.lower() for part in NAME_PART.findall(line)} & PRIVATE_WORDS.keys() - ORDINARY_WORDS:
            if not is_exempt(path, word):
                yield f"{path}:{number} {word}: {PRIVATE_WORDS[word]}"


def is_exempt(path: str, word: str) -> bool:
    """Whether a listed reason keeps a word or a name in a file."""
    return any(exempt in (word, "*") and fnmatch(path, file_pattern) for file_pattern, exempt, _ in EXCEPTIONS)


def main() -> None:
    """Print all figures, or the places counted by figures with the argument in their names; exit 1 above a limit."""
    figures = all_figures()
    if len(sys.argv) > 1:
        places = (place for figure in figures if sys.argv[1] in figure.name for place in figure.places)
        sys.stdout.write("".join(f"{place}\n" for place in places))
        return
    sys.stdout.write(report(figures))
    sys.exit(not all(figure.is_within_limit for figure in figures))


if __name__ == "__main__":
    main()
