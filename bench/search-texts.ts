// Made-up messages with the word frequencies of a language, stored with their index as fast as each database can.

import { getTableColumns } from 'drizzle-orm'
import pg from 'pg'
import type { Database, DatabaseSettings, Dialect } from '../server/db/database.ts'
import { createSegments } from '../server/db/repositories/search/segments.ts'
import { toIndexedWords, toRowid } from '../server/db/search-entries.ts'
import { createStore } from '../server/db/store.ts'
import { SqliteClient } from '../server/lib/sqlite-driver.ts'
import type { UserId } from '../server/protocol/ids.ts'
import { type Random, randomFrom } from '../tests/support/random.ts'
import { onConnection } from '../tests/support/store/explain.ts'

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
    ...ranks.map((at) => ({ kind: 'beginning of a word', q: word(500 + at * 900).slice(0, 3) })),
    ...ranks.map((at) => ({ kind: 'nothing', q: `absent${at}` })),
  ]
}

/** Different texts; a database holds each of them many times, which leaves the frequency of each word as it is. */
const DIFFERENT_TEXTS = 20_000
const OTHERS_SHARE = 0.1

/** Stores messages of two users, nine tenths of them by the one who searches. Everything is multiplied by the database itself. */
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
  const different = Math.min(DIFFERENT_TEXTS, messages)
  const random = randomFrom(11)
  const samples = Array.from({ length: different }, (_, at) => {
    const owner = at < different * OTHERS_SHARE ? other : searcher
    const text = textOf(random, vocabulary)
    const conversation = `${owner}-${Math.floor(at / CONVERSATION_MESSAGES)}`
    return { at, owner, conversation, text, words: toIndexedWords(settings.dialect, owner, text) }
  })
  const rounds = Math.ceil(messages / different)
  const bytes = samples.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  // Each user's first conversation is what the others are copied from.
  for (const owner of users) await store.conversations.create(owner, {})
  const columns = Object.values(getTableColumns(database.tables.conversations))
    .map(({ name }) => name)
    .filter((name) => name !== 'id')
  const segments = createSegments(database)
  // As the server does in the background.
  const pack = async () => {
    while (await segments.packNext());
  }
  if (settings.dialect === 'sqlite') await fillSqlite(settings, samples, rounds, columns)
  else await fillPostgres(settings, samples, rounds, columns, pack)
  return { userId: searcher, textBytes: bytes * rounds }
}

type Sample = { at: number; owner: UserId; conversation: string; text: string; words: string }

const MESSAGE_COLUMNS = 'id, conversation_id, role, text, "row", token_count, status, created_at'
/** The row id of the entry of a message's own text. */
const ENTRY_STEP = toRowid({ messageRow: 1, kind: 'text', position: 0, part: 0 })

/** One conversation for each of the samples, like the first one of its owner. */
const copyConversations = (round: string, columns: readonly string[]): string =>
  `insert into conversations (id, ${columns.join(', ')})
   select s.conversation || '-' || ${round}, ${columns.map((name) => `c.${name}`).join(', ')}
   from (select distinct conversation, owner from samples) as s
   join templates as c on c.user_id = s.owner`

async function fillSqlite(
  settings: DatabaseSettings,
  samples: readonly Sample[],
  rounds: number,
  columns: readonly string[],
): Promise<void> {
  if (settings.dialect !== 'sqlite') throw new Error('not SQLite')
  const client = new SqliteClient(settings.file)
  client.pragma('synchronous = OFF')
  client.pragma('cache_size = -400000')
  client.exec(
    'create temp table samples (at integer primary key, owner, conversation, text, words)',
  )
  const add = client.prepare('insert into samples values (?, ?, ?, ?, ?)')
  client.transaction(() => {
    for (const { at, owner, conversation, text, words } of samples)
      add.run(at, owner, conversation, text, words)
  })()
  client.exec('create temp table templates as select * from conversations')
  const create = client.prepare(copyConversations('?', columns))
  const say = client.prepare(
    `insert into messages (${MESSAGE_COLUMNS}) select 'message-' || (@round * @length + at), conversation || '-' || @round, case at % 2 when 0 then 'user' else 'assistant' end, text, @round * @length + at + 1, 0, 'completed', 1700000000000 + @round * @length + at from samples order by at`,
  )
  const index = client.prepare(
    `insert into search_words (rowid, words) select (@round * @length + at + 1) * ${ENTRY_STEP}, words from samples order by at`,
  )
  for (let round = 0; round < rounds; round += 1)
    client.transaction(() => {
      create.run(round)
      say.run({ round, length: samples.length })
      index.run({ round, length: samples.length })
    })()
  client.exec('analyze')
  client.close()
}

async function fillPostgres(
  settings: DatabaseSettings,
  samples: readonly Sample[],
  rounds: number,
  columns: readonly string[],
  pack: () => Promise<void>,
): Promise<void> {
  if (settings.dialect !== 'postgres') throw new Error('not PostgreSQL')
  const { connection } = settings
  const client = new pg.Client(
    'url' in connection ? { connectionString: connection.url } : connection,
  )
  await client.connect()
  await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'")
  await client.query(
    'create temp table samples (at int, owner text, conversation text, text text, words tsvector)',
  )
  await client.query(
    `insert into samples select at, owner, conversation, text, words::tsvector
     from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[]) as s(at, owner, conversation, text, words)`,
    [
      samples.map(({ at }) => at),
      samples.map(({ owner }) => owner),
      samples.map(({ conversation }) => conversation),
      samples.map(({ text }) => text),
      samples.map(({ words }) => words),
    ],
  )
  await client.query('create temp table templates as select * from conversations')
  for (let round = 0; round < rounds; round += 1) {
    const first = round * samples.length
    await client.query(copyConversations('$1::int', columns), [round])
    await client.query(
      `insert into messages (${MESSAGE_COLUMNS}) select 'message-' || ($2::bigint + at), conversation || '-' || $1::int, case at % 2 when 0 then 'user' else 'assistant' end, text, $2::bigint + at + 1, 0, 'completed', to_timestamp(1700000000 + $2::bigint + at) from samples order by at`,
      [round, first],
    )
    await client.query(
      `insert into search_words select ($1::bigint + at + 1) * ${ENTRY_STEP}, words from samples order by at`,
      [first],
    )
    await pack()
    // What autovacuum does on a server, so that the space of packed rows is used again.
    await client.query('vacuum search_words, search_pages, search_segments, search_vocabulary')
  }
  await client.query('vacuum analyze')
  await client.end()
}

/** Bytes of the index itself and of what belongs to its tables, in MB. */
export async function indexParts(settings: DatabaseSettings): Promise<Record<string, unknown>[]> {
  return await onConnection(
    settings,
    settings.dialect === 'sqlite'
      ? `select name, sum(pgsize) / 1048576 as mb from dbstat where name like 'search_%' group by name`
      : `select relname as name, pg_table_size(oid) / 1048576 as mb, pg_indexes_size(oid) / 1048576 as indexes from pg_class
         where relname like 'search_%' and relkind = 'r'`,
  )
}

/** Bytes of the search index, with everything that belongs to its tables. */
export async function indexBytes(settings: DatabaseSettings): Promise<number> {
  const statements: Record<Dialect, string> = {
    sqlite: `select sum(pgsize) as bytes from dbstat where name like 'search_%'`,
    postgres: `select sum(pg_total_relation_size(oid)) as bytes from pg_class where relname like 'search_%' and relkind = 'r'`,
  }
  const [row] = await onConnection(settings, statements[settings.dialect])
  return Number(row?.bytes)
}
