#!/usr/bin/env python3
"""Converts a TSV table: export.py TABLE csv|json [--columns A,B] [--types] [--out NAME]"""

import argparse
import os
import pathlib
import sys

# The helpers lie beside the scripts, not among them, so that nobody runs them by mistake.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "helpers"))
sys.dont_write_bytecode = True

import formats  # noqa: E402
import table  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(prog="export.py", description="Converts a TSV table to CSV or JSON.")
    parser.add_argument("table", help="the TSV file; relative paths are seen from the project")
    parser.add_argument("format", choices=sorted(formats.WRITERS), help="what it becomes")
    parser.add_argument("--columns", help="these columns in this order, with commas between")
    parser.add_argument("--types", action="store_true", help="numbers and true/false become values in JSON")
    parser.add_argument("--out", help="the name of a file for the result, instead of standard output")
    return parser.parse_args()


def found(path):
    """The table's place: as it is written, else below the project."""
    given = pathlib.Path(path)
    project = pathlib.Path(os.environ.get("PROJECT_DIR", "."))
    return given if given.is_absolute() else project / given


def main():
    wanted = arguments()
    try:
        with open(found(wanted.table), encoding="utf-8-sig", newline="") as source:
            read = table.read(source)
        if wanted.columns:
            read = read.only([name.strip() for name in wanted.columns.split(",")])
    except (OSError, UnicodeDecodeError, table.TableError) as error:
        print(f"data-export: {error}", file=sys.stderr)
        return 1

    text = formats.WRITERS[wanted.format](read, typed=wanted.types)
    if wanted.out:
        # A name, not a path: the file goes to the folder for results.
        target = pathlib.Path(os.environ.get("TMPDIR", ".")) / pathlib.Path(wanted.out).name
        target.write_text(text, encoding="utf-8", newline="")
        print(f"{target.name}: {len(read.rows)} rows")
    else:
        sys.stdout.reconfigure(encoding="utf-8", newline="")
        sys.stdout.write(text)
    for note in read.notes:
        print(f"data-export: {note}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
