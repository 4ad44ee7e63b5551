#!/bin/sh
# Answers git's question for a password with the token of this one git process, and only for the host it was minted for:
# a redirect to another host gets nothing. Nothing is ever stored.
[ "$1" = get ] || exit 0
protocol= host=
while IFS='=' read -r key value && [ -n "$key" ]; do
  case $key in
    protocol) protocol=$value ;;
    host) host=$value ;;
  esac
done
[ "$protocol://$host" = "$GROKBOT_GIT_ORIGIN" ] || exit 0
printf 'username=x-access-token\npassword=%s\n' "$GROKBOT_GIT_TOKEN"
