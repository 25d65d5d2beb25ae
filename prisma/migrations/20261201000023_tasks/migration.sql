-- Single durable tasks. A task is a job of one item that runs on its provider's ordinary endpoint: its item, money, usage and
-- content are where those of every job are. What is kept here besides is what its own surface shows.

-- `document` is a run over documents, whose items are they.
ALTER TABLE "batch_jobs" ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'batch' CHECK ("kind" IN ('batch', 'task', 'document'));
-- By which prices its items are charged: those of a provider's batches, or those of its ordinary endpoint.
ALTER TABLE "batch_jobs" ADD COLUMN "price_mode" TEXT NOT NULL DEFAULT 'batch' CHECK ("price_mode" IN ('batch', 'standard')),
  ADD CONSTRAINT "batch_jobs_price_mode_of_kind_check" CHECK ("kind" = 'document' OR ("kind" = 'task') = ("price_mode" = 'standard'));

-- A tenant's batch jobs, newest first, however many tasks lie between them.
CREATE INDEX "batch_jobs_listed_idx" ON "batch_jobs" ("tenant_id", "created_at" DESC, "job_id" DESC) WHERE "kind" = 'batch';

-- What was corrected, of jobs of every kind. The indexes on it name the events of one kind alone.
DROP INDEX "ledger_entries_corrections_idx";
DROP INDEX "ledger_entries_corrections_written_by_idx";
CREATE INDEX "ledger_entries_corrections_idx" ON "ledger_entries" ("subject_id", "item_no", "event", "ordinal")
  WHERE "event" IN ('batch.item.refunded', 'batch.adjusted', 'task.item.refunded', 'task.adjusted', 'document.item.refunded', 'document.adjusted');
CREATE INDEX "ledger_entries_corrections_written_by_idx" ON "ledger_entries" ("written_by")
  WHERE "event" IN ('batch.item.refunded', 'batch.adjusted', 'task.item.refunded', 'task.adjusted', 'document.item.refunded', 'document.adjusted');

CREATE TABLE "async_tasks" (
  -- That of its job.
  "task_id" UUID NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "task_type" TEXT NOT NULL,
  "priority" SMALLINT NOT NULL CHECK ("priority" BETWEEN 1 AND 10),
  "state" TEXT NOT NULL CHECK ("state" IN ('QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED')),
  -- Of attempts begun; the number of the one under way.
  "attempts" INTEGER NOT NULL DEFAULT 0,
  -- While it waits for its next attempt, and while one is under way until when its worker is sure to hold it.
  "next_attempt_at" TIMESTAMPTZ(3),
  "leased_until" TIMESTAMPTZ(3),
  -- Of the ending, or of the last attempt that was no success.
  "error_code" TEXT,
  "transitions" INTEGER NOT NULL DEFAULT 0,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "started_at" TIMESTAMPTZ(3),
  "completed_at" TIMESTAMPTZ(3),
  CONSTRAINT "async_tasks_pkey" PRIMARY KEY ("task_id"),
  CHECK (("completed_at" IS NOT NULL) = ("state" IN ('COMPLETED', 'FAILED')))
);
CREATE INDEX "async_tasks_open_idx" ON "async_tasks" ("tenant_id", "created_at") WHERE "state" IN ('QUEUED', 'PROCESSING');

-- Every state a task was in, in their order; append-only.
CREATE TABLE "task_transitions" (
  "task_id" UUID NOT NULL,
  -- From 1 on.
  "transition_no" INTEGER NOT NULL,
  "state" TEXT NOT NULL,
  "attempt" INTEGER NOT NULL,
  -- Why, where that does not go without saying.
  "code" TEXT,
  "at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "task_transitions_pkey" PRIMARY KEY ("task_id", "transition_no")
);

-- How many tasks of a tenant are queued or under way.
CREATE TABLE "task_slots" (
  "tenant_id" TEXT NOT NULL,
  "in_use" INTEGER NOT NULL CHECK ("in_use" >= 0),
  CONSTRAINT "task_slots_pkey" PRIMARY KEY ("tenant_id")
);

-- The reply of a task whose job keeps none, sealed, for as long as it may be read: no provider has a file of it.
CREATE TABLE "task_replies" (
  -- The public id, which what is sealed is bound to.
  "task_id" TEXT NOT NULL,
  "job_id" UUID NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "sealed" BYTEA NOT NULL,
  "due_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "task_replies_pkey" PRIMARY KEY ("task_id")
);
CREATE UNIQUE INDEX "task_replies_job_id_key" ON "task_replies" ("job_id");
CREATE INDEX "task_replies_due_at_idx" ON "task_replies" ("due_at");

DO $$
DECLARE
  named TEXT;
  mine CONSTANT TEXT := 'current_setting(''batchgate.tenant_id'', true)';
BEGIN
  FOREACH named IN ARRAY ARRAY['async_tasks', 'task_slots', 'task_replies'] LOOP
    EXECUTE format('CREATE POLICY "tenant_rows" ON %I TO batchgate_api USING (tenant_id = %s)', named, mine);
  END LOOP;
  CREATE POLICY "tenant_rows" ON task_transitions TO batchgate_api
    USING (EXISTS (SELECT FROM async_tasks t WHERE t.task_id = task_transitions.task_id));
  FOREACH named IN ARRAY ARRAY['async_tasks', 'task_slots', 'task_transitions', 'task_replies'] LOOP
    EXECUTE format('CREATE POLICY "all_rows" ON %I TO batchgate_operator USING (true)', named);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
  END LOOP;
END
$$;

GRANT SELECT ON "async_tasks", "task_slots", "task_transitions", "task_replies" TO batchgate_api, batchgate_operator;
GRANT INSERT, UPDATE ON "async_tasks", "task_slots" TO batchgate_api;
GRANT INSERT ON "task_transitions" TO batchgate_api;
GRANT DELETE ON "task_replies" TO batchgate_api;

-- A task is judged, and its money held, by the call that brings it: there is no workflow yet that could.
GRANT INSERT ON "holds", "budget_periods", "budget_alerts", "batch_shards", "job_estimates", "stage_times" TO batchgate_api;
GRANT UPDATE ON "budget_periods", "job_progress", "stage_times" TO batchgate_api;

-- Locking a row takes the right to change it, which no call of a tenant has of a budget.
CREATE FUNCTION lock_budgets(wanted TEXT[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  mine CONSTANT TEXT := nullif(current_setting('batchgate.tenant_id', true), '');
BEGIN
  PERFORM b.budget_id FROM budgets b WHERE b.budget_id = ANY (wanted) AND (mine IS NULL OR b.tenant_id = mine)
  ORDER BY b.budget_id FOR NO KEY UPDATE;
END
$$;
REVOKE ALL ON FUNCTION lock_budgets(TEXT[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lock_budgets(TEXT[]) TO batchgate_api, batchgate_operator;

-- The webhooks of tasks carry content, which lies sealed and goes when the content of its job goes.
ALTER TABLE "webhook_deliveries" ALTER COLUMN "body" DROP NOT NULL,
  ADD COLUMN "sealed_body" BYTEA,
  -- The job whose content the body is.
  ADD COLUMN "content_of" UUID,
  ADD CHECK ("body" IS NULL OR "content_of" IS NULL),
  ADD CHECK ("sealed_body" IS NULL OR "content_of" IS NOT NULL);
CREATE INDEX "webhook_deliveries_content_of_idx" ON "webhook_deliveries" ("content_of") WHERE "sealed_body" IS NOT NULL;
-- For sealing it anew.
GRANT UPDATE ("sealed_body") ON "webhook_deliveries" TO batchgate_operator;
