#!/bin/bash
# Makes $1/base.tar from packages of Debian and npm: what stands in for the base image of Node.
set -euo pipefail
work=$1
read -r version < <(sed -n 's/^FROM node:\([0-9.]*\)-.*/\1/p' "$(dirname "$0")/../../docker/Dockerfile")
case $(uname -m) in x86_64) processor=x64 ;; aarch64) processor=arm64 ;; esac

mkdir "$work/debootstrap"
cd "$work/debootstrap"
# Unpacked and not installed: the machine stays as it is.
apt-get download -qq debootstrap 2> /dev/null || { apt-get update -qq && apt-get download -qq debootstrap; }
dpkg-deb -x debootstrap_*.deb .
DEBOOTSTRAP_DIR=$PWD/usr/share/debootstrap usr/sbin/debootstrap --variant=minbase trixie "$work/base" > "$work/debootstrap.log" ||
  { tail -20 "$work/debootstrap.log" >&2; exit 1; }
npm install --global --silent --ignore-scripts --prefix "$work/base/usr/local" npm@11 "node-linux-$processor@$version"
# The official image has it as a file of its own, which stays when npm is removed.
mv "$work/base/usr/local/lib/node_modules/node-linux-$processor/bin/node" "$work/base/usr/local/bin/node"
rm -rf "$work/base/usr/local/lib/node_modules/node-linux-$processor"
rm -rf "$work"/base/var/cache/apt/archives/*.deb
tar -C "$work/base" --one-file-system -cf "$work/base.tar" .
