-- Sums that answer what analytics asks, so that no item is read for it: kept in the transactions of what they sum.

-- What a job's items came to, by day (UTC) and kind. Written under the lock on the job's progress row alone, so jobs never
-- wait for each other. Of a job and not of an item (state 0): what was corrected of the job as a whole.
CREATE TABLE "job_rollups" (
  "job_id" UUID NOT NULL,
  "day" DATE NOT NULL,
  "provider" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "state" SMALLINT NOT NULL,
  "failure_class" TEXT NOT NULL,
  "error_code" TEXT NOT NULL,
  "is_retry" BOOLEAN NOT NULL,
  "items" INTEGER NOT NULL DEFAULT 0,
  "usage_estimated_items" INTEGER NOT NULL DEFAULT 0,
  "input_tokens" BIGINT NOT NULL DEFAULT 0,
  "cached_input_tokens" BIGINT NOT NULL DEFAULT 0,
  "cache_write_tokens" BIGINT NOT NULL DEFAULT 0,
  "output_tokens" BIGINT NOT NULL DEFAULT 0,
  "reasoning_tokens" BIGINT NOT NULL DEFAULT 0,
  "amount" DECIMAL(38,12) NOT NULL DEFAULT 0,
  "customer_amount" DECIMAL(38,12) NOT NULL DEFAULT 0,
  "refunded_amount" DECIMAL(38,12) NOT NULL DEFAULT 0,
  "customer_refunded_amount" DECIMAL(38,12) NOT NULL DEFAULT 0,
  "adjusted_amount" DECIMAL(38,12) NOT NULL DEFAULT 0,
  CONSTRAINT "job_rollups_pkey" PRIMARY KEY ("job_id", "day", "provider", "model", "state", "failure_class", "error_code", "is_retry")
) WITH (fillfactor = 70);
CREATE INDEX "job_rollups_day_idx" ON "job_rollups" ("day");

-- What an accepted job was expected to cost, by the models it goes to.
CREATE TABLE "job_estimates" (
  "job_id" UUID NOT NULL,
  "provider" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "items" INTEGER NOT NULL,
  "estimated_amount" DECIMAL(38,12) NOT NULL,
  CONSTRAINT "job_estimates_pkey" PRIMARY KEY ("job_id", "provider", "model")
);

-- How long a shard, or as shard 0 the job itself, has been in each stage. The one it is in is not in its sum yet.
CREATE TABLE "stage_times" (
  "job_id" UUID NOT NULL,
  "shard" INTEGER NOT NULL,
  "stage" TEXT,
  "since" TIMESTAMPTZ(3) NOT NULL,
  "queued_ms" BIGINT NOT NULL DEFAULT 0,
  "running_ms" BIGINT NOT NULL DEFAULT 0,
  "finalizing_ms" BIGINT NOT NULL DEFAULT 0,
  "ended_at" TIMESTAMPTZ(3),
  CONSTRAINT "stage_times_pkey" PRIMARY KEY ("job_id", "shard"),
  CONSTRAINT "stage_times_stage_check" CHECK ("stage" IN ('queued', 'running', 'finalizing')),
  CONSTRAINT "stage_times_ended_check" CHECK (("stage" IS NULL) = ("ended_at" IS NOT NULL))
);
CREATE INDEX "stage_times_ended_at_idx" ON "stage_times" ("ended_at");

-- Submissions that were refused, also of drafts that are gone since. An empty project or customer is none.
CREATE TABLE "refusal_rollups" (
  "tenant_id" TEXT NOT NULL,
  "day" DATE NOT NULL,
  "project_id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "api_key_id" TEXT NOT NULL,
  "endpoint" TEXT NOT NULL,
  "requested_model" TEXT NOT NULL,
  "code" TEXT NOT NULL,
  "submissions" INTEGER NOT NULL,
  "items" BIGINT NOT NULL,
  CONSTRAINT "refusal_rollups_pkey" PRIMARY KEY ("tenant_id", "day", "project_id", "customer_id", "api_key_id", "endpoint", "requested_model", "code")
);

-- Of what was there before.

INSERT INTO "job_rollups" ("job_id", "day", "provider", "model", "state", "failure_class", "error_code", "is_retry", "items",
  "usage_estimated_items", "input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
  "amount", "customer_amount")
SELECT o.job_id, (o.settled_at AT TIME ZONE 'UTC')::date, coalesce(s.provider, ''), coalesce(s.provider_model, ''), o.state,
  o.failure_class, o.error_code, coalesce(i.retry_of_item_id IS NOT NULL, false), count(*),
  count(*) FILTER (WHERE o.usage_estimated), sum(o.input_tokens), sum(o.cached_input_tokens), sum(o.cache_write_tokens),
  sum(o.output_tokens), sum(o.reasoning_tokens), sum(o.amount), sum(coalesce(o.customer_amount, o.amount))
FROM "item_outcomes" o
LEFT JOIN "batch_shards" s ON s.job_id = o.job_id AND s.shard = o.shard
LEFT JOIN "batch_items" i ON i.job_id = o.job_id AND i.bucket = o.bucket AND i.item_no = o.item_no
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;

INSERT INTO "job_estimates" ("job_id", "provider", "model", "items", "estimated_amount")
SELECT s.job_id, line ->> 'provider', line ->> 'model', sum((line ->> 'items')::integer), sum((line ->> 'estimated')::numeric)
FROM "job_submissions" s
JOIN "batch_jobs" j ON j.job_id = s.job_id AND j.submission_no = s.submission_no
CROSS JOIN LATERAL jsonb_array_elements(s.quote -> 'lines') line
WHERE s.accepted AND j.admitted_at IS NOT NULL
GROUP BY 1, 2, 3;

-- From when a batch was accepted and ended, which is all that is known of the past: the provider's own queue counts as
-- running there. greatest and least pass over what is null.
WITH "known" AS (
  SELECT s.job_id, s.shard, s.created_at AS began_at, m.accepted_at, m.ended_at AS computed_at,
    CASE WHEN s.state = 'settled' THEN coalesce(s.settled_at, now()) END AS over_at
  FROM "batch_shards" s
  LEFT JOIN "batch_provider_metadata" m ON m.job_id = s.job_id AND m.shard = s.shard AND m.attempt = s.attempt
  WHERE s.state <> 'superseded'
  UNION ALL
  SELECT j.job_id, 0, j.admitted_at, min(m.accepted_at),
    CASE WHEN j.completed_at IS NOT NULL OR j.state = 'finalizing' THEN max(m.ended_at) END, j.completed_at
  FROM "batch_jobs" j
  LEFT JOIN "batch_provider_metadata" m ON m.job_id = j.job_id
  WHERE j.admitted_at IS NOT NULL
  GROUP BY j.job_id
),
"ordered" AS (
  SELECT job_id, shard, began_at, over_at,
    CASE WHEN accepted_at IS NOT NULL OR over_at IS NOT NULL
      THEN greatest(began_at, least(coalesce(accepted_at, over_at), over_at)) END AS ran_at,
    CASE WHEN computed_at IS NOT NULL OR over_at IS NOT NULL
      THEN greatest(began_at, least(coalesce(accepted_at, over_at), over_at), least(coalesce(computed_at, over_at), over_at)) END AS computed_at
  FROM "known"
)
INSERT INTO "stage_times" ("job_id", "shard", "stage", "since", "queued_ms", "running_ms", "finalizing_ms", "ended_at")
SELECT job_id, shard,
  CASE WHEN over_at IS NOT NULL THEN NULL WHEN computed_at IS NOT NULL THEN 'finalizing' WHEN ran_at IS NOT NULL THEN 'running' ELSE 'queued' END,
  coalesce(over_at, computed_at, ran_at, began_at),
  coalesce(round(1000 * extract(epoch FROM ran_at - began_at)), 0),
  coalesce(round(1000 * extract(epoch FROM computed_at - ran_at)), 0),
  coalesce(round(1000 * extract(epoch FROM over_at - computed_at)), 0),
  over_at
FROM "ordered";

INSERT INTO "refusal_rollups" ("tenant_id", "day", "project_id", "customer_id", "api_key_id", "endpoint", "requested_model", "code", "submissions", "items")
SELECT j.tenant_id, (s.created_at AT TIME ZONE 'UTC')::date, coalesce(j.project_id, ''), coalesce(j.customer_id, ''), j.api_key_id,
  j.endpoint, j.requested_model, s.refusal ->> 'error', count(*), sum((s.refusal ->> 'details_count')::bigint)
FROM "job_submissions" s
JOIN "batch_jobs" j ON j.job_id = s.job_id
WHERE NOT s.accepted AND s.refusal IS NOT NULL
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
