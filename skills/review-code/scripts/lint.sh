#!/bin/sh
# Finds what needs no judgement in source files: lint.sh [FILE-OR-FOLDER]…
# Prints `file:line: what` for each finding. Finding something is no failure.
set -eu

# Paths are seen from the project, also where the script is started elsewhere.
cd "${PROJECT_DIR:-.}"
[ "$#" -gt 0 ] || set -- .
for path in "$@"; do
  [ -e "$path" ] || {
    printf 'lint: there is no %s in %s\n' "$path" "$PWD" >&2
    exit 2
  }
done

# Text files only, and nothing that others wrote or made. The `./` keeps a path that begins with a dash from being an option.
for path in "$@"; do
  case $path in
    /* | . | ./*) ;;
    *) path=./$path ;;
  esac
  find "$path" \( -name .git -o -name node_modules -o -name target -o -name vendor -o -name dist \) -prune \
    -o -type f -size -1024k ! -name '*.lock' ! -name '*.min.*' -exec grep -Il '' {} +
done | LC_ALL=C sort -u | while IFS= read -r file; do
  LC_ALL=C awk -v name="${file#./}" '
    function found(what) { printf "%s:%d: %s\n", name, NR, what }
    /^(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|)( |$)/ { found("a merge conflict is left") }
    /[ \t]$/ { found("blanks at the end of the line") }
    /\r$/ { crlf++ }
    /^ +\t/ { found("a tab after blanks in the indentation") }
    length($0) > 160 { found("the line has " length($0) " bytes") }
    /(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)/ { found("work is left open") }
    /(^|[^A-Za-z_])(console\.log|debugger|dbg!|breakpoint\(\)|pdb\.set_trace)/ { found("help for debugging is left") }
    # By length and not with {16}, which some awks do not know.
    /-----BEGIN [A-Z ]*PRIVATE KEY-----/ || (match($0, /AKIA[0-9A-Z]+/) && RLENGTH == 20) || (match($0, /ghp_[A-Za-z0-9]+/) && RLENGTH == 40) {
      found("this looks like a secret")
    }
    END { if (crlf > 0 && crlf < NR) printf "%s:1: line ends are mixed: %d of %d lines end with CR\n", name, crlf, NR }
  ' <"$file"
done
