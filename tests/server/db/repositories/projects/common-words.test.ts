// The search in documents for words that nearly all of a project's passages contain.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { createStore } from '../../../../../server/db/store.ts'
import { makeCopies } from '../../../../support/store/copies.ts'
import { useDatabases } from '../../../../support/store/databases.ts'
import { DIALECTS } from '../../../../support/store/dialects.ts'
import { explain, onConnection } from '../../../../support/store/explain.ts'
import { somebody } from '../../../../support/store/store-rows.ts'

const PASSAGES = 12_000

const databases = useDatabases()

test.each(DIALECTS)(
  'of passages that all contain the words, some of ready documents are found, those with more of the words first, and no list of all is read (%s)',
  async (dialect) => {
    const settings = await databases.settings(dialect)
    const statements: { text: string; values: unknown[] }[] = []
    const database = await databases.connect(settings, {
      onStatement: (text, values) => statements.push({ text, values }),
    })
    const store = createStore(database)
    const { id: userId } = await somebody(store)
    const { id: projectId } = await store.projects.create(userId, { name: 'p', description: null })
    const newDocument = (name: string) =>
      store.documents.create({ projectId, userId, name, mime: 'text/plain', size: 1 })
    const passage = (text: string) => ({ heading: null, page: null, text, tokens: text })
    const { documents, passages } = database.tables
    const large = await newDocument('large.txt')
    await store.documents.index(large, [passage('office training')])
    const [original] = await database.read.select({ id: passages.id }).from(passages)
    await makeCopies(settings, passages, { id: String(original?.id) }, PASSAGES, {
      id: 'n.i + 1000',
      position: 'n.i',
      text: `'training ' || n.i`,
      tokens: `case when n.i % 10 = 0 then 'office' else 'office training' end`,
    })
    await database.write(async (tx) => {
      await tx
        .update(documents)
        .set({ passages: PASSAGES + 1 })
        .where(eq(documents.id, large.id))
    })
    if (dialect === 'postgres') {
      const advance = `select setval(pg_get_serial_sequence('passages', 'id'), ${PASSAGES + 2_000})`
      await onConnection(settings, advance)
    }
    await onConnection(settings, 'analyze')
    const newest = await newDocument('newest.txt')
    await store.documents.index(newest, [passage('the office alone'), passage('training office')])
    /** The newest passages are read, not the lists of the words. */
    const readsNewest = async (): Promise<void> => {
      if (dialect === 'sqlite') return
      const plans = await Promise.all(
        statements
          .filter(({ text }) => text.includes('passages'))
          .map(({ text, values }) => explain(settings, text, values)),
      )
      expect(plans.length).toBeGreaterThan(0)
      for (const plan of plans) expect(plan).not.toMatch(/passages_words|Seq Scan on passages/)
      expect(statements.some(({ text }) => text.includes('passages_with'))).toBe(false)
    }
    statements.length = 0
    expect(await store.documents.search(projectId, ['office', 'training'], 400)).not.toEqual([])
    await readsNewest()

    const unready = await newDocument('unready.txt')
    await store.documents.index(unready, [passage('office training of nobody')])
    await database.write(async (tx) => {
      await tx.update(documents).set({ status: 'pending' }).where(eq(documents.id, unready.id))
    })

    statements.length = 0
    const found = await store.documents.search(projectId, ['office', 'training'], 400)
    const texts = found.map(({ text }) => text)
    expect(texts).toContain('training office')
    expect(texts).not.toContain('office training of nobody')
    expect(found.slice(0, 100).every(({ tokens }) => tokens.includes('training'))).toBe(true)
    await readsNewest()
  },
)
