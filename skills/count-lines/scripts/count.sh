#!/usr/bin/env bash
# Lines, words and bytes of the text files below a folder, by file type, the largest first.
set -euo pipefail

folder=${1:-${PROJECT_DIR:-.}}
if [ ! -d "$folder" ]; then
  echo "count-lines: no such folder: $folder" >&2
  exit 2
fi

printf '%-12s %8s %10s %10s %12s\n' type files lines words bytes
find "$folder" \( -name .git -o -name node_modules -o -name target \) -prune -o -type f -print0 |
  # Files that are no text or cannot be read are left out, and leaving some out is no failure.
  { xargs -0 -r grep -IlZ '' 2>/dev/null || [ $? -eq 123 ]; } |
  while IFS= read -r -d '' file; do
    name=${file##*/}
    case $name in
      ?*.*) type=${name##*.} ;;
      *) type=none ;;
    esac
    read -r lines words bytes < <(wc -lwc <"$file")
    printf '%s\t%s\t%s\t%s\n' "$type" "$lines" "$words" "$bytes"
  done |
  awk -F '\t' '
    { files[$1]++; lines[$1] += $2; words[$1] += $3; bytes[$1] += $4; n++; l += $2; w += $3; b += $4 }
    END {
      for (t in files) printf "%-12s %8d %10d %10d %12d\n", t, files[t], lines[t], words[t], bytes[t] | "sort -k3,3nr -k1,1"
      close("sort -k3,3nr -k1,1")
      printf "%-12s %8d %10d %10d %12d\n", "total", n, l, w, b
    }'
