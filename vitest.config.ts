// How the tests run: real servers and databases are started by the tests themselves; nothing reaches beyond loopback.
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { SHORT_LIVED } from './tests/support/short-lived.ts'

/**
 * Files that need a process of their own: the reference lists every schema that its process has registered, which are
 * those of the build and of the sources where files share one; what resets modules resets them for the files after it; and
 * what looks for child processes that remain must not find those of other files.
 */
const OWN_PROCESS = [
  'tests/server/sandbox/python/hostile.test.ts',
  'tests/server/routes/hostile.test.ts',
  'tests/server/http/ended-uploads.test.ts',
  'tests/server/http/base-path.test.ts',
  'tests/server/http/event-loop.test.ts',
  'tests/server/routes/conversations/lists.test.ts',
  'tests/server/routes/key-scopes.test.ts',
  'tests/server/routes/projects/member-routes.test.ts',
  'tests/server/routes/reference.test.ts',
  'tests/server/routes/runs/approver-routes.test.ts',
  'tests/web/languages.test.ts',
]

/**
 * What `npm test` leaves to `npm run test:all`: what needs a browser, PostgreSQL, a sandbox, or processes that are killed. The rest
 * then runs on SQLite only (tests/support/store/dialects.ts), in less than four minutes on two cores.
 */
const THOROUGH = [
  'tests/e2e/**',
  'tests/examples/**',
  'tests/faults/**',
  'tests/scripts/**',
  'tests/server/cluster/**',
  'tests/server/owner/**',
  'tests/server/sandbox/**',
  'tests/server/db/{backup,connect,lost-commit,migrations,whole-backup}.test.ts',
  'tests/server/db/postgres/**',
  'tests/server/tools/mcp/**',
  'tests/server/tools/python*.test.ts',
  'tests/server/start.test.ts',
]
const isQuick = process.env.TESTS === 'quick'

/**
 * Files that take longest, those above all others at the top, then those that kill servers: begun first, so that none of them runs on when
 * everything else is done.
 */
const LONG = [
  'tests/scripts/program.test.ts',
  'tests/faults/schedules.test.ts',
  'tests/faults/channels.test.ts',
  'tests/server/receiving/bridge.test.ts',
  'tests/server/owner/installation.test.ts',
  'tests/server/start.test.ts',
  'tests/server/files/backup-bucket.test.ts',
  'tests/server/db/whole-backup.test.ts',
  'tests/server/files/scheduled-backups.test.ts',
  'tests/server/sandbox/python/isolation.test.ts',
  'tests/server/sandbox/python/sandbox.test.ts',
  'tests/faults/agents.test.ts',
  'tests/e2e/accessibility.test.ts',
  'tests/e2e/models-story.test.ts',
  'tests/e2e/project-story.test.ts',
  'tests/e2e/workspace.test.ts',
  'tests/faults/readers.test.ts',
  'tests/faults/background-tasks.test.ts',
  'tests/server/owner/owner.test.ts',
  'tests/server/owner/move.test.ts',
  'tests/faults/writes.test.ts',
  'tests/e2e/chat.test.ts',
  'tests/server/auth/floods.test.ts',
  'tests/server/chat/spending.test.ts',
  'tests/server/chat/input-requests.test.ts',
  'tests/server/db/migrations.test.ts',
  'tests/server/db/backup.test.ts',
  'tests/server/db/repositories/conversations/history-cache.test.ts',
  'tests/server/tools/mcp/servers.test.ts',
  'tests/server/auth/single-sign-on.test.ts',
  'tests/server/transfer/hostile.test.ts',
  'tests/server/transfer/bundle.test.ts',
  'tests/e2e/agents.test.ts',
  'tests/e2e/rich-answers.test.ts',
  'tests/e2e/sign-in.test.ts',
  'tests/e2e/survival.test.ts',
  'tests/e2e/screens.test.ts',
  'tests/e2e/approvals.test.ts',
  'tests/faults/kill.test.ts',
  'tests/faults/two-actors.test.ts',
  'tests/faults/drain.test.ts',
  'tests/server/tools/python-beside-chats.test.ts',
].map((file) => resolve(import.meta.dirname, file))
const FAULTS = resolve(import.meta.dirname, 'tests/faults/')

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    // Files that share a process stay together: it ends when the next file needs one of its own. Those with their own
    // come first, because one of them takes long and would run on alone.
    const place = ({ moduleId, project }: TestSpecification): number => {
      if (project.config.isolate) return -1
      const at = LONG.indexOf(moduleId)
      if (at !== -1) return at
      return moduleId.startsWith(FAULTS) ? LONG.length : LONG.length + 1
    }
    return sorted.toSorted((one, other) => place(one) - place(other))
  }
}

/**
 * Complete runs of 3,706 tests took 569 to 604 s on two cores without other load (634 s with three at a time, before databases
 * were used again and browsers stopped optimizing), those of 3,740 tests 889 and 965 s on a slower machine;
 * one whose processors slow down under load took 1359 s, and 1242 s once servers that had ended no longer stayed in memory. 684 tests of chats, databases and accounts took 94 s, with three at a time
 * 104 s; the cores were idle for 5 and 13 % of the time. In the processes of the tests, a test of chats, runs or tools takes
 * 0.13 s of processor time; a load of the page takes 0.7 to 1 s in Chromium. Each takes up to 1.5 GB, its browser and
 * servers included.
 */
const WORKERS = 4

const common = {
  pool: 'forks' as const,
  execArgv: [...SHORT_LIVED],
  // Limits for a test that hangs, far above what any takes on a busy machine. The long form of a test repeats it often.
  testTimeout: process.env.FAULTS === 'full' ? 3_600_000 : 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 30_000 } },
  // A complete run of 5,000 tests should not fail because Chromium was starved once: a test that ends with an error of the browser's
  // driver, and with no other, is run again, which the report names. One that needs it twice is at fault.
  retry: isQuick
    ? 0
    : { count: 1, condition: /^(page|locator|frame|browser|elementHandle)\w*\.\w+: /i },
  restoreMocks: true,
}

/** Threads and child processes of a server under test start from the build, in a fraction of the time and work. */
const built = {
  alias: [
    {
      find: /^(\.\.\/)+lib\/child-entry\.ts$/,
      replacement: resolve(import.meta.dirname, 'tests/support/built-children.ts'),
    },
  ],
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: ['tests/support/global-setup.ts'],
    projects: [
      {
        resolve: built,
        test: {
          ...common,
          name: 'parallel',
          include: ['tests/**/*.test.ts'],
          exclude: isQuick ? [...OWN_PROCESS, ...THOROUGH] : OWN_PROCESS,
          // Importing the application and its packages is more work than most files: those of one process share it.
          isolate: false,
          maxWorkers: WORKERS,
        },
      },
      {
        resolve: built,
        test: {
          ...common,
          name: 'own-process',
          include: isQuick ? [] : OWN_PROCESS,
          maxWorkers: WORKERS,
        },
      },
    ],
  },
})
