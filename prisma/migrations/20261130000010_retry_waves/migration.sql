-- Failed items that their job tries again by itself, in waves.

ALTER TABLE "batch_jobs" ADD COLUMN "retry_policy" JSONB;

-- Of a retry inside the job: the number of the item it repeats, beside that item's id.
ALTER TABLE "batch_items" ADD COLUMN "retry_of_item_no" INTEGER;

-- A wave is planned, and then either begun or skipped. Wave 2 is the second try of its items. Its items are the numbers from
-- first to last; amounts are what it needed of the hold, and what was left of that, when it was last judged.
CREATE TABLE "retry_waves" (
  "job_id" UUID NOT NULL,
  "wave" INTEGER NOT NULL,
  "items" INTEGER NOT NULL,
  "needed_amount" DECIMAL(38,12) NOT NULL,
  "left_amount" DECIMAL(38,12) NOT NULL,
  "planned_at" TIMESTAMPTZ(3) NOT NULL,
  "due_at" TIMESTAMPTZ(3) NOT NULL,
  "started_at" TIMESTAMPTZ(3),
  "first_item_no" INTEGER,
  "last_item_no" INTEGER,
  "skipped_at" TIMESTAMPTZ(3),
  CONSTRAINT "retry_waves_pkey" PRIMARY KEY ("job_id", "wave"),
  CONSTRAINT "retry_waves_end_check" CHECK ("started_at" IS NULL OR "skipped_at" IS NULL),
  CONSTRAINT "retry_waves_items_check" CHECK (("started_at" IS NULL) = ("first_item_no" IS NULL)
    AND ("started_at" IS NULL) = ("last_item_no" IS NULL))
);
