-- Why a tenant or customer may start nothing new, and who said so.
ALTER TABLE "tenants" ADD COLUMN "suspension_reason" TEXT,
  ADD COLUMN "suspended_by" TEXT;
ALTER TABLE "customers" ADD COLUMN "suspension_reason" TEXT,
  ADD COLUMN "suspended_by" TEXT;

-- The key that took this one's place.
ALTER TABLE "api_keys" ADD COLUMN "replaced_by" TEXT;

-- The key that submitted the job, which may be another one than made it.
ALTER TABLE "batch_jobs" ADD COLUMN "submitted_by" TEXT;

CREATE INDEX "audit_log_subject_entry_no_idx" ON "audit_log" ("subject", "entry_no");
CREATE INDEX "audit_log_actor_entry_no_idx" ON "audit_log" ("actor", "entry_no");
