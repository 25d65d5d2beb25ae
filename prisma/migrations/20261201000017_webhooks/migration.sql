-- Outgoing webhooks: whom to tell, with which secret, and what is told to whom.

CREATE TABLE "webhook_endpoints" (
  "endpoint_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  -- NULL is told of the whole tenant.
  "project_id" TEXT,
  "url" TEXT NOT NULL,
  -- NULL takes all.
  "event_types" TEXT[],
  "description" TEXT,
  -- NULL for the gateway's own times.
  "give_up_after_seconds" INTEGER CHECK ("give_up_after_seconds" > 0),
  "disabled_at" TIMESTAMPTZ(3),
  "disabled_reason" TEXT CHECK ("disabled_reason" IN ('request', 'gone')),
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,
  "deleted_at" TIMESTAMPTZ(3),
  CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("endpoint_id"),
  CONSTRAINT "webhook_endpoints_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CHECK (("disabled_at" IS NULL) = ("disabled_reason" IS NULL))
);
CREATE INDEX "webhook_endpoints_tenant_id_created_at_endpoint_id_idx" ON "webhook_endpoints" ("tenant_id", "created_at" DESC, "endpoint_id" DESC);

-- Of an endpoint, or of the webhooks that jobs of one kind of key bring along: then it has a holder and no endpoint.
CREATE TABLE "webhook_secrets" (
  "secret_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "endpoint_id" TEXT,
  "sealed" BYTEA NOT NULL,
  -- Signs too until its time is over.
  "previous_sealed" BYTEA,
  "previous_until" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "rotated_at" TIMESTAMPTZ(3),
  CONSTRAINT "webhook_secrets_pkey" PRIMARY KEY ("secret_id"),
  CONSTRAINT "webhook_secrets_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "webhook_secrets_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoints" ("endpoint_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CHECK (("previous_sealed" IS NULL) = ("previous_until" IS NULL))
);
CREATE UNIQUE INDEX "webhook_secrets_endpoint_id_key" ON "webhook_secrets" ("endpoint_id");
CREATE UNIQUE INDEX "webhook_secrets_holder_key" ON "webhook_secrets" ("tenant_id", "project_id", "customer_id") NULLS NOT DISTINCT WHERE "endpoint_id" IS NULL;

-- Who is told of one thing alone, such as a job that was made with a webhook.
CREATE TABLE "direct_webhooks" (
  "subject_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "url" TEXT NOT NULL,
  "event_types" TEXT[],
  "secret_id" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "direct_webhooks_pkey" PRIMARY KEY ("subject_id"),
  CONSTRAINT "direct_webhooks_secret_id_fkey" FOREIGN KEY ("secret_id") REFERENCES "webhook_secrets" ("secret_id") ON DELETE RESTRICT ON UPDATE CASCADE
);

-- One event on its way to one receiver: written with the event, in its transaction.
CREATE TABLE "webhook_deliveries" (
  "delivery_id" TEXT NOT NULL,
  "event_id" TEXT NOT NULL,
  "event_type" TEXT NOT NULL,
  -- A job's public id, or what else the event is about.
  "subject_id" TEXT,
  "tenant_id" TEXT NOT NULL,
  -- Whose the receiver is.
  "project_id" TEXT,
  "customer_id" TEXT,
  "endpoint_id" TEXT,
  -- Of a receiver without an endpoint.
  "url" TEXT,
  "secret_id" TEXT NOT NULL,
  -- The endpoint, or the origin of the URL: what is spared too many requests at once.
  "receiver" TEXT NOT NULL,
  -- The bytes that every attempt sends.
  "body" TEXT NOT NULL,
  "state" TEXT NOT NULL DEFAULT 'pending' CHECK ("state" IN ('pending', 'delivered', 'abandoned')),
  "run" INTEGER NOT NULL DEFAULT 1,
  -- Of this run.
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "waits" INTEGER NOT NULL DEFAULT 0,
  "give_up_after_ms" BIGINT NOT NULL,
  -- Known from the run's first look on.
  "give_up_at" TIMESTAMPTZ(3),
  "next_attempt_at" TIMESTAMPTZ(3),
  "in_flight_until" TIMESTAMPTZ(3),
  -- When a workflow was last asked for; NULL is work for the dispatcher.
  "dispatched_at" TIMESTAMPTZ(3),
  "status_code" INTEGER,
  "error" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "ended_at" TIMESTAMPTZ(3),
  CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("delivery_id"),
  CONSTRAINT "webhook_deliveries_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoints" ("endpoint_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "webhook_deliveries_secret_id_fkey" FOREIGN KEY ("secret_id") REFERENCES "webhook_secrets" ("secret_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CHECK (("endpoint_id" IS NULL) = ("url" IS NOT NULL)),
  CHECK (("state" = 'pending') = ("ended_at" IS NULL))
);
CREATE INDEX "webhook_deliveries_tenant_id_created_at_delivery_id_idx" ON "webhook_deliveries" ("tenant_id", "created_at" DESC, "delivery_id" DESC);
CREATE INDEX "webhook_deliveries_subject_id_idx" ON "webhook_deliveries" ("subject_id");
CREATE INDEX "webhook_deliveries_waiting_idx" ON "webhook_deliveries" ("next_attempt_at") WHERE "state" = 'pending' AND "dispatched_at" IS NULL;
CREATE INDEX "webhook_deliveries_pending_idx" ON "webhook_deliveries" ("next_attempt_at") WHERE "state" = 'pending';
CREATE INDEX "webhook_deliveries_in_flight_idx" ON "webhook_deliveries" ("tenant_id") WHERE "in_flight_until" IS NOT NULL;
CREATE INDEX "webhook_deliveries_ended_at_idx" ON "webhook_deliveries" ("ended_at");

CREATE TABLE "webhook_attempts" (
  "delivery_id" TEXT NOT NULL,
  "run" INTEGER NOT NULL,
  "attempt" INTEGER NOT NULL,
  "started_at" TIMESTAMPTZ(3) NOT NULL,
  -- NULL while it is under way, or was broken off.
  "duration_ms" INTEGER,
  "status_code" INTEGER,
  "error" TEXT,
  CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("delivery_id", "run", "attempt"),
  CONSTRAINT "webhook_attempts_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_deliveries" ("delivery_id") ON DELETE CASCADE ON UPDATE CASCADE
);
