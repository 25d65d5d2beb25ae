import { afterAll, expect, test } from 'vitest';
import { referenceDocument } from '../../../api/reference.ts';
import { newId } from '../../../db/ids.ts';
import type { Role } from '../../../domain/principal.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder } from '../documents/document-fixture.ts';

interface Operation {
  readonly requestBody?: unknown;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: { type?: unknown } }[];
  readonly 'x-roles'?: readonly Role[];
}

/** As they stand in a URL: NUL, a lone surrogate, half a character, no encoding at all, and numbers beyond each kind. */
const ODD = [
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%C3',
  '%',
  '%zz',
  '-1',
  '1e400',
  '9223372036854775808',
  '0x10',
  '%20',
  '..%2F..',
];

const { db, drop } = await createTestDatabase();
afterAll(drop);
const folder = createTestFolder();
afterAll(folder.remove);
const api = createTestApi(db, { artifacts: folder.store });
const tenantId = await api.tenant();
const callers: { readonly [role: string]: ApiCaller } = {
  tenant_admin: await api.caller('tenant_admin', { tenantId }),
  gateway_admin: await api.caller('gateway_admin'),
};

const routes = Object.entries(referenceDocument().paths ?? {}).flatMap(([path, item]) =>
  Object.entries<Operation>(item as Record<string, Operation>).map(
    ([method, operation]) => [method.toUpperCase(), path, operation] as const,
  ),
);

/** Every parameter is odd in turn, while the ids before it are those of things that may be there. */
function oddPaths(path: string, { parameters = [] }: Operation): string[] {
  const known = (name: string) => (name === 'tenant_id' ? tenantId : 'x');
  const fill = (odd: string | null, value: string) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === odd ? value : known(name)));
  return parameters.flatMap(({ name, in: where }) => {
    if (where === 'path') return ODD.map((value) => fill(name, value));
    if (where === 'query') return ODD.map((value) => `${fill(null, '')}?${encodeURIComponent(name)}=${value}`);
    return [];
  });
}

function callerOf({ 'x-roles': roles }: Operation): ApiCaller | undefined {
  return Object.entries(callers).find(([role]) => roles?.includes(role as Role) ?? true)?.[1];
}

test.each(routes)('%s %s answers odd parameters without a fault', async (method, path, operation) => {
  for (const odd of oddPaths(path, operation)) {
    const answer = await callerOf(operation)?.call(
      method,
      odd,
      operation.requestBody === undefined ? {} : { json: {} },
    );
    expect(answer?.status, odd).toBeLessThan(500);
  }
});

const ODD_BODIES = [
  '',
  'null',
  '[]',
  '"x"',
  '0',
  '{"__proto__":{"a":1}}',
  '{"constructor":null}',
  '{"":""}',
  '\ufeff{}',
];
const TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'application/x-ndjson',
  'text/plain',
  '',
  ';',
  null,
];

test.each(routes.filter(([, , { requestBody }]) => requestBody !== undefined))(
  '%s %s answers odd bodies and content types without a fault',
  async (method, path, operation) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'tenant_id' ? tenantId : 'x'));
    for (const body of ODD_BODIES) {
      for (const type of TYPES) {
        const headers = { 'idempotency-key': newId('request'), ...(type !== null && { 'content-type': type }) };
        const answer = await callerOf(operation)?.call(method, filled, {
          body: new TextEncoder().encode(body),
          headers,
        });
        expect(answer?.status, `${body} as ${type}`).toBeLessThan(500);
      }
    }
  },
);
