// Vector distances in SQLite, with and without sqlite-vec.

import { describe, expect, test, vi } from 'vitest'
import { cosineDistance } from '../../../../server/db/vectors/cosine.ts'
import { addVectorFunctions } from '../../../../server/db/vectors/sqlite.ts'
import { SqliteClient } from '../../../../server/lib/sqlite-driver.ts'

describe('comparing vectors in SQLite', () => {
  const vector = (...values: number[]): Buffer => Buffer.from(Int8Array.from(values))
  const distances = async () => {
    const client = new SqliteClient(':memory:')
    const by = await addVectorFunctions(client)
    const statement = client.prepare('select vec_distance_cosine(vec_int8(?), vec_int8(?))').pluck()
    const found = [
      statement.get(vector(1, 2, 3), vector(1, 2, 3)),
      statement.get(vector(127, 0, 0), vector(0, 127, 0)),
      statement.get(vector(10, 20, -30), vector(-5, 100, 7)),
    ]
    client.close()
    return { by, found: found.map(Number) }
  }

  test('gives the same distances with sqlite-vec and without it', async () => {
    const own = [0, 1, cosineDistance(Int8Array.of(10, 20, -30), Int8Array.of(-5, 100, 7)) ?? 0]
    const loaded = await distances()
    for (const [at, distance] of loaded.found.entries())
      expect(distance).toBeCloseTo(own[at] ?? 9, 4)
    vi.doMock('sqlite-vec', () => {
      throw new Error('there is no build for this machine')
    })
    const without = await distances()
    vi.doUnmock('sqlite-vec')
    expect(without.by).toBe('javascript')
    for (const [at, distance] of without.found.entries())
      expect(distance).toBeCloseTo(own[at] ?? 9, 4)
  })
})
