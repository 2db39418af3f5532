"""Figures of a report: the page's charts as pictures, as numbers, or drawn by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from . import _native

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure


class Figure:
    """A chart of a run's report. In a notebook it shows itself."""

    def __init__(self, folder: str, chart: dict[str, Any]) -> None:
        self._folder, self._chart = folder, chart

    @property
    def id(self) -> str:
        """Its short name, such as `cumulative-regret`."""
        return str(self._chart["id"])

    @property
    def title(self) -> str:
        """What it shows."""
        return str(self._chart["title"])

    @property
    def note(self) -> str:
        """How to read it: what lines and bands are, over how many replications."""
        return str(self._chart["note"])

    @property
    def data(self) -> pd.DataFrame:
        """Its points: columns `line` (legend entry), `kind` (of the line), `x`, `y`, and `error` (to either side of y)."""
        legend = self._chart["legend"]
        rows = [
            {"line": legend[line["key"]], "kind": _kind(line), **{name: point[name] for name in ("x", "y", "error")}}
            for line in self._chart["lines"]
            for point in line["points"]
        ]
        return pd.DataFrame(rows, columns=["line", "kind", "x", "y", "error"])

    def svg(self) -> str:
        """The chart as an SVG document, as `subrosa report --svg` writes it."""
        return _native.drawn(self._folder, self.id, "svg").decode()

    def png(self) -> bytes:
        """The chart as a PNG, as `subrosa report --png` writes it; the machine needs a font."""
        return _native.drawn(self._folder, self.id, "png")

    def pdf(self) -> bytes:
        """The chart as a PDF, as `subrosa report --pdf` writes it; the machine needs a font."""
        return _native.drawn(self._folder, self.id, "pdf")

    def plot(self, ax: Axes | None = None) -> MatplotlibFigure:
        """The chart drawn by matplotlib, on axes that are given or on new ones.

        Raises:
            ImportError: matplotlib is not installed (`pip install subrosa-sim[figures]`).
        """
        from matplotlib.figure import Figure as New

        if ax is None:
            figure = New(figsize=(6.4, 4.2), layout="constrained")
            ax = figure.add_subplot()
        chart = self._chart
        for number, (line, points) in enumerate(self.data.groupby("line", sort=False)):
            for kind, part in points.groupby("kind", sort=False):
                colour = "grey" if kind == "bound" else f"C{number}"
                if kind == "bars":
                    ax.errorbar(part.x, part.y, part.error, color=colour, label=line, marker="o", capsize=3)
                elif kind == "diamonds":
                    ax.plot(part.x, part.y, "D", color=colour, label=line, fillstyle="none")
                else:
                    ax.plot(part.x, part.y, color=colour, label=line, linestyle="-" if kind == "band" else ":")
                    ax.fill_between(part.x, part.y - part.error, part.y + part.error, color=colour, alpha=0.2, lw=0)
        ax.set(title=chart["title"], xlabel=chart["x_label"], ylabel=chart["y_label"])
        for axis, scale in (("x", ax.set_xscale), ("y", ax.set_yscale)):
            if chart[axis]["log"]:
                scale("log")
        if len(chart["legend"]) > 1:
            ax.legend()
        drawn = ax.get_figure(root=True)
        assert drawn is not None
        return drawn

    def savefig(self, file: str | Path) -> None:
        """Writes the chart to a file: `.svg`, `.png` and `.pdf` as the library draws it, any other ending by matplotlib."""
        file = Path(file)
        match file.suffix.lower():
            case ".svg":
                file.write_text(self.svg(), encoding="utf-8")
            case ".png":
                file.write_bytes(self.png())
            case ".pdf":
                file.write_bytes(self.pdf())
            case _:
                self.plot().savefig(file)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<Figure {self.id!r}: {self.title}>"


def _kind(line: dict[str, Any]) -> str:
    kind = line["kind"]
    return str(kind) if isinstance(kind, str) else str(next(iter(kind)))
