#!/bin/bash
# Has every image that the test runs: builds the service's own, and gets the others or makes stand-ins for them. $1: the test's folder.
set -euo pipefail
work=$1
node_image=$(sed -n 's/^FROM \(node:[^ ]*\) .*/\1/p' docker/Dockerfile)
read -r postgres_image valkey_image haproxy_image < <(
  for name in postgres valkey haproxy; do sed -n "s#^ *image: \(.*$name:.*\)#\1#p" docker/compose.yaml; done | xargs
)

# Where there is a base.tar, it is known already that there is no registry of images.
had() {
  docker image inspect "$1" > /dev/null 2>&1 || { [ ! -f "$work/base.tar" ] && docker pull -q "$1" > /dev/null 2>&1; }
}

stand_in() {
  echo "$1 cannot be had; a stand-in from Debian's packages takes its place."
  [ -f "$work/base.tar" ] || unshare --mount bash test/containers/base.sh "$work"
  docker image inspect petstore-stand-in > /dev/null 2>&1 || docker import "$work/base.tar" petstore-stand-in > /dev/null
  docker build --quiet --network=host --target "$2" --tag "$1" test/containers/stand-ins > /dev/null
  echo "$1" >> "$work/stand-ins"
}

had "$node_image" || stand_in "$node_image" node
had "$postgres_image" || stand_in "$postgres_image" postgres
had "$valkey_image" || stand_in "$valkey_image" valkey
had "$haproxy_image" || stand_in "$haproxy_image" haproxy

version=$(node -p 'require("./package.json").version')
SECONDS=0
docker build --network=host --file docker/Dockerfile --tag "petstore:$version" \
  --build-arg "VERSION=$version" --build-arg REVISION=test \
  --secret "id=npmrc,src=$work/npmrc" --secret "id=npm-ca,src=$work/npm-ca" --progress=plain . > "$work/build.log" 2>&1 ||
  { tail -40 "$work/build.log" >&2; exit 1; }
echo "petstore:$version was built in $SECONDS s."
docker history --format '{{.Size}}\t{{.CreatedBy}}' "petstore:$version" | grep COPY
