#!/bin/sh
# Marks a task as done: complete-task.sh NUMBER
set -eu

fail() {
  printf 'complete-task: %s\n' "$1" >&2
  exit "$2"
}

[ "$#" -eq 1 ] || fail 'say which task: complete-task.sh 7' 2
# Digits only: the number becomes the name of a file.
number=${1#"#"}
case $number in
  '' | *[!0-9]*) fail "'$1' is not the number of a task; list-tasks shows them" 2 ;;
esac
number=$(printf '%s' "$number" | sed 's/^0*//')
list=${CLAUDE_PLUGIN_DATA:-${SKILL_DATA:-}}
[ -n "$list" ] || fail 'no folder to keep the list in: neither CLAUDE_PLUGIN_DATA nor SKILL_DATA is set' 1

# The move is one step: of two that complete a task at once one does it and the other finds it done.
if [ -n "$number" ] && mv -f "$list/open/$number" "$list/done/$number" 2>/dev/null; then
  was=completed
elif [ -n "$number" ] && [ -f "$list/done/$number" ]; then
  was='already completed'
else
  fail "there is no task ${number:-0}; list-tasks shows the numbers" 1
fi
IFS= read -r title <"$list/done/$number" || :
printf '%s task %s: %s\n' "$was" "$number" "$title"
