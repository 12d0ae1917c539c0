// Search over titles, messages, tool calls and attachments, on both databases.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import { newId } from '../../../server/lib/ids.ts'
import { indexWords } from '../../../server/lib/words.ts'
import type { ConversationId, FileId, UserId } from '../../../server/protocol/ids.ts'
import { createSearch, type Search, type SearchRequest } from '../../../server/search/search.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { rounds, SEED } from '../../support/random.ts'
import { say, somebody } from '../../support/store-rows.ts'

const passage = (name: string, text: string, page: number) => ({
  ...{ heading: null, text, page },
  tokens: indexWords(`${name}\n${text}`).join(' '),
})

/** Stores the row of an uploaded document, without its content. */
async function storeFile(
  database: Database,
  userId: UserId,
  name: string,
  text: string,
  pages: number,
) {
  const row = {
    ...{ id: newId<FileId>(), userId, kind: 'text' as const, name, mime: 'application/pdf' },
    ...{
      size: 1,
      sha256: newId<string>(),
      thumbnailSha256: null,
      width: null,
      height: null,
      pages,
    },
    ...{ failure: null, createdAt: new Date(), characters: text.length, text },
  }
  await database.write((tx) => createStore(database).files.insert(tx, row))
  return { row }
}

describeOnEachDatabase('search', (open) => {
  let database: Database
  let store: Store
  let search: Search
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
    search = createSearch(store)
  })

  async function person(): Promise<{ userId: UserId; conversation: ConversationId }> {
    const { id } = await somebody(store)
    return { userId: id, conversation: (await store.conversations.create(id, {})).id }
  }
  const find = (userId: UserId, q: string, more: Partial<SearchRequest> = {}) =>
    search.find(userId, { q, limit: 20, ...more })
  const snippets = async (userId: UserId, q: string, more: Partial<SearchRequest> = {}) =>
    (await find(userId, q, more)).items.map(({ snippet }) => snippet)
  /** The texts of the hits, without highlight marks. */
  const found = async (userId: UserId, q: string, more: Partial<SearchRequest> = {}) =>
    (await snippets(userId, q, more)).map((snippet) => snippet.replaceAll(/<\/?mark>/g, ''))

  test('all unquoted words are wanted, and hits are marked', async () => {
    const { userId, conversation } = await person()
    await say(database, conversation, 'How do I deploy nginx?', null)
    await say(database, conversation, 'nginx alone', null)
    await say(database, conversation, 'Deploying is hard. NGINX: deploy it twice', null)
    expect(await snippets(userId, 'deploy nginx')).toEqual([
      'Deploying is hard. <mark>NGINX</mark>: <mark>deploy</mark> it twice',
      'How do I <mark>deploy</mark> <mark>nginx</mark>?',
    ])
  })

  test('texts that are about the words come before those that mention them, and of equals the newest', async () => {
    const { userId, conversation } = await person()
    const filler = 'something else entirely that nobody asked about. '.repeat(40)
    await say(database, conversation, `${filler} ${'A heron colony! '.repeat(8)}`, null)
    await say(database, conversation, 'an old heron colony', null)
    await say(database, conversation, 'a new heron colony', null)
    await say(database, conversation, `A heron. ${filler} Once there was a colony.`, null)
    expect(await found(userId, 'heron colony')).toEqual([
      'a new heron colony',
      'an old heron colony',
      expect.stringContaining('A heron colony! A heron colony!'),
      expect.stringContaining('A heron. something else'),
    ])
  })

  test('an attached file and a document are found with the page that contains the words', async () => {
    const { userId, conversation } = await person()
    const pages = Array.from(
      { length: 9 },
      (_, at) => `[Page ${at + 1}]\n${'正文很长。'.repeat(900)}`,
    )
    pages[6] += '\n第七页提到鲸鱼迁徙。'
    const text = pages.join('\n')
    const { row } = await storeFile(database, userId, 'report.pdf', text, 9)
    await say(database, conversation, 'Read this', null, { files: [row] })
    const project = await store.projects.create(userId, { name: 'Sea', description: null })
    const document = await store.documents.create({
      ...{ userId, projectId: project.id, name: '海洋 atlas.pdf' },
      ...{ mime: 'application/pdf', size: 1 },
    })
    await store.documents.index(document, [
      passage('海洋 atlas.pdf', 'Introduction', 1),
      passage('', '座头鲸鱼每年迁徙。', 7),
    ])
    for (const q of ['鲸鱼', '鲸'])
      expect(
        (await find(userId, q)).items.map(({ type, page }) => [type, page]).toSorted(),
        q,
      ).toEqual([
        ['document', 7],
        ['file', 7],
      ])
    expect((await find(userId, '鲸鱼', { type: 'file' })).items).toMatchObject([
      { message: { fileId: row.id }, conversationId: conversation },
    ])
    expect((await find(userId, '鲸鱼', { type: 'document' })).items).toMatchObject([
      {
        document: { id: document.id, position: 1 },
        title: '海洋 atlas.pdf',
        projectId: project.id,
      },
    ])
    expect(await found(userId, 'atlas')).toEqual(['海洋 atlas.pdf Introduction'])
    expect(await found(userId, '鲸鱼 in:sea')).toHaveLength(1)
    expect(await found((await person()).userId, '鲸鱼')).toEqual([])
    await store.documents.remove(project.id, document.id)
    expect(await found(userId, '鲸鱼', { type: 'document' })).toEqual([])
  })

  test('without a full match, messages with most of the words are found', async () => {
    const { userId, conversation } = await person()
    await say(database, conversation, 'red green', null)
    await say(database, conversation, 'only red', null)
    expect(await found(userId, 'red green blue')).toEqual(['red green'])
    expect(await found(userId, '"red green blue"')).toEqual([])
  })

  test('Chinese and Japanese are found by words, by phrases and by a single character', async () => {
    const { userId, conversation } = await person()
    await say(database, conversation, '今天以太坊的价格是多少？', null)
    await say(database, conversation, '東京タワーへ行きたい', null)
    expect(await snippets(userId, '以太坊')).toEqual(['今天<mark>以太坊</mark>的价格是多少？'])
    expect(await snippets(userId, '价')).toEqual(['今天以太坊的<mark>价</mark>格是多少？'])
    expect(await snippets(userId, '少')).toEqual(['今天以太坊的价格是多<mark>少</mark>？'])
    expect(await snippets(userId, 'タワー')).toEqual(['東京<mark>タワー</mark>へ行きたい'])
    expect(await found(userId, '"价格是"')).toHaveLength(1)
    expect(await found(userId, '"格价"')).toEqual([])
  })

  test('case, accents and full-width letters do not matter, and the snippet shows the text as written', async () => {
    const { userId, conversation } = await person()
    await say(database, conversation, 'Café CRÈME für ＡＢＣ & <b>Ünal</b>', null)
    for (const q of ['cafe creme', 'CAFÉ', 'fur abc'])
      expect(await found(userId, q), q).toHaveLength(1)
    expect(await snippets(userId, 'ünal abc')).toEqual([
      'Café CRÈME für <mark>ＡＢＣ</mark> &amp; &lt;b&gt;<mark>Ünal</mark>&lt;/b&gt;',
    ])
  })

  test('quotes, minus, by:me, has:file, in: and types narrow the search', async () => {
    const { userId, conversation } = await person()
    const project = await store.projects.create(userId, { name: 'Big Plans', description: null })
    const { id: inside } = await store.conversations.create(userId, { projectId: project.id })
    await say(database, conversation, 'apple pie', null)
    await say(database, conversation, 'pie of apple', null)
    await say(database, inside, 'apple tree', null, {
      files: [{ name: 'orchard map.txt', extension: 'txt', content: 'rows of quince' }],
    })
    expect(await found(userId, '"apple pie"')).toEqual(['apple pie'])
    expect(await found(userId, 'apple -pie')).toEqual(['apple tree'])
    expect(await found(userId, 'apple -"apple pie"')).toEqual(['apple tree', 'pie of apple'])
    expect(await found(userId, 'apple in:"big plans"')).toEqual(['apple tree'])
    expect(await found(userId, 'apple in:elsewhere')).toEqual([])
    await store.conversations.patch(userId, inside, { tags: ['Garden', 'old'] })
    expect(await found(userId, 'apple tag:garden tag:old')).toEqual(['apple tree'])
    expect(await found(userId, 'tag:garden', { type: 'message' })).toEqual(['apple tree'])
    expect(await found(userId, 'apple tag:garden tag:new')).toEqual([])
    expect(await found(userId, 'apple', { projectId: project.id })).toEqual(['apple tree'])
    expect(await found(userId, 'apple has:file')).toEqual(['apple tree'])
    expect(await found(userId, 'apple by:me')).toHaveLength(3)
    expect(await found(userId, 'quince orchard', { type: 'file' })).toEqual([
      'orchard map.txt rows of quince',
    ])
    expect(await found(userId, 'apple', { type: 'tool' })).toEqual([])
    expect(await found(userId, 'apple', { conversationId: inside })).toEqual(['apple tree'])
    expect(await found(userId, 'apple', { from: new Date(Date.now() + 60_000) })).toEqual([])
  })

  test('answers are found by their text and tool steps, thinking is not', async () => {
    const { userId, conversation } = await person()
    const messageId = await say(database, conversation, '', null, { role: 'assistant' })
    await database.write(async (tx) => {
      const step = { messageId, closed: true, firstEvent: 1, cuts: '' }
      await store.steps.putProse(tx, userId, {
        ...step,
        position: 0,
        type: 'thinking',
        content: 'zebra',
      })
      await store.steps.putProse(tx, userId, {
        ...step,
        position: 1,
        type: 'text',
        content: 'The giraffe',
      })
      await store.steps.put(tx, userId, {
        messageId,
        position: 2,
        type: 'tool_result',
        name: 'web_search',
        content: '{"data":"first\\nokapi"}',
        skipped: false,
        closed: true,
      })
    })
    expect(await found(userId, 'zebra')).toEqual([])
    expect((await find(userId, 'giraffe')).items).toMatchObject([
      { type: 'message', message: { id: messageId, role: 'assistant', stepId: 'step-1' } },
    ])
    expect((await find(userId, 'okapi')).items).toMatchObject([
      { type: 'tool', message: { stepId: 'step-2' } },
    ])
    await database.write((tx) => store.steps.removeFrom(tx, messageId, 2))
    expect(await found(userId, 'okapi')).toEqual([])
  })

  test('titles come first, follow a rename and have no message', async () => {
    const { userId, conversation } = await person()
    await say(database, conversation, 'about walnuts', null)
    await store.conversations.patch(userId, conversation, { title: 'Walnuts and more' })
    const { items } = await find(userId, 'walnut')
    expect(items.map(({ type }) => type)).toEqual(['title', 'message'])
    expect(items[0]).not.toHaveProperty('message')
    await store.conversations.patch(userId, conversation, { title: 'Almonds' })
    expect(await found(userId, 'walnut', { type: 'title' })).toEqual([])
    expect(await found(userId, 'almonds', { type: 'title' })).toEqual(['Almonds'])
  })

  test('nobody finds the texts of others, however many there are', async () => {
    const [mine, theirs] = [await person(), await person()]
    await say(database, mine.conversation, 'secret papaya', null)
    for (let at = 0; at < 30; at += 1)
      await say(database, theirs.conversation, `papaya ${at}`, null)
    expect(await found(mine.userId, 'papaya', { limit: 5 })).toEqual(['secret papaya'])
    expect(await found(mine.userId, 'papaya -secret')).toEqual([])
    expect(await found(mine.userId, 'papaya', { conversationId: theirs.conversation })).toEqual([])
  })

  test('what is deleted is not found, and its words leave the index with it', async () => {
    const { userId, conversation } = await person()
    const id = await say(database, conversation, 'short-lived mayfly', null)
    await database.write((tx) => store.messages.removeSubtree(tx, conversation, id))
    expect(await found(userId, 'mayfly')).toEqual([])
    await database.write((tx) => store.messages.restoreSubtree(tx, conversation, id))
    expect(await found(userId, 'mayfly')).toHaveLength(1)
    const entries = async () =>
      (
        await database.read
          .select({ id: database.tables.searchWords.rowid })
          .from(database.tables.searchWords)
      ).length
    const before = await entries()
    await store.conversations.patch(userId, conversation, { title: 'Mayflies' })
    expect(await entries()).toBe(before + 1)
    await store.conversations.remove(userId, conversation)
    expect(await entries()).toBe(before - 1)
    expect(await found(userId, 'mayfly')).toEqual([])
  })

  test('pages follow each other without gaps or repetitions, titles first', async () => {
    const { userId, conversation } = await person()
    await store.conversations.patch(userId, conversation, { title: 'cedar' })
    await store.conversations.create(userId, { title: 'second cedar' })
    for (let at = 0; at < 7; at += 1) await say(database, conversation, `cedar ${at}`, null)
    for (const limit of [1, 2, 3, 8, 9]) {
      const texts: string[] = []
      let cursor: string | undefined
      do {
        const page = await find(userId, 'cedar', { limit, cursor })
        texts.push(...page.items.map(({ snippet }) => snippet.replaceAll(/<\/?mark>/g, '')))
        expect(page.items.length).toBeLessThanOrEqual(limit)
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      const messages = [6, 5, 4, 3, 2, 1, 0].map((at) => `cedar ${at}`)
      expect(texts, `limit ${limit}`).toEqual(['second cedar', 'cedar', ...messages])
    }
  })

  test('a cursor of another user, or of another query, is refused', async () => {
    const [one, other] = [await person(), await person()]
    for (const { conversation } of [one, other])
      for (const text of ['fig 1', 'fig 2']) await say(database, conversation, text, null)
    const { nextCursor } = await find(one.userId, 'fig', { limit: 1 })
    const cursor = nextCursor ?? ''
    expect((await find(one.userId, 'fig', { limit: 1, cursor })).items).toHaveLength(1)
    for (const attempt of [
      find(other.userId, 'fig', { limit: 1, cursor }),
      find(one.userId, 'figs', { limit: 1, cursor }),
      find(one.userId, 'fig', { limit: 1, cursor: 'nonsense' }),
    ])
      await expect(attempt).rejects.toMatchObject({ reason: 'cursor_invalid' })
  })

  test('a text of several parts is found by its beginning and its end', async () => {
    const { userId, conversation } = await person()
    const text = `aardvark 😀 ${'filler words without sense 😀. '.repeat(2_000)} zyzzyva`
    await say(database, conversation, text, null)
    expect(await snippets(userId, 'zyzzyva')).toEqual([
      expect.stringContaining('<mark>zyzzyva</mark>'),
    ])
    expect(await snippets(userId, 'aardvark')).toEqual([
      expect.stringContaining('<mark>aardvark</mark> 😀'),
    ])
  })

  test(`hostile queries are plain text: never an error, never somebody else's text (seed ${SEED})`, async () => {
    const { userId, conversation } = await person()
    await say(database, conversation, "It's “odd”: 100% NEAR(x) AND y OR z NOT 以太坊", null)
    const other = await person()
    await say(database, other.conversation, 'the other one says odd things', null)
    const pieces = [
      '"',
      "'",
      '*',
      '(',
      ')',
      ':',
      '^',
      '-',
      '\\',
      '&',
      '|',
      '!',
      '<->',
      'AND',
      'OR',
      'NOT',
      'NEAR',
      'in:',
      'by:',
      'has:',
      'by:me',
      'odd',
      '以',
      '太坊',
      'é',
      '\u0301',
      '\u{20000}',
      '\u{1F600}',
      '\uE000',
      '\0',
      '\ud800',
      '½',
      ' ',
      '  ',
      'words:',
      '%',
      '_',
      ';--',
      '\u0e01\u0e34',
    ]
    for (const { random, what } of rounds(150)) {
      const q = Array.from({ length: 1 + random.below(9) }, () => random.pick(pieces)).join(
        random.pick(['', ' ']),
      )
      const hits = await find(userId, q).catch((error: unknown) => {
        throw new Error(`${what} ${JSON.stringify(q)}`, { cause: error })
      })
      for (const hit of hits.items) expect(hit.conversationId, `${what} ${q}`).toBe(conversation)
    }
  })

  test('messages stored before the index existed are indexed some at a time, and again without harm', async () => {
    const { userId, conversation } = await person()
    for (let at = 0; at < 5; at += 1) await say(database, conversation, `quokka ${at}`, null)
    await database.write(async (tx) => {
      await tx.delete(database.tables.searchWords)
    })
    expect(await found(userId, 'quokka')).toEqual([])
    const first = await store.search.newestRow()
    const next = await database.write((tx) => store.search.index.putStored(tx, first, 2))
    expect(await found(userId, 'quokka')).toEqual(['quokka 4', 'quokka 3'])
    await database.write((tx) => store.search.index.putStored(tx, first, 2))
    let from = next
    while (from > 0) {
      const upTo = from
      from = await database.write((tx) => store.search.index.putStored(tx, upTo, 50))
    }
    expect(await found(userId, 'quokka')).toHaveLength(5)
  })
})
