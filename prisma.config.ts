import { defineConfig } from 'prisma/config';
import { findDatabaseUrl } from './config/env.ts';

const url = findDatabaseUrl();

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url === undefined ? {} : { datasource: { url } }),
});
