import { configDefaults, defineConfig } from 'vitest/config';

const POSTGRES = 'tests/harness/global-setup.ts';
const TEMPORAL = 'tests/harness/global-setup-temporal.ts';

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
          // Pure code: its files share a process and what they import.
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
