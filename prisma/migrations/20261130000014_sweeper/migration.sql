-- What the sweeps found: repaired by them, or raised for an operator.

-- One row for a finding, what it is about and a day, however often it is found.
CREATE TABLE "sweep_findings" (
  "finding_no" BIGSERIAL NOT NULL,
  "day" DATE NOT NULL,
  "kind" TEXT NOT NULL,
  "subject" TEXT COLLATE "C" NOT NULL,
  "outcome" TEXT NOT NULL CHECK ("outcome" IN ('repaired', 'raised')),
  "job_id" UUID,
  "tenant_id" TEXT,
  -- Ids, counts, times and closed words.
  "facts" JSONB NOT NULL DEFAULT '{}',
  "times" INTEGER NOT NULL DEFAULT 1,
  "first_found_at" TIMESTAMPTZ(3) NOT NULL,
  "last_found_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "sweep_findings_pkey" PRIMARY KEY ("finding_no")
);
CREATE UNIQUE INDEX "sweep_findings_kind_subject_day_key" ON "sweep_findings" ("kind", "subject", "day");
CREATE INDEX "sweep_findings_last_found_at_idx" ON "sweep_findings" ("last_found_at");

-- Money that is still held, which is what is looked for without a job.
CREATE INDEX "holds_open_idx" ON "holds" ("job_id") WHERE "released" IS NULL;
