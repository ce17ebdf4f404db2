"""A table as it stands in a TSV file."""

from dataclasses import dataclass, field


class TableError(Exception):
    """Why there is no table in a file."""


@dataclass
class Table:
    """Columns, rows of as many cells, and what was odd."""

    columns: list
    rows: list
    notes: list = field(default_factory=list)

    def only(self, names):
        """The same with these columns, in this order."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            there = ", ".join(self.columns)
            raise TableError(f"there is no column {missing[0]!r}; there are: {there}")
        places = [self.columns.index(name) for name in names]
        return Table(names, [[row[place] for place in places] for row in self.rows], self.notes)


# How TSV writes what would end a cell or a line (IANA text/tab-separated-values forbids them; programs escape them so).
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


def plain(cell):
    """A cell with its escapes resolved; a backslash before anything else stays."""
    if "\\" not in cell:
        return cell
    text, at = "", 0
    while at < len(cell):
        escaped = cell[at + 1 : at + 2]
        if cell[at] == "\\" and escaped in ESCAPES:
            text += ESCAPES[escaped]
            at += 2
        else:
            text += cell[at]
            at += 1
    return text


def read(source):
    """Reads a table. A row that is too short is filled with empty cells, the cells that a long one has too many are
    joined to its last one; both are noted with their line, since something is likely wrong with them."""
    # Not `splitlines`, which also ends a line where a cell merely has a rare character.
    lines = [line.removesuffix("\r") for line in source.read().split("\n")]
    if not lines or not lines[0].strip():
        raise TableError("the file does not begin with the names of the columns")
    columns = [plain(name).strip() for name in lines[0].split("\t")]
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise TableError(f"two columns are called {twice[0]!r}; give them names of their own")
    table = Table(columns, [])
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < len(columns):
            table.notes.append(f"line {number} has {len(cells)} cells instead of {len(columns)}; the rest is empty")
            cells += [""] * (len(columns) - len(cells))
        elif len(cells) > len(columns):
            table.notes.append(f"line {number} has {len(cells)} cells instead of {len(columns)}; the last ones were joined")
            cells = cells[: len(columns) - 1] + [" ".join(cells[len(columns) - 1 :])]
        table.rows.append([plain(cell) for cell in cells])
    return table
