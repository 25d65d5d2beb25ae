-- Soft alerts of budgets, budgets whose limit was lifted, and samples of jobs.

-- Without a limit a budget limits nothing and counts on, so that one set again later knows what was spent meanwhile.
ALTER TABLE "budgets"
  ALTER COLUMN "limit_amount" DROP NOT NULL,
  ADD COLUMN "alert_percents" INTEGER[] NOT NULL DEFAULT ARRAY[80, 100],
  ADD CONSTRAINT "budgets_alert_percents_check" CHECK (0 < ALL ("alert_percents"));

-- That a percentage of a limit was reached is told once in a period.
CREATE TABLE "budget_alerts" (
  "budget_id" TEXT NOT NULL,
  "period_start" DATE NOT NULL,
  "percent" INTEGER NOT NULL,
  "crossed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "budget_alerts_pkey" PRIMARY KEY ("budget_id", "period_start", "percent"),
  CONSTRAINT "budget_alerts_budget_id_fkey" FOREIGN KEY ("budget_id") REFERENCES "budgets" ("budget_id") ON DELETE RESTRICT ON UPDATE CASCADE
);

-- The draft that a job is a sample of, and how many items that had then. The draft may be deleted meanwhile.
ALTER TABLE "batch_jobs"
  ADD COLUMN "sample_of" UUID,
  ADD COLUMN "sample_of_items" INTEGER,
  ADD CONSTRAINT "batch_jobs_sample_check" CHECK (("sample_of" IS NULL) = ("sample_of_items" IS NULL));
CREATE INDEX "batch_jobs_sample_of_idx" ON "batch_jobs" ("sample_of", "created_at") WHERE "sample_of" IS NOT NULL;
