#!/bin/sh
# What the official image does at its start: makes the database with a password, runs the scripts that are to make more, and serves.
set -eu
export POSTGRES_USER=postgres
data=/var/lib/postgresql/data
if [ ! -s "$data/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  # shellcheck disable=SC2086
  initdb -D "$data" -U postgres --pwfile=/tmp/password --auth-local=trust ${POSTGRES_INITDB_ARGS:---auth-host=scram-sha-256}
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
  pg_ctl -w -D "$data" -o "-c listen_addresses=''" start
  for script in /docker-entrypoint-initdb.d/*.sh; do
    [ ! -f "$script" ] || sh "$script"
  done
  pg_ctl -w -D "$data" stop
fi
exec postgres -D "$data" -c listen_addresses='*'
