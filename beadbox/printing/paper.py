"""The layout of boxes on sheets of paper. Lengths are in points (1/72 inch), the unit of PDF."""

from __future__ import annotations

from dataclasses import dataclass

from beadbox import field_text
from beadbox.printing.errors import PrintingError

MM = 72 / 25.4
PAPERS: dict[str, tuple[float, float]] = {
    "A4": (210 * MM, 297 * MM),
    "A3": (297 * MM, 420 * MM),
    "Letter": (8.5 * 72, 11 * 72),
}
MARGIN = 12 * MM
"""Space around the boxes, for cut marks and the line with the number of the sheet."""
SMALLEST_MM, LARGEST_MM = 20, 180
DEFAULT_MM = (53, 36)
"""Width and height of the top of a common matchbox."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of paper with boxes of one size. It stands upright or sideways, whichever has space for more boxes."""

    width: float
    height: float
    box_width: float
    box_height: float
    columns: int
    rows: int

    @classmethod
    def of(cls, paper: str, width_mm: float, height_mm: float) -> Sheet:
        """Return the sheet with space for the most boxes of this size.

        Raises:
            PrintingError: there is no such paper, the size is out of range, or such a box does not fit on the paper.
        """
        if paper not in PAPERS:
            raise PrintingError(f"paper: {field_text.one_of(PAPERS)}")
        for name, length in (("width", width_mm), ("height", height_mm)):
            if not SMALLEST_MM <= length <= LARGEST_MM:
                raise PrintingError(f"{name}: {field_text.between(SMALLEST_MM, f'{LARGEST_MM} mm')}")
        sheets = [cls._laid(size, width_mm * MM, height_mm * MM) for size in (PAPERS[paper], PAPERS[paper][::-1])]
        best = max(sheets, key=lambda sheet: sheet.n_boxes)
        if not best.n_boxes:
            raise PrintingError(f"A box of {width_mm:g} × {height_mm:g} mm is larger than {paper} paper.")
        return best

    @classmethod
    def _laid(cls, size: tuple[float, float], box_width: float, box_height: float) -> Sheet:
        columns, rows = (
            int((side - 2 * MARGIN) / box) for side, box in zip(size, (box_width, box_height), strict=True)
        )
        return cls(*size, box_width, box_height, columns, rows)

    @property
    def n_boxes(self) -> int:
        """The number of boxes on a sheet."""
        return self.columns * self.rows

    @property
    def left(self) -> float:
        """The left edge of the first column. The boxes are centred on the sheet."""
        return (self.width - self.columns * self.box_width) / 2

    @property
    def bottom(self) -> float:
        """The lower edge of the last row. The boxes are centred on the sheet."""
        return (self.height - self.rows * self.box_height) / 2

    def corner(self, index: int) -> tuple[float, float]:
        """Return the lower left corner of a box by its index, which counts along the rows from the top left."""
        row, column = divmod(index, self.columns)
        return self.left + column * self.box_width, self.bottom + (self.rows - 1 - row) * self.box_height
