import { type DiagnoseMigrationHistoryOutput, SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import type { MigrationFile } from '../../db/migration-files.ts';

/** Prisma's numbers for column types (ColumnTypeEnum of its driver adapter interface), by Postgres type oid. */
const COLUMN_TYPE_OF_OID: { readonly [oid: number]: number } = {
  16: 5, // bool → Boolean
  17: 13, // bytea → Bytes
  18: 6, // "char" → Character: the stock adapter refuses it, and the engine reads catalogue columns of this type
  19: 7, // name → Text
  20: 1, // int8 → Int64
  21: 0, // int2 → Int32
  23: 0, // int4 → Int32
  25: 7, // text → Text
  26: 1, // oid → Int64
  1002: 70, // "char"[] → CharacterArray
  1003: 71, // name[] → TextArray
  1005: 64, // int2[] → Int32Array
  1007: 64, // int4[] → Int32Array
  1009: 71, // text[] → TextArray
  1028: 65, // oid[] → Int64Array
  1043: 7, // varchar → Text
  1184: 10, // timestamptz → DateTime
  2950: 15, // uuid → Uuid
};

interface SqlQuery {
  readonly sql: string;
  readonly args: unknown[];
}

const EMPTY_SCHEMA = 'datasource db {\n  provider = "postgresql"\n}';
const NO_FILTERS = { externalTables: [], externalEnums: [] };

/**
 * The SQL that would turn the database into what the Prisma schema says; empty when they agree. Prisma sees tables,
 * columns, defaults, keys, foreign keys and whole indexes; partitions, partial indexes, checks and triggers it does not.
 */
export async function diffAgainstSchema(databaseUrl: string, schema: string): Promise<string> {
  const files = [{ path: 'schema.prisma', content: schema }];
  const { stdout } = await withEngine(databaseUrl, schema, (engine) =>
    engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters: NO_FILTERS,
    }),
  );
  return (stdout ?? '').replace('-- This is an empty migration.', '').trim();
}

/** What `prisma migrate status` finds out about the database's migrations. */
export async function diagnoseMigrations(
  databaseUrl: string,
  migrations: readonly MigrationFile[],
): Promise<DiagnoseMigrationHistoryOutput> {
  return withEngine(databaseUrl, EMPTY_SCHEMA, (engine) =>
    engine.diagnoseMigrationHistory({
      migrationsList: {
        baseDir: 'migrations',
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
        shadowDbInitScript: '',
        migrationDirectories: migrations.map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
        })),
      },
      optInToShadowDatabase: false,
      filters: NO_FILTERS,
    }),
  );
}

async function withEngine<Result>(
  databaseUrl: string,
  schema: string,
  work: (engine: SchemaEngine) => Promise<Result>,
): Promise<Result> {
  let panic = '';
  // The engine reports a panic to this global before it traps.
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: {
      set_message: (message: string) => {
        panic = message;
      },
    },
  });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const engine = await SchemaEngine.new(
      { datamodels: [['schema.prisma', schema]] },
      () => {},
      adapterFactory(client),
    );
    return await work(engine);
  } catch (error) {
    throw panic === '' ? error : new Error(panic, { cause: error });
  } finally {
    await client.end();
  }
}

/** The part of a Prisma driver adapter that `diff` uses. */
function adapterFactory(client: pg.Client): object {
  const info = { provider: 'postgres', adapterName: 'schema-diff' };
  const adapter = {
    ...info,
    queryRaw: async ({ sql, args }: SqlQuery) => {
      const { fields, rows } = await client.query<unknown[]>({ text: sql, values: args, rowMode: 'array' });
      return succeeded({
        columnNames: fields.map((field) => field.name),
        columnTypes: fields.map((field) => columnType(field)),
        rows: rows.map((row) => row.map((value) => (value instanceof Date ? value.toISOString() : value))),
      });
    },
    executeScript: async (script: string) => {
      await client.query(script);
      return succeeded(undefined);
    },
    getConnectionInfo: () => succeeded({ schemaName: 'public', supportsRelationJoins: true }),
    dispose: async () => succeeded(undefined),
  };
  return { ...info, connect: async () => succeeded(adapter), connectToShadowDb: async () => succeeded(adapter) };
}

function succeeded<Value>(value: Value): { ok: true; value: Value } {
  return { ok: true, value };
}

function columnType({ name, dataTypeID }: pg.FieldDef): number {
  const type = COLUMN_TYPE_OF_OID[dataTypeID];
  if (type === undefined) throw new Error(`the schema engine asked for column ${name} of type oid ${dataTypeID}`);
  return type;
}
