#!/bin/sh
# Shows the tasks on the list: list-tasks.sh [open|done|all]
set -eu

fail() {
  printf 'list-tasks: %s\n' "$1" >&2
  exit "$2"
}

which=${1:-open}
case $which in
  open | done | all) ;;
  *) fail "'$which' is not open, done or all" 2 ;;
esac
list=${CLAUDE_PLUGIN_DATA:-${SKILL_DATA:-}}
[ -n "$list" ] || fail 'no folder to keep the list in: neither CLAUDE_PLUGIN_DATA nor SKILL_DATA is set' 1

left=0
finished=0
for number in $(ls "$list/open" "$list/done" 2>/dev/null | grep '^[0-9][0-9]*$' | sort -nu); do
  # A task can be finished or removed while this goes through the list; then it is found in the other place or not at all.
  if IFS= read -r title 2>/dev/null <"$list/open/$number"; then
    left=$((left + 1))
    [ "$which" = done ] || printf '%3s [ ] %s\n' "$number" "$title"
  elif IFS= read -r title 2>/dev/null <"$list/done/$number"; then
    finished=$((finished + 1))
    [ "$which" = open ] || printf '%3s [x] %s\n' "$number" "$title"
  fi
done
printf '%s open, %s done\n' "$left" "$finished"
