#!/bin/bash
# Sets up a Docker engine from Debian's packages and runs the test in it. It is the first process of a PID and a mount namespace:
# whatever ends it ends the engine as well, so there is nothing to put away.
set -euo pipefail
work=$1 repository=$2 marker=$3

echo 'No Docker engine here: setting one up …'
bash "$(dirname "$0")/base.sh" "$work"
root=$work/base
cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
chroot "$root" apt-get install -qq --no-install-recommends docker.io docker-cli docker-buildx docker-compose iptables iproute2 \
  > "$work/engine.log" 2>&1 || { tail -20 "$work/engine.log" >&2; exit 1; }

mount --bind "$root" "$root"
cd "$root"
mkdir repository scratch
mount --bind "$repository" repository
mount --bind "$work" scratch
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
pivot_root . mnt
umount -l /mnt
cd /repository
# It names a file of the machine.
unset NODE_EXTRA_CA_CERTS

# Starts the engine with these options.
start_engine() {
  dockerd --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent="/$marker" "$@" > /scratch/dockerd.log 2>&1 &
  engine=$!
  for _ in $(seq 150); do
    docker info > /dev/null 2>&1 && return
    sleep 0.2
  done
  tail -20 /scratch/dockerd.log >&2
  exit 1
}

# Images are built with the network of the machine, because of the packages they install.
start_engine --iptables=false --bridge=none
bash test/containers/images.sh /scratch
kill "$engine"
wait "$engine"

# They run in a network namespace, so that the machine's own network stays as it is.
export marker
export -f start_engine
unshare --net bash -c 'ip link set lo up && start_engine && exec node node_modules/jest/bin/jest.js --config test/containers/jest.config.js'
