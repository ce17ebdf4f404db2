#!/bin/sh
# Marks a task as done: complete-task.sh NUMBER
set -eu

script=complete-task
# What both scripts that are told a number do with it lies in the plugin's own folder.
. "${CLAUDE_PLUGIN_ROOT:-${0%/*}/../../..}/lib/chosen-task.sh"

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
