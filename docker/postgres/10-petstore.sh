#!/bin/sh
# Runs once, when the database is created. The service owns its database, but is not a superuser.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$PETSTORE_DATABASE_PASSWORD" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE petstore LOGIN PASSWORD :'password';
CREATE DATABASE petstore OWNER petstore;
REVOKE CONNECT ON DATABASE petstore FROM PUBLIC;
SQL
