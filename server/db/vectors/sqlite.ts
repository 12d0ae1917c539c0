// The functions with which SQLite compares vectors: sqlite-vec where it can be loaded, otherwise the same in JavaScript.
import type SqliteClient from 'better-sqlite3'
import { cosineDistance, signedBytes } from './cosine.ts'

/**
 * Afterwards `vec_int8(bytes)` and `vec_distance_cosine(a, b)` can be used. Returns which implementation computes them.
 */
export async function addVectorFunctions(
  client: SqliteClient.Database,
): Promise<'sqlite-vec' | 'javascript'> {
  try {
    // An optional dependency: it is not built for every platform.
    const { load } = await import('sqlite-vec')
    load(client)
    return 'sqlite-vec'
  } catch {
    const options = { deterministic: true, directOnly: true }
    client.function('vec_int8', options, (bytes: unknown) => bytes)
    client.function('vec_distance_cosine', options, (a: unknown, b: unknown) =>
      Buffer.isBuffer(a) && Buffer.isBuffer(b)
        ? cosineDistance(signedBytes(a), signedBytes(b))
        : null,
    )
    return 'javascript'
  }
}
