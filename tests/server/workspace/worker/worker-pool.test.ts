// The worker pool: one user's slow work does not occupy all threads.
import { expect, test } from 'vitest'
import { createWorkerPool } from '../../../../server/workspace/worker/worker-pool.ts'

test('slow patterns of one user leave a thread for the others', async () => {
  const pool = createWorkerPool(2)
  const stop = new AbortController()
  const find = { fixed: false, caseSensitive: true, limit: 1 }
  const slow = Array.from({ length: 3 }, () =>
    pool.run(
      'find',
      { ...find, pattern: '^(a+)+$', text: `${'a'.repeat(60)}!` },
      { timeoutMs: 600_000, signal: stop.signal, owner: 'greedy' },
    ),
  )
  const ended = Promise.allSettled(slow)
  // The slow patterns never finish on their own: this call only completes if a thread was left for it.
  const found = await pool.run(
    'find',
    { ...find, pattern: 'a', text: 'a' },
    { timeoutMs: 600_000, owner: 'other' },
  )
  expect(found.matches).toHaveLength(1)
  stop.abort()
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await pool.close()
})
