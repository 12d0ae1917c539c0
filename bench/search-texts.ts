// Made-up messages with the word frequencies of a language, stored with their index as fast as each database can.
import SqliteClient from 'better-sqlite3'
import pg from 'pg'
import type { Database, DatabaseSettings, Dialect } from '../server/db/database.ts'
import { toIndexedWords, toRowid } from '../server/db/search-entries.ts'
import { createStore } from '../server/db/store.ts'
import type { ConversationId, UserId } from '../server/protocol/ids.ts'
import { onConnection } from '../tests/support/explain.ts'
import { type Random, randomFrom } from '../tests/support/random.ts'

const BATCH = 2_000
const CONVERSATION_MESSAGES = 40
const CHINESE_SHARE = 0.15

/** Words and Chinese characters, the most frequent first. */
export type Vocabulary = { words: string[]; characters: string[] }

/** 30,000 words of two to four syllables and 3,000 characters. */
export function vocabularyOf(seed: number): Vocabulary {
  const random = randomFrom(seed)
  const words = new Set<string>()
  while (words.size < 30_000) {
    let word = ''
    for (let at = 1 + random.below(3); at >= 0; at -= 1)
      word += `${random.pick([...'bcdfghklmnprstvw'])}${random.pick([...'aeiou'])}`
    words.add(word + random.pick(['', 'n', 'r', 't']))
  }
  const characters = Array.from({ length: 3_000 }, (_, at) => String.fromCodePoint(0x4e00 + at * 6))
  return { words: [...words], characters: random.shuffle(characters) }
}

/** Zipf's law: the item at rank r is chosen in proportion to 1 / r. */
const zipf = (random: Random, items: readonly string[]): string =>
  items[Math.floor(items.length ** random.share()) - 1] ?? ''

function textOf(random: Random, { words, characters }: Vocabulary): string {
  const length = 10 + random.below(110)
  if (random.share() < CHINESE_SHARE) {
    let text = ''
    for (let at = 0; at < length; at += 1) text += at % 14 === 13 ? '，' : zipf(random, characters)
    return text
  }
  return Array.from({ length }, () => zipf(random, words)).join(' ')
}

/** Queries from rare to common, in letters and characters. */
export function queriesOf({ words, characters }: Vocabulary): { kind: string; q: string }[] {
  const ranks = [...Array(8).keys()]
  const word = (rank: number): string => words[rank] ?? ''
  const pair = (rank: number): string => `${characters[rank] ?? ''}${characters[rank + 1] ?? ''}`
  return [
    ...ranks.map((at) => ({ kind: 'rare word', q: word(20_000 + at * 500) })),
    ...ranks.map((at) => ({ kind: 'word', q: word(300 + at * 200) })),
    ...ranks.map((at) => ({ kind: 'common word', q: word(1 + at * 4) })),
    ...ranks.map((at) => ({
      kind: 'two words',
      q: `${word(40 + at * 30)} ${word(200 + at * 90)}`,
    })),
    ...ranks.map((at) => ({
      ...{ kind: 'three words, most of them' },
      q: `${word(30 + at * 5)} ${word(90 + at * 9)} nowhere${at}`,
    })),
    ...ranks.map((at) => ({ kind: 'phrase', q: `"${word(2 + at)} ${word(5 + at)}"` })),
    ...ranks.map((at) => ({ kind: 'two characters', q: pair(5 + at * 12) })),
    ...ranks.map((at) => ({ kind: 'one character', q: characters[at * 60] ?? '' })),
    ...ranks.map((at) => ({ kind: 'nothing', q: `absent${at}` })),
  ]
}

type Batch = {
  rows: number[]
  ids: string[]
  conversations: string[]
  roles: string[]
  texts: string[]
  entries: number[]
  words: string[]
}

/** Stores messages of two users, nine tenths of them by the one who searches. */
export async function fillForSearch(
  settings: DatabaseSettings,
  database: Database,
  vocabulary: Vocabulary,
  messages: number,
): Promise<{ userId: UserId; textBytes: number }> {
  const store = createStore(database)
  const users: UserId[] = []
  for (const username of ['searcher', 'other'])
    users.push(
      (await store.users.register({ username, passwordHash: null }, async () => ({ role: 'user' })))
        .id,
    )
  const [searcher, other] = users
  if (searcher === undefined || other === undefined) throw new Error('no users')
  const random = randomFrom(11)
  const insert = await inserterOf(settings)
  let textBytes = 0
  let conversation: ConversationId | undefined
  let owner = searcher
  for (let row = 1; row <= messages; ) {
    const batch: Batch = {
      rows: [],
      ids: [],
      conversations: [],
      roles: [],
      texts: [],
      entries: [],
      words: [],
    }
    for (; batch.rows.length < BATCH && row <= messages; row += 1) {
      if (row % CONVERSATION_MESSAGES === 1 || conversation === undefined) {
        owner = random.share() < 0.9 ? searcher : other
        conversation = (await store.conversations.create(owner, {})).id
      }
      const text = textOf(random, vocabulary)
      textBytes += Buffer.byteLength(text)
      batch.rows.push(row)
      batch.ids.push(`message-${row}`)
      batch.conversations.push(conversation)
      batch.roles.push(row % 2 === 1 ? 'user' : 'assistant')
      batch.texts.push(text)
      batch.entries.push(toRowid({ messageRow: row, kind: 'text', position: 0, part: 0 }))
      batch.words.push(toIndexedWords(settings.dialect, owner, text))
    }
    await insert.batch(batch)
  }
  await insert.end()
  await onConnection(settings, settings.dialect === 'sqlite' ? 'analyze' : 'vacuum analyze')
  return { userId: searcher, textBytes }
}

const COLUMNS = 'id, conversation_id, role, text, "row", token_count, status, created_at'

async function inserterOf(
  settings: DatabaseSettings,
): Promise<{ batch(batch: Batch): Promise<void>; end(): Promise<void> }> {
  if (settings.dialect === 'sqlite') {
    const client = new SqliteClient(settings.file)
    client.pragma('synchronous = OFF')
    const message = client.prepare(
      `insert into messages (${COLUMNS}) values (?, ?, ?, ?, ?, 0, 'completed', ?)`,
    )
    const words = client.prepare('insert into search_words (rowid, words) values (?, ?)')
    const all = client.transaction((batch: Batch) => {
      for (const [at, row] of batch.rows.entries()) {
        message.run(
          batch.ids[at],
          batch.conversations[at],
          batch.roles[at],
          batch.texts[at],
          row,
          1_700_000_000_000 + row,
        )
        words.run(batch.entries[at], batch.words[at])
      }
    })
    return {
      batch: async (batch) => {
        all(batch)
      },
      end: async () => {
        client.close()
      },
    }
  }
  const { connection } = settings
  const client = new pg.Client(
    'url' in connection ? { connectionString: connection.url } : connection,
  )
  await client.connect()
  await client.query('set synchronous_commit = off')
  return {
    async batch({ rows, ids, conversations, roles, texts, entries, words }) {
      await client.query(
        `insert into messages (${COLUMNS})
         select id, conversation, role, text, "row", 0, 'completed', to_timestamp(1700000000 + "row")
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) as m(id, conversation, role, text, "row")`,
        [ids, conversations, roles, texts, rows],
      )
      await client.query(
        'insert into search_words select entry, words::tsvector from unnest($1::bigint[], $2::text[]) as w(entry, words)',
        [entries, words],
      )
    },
    async end() {
      await client.end()
    },
  }
}

/** Bytes of the index itself and of what belongs to its tables, in MB. */
export async function indexParts(settings: DatabaseSettings): Promise<Record<string, unknown>[]> {
  return await onConnection(
    settings,
    settings.dialect === 'sqlite'
      ? `select name, sum(pgsize) / 1048576 as mb from dbstat where name like 'search_words%' group by name`
      : `select 'table' as name, pg_table_size('search_words') / 1048576 as mb union all
         select indexrelid::regclass::text, pg_relation_size(indexrelid) / 1048576 from pg_index where indrelid = 'search_words'::regclass`,
  )
}

/** Bytes of the search index, with everything that belongs to its tables. */
export async function indexBytes(settings: DatabaseSettings): Promise<number> {
  const statements: Record<Dialect, string> = {
    sqlite: `select sum(pgsize) as bytes from dbstat where name like 'search_words%'`,
    postgres: `select pg_total_relation_size('search_words') as bytes`,
  }
  const [row] = await onConnection(settings, statements[settings.dialect])
  return Number(row?.bytes)
}
