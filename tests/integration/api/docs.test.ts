import { afterAll, expect, test } from 'vitest';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const { app } = createTestApi(db);

test('/openapi.json is the reference, without a key', async () => {
  const response = await app.request('/openapi.json');
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ openapi: '3.1.0', paths: { '/v1/batch-jobs': {} } });
});

test('/docs is a page whose every part is served here', async () => {
  const page = await (await app.request('/docs')).text();
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link));
  expect(links).toHaveLength(4);
  for (const link of links) {
    expect(link).toMatch(/^\/docs\//);
    const asset = await app.request(link);
    expect(asset.status).toBe(200);
    expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(0);
  }
});

test.each(['/docs/package.json', '/docs/..%2fpackage.json', '/docs/index.html'])('%s is not served', async (path) => {
  expect((await app.request(path)).status).toBe(404);
});
