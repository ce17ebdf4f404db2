"""How a table is written."""

import csv
import io
import json
import re

# A number as people mean one: no leading zero (a postal code is a text), nothing behind it.
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?")


def value(cell):
    """What a cell stands for."""
    if cell == "":
        return None
    if cell in ("true", "false"):
        return cell == "true"
    if NUMBER.fullmatch(cell):
        return float(cell) if "." in cell else int(cell)
    return cell


def to_csv(table, typed=False):
    """RFC 4180, with the line ends it asks for. CSV has no types, so `typed` changes nothing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def to_json(table, typed=False):
    """A list with an object for each row."""
    cell = value if typed else str
    rows = [{name: cell(text) for name, text in zip(table.columns, row)} for row in table.rows]
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


WRITERS = {"csv": to_csv, "json": to_json}
