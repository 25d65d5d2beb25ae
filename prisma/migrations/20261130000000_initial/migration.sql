-- Who may ask, and for whom.

CREATE TABLE "tenants" (
  "tenant_id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "currency" TEXT NOT NULL DEFAULT 'USD',
  "time_zone" TEXT NOT NULL DEFAULT 'UTC',
  "policy" JSONB NOT NULL DEFAULT '{}',
  "aliases" JSONB NOT NULL DEFAULT '{}',
  "suspended_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "tenants_pkey" PRIMARY KEY ("tenant_id")
);

CREATE TABLE "projects" (
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "projects_pkey" PRIMARY KEY ("tenant_id", "project_id"),
  CONSTRAINT "projects_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE "customers" (
  "tenant_id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "suspended_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "customers_pkey" PRIMARY KEY ("tenant_id", "customer_id"),
  CONSTRAINT "customers_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE
);

-- A key is random and 256 bits wide, so a plain SHA-256 of it cannot be guessed backwards.
CREATE TABLE "api_keys" (
  "key_id" TEXT NOT NULL,
  "tenant_id" TEXT,
  "role" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "prefix" TEXT NOT NULL,
  "key_hash" BYTEA NOT NULL,
  "scopes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  "expires_at" TIMESTAMPTZ(3),
  "revoked_at" TIMESTAMPTZ(3),
  "last_used_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "api_keys_pkey" PRIMARY KEY ("key_id"),
  CONSTRAINT "api_keys_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "api_keys_role_check" CHECK ("role" IN ('tenant_admin', 'project', 'customer', 'operator', 'gateway_admin')),
  CONSTRAINT "api_keys_tenant_check" CHECK (("tenant_id" IS NULL) = ("role" IN ('operator', 'gateway_admin')))
);
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys" ("key_hash");
CREATE INDEX "api_keys_tenant_id_idx" ON "api_keys" ("tenant_id");

-- Money: limits, what is held and settled of each, and the hold of each submission.

CREATE TABLE "budgets" (
  "budget_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "scope" TEXT NOT NULL,
  "scope_id" TEXT NOT NULL,
  "period" TEXT NOT NULL,
  "limit_amount" DECIMAL(38,12) NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "budgets_pkey" PRIMARY KEY ("budget_id"),
  CONSTRAINT "budgets_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "budgets_scope_check" CHECK ("scope" IN ('tenant', 'project', 'customer')),
  CONSTRAINT "budgets_period_check" CHECK ("period" IN ('total', 'month')),
  CONSTRAINT "budgets_limit_check" CHECK ("limit_amount" >= 0)
);
CREATE UNIQUE INDEX "budgets_tenant_id_scope_scope_id_period_key" ON "budgets" ("tenant_id", "scope", "scope_id", "period");

CREATE TABLE "budget_periods" (
  "budget_id" TEXT NOT NULL,
  "period_start" DATE NOT NULL,
  "held" DECIMAL(38,12) NOT NULL DEFAULT 0,
  "settled" DECIMAL(38,12) NOT NULL DEFAULT 0,
  CONSTRAINT "budget_periods_pkey" PRIMARY KEY ("budget_id", "period_start"),
  CONSTRAINT "budget_periods_budget_id_fkey" FOREIGN KEY ("budget_id") REFERENCES "budgets" ("budget_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "budget_periods_held_check" CHECK ("held" >= 0)
);

-- One per scope and period the job's money belongs to, also where no budget limits it (then budget_id is null).
CREATE TABLE "holds" (
  "job_id" UUID NOT NULL,
  "submission_no" INTEGER NOT NULL,
  "scope" TEXT NOT NULL,
  "period" TEXT NOT NULL,
  "budget_id" TEXT,
  "period_start" DATE NOT NULL,
  "amount" DECIMAL(38,12) NOT NULL,
  "drawn" DECIMAL(38,12) NOT NULL DEFAULT 0,
  "released" DECIMAL(38,12),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "released_at" TIMESTAMPTZ(3),
  CONSTRAINT "holds_pkey" PRIMARY KEY ("job_id", "submission_no", "scope", "period"),
  CONSTRAINT "holds_drawn_check" CHECK ("drawn" >= 0 AND "drawn" <= "amount"),
  CONSTRAINT "holds_released_check" CHECK ("released" IS NULL OR ("released" >= 0 AND "drawn" + "released" = "amount"))
);
CREATE INDEX "holds_budget_id_idx" ON "holds" ("budget_id");

-- Jobs and the small rows about them.

CREATE TABLE "batch_jobs" (
  "job_id" UUID NOT NULL,
  "bucket" INTEGER NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "api_key_id" TEXT NOT NULL,
  "endpoint" TEXT NOT NULL,
  "requested_model" TEXT NOT NULL,
  "resolved_provider" TEXT,
  "resolved_provider_model" TEXT,
  "state" TEXT NOT NULL DEFAULT 'draft',
  "name" TEXT,
  "metadata" JSONB NOT NULL DEFAULT '{}',
  "request_defaults" TEXT,
  "execution" JSONB NOT NULL DEFAULT '{}',
  "max_cost" DECIMAL(38,12),
  "currency" TEXT NOT NULL,
  "submission_no" INTEGER NOT NULL DEFAULT 0,
  "admitted_at" TIMESTAMPTZ(3),
  "manifest_no" INTEGER NOT NULL DEFAULT 1,
  "first_item_no" INTEGER NOT NULL DEFAULT 1,
  "item_count" INTEGER NOT NULL DEFAULT 0,
  "item_bytes" BIGINT NOT NULL DEFAULT 0,
  "estimated_input_tokens" BIGINT,
  "estimated_output_tokens" BIGINT,
  "estimated_amount" DECIMAL(38,12),
  "reserved_amount" DECIMAL(38,12),
  "settled_amount" DECIMAL(38,12),
  "price_book_version" TEXT,
  "waiting_reason" TEXT,
  "waiting_since" TIMESTAMPTZ(3),
  "error" JSONB,
  "refusal" JSONB,
  "cancel_requested_at" TIMESTAMPTZ(3),
  "cancel_requested_by" TEXT,
  "cancel_reason" TEXT,
  "cancel_outcome" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "submitted_at" TIMESTAMPTZ(3),
  "completed_at" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3),
  "retrieval_deadline" TIMESTAMPTZ(3),
  "content_deleted_at" TIMESTAMPTZ(3),
  "request_body_deleted_at" TIMESTAMPTZ(3),
  CONSTRAINT "batch_jobs_pkey" PRIMARY KEY ("job_id"),
  CONSTRAINT "batch_jobs_state_check" CHECK ("state" IN ('draft', 'validating', 'queued', 'running', 'finalizing', 'completed',
    'completed_with_errors', 'expired', 'cancel_requested', 'cancelled', 'failed'))
);
CREATE INDEX "batch_jobs_tenant_id_created_at_job_id_idx" ON "batch_jobs" ("tenant_id", "created_at" DESC, "job_id" DESC);
CREATE INDEX "batch_jobs_metadata_idx" ON "batch_jobs" USING GIN ("metadata" jsonb_path_ops);
CREATE INDEX "batch_jobs_open_idx" ON "batch_jobs" ("submitted_at")
  WHERE "state" IN ('validating', 'queued', 'running', 'finalizing', 'cancel_requested');

-- What a submission was answered, kept for retries, replays and the quote.
CREATE TABLE "job_submissions" (
  "job_id" UUID NOT NULL,
  "submission_no" INTEGER NOT NULL,
  "accepted" BOOLEAN NOT NULL,
  "refusal" JSONB,
  "quote" JSONB,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "job_submissions_pkey" PRIMARY KEY ("job_id", "submission_no")
);

-- Items of one kind, counted at append, so that a verdict need not read a million bodies.
CREATE TABLE "job_item_groups" (
  "job_id" UUID NOT NULL,
  "manifest_no" INTEGER NOT NULL,
  "requested_model" TEXT NOT NULL,
  "features" INTEGER NOT NULL,
  "token_class" INTEGER NOT NULL,
  "items" INTEGER NOT NULL,
  "bytes" BIGINT NOT NULL,
  "largest_bytes" INTEGER NOT NULL,
  "input_tokens" BIGINT NOT NULL,
  "output_tokens" BIGINT NOT NULL,
  "uncapped_items" INTEGER NOT NULL,
  CONSTRAINT "job_item_groups_pkey" PRIMARY KEY ("job_id", "manifest_no", "requested_model", "features", "token_class")
);

-- The one hot row of a job: the settle transaction locks it first and numbers results from it.
CREATE TABLE "job_progress" (
  "job_id" UUID NOT NULL,
  "completed" INTEGER NOT NULL DEFAULT 0,
  "failed" INTEGER NOT NULL DEFAULT 0,
  "expired" INTEGER NOT NULL DEFAULT 0,
  "cancelled" INTEGER NOT NULL DEFAULT 0,
  "retries" INTEGER NOT NULL DEFAULT 0,
  "failures" JSONB NOT NULL DEFAULT '{}',
  "last_seq" INTEGER NOT NULL DEFAULT 0,
  "settled_amount" DECIMAL(38,12) NOT NULL DEFAULT 0,
  "unmatched_lines" INTEGER NOT NULL DEFAULT 0,
  "warnings" JSONB NOT NULL DEFAULT '[]',
  "provider_completed" INTEGER,
  "provider_failed" INTEGER,
  "progress_as_of" TIMESTAMPTZ(3),
  "estimated_completion_at" TIMESTAMPTZ(3),
  CONSTRAINT "job_progress_pkey" PRIMARY KEY ("job_id")
) WITH (fillfactor = 50);

-- A shard is a range of item numbers of one model; an unsettled item's state is its shard's.
CREATE TABLE "batch_shards" (
  "job_id" UUID NOT NULL,
  "shard" INTEGER NOT NULL,
  "first_item_no" INTEGER NOT NULL,
  "last_item_no" INTEGER NOT NULL,
  "requested_model" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "provider_model" TEXT NOT NULL,
  "item_count" INTEGER NOT NULL,
  "byte_count" BIGINT NOT NULL,
  "state" TEXT NOT NULL DEFAULT 'planned',
  "attempt" INTEGER NOT NULL DEFAULT 0,
  "waiting_reason" TEXT,
  "waiting_since" TIMESTAMPTZ(3),
  "next_poll_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "settled_at" TIMESTAMPTZ(3),
  CONSTRAINT "batch_shards_pkey" PRIMARY KEY ("job_id", "shard")
);

-- Every attempt to have a provider run a shard. Append-only in its identity: a second create is a second row.
CREATE TABLE "batch_provider_metadata" (
  "job_id" UUID NOT NULL,
  "shard" INTEGER NOT NULL,
  "attempt" INTEGER NOT NULL,
  "attempt_no" BIGINT GENERATED ALWAYS AS IDENTITY,
  "attempt_token" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "provider_batch_id" TEXT,
  "input_file_id" TEXT,
  "output_file_id" TEXT,
  "error_file_id" TEXT,
  "operation_name" TEXT,
  "endpoint" TEXT NOT NULL,
  "region" TEXT,
  "credential_id" TEXT NOT NULL,
  "native_status" TEXT,
  "native_request_counts" JSONB,
  "native_errors" JSONB,
  "last_polled_at" TIMESTAMPTZ(3),
  "poll_count" INTEGER NOT NULL DEFAULT 0,
  "raw_error_pointer" TEXT,
  "item_count" INTEGER NOT NULL,
  "create_started_at" TIMESTAMPTZ(3),
  "create_deadline" TIMESTAMPTZ(3),
  "create_outcome" TEXT,
  "accepted_at" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3),
  "ended_at" TIMESTAMPTZ(3),
  "batch_end" TEXT,
  "progress_completed" INTEGER,
  "progress_failed" INTEGER,
  "closed_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "batch_provider_metadata_pkey" PRIMARY KEY ("job_id", "shard", "attempt"),
  CONSTRAINT "batch_provider_metadata_create_outcome_check" CHECK ("create_outcome" IN ('accepted', 'refused', 'not_found', 'not_sent'))
);
CREATE UNIQUE INDEX "batch_provider_metadata_attempt_token_key" ON "batch_provider_metadata" ("attempt_token");
CREATE UNIQUE INDEX "batch_provider_metadata_attempt_no_key" ON "batch_provider_metadata" ("attempt_no");
CREATE UNIQUE INDEX "batch_provider_metadata_provider_provider_batch_id_key" ON "batch_provider_metadata" ("provider", "provider_batch_id");
-- How long past batches took, for the learned expected end.
CREATE INDEX "batch_provider_metadata_ended_idx" ON "batch_provider_metadata" ("provider", "endpoint", "ended_at" DESC) WHERE "batch_end" = 'completed';

-- Bulk tables. One level of partitions by "bucket", the month of the job id's own time (yyyymm). No foreign keys:
-- they cost 18 to 50 % of COPY; lock order and `ledger verify` keep integrity.

CREATE TABLE "batch_items" (
  "bucket" INTEGER NOT NULL,
  "job_id" UUID NOT NULL,
  "item_no" INTEGER NOT NULL,
  "manifest_no" INTEGER NOT NULL,
  "item_attempt" SMALLINT NOT NULL DEFAULT 1,
  "item_id" UUID NOT NULL DEFAULT uuidv7(),
  "custom_id" TEXT COLLATE "C" NOT NULL,
  "idempotency_key" TEXT COLLATE "C",
  "request_hash" BYTEA NOT NULL,
  "request_bytes" INTEGER NOT NULL,
  "requested_model" TEXT,
  "features" INTEGER NOT NULL,
  "estimated_tokens" INTEGER NOT NULL,
  "estimated_output_tokens" INTEGER NOT NULL,
  "embedding_inputs" INTEGER NOT NULL DEFAULT 0,
  "retry_of_item_id" UUID,
  "retried_by_item_id" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  -- Settlement. Fixed widths from the start, so that settling is an in-page update.
  "state" SMALLINT NOT NULL DEFAULT 0,
  "actual_input_tokens" BIGINT NOT NULL DEFAULT 0,
  "actual_output_tokens" BIGINT NOT NULL DEFAULT 0,
  "settled_amount" DECIMAL(38,12) NOT NULL DEFAULT 0,
  "settled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT 'epoch',
  "error_code" TEXT NOT NULL DEFAULT '',
  "result_pointer" TEXT,
  CONSTRAINT "batch_items_pkey" PRIMARY KEY ("job_id", "item_no", "bucket")
) PARTITION BY LIST ("bucket");
CREATE UNIQUE INDEX "batch_items_custom_id_key" ON "batch_items" ("job_id", "manifest_no", "custom_id", "item_attempt", "bucket");
CREATE UNIQUE INDEX "batch_items_idempotency_key_key" ON "batch_items" ("job_id", "manifest_no", "idempotency_key", "bucket") WHERE "idempotency_key" IS NOT NULL;

CREATE TABLE "item_requests" (
  "bucket" INTEGER NOT NULL,
  "job_id" UUID NOT NULL,
  "item_no" INTEGER NOT NULL,
  "body" TEXT NOT NULL,
  CONSTRAINT "item_requests_pkey" PRIMARY KEY ("job_id", "item_no", "bucket")
) PARTITION BY LIST ("bucket");

-- The gate of settlement: a row here is an item's one final outcome. Never deleted, never updated.
CREATE TABLE "item_outcomes" (
  "bucket" INTEGER NOT NULL,
  "job_id" UUID NOT NULL,
  "item_no" INTEGER NOT NULL,
  "seq" INTEGER NOT NULL,
  "shard" INTEGER NOT NULL,
  "attempt" INTEGER NOT NULL,
  "state" SMALLINT NOT NULL,
  "failure_class" TEXT NOT NULL,
  "error_code" TEXT NOT NULL,
  "input_tokens" BIGINT NOT NULL,
  "cached_input_tokens" BIGINT NOT NULL,
  "cache_write_tokens" BIGINT NOT NULL,
  "long_cache_write_tokens" BIGINT NOT NULL,
  "output_tokens" BIGINT NOT NULL,
  "reasoning_tokens" BIGINT NOT NULL,
  "usage_estimated" BOOLEAN NOT NULL,
  "amount" DECIMAL(38,12) NOT NULL,
  "model" TEXT NOT NULL,
  "response_hash" BYTEA,
  "settled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "written_by" xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT "item_outcomes_pkey" PRIMARY KEY ("job_id", "item_no", "bucket")
) PARTITION BY LIST ("bucket");
CREATE UNIQUE INDEX "item_outcomes_seq_key" ON "item_outcomes" ("job_id", "seq", "bucket");

-- Content of an outcome, apart from it so that deleting content never touches the accounts.
CREATE TABLE "item_results" (
  "bucket" INTEGER NOT NULL,
  "job_id" UUID NOT NULL,
  "item_no" INTEGER NOT NULL,
  "body" TEXT,
  "error_message" TEXT,
  "native_error" TEXT,
  CONSTRAINT "item_results_pkey" PRIMARY KEY ("job_id", "item_no", "bucket")
) PARTITION BY LIST ("bucket");

-- Every movement of money. subject_id is a job's (later a task's or document run's) id; item_no 0 is the subject itself.
CREATE TABLE "ledger_entries" (
  "bucket" INTEGER NOT NULL,
  "subject_id" UUID NOT NULL,
  "item_no" INTEGER NOT NULL,
  "event" TEXT NOT NULL,
  "ordinal" INTEGER NOT NULL,
  "amount" DECIMAL(38,12) NOT NULL,
  "actor" TEXT NOT NULL,
  "cause" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "written_by" xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT "ledger_entries_pkey" PRIMARY KEY ("subject_id", "item_no", "event", "ordinal", "bucket")
) PARTITION BY LIST ("bucket");

CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

-- Lines as a provider sent them, decoded and priced, before they settle. Unlogged: lost in a crash, downloaded again.
CREATE UNLOGGED TABLE "result_stage" (
  "attempt_no" BIGINT NOT NULL,
  "item_no" INTEGER NOT NULL,
  "rank" SMALLINT NOT NULL,
  "file" SMALLINT NOT NULL,
  "line" INTEGER NOT NULL,
  "state" SMALLINT NOT NULL,
  "failure_class" TEXT NOT NULL,
  "error_code" TEXT NOT NULL,
  "input_tokens" BIGINT NOT NULL,
  "cached_input_tokens" BIGINT NOT NULL,
  "cache_write_tokens" BIGINT NOT NULL,
  "long_cache_write_tokens" BIGINT NOT NULL,
  "output_tokens" BIGINT NOT NULL,
  "reasoning_tokens" BIGINT NOT NULL,
  "usage_estimated" BOOLEAN NOT NULL,
  "amount" DECIMAL(38,12) NOT NULL,
  "model" TEXT NOT NULL,
  "response_hash" BYTEA,
  "body" TEXT,
  "error_message" TEXT,
  "native_error" TEXT,
  CONSTRAINT "result_stage_pkey" PRIMARY KEY ("attempt_no", "item_no", "rank", "file", "line")
);

-- Lines that belong to no item of the batch they came in: visible, never charged.
CREATE TABLE "unmatched_lines" (
  "job_id" UUID NOT NULL,
  "shard" INTEGER NOT NULL,
  "attempt" INTEGER NOT NULL,
  "file" SMALLINT NOT NULL,
  "line" INTEGER NOT NULL,
  "reason" TEXT NOT NULL,
  "provider_item_id" TEXT,
  "raw" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "unmatched_lines_pkey" PRIMARY KEY ("job_id", "shard", "attempt", "file", "line")
);

-- What happened, told to clients, and what a POST was answered.

CREATE TABLE "events" (
  "event_no" BIGINT GENERATED ALWAYS AS IDENTITY,
  "event_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "job_id" UUID,
  "type" TEXT NOT NULL,
  "data" JSONB NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "events_pkey" PRIMARY KEY ("event_id")
);
CREATE UNIQUE INDEX "events_event_no_key" ON "events" ("event_no");
CREATE INDEX "events_job_id_event_no_idx" ON "events" ("job_id", "event_no");

CREATE TABLE "idempotency_keys" (
  "owner" TEXT NOT NULL,
  "route" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "content_hash" BYTEA NOT NULL,
  "response_status" INTEGER,
  "response_body" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("owner", "route", "key")
);
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys" ("created_at");

-- Partitions are created beside their parent and attached, a month ahead: CREATE … PARTITION OF would wait behind inserts.
CREATE FUNCTION "ensure_partitions"("wanted_bucket" INTEGER) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  parent TEXT;
  leaf TEXT;
  owner TEXT;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('batchgate.ensure_partitions'));
  FOREACH parent IN ARRAY ARRAY['batch_items', 'item_requests', 'item_outcomes', 'item_results', 'ledger_entries'] LOOP
    leaf := parent || '_' || wanted_bucket;
    CONTINUE WHEN to_regclass(leaf) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', leaf, parent);
    -- A sample never knows the newest job, and would tell the planner that it has no rows: without one it assumes many.
    owner := CASE parent WHEN 'ledger_entries' THEN 'subject_id' ELSE 'job_id' END;
    EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STATISTICS 0', leaf, owner);
    IF parent = 'batch_items' THEN
      EXECUTE format('ALTER TABLE %I SET (fillfactor = 50)', leaf);
    END IF;
    IF parent IN ('ledger_entries', 'item_outcomes') THEN
      EXECUTE format('CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', leaf);
      EXECUTE format('CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', leaf);
    END IF;
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK ("bucket" = %s)', leaf, leaf || '_bucket', wanted_bucket);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES IN (%s)', parent, leaf, wanted_bucket);
  END LOOP;
END
$$;
