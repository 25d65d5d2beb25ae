import type { ApiApp } from './env.ts';

const DESCRIPTION = `Batch jobs on AI APIs: thousands of requests in, checked and paid for once, every result home exactly once.

Times are RFC 3339 in UTC. Money is an exact decimal string with its currency. Unknown fields are refused by name. Lists
page by an opaque \`cursor\` and a \`limit\`. Every error has one envelope; its \`error\` is one of a closed list.`;

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

/** The document of every declared route. */
export function openApiDocument(app: ApiApp) {
  return app.getOpenAPI31Document(INFO);
}
