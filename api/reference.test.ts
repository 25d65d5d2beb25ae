import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { STATUS_OF } from '../domain/gateway-error.ts';
import { referenceDocument } from './reference.ts';

interface Operation {
  operationId: string;
  summary?: string;
  security?: unknown[];
  requestBody?: unknown;
  parameters?: { name: string; in: string }[];
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>;
}

const document = JSON.parse(JSON.stringify(referenceDocument()));
const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);
const secured = operations.filter(({ path }) => path.startsWith('/v1/'));

test('every operation of the contract is there under its name', () => {
  const names = operations.map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining([
      ...['create_job', 'append_items', 'upload_manifest', 'validate', 'submit', 'get_status', 'list_jobs'],
      ...['list_results', 'get_item', 'cancel', 'export_usage', 'quote', 'ledger', 'delete'],
    ]),
  );
});

test.each(secured)('$method $path declares its key and its errors', ({ path, operation }) => {
  const envelope = path.startsWith('/v1/async/') ? 'TaskRefusal' : 'Error';
  expect(operation.security).toEqual([{ bearer: [] }]);
  expect(operation.summary).toBeTypeOf('string');
  const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
  expect(errors.map(([status]) => status)).toEqual(expect.arrayContaining(['400', '401', '403', '500', '503']));
  for (const [, { content }] of errors) {
    expect(content).toEqual({ 'application/json': { schema: { $ref: `#/components/schemas/${envelope}` } } });
  }
});

test('the route of providers asks for a signature instead of a key', () => {
  const { post } = document.paths['/provider-webhooks/{provider}'];
  expect(post).toMatchObject({ tags: ['Provider webhooks'], security: [] });
  expect(Object.keys(post.responses)).toEqual(['200', '400', '404', '408', '413', '414', '431', '500', '503']);
  const headers = (post.parameters as { name: string; in: string }[]).filter((parameter) => parameter.in === 'header');
  expect(headers.map(({ name }) => name)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
});

test.each(operations)('$method $path declares its path parameters, and only known statuses', ({ path, operation }) => {
  const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  expect(declared.sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort());
  const known = [200, 201, 202, 204, ...Object.values(STATUS_OF)];
  for (const status of Object.keys(operation.responses)) expect(known).toContain(Number(status));
});

test('every reference leads somewhere, and every object schema of a body is closed', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(50);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(String(name));
  for (const name of ['CreateBatchJob', 'CreateTask', 'SubmitBatchJob', 'CancelBatchJob', 'AppendItems', 'Item']) {
    expect(document.components.schemas[name]).toMatchObject({ type: 'object', additionalProperties: false });
  }
});

test('the document has the members OpenAPI 3.1 requires', () => {
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Batchgate', version: expect.any(String) },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  });
  for (const { operation } of operations) {
    for (const response of Object.values(operation.responses)) expect(response.description).not.toBe('');
  }
});

test('what may be null is told so that null is valid', () => {
  expect(document.components.schemas.BatchScheduleRun.properties.job_status).toEqual({
    anyOf: [{ $ref: '#/components/schemas/BatchJobStatus' }, { type: 'null' }],
  });
  const mixed = [...JSON.stringify(document).matchAll(/"allOf":\[\{"\$ref":"[^"]+"\},(\{[^}]*\})/g)].map(
    ([, also]) => also,
  );
  expect(mixed.filter((also) => also?.includes('"null"'))).toEqual([]);
});

test('every operation may answer what comes before it is looked at, and one with a body what a body may be', () => {
  for (const { path, method, operation } of operations) {
    const statuses = Object.keys(operation.responses);
    const key = operation.parameters?.some(({ name }) => name === 'idempotency-key') === true;
    const expected = [
      '400',
      '408',
      '414',
      '431',
      '500',
      '503',
      ...(key ? ['409'] : []),
      ...(path.includes('{') ? ['404'] : []),
    ];
    if (operation.requestBody !== undefined) expected.push('413');
    if (operation.requestBody !== undefined && secured.some((one) => one.path === path)) expected.push('415');
    expect(statuses, `${method} ${path}`).toEqual(expect.arrayContaining(expected));
  }
});

test('docs/openapi.json is current; `npm run openapi` writes it', async () => {
  expect(JSON.parse(await readFile('docs/openapi.json', 'utf8'))).toEqual(document);
});
