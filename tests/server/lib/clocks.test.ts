// Promises of waiting for a moment.
import { describe, expect, test } from 'vitest'
import { passed } from '../../../server/lib/clocks.ts'

const HOUR_MS = 3_600_000
const now = (): Date => new Date()
const inAnHour = (): Date => new Date(Date.now() + HOUR_MS)

describe('waiting for a moment', () => {
  test('ends at once when it was given up before it began', async () => {
    expect(await passed(inAnHour(), now, AbortSignal.abort())).toBe(false)
  })

  test('ends when it is given up', async () => {
    const controller = new AbortController()
    const waiting = passed(inAnHour(), now, controller.signal)
    controller.abort()
    expect(await waiting).toBe(false)
  })

  test('ends when the clock of the process has come to it, however that came about', async () => {
    let moved = 0
    const moment = inAnHour()
    const waiting = passed(moment, () => new Date(Date.now() + moved), new AbortController().signal)
    moved = HOUR_MS
    expect(await waiting).toBe(true)
  })
})
