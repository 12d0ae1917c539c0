// Whether passages can be found by meaning: the endpoint answers, and the database compares vectors itself.
import SqliteClient from 'better-sqlite3'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectVectors } from '../db/inspect.ts'
import { addVectorFunctions } from '../db/vectors/sqlite.ts'
import { errorText } from '../errors.ts'
import { createEmbedder, type EmbeddingSettings } from '../knowledge/embeddings.ts'
import { createAddressRules } from '../net/addresses.ts'
import { createGuardedFetch } from '../net/guarded-fetch.ts'
import { type Finding, fine } from './finding.ts'

const TIMEOUT_MS = 8000

/** Nothing is said where no endpoint is configured: words alone are enough. */
export async function checkEmbeddings(
  settings: EmbeddingSettings | null,
  database: DatabaseSettings,
): Promise<Finding[]> {
  if (settings === null) return []
  return Promise.all([checkEndpoint(settings), checkComparing(database)])
}

async function checkEndpoint(settings: EmbeddingSettings): Promise<Finding> {
  const subject = 'embeddings'
  const { host } = new URL(settings.apiUrl)
  const fetch = createGuardedFetch({
    rules: createAddressRules({ allowPrivate: [], allowPorts: [] }),
  })
  try {
    const embedder = createEmbedder(settings, fetch)
    const [vector] = await embedder.embed(['a word'], AbortSignal.timeout(TIMEOUT_MS))
    return fine(subject, `${host} answers, ${vector?.length ?? 0} dimensions`)
  } catch (error) {
    return {
      state: 'fail',
      subject,
      // Its words are ours, and name neither the URL nor the key.
      detail: `${host} gives no vectors (${errorText(error)})`,
      advice: 'Check embeddings.api_url, api_key and model. Until then words alone decide.',
    }
  } finally {
    await fetch.close()
  }
}

async function checkComparing(settings: DatabaseSettings): Promise<Finding> {
  const subject = 'comparing vectors'
  try {
    const by = settings.dialect === 'sqlite' ? await sqliteWay() : await inspectVectors(settings)
    if (by === 'sqlite-vec' || by === 'pgvector') return fine(subject, by)
    const advice =
      by === 'scan'
        ? 'Install the extension pgvector for this PostgreSQL, and allow its user to create it.'
        : 'Run `npm ci` without --omit=optional: sqlite-vec is twice as fast.'
    return { state: 'warn', subject, detail: 'one by one in JavaScript', advice }
  } catch {
    return {
      state: 'warn',
      subject,
      detail: 'not looked at: the database does not answer',
      advice: 'Mend the database first.',
    }
  }
}

async function sqliteWay(): Promise<'sqlite-vec' | 'javascript'> {
  const client = new SqliteClient(':memory:')
  try {
    return await addVectorFunctions(client)
  } finally {
    client.close()
  }
}
