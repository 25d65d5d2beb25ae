-- Content that is kept beside the rows, what keeps content from being deleted, and who asked for all of a customer's to go.

-- The provider's own result files of an attempt, as the artifact store has them.
CREATE TABLE "artifacts" (
  "job_id" UUID NOT NULL,
  "shard" INTEGER NOT NULL,
  "attempt" INTEGER NOT NULL,
  -- Of the result files of the attempt, from 1 on.
  "file" INTEGER NOT NULL,
  "kind" TEXT NOT NULL CHECK ("kind" IN ('output', 'error')),
  -- Within the store.
  "key" TEXT NOT NULL,
  -- Of the provider's file, and as it lies in the store: compressed, perhaps sealed.
  "bytes" BIGINT,
  "stored_bytes" BIGINT,
  "sha256" BYTEA,
  -- NULL where the store did not take it.
  "stored_at" TIMESTAMPTZ(3),
  "deleted_at" TIMESTAMPTZ(3),
  CONSTRAINT "artifacts_pkey" PRIMARY KEY ("job_id", "shard", "attempt", "file"),
  CHECK (("stored_at" IS NULL) = ("sha256" IS NULL) AND ("stored_at" IS NULL) = ("bytes" IS NULL))
);

-- Content that stays whatever else says that it goes: of one job, of a customer, or with neither named of a tenant.
CREATE TABLE "legal_holds" (
  "hold_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "customer_id" TEXT,
  "job_id" UUID,
  "reason" TEXT NOT NULL,
  "set_by" TEXT NOT NULL,
  "set_at" TIMESTAMPTZ(3) NOT NULL,
  "lifted_at" TIMESTAMPTZ(3),
  "lifted_by" TEXT,
  CONSTRAINT "legal_holds_pkey" PRIMARY KEY ("hold_id"),
  CONSTRAINT "legal_holds_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CHECK ("customer_id" IS NULL OR "job_id" IS NULL),
  CHECK (("lifted_at" IS NULL) = ("lifted_by" IS NULL))
);
CREATE INDEX "legal_holds_tenant_id_hold_id_idx" ON "legal_holds" ("tenant_id", "hold_id");
CREATE INDEX "legal_holds_open_idx" ON "legal_holds" ("tenant_id") WHERE "lifted_at" IS NULL;

-- A wish that all content of a customer be deleted: of the jobs and schedules there are when it is made.
CREATE TABLE "data_deletions" (
  "deletion_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "requested_by" TEXT NOT NULL,
  "requested_at" TIMESTAMPTZ(3) NOT NULL,
  -- Drafts vanish, so they are counted.
  "drafts_deleted" INTEGER NOT NULL DEFAULT 0,
  "ended_at" TIMESTAMPTZ(3),
  CONSTRAINT "data_deletions_pkey" PRIMARY KEY ("deletion_id"),
  CONSTRAINT "data_deletions_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "data_deletions_tenant_id_customer_id_deletion_id_idx" ON "data_deletions" ("tenant_id", "customer_id", "deletion_id");
CREATE INDEX "data_deletions_open_idx" ON "data_deletions" ("requested_at") WHERE "ended_at" IS NULL;

-- Set while content that is said to be deleted is still being removed: bodies, raw lines and artifacts.
ALTER TABLE "batch_jobs" ADD COLUMN "removal_due_at" TIMESTAMPTZ(3),
  -- In a row.
  ADD COLUMN "removal_failures" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "provider_files_failures" INTEGER NOT NULL DEFAULT 0;
-- A deletion that was broken off before this column goes on where it was.
UPDATE "batch_jobs" SET "removal_due_at" = "content_deleted_at" WHERE "content_deleted_at" IS NOT NULL;
CREATE INDEX "batch_jobs_removal_due_at_idx" ON "batch_jobs" ("removal_due_at") WHERE "removal_due_at" IS NOT NULL;
CREATE INDEX "batch_jobs_customer_id_idx" ON "batch_jobs" ("tenant_id", "customer_id") WHERE "customer_id" IS NOT NULL;
-- By the end of its retention, in UTC, for what an index computes must not depend on a time zone.
CREATE INDEX "batch_jobs_content_due_idx"
  ON "batch_jobs" ((("completed_at" AT TIME ZONE 'UTC') + "content_retention_ms" * interval '1 millisecond'))
  WHERE "content_deleted_at" IS NULL AND "content_retention_ms" IS NOT NULL AND "completed_at" IS NOT NULL;
-- Whether a month still has jobs that may bring content.
CREATE INDEX "batch_jobs_unended_bucket_idx" ON "batch_jobs" ("bucket")
  WHERE "state" NOT IN ('completed', 'completed_with_errors', 'expired', 'cancelled', 'failed');

CREATE POLICY "tenant_rows" ON "legal_holds" TO batchgate_api
  USING (tenant_id = current_setting('batchgate.tenant_id', true));
CREATE POLICY "tenant_rows" ON "artifacts" TO batchgate_api
  USING (EXISTS (SELECT FROM batch_jobs j WHERE j.job_id = artifacts.job_id));
CREATE POLICY "all_rows" ON "legal_holds" TO batchgate_operator USING (true);
CREATE POLICY "all_rows" ON "artifacts" TO batchgate_operator USING (true);
CREATE POLICY "all_rows" ON "data_deletions" TO batchgate_operator USING (true);
ALTER TABLE "legal_holds" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "artifacts" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "data_deletions" ENABLE ROW LEVEL SECURITY;
-- A deletion by a tenant asks whether anything holds the job, and notes that artifacts are gone.
GRANT SELECT ON "legal_holds", "artifacts" TO batchgate_api;
GRANT UPDATE ON "artifacts" TO batchgate_api;
GRANT SELECT, INSERT, UPDATE ON "legal_holds" TO batchgate_operator;
GRANT SELECT, INSERT ON "data_deletions" TO batchgate_operator;
GRANT SELECT ON "artifacts" TO batchgate_operator;
