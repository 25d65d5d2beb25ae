-- What is kept of a job's requests and results, where and until when. Fixed when the job is made; a submit may make it
-- stricter. Jobs from before keep all of it until they are deleted.
ALTER TABLE "batch_jobs"
  ADD COLUMN "storage" TEXT NOT NULL DEFAULT 'raw',
  ADD COLUMN "read_window_ms" BIGINT NOT NULL DEFAULT 86400000,
  ADD COLUMN "content_retention_ms" BIGINT,
  ADD COLUMN "delete_provider_files" BOOLEAN NOT NULL DEFAULT false,
  -- Set while the provider's files are still to be deleted.
  ADD COLUMN "provider_files_due_at" TIMESTAMPTZ(3),
  ADD COLUMN "provider_files_deleted_at" TIMESTAMPTZ(3),
  ADD CONSTRAINT "batch_jobs_storage_check" CHECK ("storage" IN ('raw', 'normalized', 'pointers', 'hashes'));
CREATE INDEX "batch_jobs_provider_files_due_at_idx" ON "batch_jobs" ("provider_files_due_at")
  WHERE "provider_files_due_at" IS NOT NULL;
CREATE INDEX "batch_jobs_requests_due_idx" ON "batch_jobs" ("completed_at")
  WHERE "storage" IN ('pointers', 'hashes') AND "completed_at" IS NOT NULL AND "request_body_deleted_at" IS NULL;

-- Where in its attempt's result files a reply stands that the gateway does not keep.
ALTER TABLE "item_results" ADD COLUMN "file" SMALLINT, ADD COLUMN "line" INTEGER;

-- When the files that the provider kept of an attempt were deleted there.
ALTER TABLE "batch_provider_metadata" ADD COLUMN "files_deleted_at" TIMESTAMPTZ(3);
