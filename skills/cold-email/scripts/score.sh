#!/bin/sh
# Scores a draft against the quality gate: score.sh DRAFT, where DRAFT is the text itself or a file of the project.
# Ends with 0 when the draft passes and with 1 when it is to be revised.
set -eu

if [ "$#" -ne 1 ] || [ -z "$1" ]; then
  echo 'score: give the draft as one argument: score.sh "Subject: …"' >&2
  exit 2
fi
skill=${SKILL_DIR:-$(dirname "$0")/..}
banned=$skill/assets/banned-words.txt
[ -r "$banned" ] || {
  echo "score: $banned cannot be read" >&2
  exit 2
}
case $1 in
  *'
'* | *' '*) draft=$1 ;; # A draft has blanks or line breaks; what has neither can only be a path.
  *)
    file=$1
    [ -f "$file" ] || file=${PROJECT_DIR:-.}/$1
    [ -f "$file" ] || {
      echo "score: there is no file $1 in the project" >&2
      exit 2
    }
    draft=$(cat "$file")
    ;;
esac

printf '%s\n' "$draft" | LC_ALL=C awk -v banned="$banned" '
  function point(worth, ok, what) {
    if (ok) score += worth
    printf "%s %2d/%-2d %s\n", ok ? "+" : "-", ok ? worth : 0, worth, what
  }
  # The text in lower case with one blank between words and at both ends, so that whole words can be looked for.
  function words_of(text) {
    text = tolower(text)
    gsub(/\342\200\231/, "\047", text)
    gsub(/[^a-z0-9\047\200-\377-]+/, " ", text)
    return " " text " "
  }
  function times(text, word,    count, at) {
    count = 0
    while ((at = index(text, " " word " ")) > 0) { count++; text = substr(text, at + length(word) + 1) }
    return count
  }
  BEGIN {
    while ((getline line < banned) > 0) if (line !~ /^#/ && line != "") list[++n] = line
    close(banned)
  }
  tolower($0) ~ /^subject:/ && !has_subject { has_subject = 1; subject = $0; sub(/^[^:]*:[ \t]*/, "", subject); next }
  { body = body " " $0 }
  END {
    subject_words = split(subject, unused, /[ \t]+/)
    if (subject == "") subject_words = 0
    body_words = split(words_of(body), unused, " ")
    all = words_of(subject " " body)
    for (i = 1; i <= n; i++) if (times(all, tolower(list[i])) > 0) hits = hits (hits == "" ? "" : ", ") list[i]
    questions = gsub(/\?+/, "?", body)
    yours = times(all, "you") + times(all, "your") + times(all, "you\047re") + times(all, "yours")
    ours = times(all, "i") + times(all, "we") + times(all, "my") + times(all, "our") + times(all, "i\047m") + times(all, "we\047re") + times(all, "us") + times(all, "me")
    loud = (subject body) ~ /!/ || (subject " " body " ") ~ /[ (][A-Z][A-Z][A-Z][A-Z]+[ .,;:)]/
    linked = tolower(body) ~ /https?:\/\/|www\./

    point(15, subject_words >= 1 && subject_words <= 7, "subject: " subject_words " words, 1 to 7 wanted")
    point(20, body_words >= 50 && body_words <= 125, "length: " body_words " words, 50 to 125 wanted")
    point(25, hits == "", hits == "" ? "no banned words" : "banned: " hits)
    point(15, questions == 1, "questions: " questions ", exactly one wanted")
    point(15, yours >= 1 && yours >= ours, "about the reader " yours " times, about the sender " ours " times")
    point(10, !loud && !linked, loud || linked ? "loud: take out exclamation marks, capitals and links" : "calm")
    passes = score >= 80 && hits == ""
    printf "%s: %d of 100\n", passes ? "passes" : "revise", score
    exit !passes
  }'
