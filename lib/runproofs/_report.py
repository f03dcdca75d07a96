"""How a report reads: a title, a table, remarks and warnings, as text and in a notebook."""

from html import escape
from typing import NamedTuple


class Content(NamedTuple):
    """What a report says."""

    title: str
    header: list[str]
    rows: list[list[str]]
    remarks: list[str]


class Report:
    """A result with `warnings` and a method `_content`, which prints as text or as HTML."""

    def __str__(self):
        title, header, rows, remarks = self._content()
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (header, *rows)
        ]
        return "\n".join([title, "", *lines, "", *remarks, *(f"! {w}" for w in self.warnings)])

    __repr__ = __str__

    def _repr_html_(self):
        title, header, rows, remarks = self._content()
        head, *body = (
            "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"
            for row, tag in ((header, "th"), *((row, "td") for row in rows))
        )
        below = "".join(f"<li>{escape(remark)}</li>" for remark in remarks)
        below += "".join(f"<li><strong>{escape(w)}</strong></li>" for w in self.warnings)
        return (
            f'<p>{escape(title)}</p><table class="dataframe"><thead>{head}</thead>'
            f"<tbody>{''.join(body)}</tbody></table><ul>{below}</ul>"
        )


def percent(share):
    """A share in percent, to two digits."""
    return "100%" if share == 1 else f"{100 * share:.2g}%"
