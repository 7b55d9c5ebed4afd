#!/bin/bash
# A role and a database of its own for each service that keeps something: neither can look into the other's, none is a
# superuser. The tables are the services' own matter: each brings its schema up to date when it starts
# (migrations/ has what they make, for who wants to do it by hand).
#
# Runs when the database is made; run again, it gives the roles the passwords that the secrets have now.
set -euo pipefail

for service in agent token-registry; do
    psql --no-psqlrc --quiet -v ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
        -v service="$service" <<'SQL'
\set file /run/secrets/postgres-password- :service
\set password `cat :file`
SELECT format('CREATE ROLE %I', :'service')
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'service') \gexec
ALTER ROLE :"service" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT 100
    PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I', :'service', :'service')
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'service') \gexec
REVOKE ALL ON DATABASE :"service" FROM PUBLIC;
SQL
done
