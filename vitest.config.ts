// How the tests run: real servers and databases are started by the tests themselves; nothing reaches beyond loopback.
import { defineConfig } from 'vitest/config'

/** Programs that take what they can get: nothing else should have to live beside them. */
const ALONE = [
  'tests/server/sandbox/python/hostile.test.ts',
  'tests/server/tools/python-beside-chats.test.ts',
]

const common = {
  pool: 'forks' as const,
  // Limits for a test that hangs, far above what any takes on a busy machine.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  restoreMocks: true,
}

export default defineConfig({
  test: {
    globalSetup: ['tests/support/global-setup.ts'],
    projects: [
      {
        test: {
          ...common,
          name: 'parallel',
          include: ['tests/**/*.test.ts'],
          exclude: ALONE,
          // Half of the time of most is waiting: for a process, a browser, a database.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'alone',
          include: ALONE,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
