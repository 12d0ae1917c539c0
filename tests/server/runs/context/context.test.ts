// The resume point of a run after a restart, for every state in which a crash can leave the store.
import { expect, test } from 'vitest'
import type { StepRow } from '../../../../server/db/repositories/conversations/steps.ts'
import type { MessageId } from '../../../../server/protocol/ids.ts'
import { resumePoint } from '../../../../server/runs/context.ts'
import { createToolSet } from '../../../../server/tools/registry.ts'
import { type Random, rounds, SEED } from '../../../support/random.ts'
import { countingTool } from '../../tools/support.ts'

const tools = createToolSet([
  countingTool({ name: 'look', repeatable: true }).tool,
  countingTool({ name: 'send', repeatable: false }).tool,
])

const row = (position: number, more: Partial<StepRow> & Pick<StepRow, 'type'>): StepRow => ({
  messageId: 'message' as MessageId,
  position,
  content: '',
  idRef: null,
  name: null,
  skipped: false,
  artifact: null,
  closed: true,
  firstEvent: null,
  cuts: null,
  durationMs: null,
  startedAt: null,
  grantId: null,
  origin: null,
  ...more,
})

interface Expected {
  /** Calls without a result, in order. `interrupted` are those of them that must not run again. */
  pending: string[]
  interrupted: string[]
  nextIndex: number
  /** Positions of the results of the pending calls. */
  results: number[]
}

/** Every state of the store, commit by commit, while an answer is produced, with the expected resume point. */
function* commits(random: Random): Generator<{ rows: StepRow[]; expected: Expected }> {
  const rows = new Map<number, StepRow>()
  let next = 0
  let count = 0
  const state = (expected: Partial<Expected>): { rows: StepRow[]; expected: Expected } => ({
    rows: [...rows.values()].sort((a, b) => a.position - b.position),
    expected: { pending: [], interrupted: [], nextIndex: next, results: [], ...expected },
  })
  yield state({})
  for (let iteration = 1 + random.below(3); iteration >= 0; iteration -= 1) {
    for (const type of ['thinking', 'text'] as const) {
      if (random.below(2) === 0) continue
      // While a step is open, the next attempt produces it again in its place.
      rows.set(next, row(next, { type, content: 'Half', closed: false }))
      yield state({})
      rows.set(next, row(next, { type, content: 'Half a sentence.' }))
      next += 1
      yield state({})
    }
    if (iteration === 0) break
    const size = 1 + random.below(3)
    const base = next
    const ids = Array.from({ length: size }, () => `call-${count++}`)
    const names = ids.map(() => random.pick(['look', 'send', 'gone']))
    for (const [at, id] of ids.entries())
      rows.set(base + at, row(base + at, { type: 'tool_call', idRef: id, name: names[at] ?? '' }))
    next = base + 2 * size
    const open = new Set(ids)
    const begun = new Set<string>()
    const waiting = (): Partial<Expected> => ({
      pending: ids.filter((id) => open.has(id)),
      interrupted: ids.filter((id, at) => open.has(id) && begun.has(id) && names[at] !== 'look'),
      results: ids.flatMap((id, at) => (open.has(id) ? [base + size + at] : [])),
    })
    yield state(waiting())
    for (const id of random.shuffle(ids)) {
      const at = ids.indexOf(id)
      const call = rows.get(base + at)
      if (call !== undefined) rows.set(base + at, { ...call, startedAt: new Date(0) })
      begun.add(id)
      yield state(waiting())
      const place = base + size + at
      rows.set(place, row(place, { type: 'tool_result', idRef: id, name: names[at] ?? '' }))
      open.delete(id)
      yield state(waiting())
    }
  }
}

test(`from every prefix of commits a run resumes with exactly what is missing (SEED=${SEED})`, () => {
  for (const { random, what } of rounds(40))
    for (const { rows, expected } of commits(random)) {
      const { pendingCalls, interrupted, nextIndex, places } = resumePoint(rows, tools)
      const shown = rows.map(
        ({ position, type, closed }) => `${position}:${type}${closed ? '' : '…'}`,
      )
      expect(
        {
          pending: pendingCalls.map(({ id }) => id),
          interrupted: [...interrupted],
          nextIndex,
          results: pendingCalls.map(({ id }) => places.get(id)?.result),
        },
        `${what}: ${shown.join(' ')}`,
      ).toEqual(expected)
      for (const { id } of pendingCalls)
        expect(rows.find(({ idRef }) => idRef === id)?.position, what).toBe(places.get(id)?.call)
    }
})
