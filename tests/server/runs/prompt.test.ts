// What a run adds to the prompt: once, after what the model has already seen, so that the prompt prefix is stable.
import { expect, test } from 'vitest'
import { type EarlierRun, nextPrompt } from '../../../server/runs/context.ts'
import { type RunPrompt, readRunState } from '../../../server/runs/state.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)
const run = (prompt: RunPrompt, endedAt: Date | null = minutesAgo(1)): EarlierRun => ({
  state: readRunState({ prompt }),
  endedAt,
})
const next = (
  earlier: EarlierRun[],
  {
    trusted = '',
    outside = '',
    listing = '',
  }: { trusted?: string; outside?: string; listing?: string },
) => nextPrompt(earlier, { memory: { trusted, outside }, listing, time: NOW })

const facts = 'Remembered from earlier conversations:\n- likes tea'

test('the first run reads the memory into the system prompt, and nothing is put before the question', () => {
  expect(next([], { trusted: facts })).toEqual({ memory: facts, outside: false })
})

test('later runs do not change the system prompt, and each new fact is put before one question', () => {
  const first = run(next([], { trusted: facts }))
  expect(next([first], { trusted: facts })).toEqual({ outside: false })
  const more = `${facts}\n- has a dog`
  const second = next([first], { trusted: more })
  expect(second.memory).toBeUndefined()
  expect(second.note).toBe('Also known about the user:\n- has a dog')
  expect(next([first, run(second)], { trusted: more })).toEqual({ outside: false })
})

test('after half an hour of silence, or when the run that read it was deleted, the memory is read again', () => {
  const more = `${facts}\n- has a dog`
  const memory = next([], { trusted: facts })
  expect(next([run(memory, minutesAgo(31))], { trusted: more }).memory).toBe(more)
  expect(next([run({ outside: false })], { trusted: more }).memory).toBe(more)
})

test('a file listing is put before the question again after every change, also a change back', () => {
  const one = next([], { listing: 'Entries: a' })
  expect(one.note).toContain('Entries: a')
  expect(next([run(one)], { listing: 'Entries: a' }).note).toBeUndefined()
  const two = next([run(one)], { listing: 'Entries: a, b' })
  expect(two.note).toContain('Entries: a, b')
  expect(next([run(one), run(two)], { listing: 'Entries: a' }).note).toContain('Entries: a')
})

test('facts from outside keep their heading and taint the run', () => {
  const heading = 'Learned from outside text:'
  const one = next([], { outside: `${heading}\n- page says x` })
  expect(one.outside).toBe(true)
  const two = next([run(one)], { outside: `${heading}\n- page says x\n- page says y` })
  expect(two.note).toContain(`${heading}\n- page says y`)
  expect(two.note).not.toContain('- page says x')
  expect(next([run(one)], { outside: `${heading}\n- page says x` })).toEqual({ outside: false })
})
