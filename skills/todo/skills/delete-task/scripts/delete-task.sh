#!/bin/sh
# Takes a task off the list: delete-task.sh NUMBER
set -eu

script=delete-task
# What both scripts that are told a number do with it lies in the plugin's own folder.
. "${CLAUDE_PLUGIN_ROOT:-${0%/*}/../../..}/lib/chosen-task.sh"

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
