-- What operators do to jobs, and the marks by which shards learn of it.

-- Given up: nothing is waited for any more. A settled shard may be asked to read its results once more.
ALTER TABLE "batch_shards" ADD COLUMN "given_up_at" TIMESTAMPTZ(3),
  ADD COLUMN "reread_requested_at" TIMESTAMPTZ(3);

-- Batches that may each be the one of an unanswered create, as the last look found them, and the one chosen by hand.
ALTER TABLE "batch_provider_metadata" ADD COLUMN "candidates" JSONB,
  ADD COLUMN "chosen_batch_id" TEXT;

-- Who did what and why, and what came of it.
CREATE TABLE "operator_acts" (
  "act_no" BIGINT GENERATED ALWAYS AS IDENTITY,
  "job_id" UUID NOT NULL,
  "shard" INTEGER,
  "act" TEXT NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT,
  "details" JSONB NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "operator_acts_pkey" PRIMARY KEY ("job_id", "act_no"),
  CONSTRAINT "operator_acts_act_check" CHECK ("act" IN ('cancel', 'give_up', 're_ingest', 'resolve', 'gave_up', 're_ingested', 'resolved'))
);
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "operator_acts" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "operator_acts" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
