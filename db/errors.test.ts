import pg from 'pg';
import { expect, test } from 'vitest';
import { GatewayError } from '../domain/gateway-error.ts';
import { asGatewayError, isConnectionFailure, isLostRace } from './errors.ts';

function withCode(code: string): Error {
  return Object.assign(new Error('from the server'), { code });
}

test.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', '57P01', '57P03', '53300', '08006', 'P1001', 'P1017', 'P2024'])(
  '%s says that the database is away',
  (code) => {
    expect(asGatewayError(withCode(code))).toMatchObject({ code: 'dependency_unavailable' });
  },
);

test.each([
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
])('"%s" says that the database is away', (message) => {
  expect(isConnectionFailure(new Error(message))).toBe(true);
});

test.each([
  withCode('23505'),
  withCode('42P01'),
  withCode('40001'),
  new Error('no'),
  new GatewayError('not_found', 'no'),
  null,
])('leaves %s as it is', (error) => {
  expect(asGatewayError(error)).toBe(error);
});

test('knows a lost race by its code alone', () => {
  expect(['40001', '40P01', '55P03', '23505'].map((code) => isLostRace(withCode(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(isLostRace('40001')).toBe(false);
});

test('is right about the texts of the installed driver', async () => {
  const client = new pg.Client({ host: '127.0.0.1', port: 1 });
  client.on('error', () => {});
  const refused = await client.connect().catch((error: unknown) => error);
  expect(isConnectionFailure(refused)).toBe(true);
  const broken = await client.query('SELECT 1').catch((error: unknown) => error);
  expect(isConnectionFailure(broken)).toBe(true);
});
