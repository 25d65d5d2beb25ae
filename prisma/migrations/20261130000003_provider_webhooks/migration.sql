-- Which events of providers were heard, so that one told twice wakes nobody twice. Kept for a day.

CREATE TABLE "provider_webhook_events" (
  "provider" TEXT NOT NULL,
  "event_id" TEXT COLLATE "C" NOT NULL,
  "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  CONSTRAINT "provider_webhook_events_pkey" PRIMARY KEY ("provider", "event_id")
);
CREATE INDEX "provider_webhook_events_received_at_idx" ON "provider_webhook_events" ("received_at");
