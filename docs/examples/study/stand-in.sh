#!/bin/sh
# Stands in for a language model: reads a prompt and answers with one of the plans
# or drafts beside it, good and bad. Which one follows from the prompt alone, so
# every run can be repeated to the cycle.
here=$(dirname "$0")
prompt=$(cat)
sum=$(printf '%s' "$prompt" | cksum | cut -d ' ' -f 1)

pick() {
    set -- "$here/$1"/*
    shift $((sum % $#))
    cat "$1"
}

case $prompt in
*'fenced code block'*)
    echo 'CHOICE: other'
    echo '```c'
    pick drafts
    echo '```'
    ;;
*)
    pick plans
    ;;
esac
