-- What a partner's customer is shown instead of what its tenant pays, and the look-ups of usage exports.

-- Models of the list are sold by it, all others at the tenant's cost and the markup. Replaced as a whole by an admin.
ALTER TABLE "customers"
  ADD COLUMN "markup_percent" DECIMAL(9,4),
  ADD COLUMN "price_list" JSONB NOT NULL DEFAULT '[]',
  ADD COLUMN "pricing_set_by" TEXT,
  ADD COLUMN "pricing_set_at" TIMESTAMPTZ(3),
  ADD CONSTRAINT "customers_markup_percent_check" CHECK ("markup_percent" BETWEEN 0 AND 10000),
  ADD CONSTRAINT "customers_price_list_check" CHECK ("markup_percent" IS NOT NULL OR "price_list" = '[]');

-- The pricing of its submission, kept on the job; null where its customer pays what the tenant does.
ALTER TABLE "batch_jobs"
  ADD COLUMN "customer_pricing" JSONB,
  ADD COLUMN "customer_estimated_amount" DECIMAL(38,12),
  ADD COLUMN "customer_reserved_amount" DECIMAL(38,12);

-- Null says the same as "amount".
ALTER TABLE "result_stage" ADD COLUMN "customer_amount" DECIMAL(38,12);
ALTER TABLE "item_outcomes" ADD COLUMN "customer_amount" DECIMAL(38,12);
-- The sum of the above, before refunds.
ALTER TABLE "job_progress" ADD COLUMN "customer_settled_amount" DECIMAL(38,12) NOT NULL DEFAULT 0;
UPDATE "job_progress" SET "customer_settled_amount" = "settled_amount";

-- A customer's part of what was taken back of an item: in proportion, a tie to the even neighbour, in units of 10^-12.
CREATE FUNCTION "customer_share"("customer_amount" NUMERIC, "part" NUMERIC, "whole" NUMERIC) RETURNS NUMERIC
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN whole = 0 THEN 0
    ELSE (
      SELECT (
        quotient + CASE
          WHEN 2 * (numerator - quotient * denominator) > denominator THEN 1
          WHEN 2 * (numerator - quotient * denominator) = denominator AND quotient % 2 = 1 THEN 1
          ELSE 0
        END
      ) * 0.000000000001
      FROM (
        SELECT numerator, denominator, div(numerator, denominator) AS quotient
        FROM (SELECT trunc(customer_amount * 1e12) * trunc(part * 1e12) AS numerator, trunc(whole * 1e12) AS denominator) units
      ) divided
    )
  END
$$;

-- What was corrected of a job, and what was corrected lately.
CREATE INDEX "ledger_entries_corrections_idx" ON "ledger_entries" ("subject_id", "item_no", "event", "ordinal")
  WHERE "event" IN ('batch.item.refunded', 'batch.adjusted');
CREATE INDEX "ledger_entries_corrections_written_by_idx" ON "ledger_entries" ("written_by")
  WHERE "event" IN ('batch.item.refunded', 'batch.adjusted');
CREATE INDEX "batch_jobs_tenant_id_completed_at_idx" ON "batch_jobs" ("tenant_id", "completed_at");
