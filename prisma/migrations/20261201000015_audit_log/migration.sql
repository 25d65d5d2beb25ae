-- Who did what, to whom and when.
CREATE TABLE "audit_log" (
  "entry_no" BIGINT GENERATED ALWAYS AS IDENTITY,
  "act" TEXT NOT NULL,
  -- The id of a key, or 'gateway'.
  "actor" TEXT NOT NULL,
  "tenant_id" TEXT,
  "subject" TEXT,
  -- Ids, counts, names of fields and closed words.
  "details" JSONB NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "audit_log_pkey" PRIMARY KEY ("entry_no")
);
CREATE INDEX "audit_log_tenant_id_entry_no_idx" ON "audit_log" ("tenant_id", "entry_no");
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "audit_log" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "audit_log" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
