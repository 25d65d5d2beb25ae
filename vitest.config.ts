import { configDefaults, defineConfig } from 'vitest/config';

const POSTGRES = 'tests/harness/global-setup.ts';
const TEMPORAL = 'tests/harness/global-setup-temporal.ts';
const ZOD_FIRST = 'tests/harness/zod-openapi-first.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    // Files wait for servers more than they compute.
    maxWorkers: 3,
    hookTimeout: 60_000,
    // Node runs our TypeScript as it is, in tests as in production.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      {
        extends: true,
        test: {
          name: 'domain',
          include: ['domain/**/*.test.ts'],
          // Files share a process and what they import, which is half of the time otherwise.
          isolate: false,
          testTimeout: 15_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            'domain/**',
            'generated/**',
            '.batchgate/**',
            'tests/{workflows,integration,e2e}/**',
          ],
          // As above; so do those of integration.
          isolate: false,
          setupFiles: [ZOD_FIRST],
          testTimeout: 15_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'workflows',
          include: ['tests/workflows/**/*.test.ts'],
          globalSetup: [TEMPORAL],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['tests/integration/**/*.test.ts'],
          globalSetup: [POSTGRES],
          isolate: false,
          setupFiles: [ZOD_FIRST],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          globalSetup: [POSTGRES, TEMPORAL],
          testTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'acceptance',
          include: ['tests/acceptance/**/*.acceptance.ts'],
          globalSetup: [POSTGRES, TEMPORAL],
          testTimeout: 1_800_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
