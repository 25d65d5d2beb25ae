-- Items retried by hand, in a job of their own.

-- The ended job whose items it tries again. Its items are found from the originals by custom id and attempt.
ALTER TABLE "batch_jobs" ADD COLUMN "retry_of" UUID;
CREATE INDEX "batch_jobs_retry_of_idx" ON "batch_jobs" ("retry_of", "created_at") WHERE "retry_of" IS NOT NULL;
