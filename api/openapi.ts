import type { ApiApp } from './env.ts';
import { accessOf } from './middleware/allow.ts';

const DESCRIPTION = `Batch jobs on AI APIs: thousands of requests in, checked and paid for once, every result home exactly once.

Times are RFC 3339 in UTC. Money is an exact decimal string with its currency. Unknown fields are refused by name. Lists
page by an opaque \`cursor\` and a \`limit\`. Every error has one envelope; its \`error\` is one of a closed list.

\`x-roles\` names the roles of keys that may make a call, \`x-scope\` the scope that a key limited to scopes needs for it.`;

const INFO = {
  openapi: '3.1.0',
  info: { title: 'Batchgate', version: '1', description: DESCRIPTION },
  servers: [{ url: '/' }],
};

/** Declares how callers authenticate, once for the whole document. */
export function registerSecurity(app: ApiApp): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of the gateway: `Authorization: Bearer <key>`.',
  });
}

/** The document of every declared route, each with who may call it, as it is enforced. */
export function openApiDocument(app: ApiApp) {
  const document = app.getOpenAPI31Document(INFO);
  for (const { handler, method, path } of app.routes) {
    const access = accessOf(handler, method);
    if (access === null) continue;
    const item = document.paths?.[path.replaceAll(/:(\w+)/g, '{$1}')] ?? {};
    const operation = Object.entries(item).find(([name]) => name === method.toLowerCase())?.[1];
    Object.assign(operation ?? {}, { 'x-roles': access.roles, 'x-scope': access.scope });
  }
  return withNulls(document);
}

/**
 * The generator writes a named schema that may be null as all of the schema and of `[type, null]`, which no null is. Here
 * it is one of the schema and null.
 */
function withNulls<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withNulls) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withNulls(member)]));
  if (!Array.isArray(members['allOf'])) return members as Value;
  const { allOf, ...rest } = members;
  const [named, { type, ...told }] = allOf;
  return Array.isArray(type) && type.includes('null')
    ? ({ anyOf: [named, { type: 'null' }], ...rest, ...told } as Value)
    : (members as Value);
}
