-- Instead of "file_name" where the storage policy keeps no content in clear.
ALTER TABLE "documents" ADD COLUMN "sealed_file_name" BYTEA;
-- Sealed anew when the gateway's key changes.
GRANT UPDATE ("sealed_file_name") ON "documents" TO batchgate_operator;
