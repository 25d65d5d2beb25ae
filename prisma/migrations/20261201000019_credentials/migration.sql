-- Keys of providers' accounts: of the gateway, of a tenant or of a project.
CREATE TABLE "provider_credentials" (
  "credential_id" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "tenant_id" TEXT,
  "project_id" TEXT,
  "name" TEXT NOT NULL,
  -- Sealed for this row alone; gone once it is revoked.
  "sealed_key" BYTEA,
  -- The end of the key, by which a person recognises it.
  "key_hint" TEXT NOT NULL,
  -- One more with each new key and each revocation.
  "version" INTEGER NOT NULL DEFAULT 1,
  "created_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
  "replaced_at" TIMESTAMPTZ(3),
  "revoked_at" TIMESTAMPTZ(3),
  "last_used_at" TIMESTAMPTZ(3),
  CONSTRAINT "provider_credentials_pkey" PRIMARY KEY ("credential_id"),
  CONSTRAINT "provider_credentials_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants" ("tenant_id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "provider_credentials_project_check" CHECK ("project_id" IS NULL OR "tenant_id" IS NOT NULL),
  CONSTRAINT "provider_credentials_revoked_check" CHECK (("revoked_at" IS NULL) = ("sealed_key" IS NOT NULL))
);
CREATE INDEX "provider_credentials_tenant_id_credential_id_idx" ON "provider_credentials" ("tenant_id", "credential_id");
CREATE INDEX "provider_credentials_usable_idx" ON "provider_credentials" ("provider", "tenant_id", "project_id")
  WHERE "revoked_at" IS NULL;
