// The batch of writes that runs once the ready sockets have been read.
import { describe, expect, it } from 'vitest'
import { createWriteBatch } from '../../../../server/routes/runs/write-batch.ts'

describe('the batch of writes', () => {
  it('runs what one turn of the event loop collects together and in order, after its promises', async () => {
    const afterReads = createWriteBatch()
    const seen: string[] = []
    afterReads(() => seen.push('first'))
    await Promise.resolve()
    seen.push('read')
    afterReads(() => seen.push('second'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual(['read', 'first', 'second'])
  })

  it('leaves what a write itself schedules to the next turn', async () => {
    const afterReads = createWriteBatch()
    const seen: string[] = []
    afterReads(() => {
      seen.push('first')
      afterReads(() => seen.push('later'))
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual(['first'])
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual(['first', 'later'])
  })
})
