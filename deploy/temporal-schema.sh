#!/bin/sh
# Creates Temporal's two databases in Postgres, or brings their schemas up to this version of the server. Harmless to
# repeat. SQL_PASSWORD is read by the tool itself.
set -eu

for database in temporal temporal_visibility; do
  versions=/etc/temporal/schema/postgresql/v12/${database#temporal_}/versioned
  tool() { temporal-sql-tool --plugin "$DB" --ep "$POSTGRES_SEEDS" -p "$DB_PORT" -u "$POSTGRES_USER" --db "$database" "$@"; }
  tool create
  tool setup-schema -v 0.0
  tool update-schema -d "$versions"
done
