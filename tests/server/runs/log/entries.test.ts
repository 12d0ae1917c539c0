// Packed log entries read exactly as they were added.
import { expect, test } from 'vitest'
import { LogEntries, type LogEntry, stepIndexOf } from '../../../../server/runs/log/log.ts'
import { rounds, SEED } from '../../../support/random.ts'

const title = (id: number): LogEntry => ({
  id,
  kind: 'event',
  event: { event: 'title', title: `${id}` },
})

test(`entries are those of a plain list, by position, by id and in order, also after steps were retracted (SEED=${SEED})`, () => {
  for (const { random, what } of rounds(200)) {
    const entries = new LogEntries([])
    let plain: LogEntry[] = []
    let id = 0
    const ends = new Map<number, number>()
    const add = (entry: LogEntry): void => {
      plain.push(entry)
      entries.push(entry)
    }
    for (let acts = random.below(60); acts > 0; acts -= 1) {
      const index = random.below(3)
      const act = random.below(12)
      if (act === 0) id += 1 + random.below(5)
      else if (act === 1) {
        entries.retract(index)
        plain = plain.map((entry) =>
          stepIndexOf(entry) === index ? { id: entry.id, kind: 'void' } : entry,
        )
      } else if (act === 2) add(title(++id))
      else {
        const from = ends.get(index) ?? 0
        const to = from + (act === 3 ? 0 : random.below(4))
        ends.set(index, to)
        id += 1
        add(act === 3 ? { id, kind: 'whole', index, to } : { id, kind: 'delta', index, from, to })
      }
    }
    expect([...entries], what).toEqual(plain)
    expect(entries.length, what).toBe(plain.length)
    for (let position = -1; position <= plain.length; position += 1)
      expect(entries.at(position), what).toEqual(plain[position])
    for (let after = 0; after <= id + 1; after += 1) {
      const position = plain.findIndex((entry) => entry.id > after)
      expect(entries.positionAfter(after), what).toBe(position === -1 ? plain.length : position)
    }
    expect(
      entries.findLastEvent(({ event }) => event === 'title'),
      what,
    ).toEqual(plain.findLast(({ kind }) => kind === 'event'))
    expect([...new LogEntries(plain)], what).toEqual(plain)
  }
})
