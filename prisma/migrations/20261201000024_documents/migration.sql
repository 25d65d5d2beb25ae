-- Documents in named batches, and the runs that make table rows of them. A run is a job of kind `document` with an item for each
-- document, so its money, usage and raw replies are where those of every job are.

CREATE TABLE "document_batches" (
  "batch_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "name" TEXT NOT NULL,
  -- Those of the last run that named some: the default of the next.
  "columns" JSONB,
  "model" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  -- Set by DELETE: a later upload under the name starts a new batch.
  "deleted_at" TIMESTAMPTZ(3),
  CONSTRAINT "document_batches_pkey" PRIMARY KEY ("batch_id"),
  CONSTRAINT "document_batches_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "document_batches_name_key" ON "document_batches" ("tenant_id", coalesce("customer_id", ''), "name") WHERE "deleted_at" IS NULL;
CREATE INDEX "document_batches_tenant_id_batch_id_idx" ON "document_batches" ("tenant_id", "batch_id");

CREATE TABLE "documents" (
  "document_id" UUID NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "batch_id" TEXT NOT NULL,
  "api_key_id" TEXT NOT NULL,
  -- Content, as a caller may say much in it.
  "file_name" TEXT,
  "media_type" TEXT NOT NULL,
  "bytes" BIGINT NOT NULL,
  "sha256" BYTEA NOT NULL,
  -- What reading it will take, as counted at upload: NULL where that has no meaning for its type.
  "pages" INTEGER,
  "text_tokens" INTEGER,
  "width" INTEGER,
  "height" INTEGER,
  -- Within the artifact store; NULL once it is deleted there.
  "artifact_key" TEXT,
  -- The first document of the batch with the same bytes.
  "duplicate_of" UUID,
  "state" TEXT NOT NULL CHECK ("state" IN ('queued', 'processing', 'succeeded', 'failed', 'canceled')),
  -- Of the run that has taken it up or will, and its item there.
  "run_id" UUID,
  "item_no" INTEGER,
  -- Attempts begun in its run; the number of the one under way, which alone may end it.
  "attempts" INTEGER NOT NULL DEFAULT 0,
  -- Of them those that count against the most there may be.
  "failures" INTEGER NOT NULL DEFAULT 0,
  "next_attempt_at" TIMESTAMPTZ(3),
  -- Until then a worker is sure to be at it; NULL where none is.
  "leased_until" TIMESTAMPTZ(3),
  "error_code" TEXT,
  "row_count" INTEGER,
  -- Under a storage policy with a retention; the worker deletes what is due.
  "content_due_at" TIMESTAMPTZ(3),
  "content_deleted_at" TIMESTAMPTZ(3),
  -- The terms of its tenant at upload: what is kept, and for how long after its end; NULL for ever.
  "storage" TEXT NOT NULL,
  "content_kept_ms" BIGINT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "started_at" TIMESTAMPTZ(3),
  "completed_at" TIMESTAMPTZ(3),
  CONSTRAINT "documents_pkey" PRIMARY KEY ("document_id"),
  CONSTRAINT "documents_batch_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "document_batches" ("batch_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CHECK (("completed_at" IS NOT NULL) = ("state" IN ('succeeded', 'failed', 'canceled'))),
  CHECK ("state" <> 'processing' OR ("started_at" IS NOT NULL AND "run_id" IS NOT NULL))
);
CREATE INDEX "documents_batch_id_document_id_idx" ON "documents" ("batch_id", "document_id");
CREATE INDEX "documents_tenant_id_document_id_idx" ON "documents" ("tenant_id", "document_id");
CREATE INDEX "documents_run_id_item_no_idx" ON "documents" ("run_id", "item_no");
-- What of a run is still to be done.
CREATE INDEX "documents_open_idx" ON "documents" ("run_id", "item_no") WHERE "state" IN ('queued', 'processing');
CREATE INDEX "documents_sha256_idx" ON "documents" ("batch_id", "sha256");
CREATE INDEX "documents_content_due_idx" ON "documents" ("content_due_at") WHERE "content_due_at" IS NOT NULL AND "content_deleted_at" IS NULL;
CREATE INDEX "documents_removed_idx" ON "documents" ("document_id") WHERE "content_deleted_at" IS NOT NULL AND "artifact_key" IS NOT NULL;
CREATE INDEX "documents_customer_idx" ON "documents" ("tenant_id", "customer_id") WHERE "customer_id" IS NOT NULL;

-- Files on their way into the artifact store, each noted before it is put there: what stays is a file that no document has.
CREATE TABLE "document_uploads" (
  "document_id" UUID NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "artifact_key" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  -- By the sweep, before it deletes the file: no document can be made of it from then on.
  "taken_at" TIMESTAMPTZ(3),
  CONSTRAINT "document_uploads_pkey" PRIMARY KEY ("document_id")
);
CREATE INDEX "document_uploads_created_at_idx" ON "document_uploads" ("created_at");

-- The rows that a document gave, and where on it: content. Sealed where the storage policy keeps none in clear.
CREATE TABLE "document_rows" (
  "document_id" UUID NOT NULL,
  "line_items" TEXT,
  "provenance" TEXT,
  "sealed" BYTEA,
  CONSTRAINT "document_rows_pkey" PRIMARY KEY ("document_id")
);

CREATE TABLE "document_runs" (
  -- That of its job.
  "run_id" UUID NOT NULL,
  "batch_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "mode" TEXT NOT NULL CHECK ("mode" IN ('direct', 'batch')),
  "columns" JSONB NOT NULL,
  "model" TEXT NOT NULL,
  "documents" INTEGER NOT NULL,
  "state" TEXT NOT NULL CHECK ("state" IN ('running', 'finished')),
  -- Of a run in batch mode: the last item whose request is written.
  "written_through" INTEGER NOT NULL DEFAULT 0,
  -- The job of the repairs of a run in batch mode.
  "repair_job_id" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "finished_at" TIMESTAMPTZ(3),
  CONSTRAINT "document_runs_pkey" PRIMARY KEY ("run_id"),
  CONSTRAINT "document_runs_batch_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "document_batches" ("batch_id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "document_runs_batch_id_run_id_idx" ON "document_runs" ("batch_id", "run_id");
CREATE INDEX "document_runs_open_idx" ON "document_runs" ("created_at") WHERE "state" = 'running';

-- Replies that did not fit the columns, until the document has ended: what the model is asked to mend. Nobody but the worker reads them.
CREATE TABLE "document_repairs" (
  "document_id" UUID NOT NULL,
  "run_id" UUID NOT NULL,
  -- Of `{"reply": …, "problems": […]}`.
  "sealed" BYTEA NOT NULL,
  -- Of the first request, which its item settles together with the repair; NULL where that is settled already.
  "usage" JSONB,
  -- In the job of the repairs, of a run in batch mode.
  "item_no" INTEGER,
  CONSTRAINT "document_repairs_pkey" PRIMARY KEY ("document_id")
);
CREATE INDEX "document_repairs_run_id_idx" ON "document_repairs" ("run_id");

-- Whom to tell at the end of every run of the batch of a name, which need not exist yet.
CREATE TABLE "document_webhooks" (
  "webhook_id" TEXT NOT NULL,
  "tenant_id" TEXT NOT NULL,
  "project_id" TEXT,
  "customer_id" TEXT,
  "batch_name" TEXT NOT NULL,
  "url" TEXT NOT NULL,
  "secret_id" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "document_webhooks_pkey" PRIMARY KEY ("webhook_id"),
  CONSTRAINT "document_webhooks_secret_id_fkey" FOREIGN KEY ("secret_id") REFERENCES "webhook_secrets" ("secret_id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "document_webhooks_name_key" ON "document_webhooks" ("tenant_id", coalesce("customer_id", ''), "batch_name");

-- Of the webhook of a batch, which has a secret of its own; the one that jobs share has neither this nor an endpoint.
ALTER TABLE "webhook_secrets" ADD COLUMN "document_webhook_id" TEXT;
DROP INDEX "webhook_secrets_holder_key";
CREATE UNIQUE INDEX "webhook_secrets_holder_key" ON "webhook_secrets" ("tenant_id", "project_id", "customer_id") NULLS NOT DISTINCT
  WHERE "endpoint_id" IS NULL AND "document_webhook_id" IS NULL;

DO $$
DECLARE
  named TEXT;
  mine CONSTANT TEXT := 'current_setting(''batchgate.tenant_id'', true)';
BEGIN
  FOREACH named IN ARRAY ARRAY['document_batches', 'documents', 'document_uploads', 'document_runs', 'document_webhooks'] LOOP
    EXECUTE format('CREATE POLICY "tenant_rows" ON %I TO batchgate_api USING (tenant_id = %s)', named, mine);
  END LOOP;
  CREATE POLICY "tenant_rows" ON document_rows TO batchgate_api
    USING (EXISTS (SELECT FROM documents d WHERE d.document_id = document_rows.document_id));
  FOREACH named IN ARRAY ARRAY['document_batches', 'documents', 'document_uploads', 'document_rows', 'document_runs', 'document_webhooks'] LOOP
    EXECUTE format('CREATE POLICY "all_rows" ON %I TO batchgate_operator USING (true)', named);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
  END LOOP;
END
$$;

GRANT SELECT ON "document_batches", "documents", "document_rows", "document_runs", "document_webhooks" TO batchgate_api, batchgate_operator;
GRANT INSERT, UPDATE ON "document_batches", "documents", "document_runs" TO batchgate_api;
GRANT INSERT, UPDATE, DELETE ON "document_webhooks" TO batchgate_api;
GRANT SELECT, INSERT, DELETE ON "document_uploads" TO batchgate_api;
GRANT SELECT ON "document_uploads" TO batchgate_operator;
-- Sealed anew when the gateway's key changes.
GRANT UPDATE ("sealed") ON "document_rows", "document_repairs" TO batchgate_operator;
GRANT SELECT ON "document_repairs" TO batchgate_operator;
