#!/bin/bash
# Builds the image and runs it and the compose file: npm run test:containers. Uses the Docker engine that is there;
# where there is none, root on Debian gets one for the time of the test, of which nothing stays.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
marker=$(basename "$work")
inside=

clean_up() {
  # The engine and its containers live in a PID namespace. They end with its first process, and their mounts and networks with them.
  if [ -n "$inside" ]; then
    kill -KILL $(cat "/proc/$inside/task/$inside/children" 2> /dev/null) 2> /dev/null || true
    wait "$inside" || true
    find /sys/fs/cgroup -depth -type d -path "*/$marker*" -exec rmdir {} + 2> /dev/null || true
  elif [ -f "$work/stand-ins" ]; then
    xargs docker rmi --force petstore-stand-in < "$work/stand-ins" > /dev/null || true
  fi
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# How this machine reaches npm's registry is given to the build as secrets, and stays out of the image.
cafile=$(npm config get cafile 2> /dev/null)
[ -f "$cafile" ] || cafile=${NODE_EXTRA_CA_CERTS:-/dev/null}
cat "$cafile" > "$work/npm-ca"
{
  cat "$(npm config get userconfig 2> /dev/null)" 2> /dev/null || true
  for name in registry proxy https-proxy noproxy; do
    value=$(npm config get "$name" 2> /dev/null)
    case $value in '' | null | undefined) ;; *) printf '\n%s=%s' "$name" "$value" ;; esac
  done
  [ ! -s "$work/npm-ca" ] || printf '\ncafile=/run/secrets/npm-ca\n'
} > "$work/npmrc"

if docker info > /dev/null 2>&1 && docker buildx version > /dev/null 2>&1 && docker compose version > /dev/null 2>&1; then
  cd "$repository"
  bash test/containers/images.sh "$work"
  node node_modules/jest/bin/jest.js --config test/containers/jest.config.js
elif [ "$(id -u)" = 0 ] && hash apt-get unshare npm 2> /dev/null; then
  unshare --mount --pid --fork --kill-child bash "$here/engine.sh" "$work" "$repository" "$marker" &
  inside=$!
  wait "$inside"
else
  echo 'test:containers needs a Docker engine with buildx and compose, or root on Debian, where it sets one up for itself.' >&2
  exit 1
fi
