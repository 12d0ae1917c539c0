// Group commit: the writes of many runs in few transactions, on an in-memory store that fails on demand.
import { describe, expect, test } from 'vitest'
import type { Database, Writer } from '../../../server/db/database.ts'
import { AppError } from '../../../server/errors.ts'
import { createRunWrites, createWriteGroup, type Write } from '../../../server/runs/group-commit.ts'
import { rounds, SEED } from '../../support/random.ts'

const away = () => new AppError('store_unavailable', 'The database is away.')
const full = () => new AppError('store_full', 'The disk is full.')

interface MemoryStore extends Pick<Database, 'write'> {
  /** The committed rows. */
  rows: string[]
  /** The rows written by each attempted transaction, committed or not. */
  transactions: string[][]
  /** A write that stores a row, or throws instead. */
  row(name: string, fault?: () => Error): Write
}

/** A store whose transactions buffer rows until they commit; the first commits throw `faults`, in order. */
function memoryStore(faults: (() => Error)[] = []): MemoryStore {
  let open: string[] = []
  const store: MemoryStore = {
    rows: [],
    transactions: [],
    row: (name, fault) => async () => {
      open.push(name)
      await null
      if (fault !== undefined) throw fault()
    },
    async write(work) {
      open = []
      store.transactions.push(open)
      // The writes of these tests do not use the transaction.
      const result = await work({} as Writer)
      const fault = faults.shift()
      if (fault !== undefined) throw fault()
      store.rows.push(...open)
      return result
    },
  }
  return store
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `row-${at}`)

describe('writes that wait together', () => {
  test('share one transaction, in the order of arrival', async () => {
    const store = memoryStore()
    const group = createWriteGroup(store, [])
    await Promise.all(names(10).map((name) => group.commit(store.row(name))))
    expect(store.transactions.map(({ length }) => length)).toEqual([1, 9])
    expect(store.rows).toEqual(names(10))
  })

  test('are at most 64 in one transaction', async () => {
    const store = memoryStore()
    const group = createWriteGroup(store, [])
    await Promise.all(names(140).map((name) => group.commit(store.row(name))))
    expect(store.transactions.map(({ length }) => length)).toEqual([1, 64, 64, 11])
    expect(store.rows).toEqual(names(140))
  })

  test('are fulfilled only when they are committed', async () => {
    const store = memoryStore()
    const group = createWriteGroup(store, [])
    await Promise.all(
      names(5).map(async (name) => {
        await group.commit(store.row(name))
        expect(store.rows).toContain(name)
      }),
    )
  })

  test('a write that arrives while others are stored goes into the next transaction', async () => {
    const store = memoryStore()
    const group = createWriteGroup(store, [])
    let second: Promise<void> | undefined
    await group.commit(async (tx) => {
      await store.row('first')(tx)
      second = group.commit(store.row('second'))
    })
    await second
    expect(store.transactions).toEqual([['first'], ['second']])
  })
})

describe('a write that fails', () => {
  const fault = () => new Error('this row is wrong')

  test('does not fail the others', async () => {
    const store = memoryStore()
    const group = createWriteGroup(store, [])
    const outcomes = await Promise.allSettled([
      group.commit(store.row('a')),
      group.commit(store.row('b')),
      group.commit(store.row('c', fault)),
      group.commit(store.row('d')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(outcomes[2]).toMatchObject({ reason: { message: 'this row is wrong' } })
    expect(store.rows).toEqual(['a', 'b', 'd'])
  })

  test('is not retried, because it would fail again', async () => {
    const store = memoryStore()
    const group = createWriteGroup(store, [0, 0, 0])
    await expect(group.commit(store.row('a', fault))).rejects.toThrow('this row is wrong')
    expect(store.transactions).toHaveLength(1)
  })

  test('does not prevent later writes', async () => {
    const store = memoryStore()
    const group = createWriteGroup(store, [])
    await expect(group.commit(store.row('a', fault))).rejects.toThrow()
    await group.commit(store.row('b'))
    expect(store.rows).toEqual(['b'])
  })
})

describe('a store that takes no writes', () => {
  test.each([
    ['store_unavailable', away],
    ['store_full', full],
    ['store_busy', () => new AppError('store_busy', 'The database is locked.')],
  ])('is retried as often as there are delays (%s)', async (_code, fault) => {
    const store = memoryStore([fault, fault])
    const group = createWriteGroup(store, [0, 0])
    await group.commit(store.row('a'))
    expect(store.transactions).toHaveLength(3)
    expect(store.rows).toEqual(['a'])
  })

  test('is not retried without delays', async () => {
    const store = memoryStore([away])
    await expect(createWriteGroup(store, []).commit(store.row('a'))).rejects.toMatchObject({
      code: 'store_unavailable',
    })
  })

  test('is retried once for all writes that wait together, not once for each', async () => {
    const store = memoryStore([() => new Error('not this one'), away, away, away])
    const group = createWriteGroup(store, [0, 0])
    const outcomes = await Promise.allSettled(
      names(10).map((name) => group.commit(store.row(name))),
    )
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(store.transactions.map(({ length }) => length)).toEqual([1, 9, 9, 9])
  })

  test('with little space left stores the writes that fit', async () => {
    const store = memoryStore()
    const group = createWriteGroup(store, [0])
    const outcomes = await Promise.allSettled([
      group.commit(store.row('first')),
      group.commit(store.row('small')),
      group.commit(store.row('large', full)),
      group.commit(store.row('also small')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(store.rows).toEqual(['first', 'small', 'also small'])
  })
})

test(`whatever fails, exactly the writes that were fulfilled are stored, in the order of arrival (SEED=${SEED})`, async () => {
  for (const { random, what } of rounds(50)) {
    const faults = Array.from({ length: random.below(4) }, () => random.pick([away, full]))
    const store = memoryStore(faults)
    const group = createWriteGroup(store, [0, 0])
    const asked: { name: string; outcome: Promise<boolean> }[] = []
    for (const name of names(1 + random.below(90))) {
      const fails = random.below(8) === 0
      const write = store.row(name, fails ? () => new Error('wrong') : undefined)
      const outcome = group.commit(write).then(
        () => true,
        () => false,
      )
      asked.push({ name, outcome })
      if (random.below(10) === 0) await outcome
    }
    const fulfilled: string[] = []
    for (const { name, outcome } of asked) if (await outcome) fulfilled.push(name)
    expect(store.rows, what).toEqual(fulfilled)
  }
})

describe('data of active runs', () => {
  /** A store whose first transaction ends when `release` is called. */
  function heldStore() {
    const store = memoryStore()
    let release = (): void => {}
    const promise = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = { isHeld: false }
    const hold: Write = async (tx) => {
      await store.row('held')(tx)
      first.isHeld = true
      await promise
    }
    return { store, hold, release, first }
  }
  const options = { isDraining: () => false, onRetry: () => {} }

  test('is stored after waiting new runs', async () => {
    const { store, hold, release } = heldStore()
    const { starts, writes } = createRunWrites(store, options)
    const all = [
      starts.commit(hold),
      writes.commit(store.row('end of a run')),
      starts.commit(store.row('a new run')),
    ]
    release()
    await Promise.all(all)
    expect(store.rows).toEqual(['held', 'a new run', 'end of a run'])
  })

  test('does not wait long if new runs cannot be stored', async () => {
    const { store, hold, release, first } = heldStore()
    const { starts, writes } = createRunWrites(store, options)
    const held = starts.commit(hold)
    await writes.commit(store.row('end of a run'))
    expect(first.isHeld).toBe(true)
    release()
    await held
  })
})
