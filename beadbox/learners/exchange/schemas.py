"""The shapes of files of any kind of learner. pydantic checks them, and one table turns its errors into our codes.

The other modules import this one only when a file is read, because pydantic takes 0.3 s and 10 MB.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from beadbox.learners.exchange.document import FORMAT, MAX_TEXT, VERSION
from beadbox.learners.exchange.errors import ExchangeError, shown
from beadbox.seeds import MAX_SEED

MAX_COUNT = 1 << 60
"""The greatest number of games or draws in a file. It leaves room for later games."""
MAX_KEY = 700
MAX_VALUE = 1_000_000
"""The greatest absolute value in a file. Learnt values are far smaller; larger floats would lose small steps."""
CODES = {
    "model_type": "object",
    "dict_type": "object",
    "list_type": "list",
    "string_type": "text",
    "string_too_long": "too_long",
    "string_unicode": "characters",
    "string_pattern_mismatch": "characters",
    "bool_type": "true_or_false",
    "int_type": "whole_number",
    "float_type": "number",
    "finite_number": "finite",
    "none_required": "either_side",
    "too_long": "too_many",
}
"""Our codes for pydantic's types of errors, where they differ."""

ShapeT = TypeVar("ShapeT", bound=BaseModel)
ItemT = TypeVar("ItemT")
Items = Annotated[list[ItemT], FailFast()]
"""A list that is checked only up to its first wrong item, since a file may hold a million."""


class Between:
    """The bounds of a number; a refusal names both."""

    def __init__(self, least: int, most: int) -> None:
        self.bounds: dict[str, int] = {"least": least, "most": most}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a schema that checks the type first, then the bounds."""
        kind = core_schema.float_schema if source is float else core_schema.int_schema
        bounded = kind(ge=self.bounds["least"], le=self.bounds["most"])
        error = core_schema.custom_error_schema(
            bounded, "between", custom_error_message="between", custom_error_context=dict(self.bounds)
        )
        return core_schema.chain_schema([handler(source), error])


class OneOf:
    """The only values that a field may have, and the words for them in a refusal."""

    def __init__(self, expected: str, *values: object) -> None:
        self.expected = expected
        self.values: list[object] = list(values)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a schema that checks the type first, then accepts these values only."""
        return core_schema.custom_error_schema(
            core_schema.chain_schema([handler(source), core_schema.literal_schema(self.values)]),
            "expected",
            custom_error_message="expected",
            custom_error_context={"expected": self.expected},
        )


Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]
ShortText = Annotated[Text, Field(max_length=MAX_TEXT)]
Count = Annotated[int, Between(0, MAX_COUNT)]
Number = Annotated[float, Field(allow_inf_nan=False)]
_NONE: Any = None


class Shape(BaseModel):
    """An object of a file, with strict types and no other fields."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, fields: Any) -> Any:
        known = cls.model_fields
        if isinstance(fields, dict) and cls.model_config["extra"] == "forbid" and not fields.keys() <= known.keys():
            name = next(name for name in fields if name not in known)
            raise PydanticCustomError("unknown_field", "unknown", {"name": shown(name), "known": ", ".join(known)})
        return fields


class Named(Shape):
    """A file or an object with the name of a machine."""

    name: Text = Field("", max_length=80)


class Head(Named, extra="ignore"):
    """The fields that native files of every kind have. Other fields depend on the rule."""

    format: Annotated[str, OneOf(repr(FORMAT), FORMAT)] = Field(_NONE, validate_default=True)
    version: Annotated[Any, OneOf(str(VERSION), VERSION)] = Field(_NONE, validate_default=True)
    game: Text = Field(max_length=40)
    description: Text = Field("", max_length=2000)
    preset: Text = Field("", max_length=40)
    rule: Any
    learns: bool = True
    random_state: Annotated[str, Field(pattern=r"^([0-9a-f]{16}:[0-9a-f]{16})?$")] = ""
    """The state of the machine's own random source; files of the site have none."""


class Totals(Shape):
    """Numbers of games that a machine has played, by result."""

    games: Count = _NONE
    wins: Count = 0
    draws: Count = 0
    losses: Count = 0

    def counted(self) -> dict[str, Any]:
        """Return the totals by name, without their sum.

        Raises:
            ExchangeError: wins, draws and losses do not add up to the games.
        """
        total = self.wins + self.draws + self.losses
        if self.games not in (None, total):
            raise ExchangeError("totals.games", "totals", total=total, value=self.games)
        return self.model_dump(exclude={"games"})


class ValueFields(Shape):
    """A value in a native file, with its key and visits."""

    key: Text = Field(max_length=MAX_KEY)
    value: Annotated[Number, Between(-MAX_VALUE, MAX_VALUE)]
    visits: Count = 0


class ValueFile(Head, extra="forbid"):
    """The native file of a machine that keeps values."""

    side: None = None
    epsilon: Number = _NONE
    values: Items[ValueFields]
    totals: Totals = Totals()


class WeightFile(Head, extra="forbid"):
    """The native file of a machine that keeps weights."""

    learnt: Count
    weights: list[Any]
    seed: Annotated[int, Between(0, MAX_SEED)] = 0
    """The seed of the training, in files of levels (``manage.py teach_levels``)."""
    totals: Totals = Totals()


class AverageFile(WeightFile):
    """The file of a machine that plays by the mean of its weights."""

    average: list[Any]


def read(shape: type[ShapeT], value: object, where: str = "") -> ShapeT:
    """Return the value as a shape; ``where`` is the place of the value in the file.

    Raises:
        ExchangeError: the value has another shape. Of several mistakes the error names the first.
    """
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    value = first["input"]
    length = len(value) if isinstance(value, str) else 0
    parameters = {"value": shown(value), "length": length} | first.get("ctx", {})
    code = CODES.get(first["type"], first["type"])
    if code == "number" and type(value) is int:  # of hundreds of digits
        code = "finite"
    raise ExchangeError(_place(where, first["loc"]), code, **parameters)


def _place(where: str, path: tuple[str | int, ...]) -> str:
    """Return a path below a place: ``boxes[2].beads`` in a file of objects, ``line 3, beads`` in a table."""
    separator = ", " if where.startswith("line ") else "."
    for part in path:
        where += f"[{part}]" if isinstance(part, int) else f"{separator}{part}"
    return where.removeprefix(".")
