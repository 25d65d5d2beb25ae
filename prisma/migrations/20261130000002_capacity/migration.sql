-- Room in the providers' queues, counted per credential, provider and model; and what a provider without labels needs.

-- An attempt takes its room before it uploads, and is in the queue until its batch ends or the attempt is closed. What
-- is in use is summed from these rows whenever it is asked for, so there is no count that could go wrong.
ALTER TABLE "batch_provider_metadata"
  ADD COLUMN "estimated_input_tokens" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "room_taken_at" TIMESTAMPTZ(3),
  -- First seen past the provider's validation, which is where a full queue refuses.
  ADD COLUMN "queued_at" TIMESTAMPTZ(3),
  -- Its batch was found in a list, not named in the answer to the create.
  ADD COLUMN "found_by_look" BOOLEAN NOT NULL DEFAULT false,
  -- Batches once taken for its own, whose results turned out to be another's.
  ADD COLUMN "disowned_batch_ids" TEXT[] NOT NULL DEFAULT '{}';
UPDATE "batch_provider_metadata" SET "room_taken_at" = "create_started_at", "queued_at" = "accepted_at"
WHERE "closed_at" IS NULL AND "create_started_at" IS NOT NULL;
CREATE INDEX "batch_provider_metadata_open_idx" ON "batch_provider_metadata" ("provider", "credential_id") WHERE "closed_at" IS NULL;
CREATE INDEX "batch_shards_waiting_idx" ON "batch_shards" ("provider", "provider_model", "waiting_since") WHERE "state" = 'waiting';

CREATE TABLE "capacity_accounts" (
  "credential_id" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "provider_model" TEXT NOT NULL,
  "full_since" TIMESTAMPTZ(3),
  "last_refused_at" TIMESTAMPTZ(3),
  "last_reason" TEXT,
  -- From then on one shard may try again.
  "probe_at" TIMESTAMPTZ(3),
  -- When a batch last left the queue.
  "room_at" TIMESTAMPTZ(3),
  -- As the provider itself named them in a refusal.
  "known_limit_tokens" BIGINT,
  "known_limit_items" BIGINT,
  -- The shard that was refused last with nothing else in the queue, and how often in a row.
  "probe_job_id" UUID,
  "probe_shard" INTEGER,
  "refused_alone" INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT "capacity_accounts_pkey" PRIMARY KEY ("credential_id", "provider", "provider_model")
);
