import { join } from 'node:path';
import { projectDirectory } from '../local/processes.ts';
import { findRunningStack } from '../local/ready-file.ts';
import type { StackReady } from '../local/stack-options.ts';
import { type AdminCalls, adminCalls } from './admin-calls.ts';
import { Client } from './client.ts';
import type { Context } from './command.ts';
import { type CredentialCalls, credentialCalls } from './credential-calls.ts';
import { usageError } from './errors.ts';
import { type OperatorCalls, operatorCalls, type TenantCalls, tenantCalls } from './gateway.ts';
import { VERSION } from './version.ts';

export const DATA_DIRECTORY = '.batchgate';

interface ConnectionValues {
  readonly url?: string;
  readonly key?: string;
  readonly data?: string;
  readonly 'operator-key'?: string;
  readonly 'admin-key'?: string;
}

export function connectTenant(values: ConnectionValues, context: Context): TenantCalls {
  return tenantCalls(connect(values, context, TENANT));
}

export function connectOperator(values: ConnectionValues, context: Context): OperatorCalls {
  return operatorCalls(connect(values, context, OPERATOR));
}

export function connectAdmin(values: ConnectionValues, context: Context): AdminCalls {
  return adminCalls(connect(values, context, ADMIN));
}

/** The calls about keys at providers; without `tenant`, the gateway's own. */
export function connectCredentials(
  values: ConnectionValues & { readonly tenant?: string },
  context: Context,
): CredentialCalls {
  return credentialCalls(connect(values, context, ADMIN), values.tenant);
}

interface KeySource {
  readonly whose: string;
  readonly option: 'key' | 'operator-key' | 'admin-key';
  readonly variable: string;
  readonly ofStack: 'tenant_key' | 'operator_key' | 'admin_key';
}

const TENANT: KeySource = { whose: 'a tenant', option: 'key', variable: 'BATCHGATE_KEY', ofStack: 'tenant_key' };
const OPERATOR: KeySource = {
  whose: 'an operator',
  option: 'operator-key',
  variable: 'BATCHGATE_OPERATOR_KEY',
  ofStack: 'operator_key',
};
const ADMIN: KeySource = {
  whose: 'a gateway admin',
  option: 'admin-key',
  variable: 'BATCHGATE_ADMIN_KEY',
  ofStack: 'admin_key',
};

/** What is said, else what the environment says, else the local stack that runs. A stack's key goes to that stack alone. */
function connect(values: ConnectionValues, context: Context, source: KeySource): Client {
  const { environment, program } = context;
  const given = values.url ?? (environment['BATCHGATE_URL'] || undefined);
  const stack = findStack(values.data);
  const url = given ?? stack?.api_url;
  if (url === undefined) {
    throw usageError(
      `No gateway is named and no local stack runs: start one with "${program} up", or give --url or BATCHGATE_URL.`,
      '--url',
    );
  }
  const isStack = stack !== undefined && sameOrigin(url, stack.api_url);
  const key =
    values[source.option] ??
    (environment[source.variable] || undefined) ??
    (isStack ? stack[source.ofStack] : undefined);
  if (key === undefined) {
    throw usageError(
      `The key of ${source.whose} is needed: give --${source.option} or ${source.variable}.`,
      `--${source.option}`,
    );
  }
  return new Client({
    url,
    key,
    unreachableFix: isStack ? `Start the local stack with "${program} up".` : 'Is it running, and is --url right?',
    fetch: context.fetch,
    sleep: context.sleep,
    userAgent: `batchgate-cli/${VERSION}`,
  });
}

/** The stack of the folder that is named, else of this folder, else of the project's own. */
function findStack(named: string | undefined): StackReady | undefined {
  const folders = named === undefined ? [DATA_DIRECTORY, join(projectDirectory, DATA_DIRECTORY)] : [named];
  for (const folder of folders) {
    const stack = findRunningStack(folder);
    if (stack !== undefined) return stack;
  }
  return undefined;
}

function sameOrigin(left: string, right: string): boolean {
  return URL.parse(left)?.origin === URL.parse(right)?.origin;
}
