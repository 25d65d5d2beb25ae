-- The second lock between tenants: the api speaks as one of two roles that own nothing, and sees the rows that policies let
-- through. `batchgate_api` is for one tenant at a time, the one that the setting batchgate.tenant_id names; without it, for
-- none. `batchgate_operator` is for calls of the gateway's own keys, which are for all tenants. The worker and whoever
-- migrates own the tables, and no policy holds them.

-- Roles belong to the whole server, which may hold several gateways, and may have been made by an administrator.
DO $$
DECLARE
  wanted TEXT;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['batchgate_api', 'batchgate_operator'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXCEPTION
        WHEN duplicate_object OR unique_violation THEN
          -- A migration of another database was faster.
          NULL;
      END;
    END IF;
    IF NOT pg_has_role(current_user, wanted, 'SET') THEN
      EXECUTE format('GRANT %I TO CURRENT_USER WITH INHERIT FALSE, SET TRUE', wanted);
    END IF;
  END LOOP;
EXCEPTION
  WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'the login role % may not make the roles of the api. Let an administrator run: CREATE ROLE batchgate_api NOLOGIN; CREATE ROLE batchgate_operator NOLOGIN; GRANT batchgate_api, batchgate_operator TO %; (leave out the roles that exist), then migrate again', current_user, quote_ident(current_user)
      USING ERRCODE = 'insufficient_privilege';
END
$$;

DO $$
BEGIN
  -- For the tables that a call stages its items in.
  EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO batchgate_api, batchgate_operator', current_database());
END
$$;
GRANT USAGE ON SCHEMA public TO batchgate_api, batchgate_operator;

-- Who a key speaks for is asked before it is known whose rows may be seen. Nothing else goes past the policies.
CREATE FUNCTION find_principal(wanted_hash BYTEA, asked_at TIMESTAMPTZ, used_before TIMESTAMPTZ)
RETURNS TABLE (key_id TEXT, role TEXT, tenant_id TEXT, project_id TEXT, customer_id TEXT, scopes TEXT[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  found_key RECORD;
BEGIN
  SELECT * INTO found_key FROM api_keys k
  WHERE k.key_hash = wanted_hash AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > asked_at);
  IF found_key IS NULL THEN
    RETURN;
  END IF;
  IF found_key.last_used_at IS NULL OR found_key.last_used_at <= used_before THEN
    UPDATE api_keys k SET last_used_at = asked_at
    WHERE k.key_id = found_key.key_id AND (k.last_used_at IS NULL OR k.last_used_at <= used_before);
  END IF;
  RETURN QUERY SELECT found_key.key_id, found_key.role, found_key.tenant_id, found_key.project_id, found_key.customer_id,
    found_key.scopes;
END
$$;
REVOKE ALL ON FUNCTION find_principal(BYTEA, TIMESTAMPTZ, TIMESTAMPTZ) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_principal(BYTEA, TIMESTAMPTZ, TIMESTAMPTZ) TO batchgate_api, batchgate_operator;

-- Whose a row is, by the kinds of tables there are. Policies of parents hold for what is asked of the parent; leaves have none,
-- and nobody but their owner may read them.
DO $$
DECLARE
  named TEXT;
  mine CONSTANT TEXT := 'current_setting(''batchgate.tenant_id'', true)';
BEGIN
  FOREACH named IN ARRAY ARRAY['api_keys', 'audit_log', 'batch_jobs', 'batch_schedules', 'budgets', 'customers', 'direct_webhooks',
    'events', 'output_history', 'projects', 'refusal_rollups', 'spending_suspensions', 'tenants', 'webhook_deliveries',
    'webhook_endpoints', 'webhook_secrets'] LOOP
    EXECUTE format('CREATE POLICY "tenant_rows" ON %I TO batchgate_api USING (tenant_id = %s)', named, mine);
  END LOOP;

  -- A row without a tenant is everybody's.
  FOREACH named IN ARRAY ARRAY['capability_overrides', 'price_overrides'] LOOP
    EXECUTE format('CREATE POLICY "tenant_rows" ON %I FOR SELECT TO batchgate_api USING (tenant_id IS NULL OR tenant_id = %s)',
      named, mine);
  END LOOP;

  -- What hangs on a job: the job is looked up under its own policy.
  FOREACH named IN ARRAY ARRAY['batch_items', 'batch_provider_metadata', 'batch_shards', 'holds', 'item_outcomes', 'item_requests',
    'item_results', 'job_estimates', 'job_item_groups', 'job_progress', 'job_rollups', 'job_submissions', 'operator_acts',
    'provider_adjustments', 'retry_waves', 'stage_times', 'unmatched_lines'] LOOP
    EXECUTE format(
      'CREATE POLICY "tenant_rows" ON %1$I TO batchgate_api USING (EXISTS (SELECT FROM batch_jobs j WHERE j.job_id = %1$I.job_id))',
      named);
  END LOOP;
  CREATE POLICY "tenant_rows" ON ledger_entries TO batchgate_api
    USING (EXISTS (SELECT FROM batch_jobs j WHERE j.job_id = ledger_entries.subject_id));

  FOREACH named IN ARRAY ARRAY['budget_alerts', 'budget_periods'] LOOP
    EXECUTE format(
      'CREATE POLICY "tenant_rows" ON %1$I TO batchgate_api USING (EXISTS (SELECT FROM budgets b WHERE b.budget_id = %1$I.budget_id))',
      named);
  END LOOP;
  CREATE POLICY "tenant_rows" ON batch_schedule_runs TO batchgate_api
    USING (EXISTS (SELECT FROM batch_schedules s WHERE s.schedule_id = batch_schedule_runs.schedule_id));
  CREATE POLICY "tenant_rows" ON webhook_attempts TO batchgate_api
    USING (EXISTS (SELECT FROM webhook_deliveries d WHERE d.delivery_id = webhook_attempts.delivery_id));

  -- Its owner is a JSON array that begins with the tenant.
  CREATE POLICY "tenant_rows" ON idempotency_keys TO batchgate_api
    USING (starts_with(owner, '["' || current_setting('batchgate.tenant_id', true) || '",'));

  FOR named IN SELECT DISTINCT tablename FROM pg_policies WHERE schemaname = 'public' AND policyname = 'tenant_rows' LOOP
    EXECUTE format('CREATE POLICY "all_rows" ON %I TO batchgate_operator USING (true)', named);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
  END LOOP;
END
$$;

-- Of the gateway itself, or of no tenant before it is used: for the gateway's own keys alone.
ALTER TABLE "provider_credentials" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_rows" ON "provider_credentials" TO batchgate_operator USING (true);
ALTER TABLE "sweep_findings" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "all_rows" ON "sweep_findings" TO batchgate_operator USING (true);

-- What calls of tenants do. Nothing that is append-only may be changed, and accounts are only read.
GRANT SELECT ON "audit_log", "batch_items", "batch_jobs", "batch_provider_metadata", "batch_schedule_runs", "batch_schedules",
  "batch_shards", "budget_alerts", "budget_periods", "budgets", "capability_overrides", "customers", "direct_webhooks", "events",
  "holds", "item_outcomes", "item_requests", "item_results", "job_estimates", "job_item_groups", "job_progress", "job_rollups",
  "job_submissions", "ledger_entries", "output_history", "price_overrides", "projects", "refusal_rollups", "retry_waves",
  "spending_suspensions", "stage_times", "tenants", "unmatched_lines", "webhook_attempts", "webhook_deliveries",
  "webhook_endpoints", "webhook_secrets", "api_keys", "operator_acts"
  TO batchgate_api;
GRANT INSERT ON "audit_log", "events", "ledger_entries", "batch_schedules", "direct_webhooks", "webhook_deliveries", "webhook_endpoints",
  "webhook_secrets", "batch_jobs", "batch_items", "item_requests", "job_item_groups", "job_progress", "job_submissions"
  TO batchgate_api;
GRANT UPDATE ON "batch_schedules", "webhook_deliveries", "webhook_endpoints", "webhook_secrets", "batch_jobs", "batch_items",
  "job_item_groups", "unmatched_lines" TO batchgate_api;
GRANT DELETE ON "batch_jobs", "batch_items", "item_requests", "item_results", "job_item_groups", "job_progress",
  "job_submissions", "direct_webhooks" TO batchgate_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "idempotency_keys", "rate_limits" TO batchgate_api, batchgate_operator;

-- What calls of the gateway's own keys do.
GRANT SELECT ON ALL TABLES IN SCHEMA public TO batchgate_operator;
REVOKE ALL ON "_prisma_migrations", "result_stage" FROM batchgate_operator;
GRANT INSERT ON "api_keys", "audit_log", "batch_items", "batch_jobs", "batch_schedules", "budget_alerts", "budget_periods", "budgets",
  "capability_overrides", "customers", "direct_webhooks", "events", "item_requests", "job_item_groups", "job_progress",
  "job_rollups", "job_submissions", "ledger_entries", "operator_acts", "price_overrides", "projects", "provider_adjustments",
  "provider_credentials", "provider_webhook_events", "spending_suspensions", "tenants", "webhook_deliveries" TO batchgate_operator;
GRANT UPDATE ON "api_keys", "batch_items", "batch_jobs", "batch_provider_metadata", "batch_schedules", "batch_shards",
  "budget_periods", "budgets", "capability_overrides", "customers", "holds", "job_progress", "job_rollups", "price_overrides",
  "projects", "provider_credentials", "spending_suspensions", "tenants", "webhook_secrets" TO batchgate_operator;

-- COPY may not write to a table under row-level security, so items are copied into the leaves, under the lock of their job's row,
-- which was taken under its policy. Nothing else may be done with a leaf.
DO $$
DECLARE
  leaf REGCLASS;
BEGIN
  FOR leaf IN SELECT inhrelid FROM pg_inherits WHERE inhparent IN ('batch_items'::regclass, 'item_requests'::regclass) LOOP
    EXECUTE format('GRANT INSERT ON %s TO batchgate_api, batchgate_operator', leaf);
  END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION ensure_partitions(wanted_bucket INTEGER) RETURNS void LANGUAGE plpgsql AS $$
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
    IF parent IN ('batch_items', 'item_requests') THEN
      EXECUTE format('GRANT INSERT ON %I TO batchgate_api, batchgate_operator', leaf);
    END IF;
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK ("bucket" = %s)', leaf, leaf || '_bucket', wanted_bucket);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES IN (%s)', parent, leaf, wanted_bucket);
  END LOOP;
END
$$;
