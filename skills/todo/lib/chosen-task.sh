# Read by the scripts that are told one task; they set `script` to their name first. Afterwards `number` is the task, without
# zeros before it, and `list` is the folder of the list.

fail() {
  printf '%s: %s\n' "$script" "$1" >&2
  exit "$2"
}

[ "$#" -eq 1 ] || fail "say which task: $script.sh 7" 2
# Digits only: the number becomes the name of a file.
number=${1#"#"}
case $number in
  '' | *[!0-9]*) fail "'$1' is not the number of a task; list-tasks shows them" 2 ;;
esac
number=$(printf '%s' "$number" | sed 's/^0*//')
list=${CLAUDE_PLUGIN_DATA:-${SKILL_DATA:-}}
[ -n "$list" ] || fail 'no folder to keep the list in: neither CLAUDE_PLUGIN_DATA nor SKILL_DATA is set' 1
