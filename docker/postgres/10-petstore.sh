#!/bin/sh
# Runs once, when the database is created. The service owns its database, but is not a superuser; who watches it reads no data.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$PETSTORE_DATABASE_PASSWORD" -v monitor="$PETSTORE_MONITOR_PASSWORD" \
  --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE petstore LOGIN PASSWORD :'password';
CREATE DATABASE petstore OWNER petstore;
REVOKE CONNECT ON DATABASE petstore FROM PUBLIC;
CREATE ROLE petstore_monitor LOGIN PASSWORD :'monitor' IN ROLE pg_monitor;
GRANT CONNECT ON DATABASE petstore TO petstore_monitor;
SQL
