import { randomUUID } from 'node:crypto';
import {
  type NewTenantCredential,
  ProviderCredential,
  ProviderCredentialList,
} from '../contracts/provider-credential.ts';
import { ResealReport } from '../contracts/reseal.ts';
import type { Client, Query } from './client.ts';
import { pathSegment } from './gateway.ts';

/** The calls about keys at providers: a tenant's, or, without one, the gateway's own. */
export function credentialCalls(client: Client, tenantId: string | undefined) {
  const path =
    tenantId === undefined ? '/v1/admin/credentials' : `/v1/admin/tenants/${pathSegment(tenantId)}/credentials`;
  const act = (id: string, name: string) => `${path}/${pathSegment(id)}/${name}`;
  return {
    list: (query: Query) => client.get(path, ProviderCredentialList, query),
    add: (credential: NewTenantCredential) =>
      client.send('POST', path, ProviderCredential, { json: credential, idempotencyKey: randomUUID() }),
    replace: (id: string, apiKey: string) =>
      client.send('POST', act(id, 'replace'), ProviderCredential, {
        json: { api_key: apiKey },
        idempotencyKey: randomUUID(),
      }),
    revoke: (id: string) => client.send('POST', act(id, 'revoke'), ProviderCredential),
    reseal: () => client.send('POST', '/v1/admin/encryption/reseal', ResealReport),
  };
}

export type CredentialCalls = ReturnType<typeof credentialCalls>;
