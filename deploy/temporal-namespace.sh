#!/bin/sh
# Creates the namespace where it is missing. TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are read by the command itself.
set -eu

attempt=0
until temporal operator cluster health >/dev/null 2>&1; do
  attempt=$((attempt + 1))
  if [ "$attempt" -ge 60 ]; then
    echo "Temporal at $TEMPORAL_ADDRESS did not become healthy" >&2
    exit 1
  fi
  sleep 1
done
temporal operator namespace describe >/dev/null 2>&1 || temporal operator namespace create --retention 30d
