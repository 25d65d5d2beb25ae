-- Who bears what a job cost above its hold, what an operator gives back, and what a provider's invoice corrects.

ALTER TABLE "tenants" ADD COLUMN "overage_policy" TEXT NOT NULL DEFAULT 'charge',
  ADD CONSTRAINT "tenants_overage_policy_check" CHECK ("overage_policy" IN ('charge', 'cap', 'suspend'));

-- The tenant's policy as it was when the job was accepted; amount and outcome are those of the job's end.
ALTER TABLE "batch_jobs" ADD COLUMN "overage_policy" TEXT,
  ADD COLUMN "overage_amount" DECIMAL(38,12),
  ADD COLUMN "overage_outcome" TEXT,
  ADD CONSTRAINT "batch_jobs_overage_policy_check" CHECK ("overage_policy" IN ('charge', 'cap', 'suspend')),
  ADD CONSTRAINT "batch_jobs_overage_outcome_check" CHECK ("overage_outcome" IN ('charged', 'absorbed', 'suspended')),
  ADD CONSTRAINT "batch_jobs_overage_check" CHECK (("overage_amount" IS NULL) = ("overage_outcome" IS NULL));

-- Jobs that ended before: their overage was charged.
UPDATE "batch_jobs" SET "overage_policy" = 'charge' WHERE "admitted_at" IS NOT NULL;
UPDATE "batch_jobs" SET "overage_amount" = "settled_amount" - "reserved_amount", "overage_outcome" = 'charged'
WHERE "completed_at" IS NOT NULL AND "settled_amount" > "reserved_amount";

-- Whose money an entry is about: what the tenant is charged, or what the gateway itself bears.
ALTER TABLE "ledger_entries" ADD COLUMN "account" TEXT NOT NULL DEFAULT 'tenant',
  ADD CONSTRAINT "ledger_entries_account_check" CHECK ("account" IN ('tenant', 'gateway'));

-- Given back of what the item was charged; its charge itself stays as it was settled.
ALTER TABLE "batch_items" ADD COLUMN "refunded_amount" DECIMAL(38,12) NOT NULL DEFAULT 0;

-- A scope that may start nothing new because a job of it cost more than was held, until an admin lifts it.
CREATE TABLE "spending_suspensions" (
  "suspension_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "scope" TEXT NOT NULL,
  "scope_id" TEXT NOT NULL,
  "job_id" UUID NOT NULL,
  "overage_amount" DECIMAL(38,12) NOT NULL,
  "currency" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "lifted_at" TIMESTAMPTZ(3),
  "lifted_by" TEXT,
  "lift_reason" TEXT,
  CONSTRAINT "spending_suspensions_pkey" PRIMARY KEY ("suspension_id"),
  CONSTRAINT "spending_suspensions_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "spending_suspensions_scope_check" CHECK ("scope" IN ('tenant', 'project', 'customer')),
  CONSTRAINT "spending_suspensions_lifted_check" CHECK (("lifted_at" IS NULL) = ("lifted_by" IS NULL))
);
CREATE UNIQUE INDEX "spending_suspensions_job_id_scope_scope_id_key" ON "spending_suspensions" ("job_id", "scope", "scope_id");
CREATE INDEX "spending_suspensions_tenant_id_idx" ON "spending_suspensions" ("tenant_id");

-- What an invoice said of a batch, against what the ledger had charged for it. Once for each batch and invoice.
CREATE TABLE "provider_adjustments" (
  "provider" TEXT NOT NULL,
  "provider_batch_id" TEXT NOT NULL,
  "invoice" TEXT NOT NULL,
  "job_id" UUID NOT NULL,
  "shard" INTEGER NOT NULL,
  "attempt" INTEGER NOT NULL,
  "ordinal" INTEGER NOT NULL,
  "billed_amount" DECIMAL(38,12) NOT NULL,
  "charged_amount" DECIMAL(38,12) NOT NULL,
  "amount" DECIMAL(38,12) NOT NULL,
  "currency" TEXT NOT NULL,
  "account" TEXT NOT NULL,
  "actor" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "provider_adjustments_pkey" PRIMARY KEY ("provider", "provider_batch_id", "invoice"),
  CONSTRAINT "provider_adjustments_account_check" CHECK ("account" IN ('tenant', 'gateway')),
  CONSTRAINT "provider_adjustments_amount_check" CHECK ("amount" = "billed_amount" - "charged_amount" AND "amount" <> 0)
);
CREATE UNIQUE INDEX "provider_adjustments_job_id_ordinal_key" ON "provider_adjustments" ("job_id", "ordinal");
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "provider_adjustments" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "provider_adjustments" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
