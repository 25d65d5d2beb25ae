-- What admins may set about models: aliases with several targets, allow-lists, prices and capabilities of their own.

-- An alias named one model, `provider/model` or a plain id; now it names targets in order. Plain ids were those of the
-- price book, whose families tell the provider. What was no text stood for nothing.
UPDATE "tenants" SET "aliases" = coalesce((
  SELECT jsonb_object_agg("old"."alias", jsonb_build_array(jsonb_build_object(
    'provider', CASE
      WHEN "old"."is_qualified" THEN split_part("old"."name", '/', 1)
      WHEN "old"."name" LIKE 'claude%' THEN 'anthropic'
      WHEN "old"."name" LIKE 'gemini%' THEN 'gemini'
      ELSE 'openai'
    END,
    'model', CASE WHEN "old"."is_qualified" THEN substr("old"."name", strpos("old"."name", '/') + 1) ELSE "old"."name" END,
    'region', NULL,
    'weight', NULL)))
  FROM (
    SELECT "key" AS "alias", "value" #>> '{}' AS "name", "value" #>> '{}' ~ '^(openai|anthropic|gemini)/.' AS "is_qualified"
    FROM jsonb_each(CASE jsonb_typeof("aliases") WHEN 'object' THEN "aliases" ELSE '{}' END)
    WHERE jsonb_typeof("value") = 'string'
  ) "old"
), '{}') WHERE "aliases" <> '{}';

-- NULL allows all. An empty list would allow nothing, which is what suspension is for.
ALTER TABLE "tenants"
  ADD COLUMN "allowed_models" TEXT[],
  ADD COLUMN "allowed_providers" TEXT[],
  ADD CONSTRAINT "tenants_allowed_models_check" CHECK (cardinality("allowed_models") > 0),
  ADD CONSTRAINT "tenants_allowed_providers_check" CHECK (cardinality("allowed_providers") > 0);
ALTER TABLE "api_keys"
  ADD COLUMN "allowed_models" TEXT[],
  ADD COLUMN "allowed_providers" TEXT[],
  ADD CONSTRAINT "api_keys_allowed_models_check" CHECK (cardinality("allowed_models") > 0),
  ADD CONSTRAINT "api_keys_allowed_providers_check" CHECK (cardinality("allowed_providers") > 0);

-- Targets of the job's model that could not run it, and why.
ALTER TABLE "job_submissions" ADD COLUMN "rejected_targets" JSONB NOT NULL DEFAULT '[]';

-- Append-only but for their withdrawal, so that what held at any moment can be told. A null tenant is every tenant.
CREATE TABLE "price_overrides" (
  "override_id" TEXT NOT NULL,
  "tenant_id" TEXT,
  "provider" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "from_day" DATE NOT NULL,
  "row" JSONB NOT NULL,
  "reason" TEXT NOT NULL,
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "withdrawn_by" TEXT,
  "withdrawn_at" TIMESTAMPTZ(3),
  CONSTRAINT "price_overrides_pkey" PRIMARY KEY ("override_id"),
  CONSTRAINT "price_overrides_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "price_overrides_withdrawn_check" CHECK (("withdrawn_by" IS NULL) = ("withdrawn_at" IS NULL))
);
CREATE INDEX "price_overrides_tenant_id_idx" ON "price_overrides" ("tenant_id");

CREATE TABLE "capability_overrides" (
  "override_id" TEXT NOT NULL,
  "tenant_id" TEXT,
  "provider" TEXT NOT NULL,
  "endpoint" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "feature" TEXT,
  "is_allowed" BOOLEAN NOT NULL,
  "reason" TEXT NOT NULL,
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "withdrawn_by" TEXT,
  "withdrawn_at" TIMESTAMPTZ(3),
  CONSTRAINT "capability_overrides_pkey" PRIMARY KEY ("override_id"),
  CONSTRAINT "capability_overrides_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "capability_overrides_withdrawn_check" CHECK (("withdrawn_by" IS NULL) = ("withdrawn_at" IS NULL))
);
CREATE INDEX "capability_overrides_tenant_id_idx" ON "capability_overrides" ("tenant_id");

CREATE FUNCTION "refuse_all_but_withdrawal"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.withdrawn_at IS NULL AND NEW.withdrawn_at IS NOT NULL
    AND to_jsonb(OLD) - 'withdrawn_at' - 'withdrawn_by' = to_jsonb(NEW) - 'withdrawn_at' - 'withdrawn_by' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% is append-only but for a withdrawal', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER "withdrawal_only" BEFORE UPDATE ON "price_overrides" FOR EACH ROW EXECUTE FUNCTION refuse_all_but_withdrawal();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "price_overrides" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "price_overrides" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "withdrawal_only" BEFORE UPDATE ON "capability_overrides" FOR EACH ROW EXECUTE FUNCTION refuse_all_but_withdrawal();
CREATE TRIGGER "no_delete" BEFORE DELETE ON "capability_overrides" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "capability_overrides" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
