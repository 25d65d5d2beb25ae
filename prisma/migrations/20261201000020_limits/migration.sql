-- Requests of keys and addresses in the window they are in, counted by all api processes; the columns are those that
-- rate-limiter-flexible writes. Unlogged: after a crash all begin anew. Its one row for each key is updated in place.
CREATE UNLOGGED TABLE "rate_limits" (
  "key" VARCHAR(255) PRIMARY KEY,
  "points" INTEGER NOT NULL DEFAULT 0,
  "expire" BIGINT
) WITH (fillfactor = 50);

-- What a tenant holds now, counted whenever it takes more.
CREATE INDEX "batch_jobs_unaccepted_idx" ON "batch_jobs" ("tenant_id")
  WHERE "admitted_at" IS NULL AND "state" IN ('draft', 'validating');
CREATE INDEX "batch_jobs_tenant_open_idx" ON "batch_jobs" ("tenant_id")
  WHERE "state" NOT IN ('completed', 'completed_with_errors', 'expired', 'cancelled', 'failed');
CREATE INDEX "batch_jobs_with_content_idx" ON "batch_jobs" ("tenant_id") WHERE "content_deleted_at" IS NULL;

-- Bytes of the replies of a job, as they were when its results up to this number had come.
ALTER TABLE "job_progress" ADD COLUMN "result_bytes" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "measured_seq" INTEGER NOT NULL DEFAULT 0;
