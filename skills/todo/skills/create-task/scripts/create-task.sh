#!/bin/sh
# Puts one task on the list: create-task.sh TITLE
set -eu

fail() {
  printf 'create-task: %s\n' "$1" >&2
  exit "$2"
}

[ "$#" -gt 0 ] || fail 'say what is to be done: create-task.sh "Buy milk"' 2
# A title is one line in a file, so whatever would break or move the line becomes a space.
title=$(printf '%s' "$*" | LC_ALL=C tr '\001-\037\177' ' ' | sed 's/^ *//; s/ *$//')
[ -n "$title" ] || fail 'the title is empty; say what is to be done' 2

# The list is shared by the skills of this plugin.
list=${CLAUDE_PLUGIN_DATA:-${SKILL_DATA:-}}
[ -n "$list" ] || fail 'no folder to keep the list in: neither CLAUDE_PLUGIN_DATA nor SKILL_DATA is set' 1
mkdir -p "$list/numbers" "$list/open" "$list/done" || fail "the list in $list cannot be written" 1

# A number is taken by making a folder of that name, which the system lets only one process do. Whoever comes second takes
# the next one, so two tasks never have the same number and nobody waits for a lock that somebody left behind.
number=$(ls "$list/numbers" | grep '^[0-9][0-9]*$' | sort -n | tail -n 1)
number=${number:-0}
tries=0
while :; do
  number=$((number + 1))
  mkdir "$list/numbers/$number" 2>/dev/null && break
  tries=$((tries + 1))
  [ "$tries" -lt 1000 ] || fail "no number could be taken in $list/numbers" 1
done
# Only the last numbers have to be known; a hundred is more than ever create tasks at once.
[ "$number" -le 100 ] || rmdir "$list/numbers/$((number - 100))" 2>/dev/null || :

# Written beside the list and moved into it, so that nobody reads half a title.
printf '%s\n' "$title" >"$list/numbers/$number/title"
mv -f "$list/numbers/$number/title" "$list/open/$number"
printf 'created task %s: %s\n' "$number" "$title"
