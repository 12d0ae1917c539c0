// How the tests run: real servers and databases are started by the tests themselves; nothing reaches beyond loopback.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/support/global-setup.ts'],
    pool: 'forks',
    // One file at a time: the tests start servers, browsers and sandboxes of their own, which want both cores.
    maxWorkers: 1,
    // Where others' work shares the machine a test may run out of time once; a real fault fails twice.
    retry: process.env.CI === 'true' ? 1 : 0,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    restoreMocks: true,
  },
})
