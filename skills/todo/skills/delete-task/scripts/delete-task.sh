#!/bin/sh
# Takes a task off the list: delete-task.sh NUMBER
set -eu

fail() {
  printf 'delete-task: %s\n' "$1" >&2
  exit "$2"
}

[ "$#" -eq 1 ] || fail 'say which task: delete-task.sh 7' 2
# Digits only: the number becomes the name of a file.
number=${1#"#"}
case $number in
  '' | *[!0-9]*) fail "'$1' is not the number of a task; list-tasks shows them" 2 ;;
esac
number=$(printf '%s' "$number" | sed 's/^0*//')
list=${CLAUDE_PLUGIN_DATA:-${SKILL_DATA:-}}
[ -n "$list" ] || fail 'no folder to keep the list in: neither CLAUDE_PLUGIN_DATA nor SKILL_DATA is set' 1

# First out of the list, then read and removed: of two that delete a task at once only one says that it did. Twice, since
# it can be completed between the looks at the two places.
taken=$list/numbers/deleted-$number
for place in open done open done; do
  if [ -n "$number" ] && mv -f "$list/$place/$number" "$taken" 2>/dev/null; then
    IFS= read -r title <"$taken" || :
    rm -f "$taken"
    printf 'deleted task %s: %s\n' "$number" "$title"
    exit 0
  fi
done
fail "there is no task ${number:-0}; list-tasks shows the numbers" 1
