-- The times a job sets for itself, and jobs that are made again and again.

-- When open work is cut off, and before when nothing is sent.
ALTER TABLE "batch_jobs"
  ADD COLUMN "deadline" TIMESTAMPTZ(3),
  ADD COLUMN "not_before" TIMESTAMPTZ(3),
  ADD CONSTRAINT "batch_jobs_times_check" CHECK ("not_before" < "deadline");

-- What makes a job at every firing. The row is the truth; Temporal's schedule of the same id is its clock.
CREATE TABLE "batch_schedules" (
  "schedule_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "api_key_id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "timing" JSONB NOT NULL,
  "job" JSONB NOT NULL,
  "items" JSONB NOT NULL,
  "submits" BOOLEAN NOT NULL,
  "overlap" TEXT NOT NULL,
  "deadline_after_seconds" INTEGER,
  "paused_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,
  "deleted_at" TIMESTAMPTZ(3),
  CONSTRAINT "batch_schedules_pkey" PRIMARY KEY ("schedule_id"),
  CONSTRAINT "batch_schedules_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "batch_schedules_overlap_check" CHECK ("overlap" IN ('skip', 'allow'))
);
CREATE INDEX "batch_schedules_tenant_id_created_at_schedule_id_idx" ON "batch_schedules" ("tenant_id", "created_at" DESC, "schedule_id" DESC);

-- One firing, by the id of the workflow that it started. Its job is chosen with it, so a repeat makes no second one.
CREATE TABLE "batch_schedule_runs" (
  "schedule_id" TEXT NOT NULL,
  "firing" TEXT NOT NULL,
  "scheduled_for" TIMESTAMPTZ(3) NOT NULL,
  "job_id" UUID,
  "outcome" TEXT,
  "error" JSONB,
  "started_at" TIMESTAMPTZ(3) NOT NULL,
  "ended_at" TIMESTAMPTZ(3),
  CONSTRAINT "batch_schedule_runs_pkey" PRIMARY KEY ("schedule_id", "firing"),
  CONSTRAINT "batch_schedule_runs_schedule_id_fkey" FOREIGN KEY ("schedule_id") REFERENCES "batch_schedules" ("schedule_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "batch_schedule_runs_outcome_check" CHECK ("outcome" IN ('created', 'submitted', 'skipped', 'failed')),
  CONSTRAINT "batch_schedule_runs_ended_check" CHECK (("outcome" IS NULL) = ("ended_at" IS NULL))
);
CREATE INDEX "batch_schedule_runs_schedule_id_started_at_idx" ON "batch_schedule_runs" ("schedule_id", "started_at" DESC);
