// Checks search by meaning: the endpoint responds, and the database can compare vectors.
import type { DatabaseSettings } from '../../db/database.ts'
import { inspectVectors } from '../../db/inspect.ts'
import { addVectorFunctions } from '../../db/vectors/sqlite.ts'
import { errorText } from '../../errors.ts'
import { createEmbedder, type EmbeddingSettings } from '../../knowledge/embeddings.ts'
import { SqliteClient } from '../../lib/sqlite-driver.ts'
import { createAddressRules } from '../../net/addresses.ts'
import { createGuardedFetch } from '../../net/guarded-fetch.ts'
import { type Finding, fine } from '../finding.ts'

const TIMEOUT_MS = 8000

/** Returns no findings when no endpoint is configured: search by words needs none. */
export async function checkEmbeddings(
  settings: EmbeddingSettings | null,
  database: DatabaseSettings,
): Promise<Finding[]> {
  if (settings === null) return []
  return Promise.all([checkEndpoint(settings), checkVectorSearch(database)])
}

async function checkEndpoint(settings: EmbeddingSettings): Promise<Finding> {
  const subject = 'embeddings'
  const { host } = new URL(settings.apiUrl)
  const fetch = createGuardedFetch({
    rules: createAddressRules({ allowPrivate: [], allowPorts: [] }),
  })
  try {
    const embedder = createEmbedder(settings, fetch)
    const { vectors } = await embedder.embed(['a word'], AbortSignal.timeout(TIMEOUT_MS))
    const dimensions = vectors[0]?.length ?? 0
    const detail = `${host} responds, ${dimensions} dimensions`
    return fine('embeddings_ok', subject, detail, { host, dimensions })
  } catch (error) {
    return {
      state: 'fail',
      code: 'embeddings_broken',
      params: { host, reason: errorText(error) },
      subject,
      // The embedder's own message, without the URL or the key.
      detail: `${host} returns no vectors (${errorText(error)})`,
      advice: 'Check embeddings.api_url, api_key and model. Until then, search uses words only.',
    }
  } finally {
    await fetch.close()
  }
}

async function checkVectorSearch(settings: DatabaseSettings): Promise<Finding> {
  const subject = 'vector search'
  try {
    const by =
      settings.dialect === 'sqlite' ? await sqliteImplementation() : await inspectVectors(settings)
    if (by === 'sqlite-vec' || by === 'pgvector') return fine('vectors_ok', subject, by, { by })
    const advice =
      by === 'scan'
        ? 'Install the extension pgvector for this PostgreSQL, and allow its user to create it.'
        : 'Run `npm ci` without --omit=optional: sqlite-vec is twice as fast.'
    return {
      state: 'warn',
      code: by === 'scan' ? 'vectors_without_pgvector' : 'vectors_without_sqlite_vec',
      params: {},
      subject,
      detail: 'compares vectors one by one in JavaScript',
      advice,
    }
  } catch {
    return {
      state: 'warn',
      code: 'vectors_unknown',
      params: {},
      subject,
      detail: 'not checked: the database does not respond',
      advice: 'Fix the database first.',
    }
  }
}

async function sqliteImplementation(): Promise<'sqlite-vec' | 'javascript'> {
  const client = new SqliteClient(':memory:')
  try {
    return await addVectorFunctions(client)
  } finally {
    client.close()
  }
}
