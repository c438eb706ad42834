#!/bin/sh
# Runs once, when the database is made: the service owns its database, and is nobody's superuser.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$PETSTORE_DATABASE_PASSWORD" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE petstore LOGIN PASSWORD :'password';
CREATE DATABASE petstore OWNER petstore;
REVOKE CONNECT ON DATABASE petstore FROM PUBLIC;
SQL
