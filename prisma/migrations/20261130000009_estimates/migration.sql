-- What estimates are made of beside the items: a tenant's safety margin, and how long its earlier replies were.

-- A decimal part of the estimate that is held on top of it.
ALTER TABLE "tenants" ADD COLUMN "estimate_margin" DECIMAL(7,6) NOT NULL DEFAULT 0.10,
  ADD CONSTRAINT "tenants_estimate_margin_check" CHECK ("estimate_margin" BETWEEN 0 AND 5);

-- Replies to requests without a cap: a count for each floor(log2(output tokens)), 0 to 31. Counts are halved before more
-- are added to many, so that what happened lately weighs most.
CREATE TABLE "output_history" (
  "tenant_id" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "endpoint" TEXT NOT NULL,
  "reasons" BOOLEAN NOT NULL,
  "classes" BIGINT[] NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "output_history_pkey" PRIMARY KEY ("tenant_id", "endpoint", "provider", "model", "reasons"),
  CONSTRAINT "output_history_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "output_history_classes_check" CHECK (cardinality("classes") = 32)
);
