// Finds the passages of one project that match a query best, at a cost that depends neither on other projects nor on how common the words are.
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { ProjectId } from '../../../protocol/ids.ts'
import type { Database, Reader } from '../../database.ts'
import {
  matchPassages,
  matchTerm,
  passageTerms,
  type SearchTerm,
  type Term,
} from '../../full-text.ts'

/** Passages that are looked at for each word, at most: of a word that more contain, these are a sample. */
const MAX_PER_WORD = 1_000
/** Passages whose words are counted for the ranking, at most. */
const MAX_RANKED = 128
/** The most frequent of a query's words, which only rank what the others have found. */
const MAX_SAMPLED_WORDS = 8

/** A passage that a search found. A higher `score` is a better match. */
export interface FoundPassage {
  id: number
  documentId: string
  /** The name of its document. */
  document: string
  position: number
  heading: string | null
  page: number | null
  text: string
  /** The indexed words, separated by spaces. */
  tokens: string
  score: number
}

/** The ids of passages with a word or several, and about how many of the project have it. */
interface Listed {
  term: Term
  ids: readonly number[]
  /** Whether `ids` are all. */
  isWhole: boolean
  frequency: number
}

interface Extent {
  /** Passages of the project. */
  count: number
  /** Whether some documents of the project are not ready: their passages are skipped. */
  hasUnready: boolean
  /** The newest passages, at most `MAX_PER_WORD`; empty if unknown. */
  newest: readonly number[]
  /** The shares of passages, of all projects, that contain the most common words. */
  shares: ReadonlyMap<string, number>
}

/** Milliseconds for which the shares of common words are remembered. */
const SHARES_MS = 60_000
/** PostgreSQL reads all passages with a word, however few are wanted. Words with a higher share only rank what others find. */
const COMMON_SHARE = 0.02
/** If even the rarest of a query's words is in more passages than this, PostgreSQL looks only at the newest ones. */
const MAX_READ = 10_000
/** In a project with fewer passages, no word is common. */
const FEW_PASSAGES = 5 * MAX_PER_WORD

/** How much a word tells about a passage: the rarer, the more. As in BM25. */
const weightOf = (frequency: number, count: number): number =>
  Math.log(1 + (Math.max(count, frequency) - frequency + 0.5) / (frequency + 0.5))

/** Ids as one text: the thread that reads them passes on one value instead of a thousand rows. */
function readIds(text: unknown): number[] {
  const ids: unknown = JSON.parse(String(text))
  return Array.isArray(ids) ? ids.map(Number) : []
}

/** Creates the search in the passages of ready documents. */
export function createPassageSearch(database: Database) {
  const { dialect, readOffThread, tables } = database
  const { documents, passages } = tables
  const isSqlite = dialect === 'sqlite'

  /**
   * The ids of passages that meet a condition, at most `MAX_PER_WORD`: the newest on SQLite, any on PostgreSQL, which would read and
   * sort all. A document that is being indexed may have more passages than that, so where there is one, only those of others count.
   */
  const idsWith = (projectId: ProjectId, query: string, hasUnready: boolean): SQL => {
    const most = sql`limit ${MAX_PER_WORD}`
    const unready = sql`from ${documents} where ${documents.projectId} = ${projectId} and ${documents.status} <> 'ready'`
    if (isSqlite) {
      const skipped = hasUnready
        ? sql`and rowid not in (select ${passages.id} from ${passages} where ${passages.documentId} in (select ${documents.id} ${unready}))`
        : sql``
      return sql`(select json_group_array(id) from (select rowid as id from passages_index where passages_index match ${query} ${skipped} order by rowid desc ${most}))`
    }
    const words = sql`to_tsquery('simple', ${query})`
    if (!hasUnready) return sql`passages_with(${words}, ${MAX_PER_WORD})`
    // Planned as if all were wanted, so that the index is used; read only as far as necessary.
    return sql`(with matching as materialized (select id, document_id from passages where (tokens_index || array_to_tsvector(array['ʬ' || replace(project_id, '-', '')])) @@ ${words}) select coalesce(json_agg(id), '[]')::text from (select id from matching where document_id not in (select ${documents.id} ${unready}) ${most}) as found)`
  }

  /** Each value of one row, in order. */
  async function valuesOf(reader: Reader, values: readonly SQL[]): Promise<unknown[]> {
    const columns = Object.fromEntries(
      values.map((value, index) => [`value${index}`, sql<unknown>`${value}`]),
    )
    const [row = {}] = await reader.select(columns).from(sql`(select 1) as one`)
    return values.map((_, index) => row[`value${index}`])
  }

  let known: { shares: ReadonlyMap<string, number>; until: number } | null = null

  /** The shares of the most common words, which PostgreSQL collects when it analyzes the table; none on SQLite, which needs none. */
  async function sharesOfWords(): Promise<ReadonlyMap<string, number>> {
    if (isSqlite) return new Map()
    if (known !== null && known.until > performance.now()) return known.shares
    const rows = await readOffThread
      .select({ word: sql<string | null>`word`, share: sql`share`.mapWith(Number) })
      .from(
        sql`(select unnest(most_common_elems::text::text[]) as word, unnest(most_common_elem_freqs) as share from pg_stats where schemaname = current_schema() and tablename = 'passages' and attname = 'tokens_index') as stats`,
      )
    const shares = new Map(
      rows.flatMap(({ word, share }): [string, number][] => (word === null ? [] : [[word, share]])),
    )
    known = { shares, until: performance.now() + SHARES_MS }
    return shares
  }

  /** What each word is in, what has all of them, and how many passages the project has. */
  async function lists(projectId: ProjectId, terms: readonly Term[]) {
    const shares = await sharesOfWords()
    const [size] = await readOffThread
      .select({
        count: sql`sum(${documents.passages})`.mapWith(Number),
        unready: sql`count(*) filter (where ${documents.status} <> 'ready')`.mapWith(Number),
      })
      .from(documents)
      .where(eq(documents.projectId, projectId))
    const count = size?.count ?? 0
    const hasUnready = (size?.unready ?? 0) > 0
    const ids = (...all: Term[]): SQL =>
      idsWith(projectId, matchPassages(dialect, projectId, all), hasUnready)
    const isCommon = ({ word }: Term): boolean =>
      count > FEW_PASSAGES && (shares.get(word) ?? 0) > COMMON_SHARE
    const none = sql`'[]'`
    const rarest = Math.min(...terms.map(({ word }) => shares.get(word) ?? 0)) * count
    const [newest, all, ...each] = await valuesOf(readOffThread, [
      isSqlite ? ids() : none,
      rarest > MAX_READ ? none : ids(...terms),
      ...terms.map((term) => (isCommon(term) ? none : ids(term))),
    ])
    const extent: Extent = { count, hasUnready, newest: readIds(newest), shares }
    const listed = terms.map((term, index): Listed => {
      const ids = readIds(each[index])
      const isWhole = ids.length < MAX_PER_WORD && !isCommon(term)
      return {
        term,
        ids,
        isWhole,
        frequency: isWhole ? ids.length : frequencyOf(term, ids, extent),
      }
    })
    const allWords = async (): Promise<number[]> => {
      const [found] = await valuesOf(readOffThread, [ids(...terms)])
      return readIds(found)
    }
    return { extent, all: readIds(all), allWords, isRead: rarest <= MAX_READ, listed }
  }

  /** Which of the passages with a rare word have a common word; the common words of which only a sample is known. */
  async function withRareWords(
    projectId: ProjectId,
    rare: readonly Listed[],
    common: readonly Listed[],
    { hasUnready }: Extent,
  ): Promise<Listed[]> {
    const anyRare = rare.map(({ term }) => term)
    const found = await valuesOf(
      readOffThread,
      common.map(({ term }) =>
        idsWith(projectId, matchPassages(dialect, projectId, [term], anyRare), hasUnready),
      ),
    )
    return common.map((word, index) => ({ ...word, ids: [...word.ids, ...readIds(found[index])] }))
  }

  /** Which of the newest passages of the project contain each word, for words that so many contain that the index is no help. */
  async function amongNewest(projectId: ProjectId, words: readonly Listed[]): Promise<Listed[]> {
    const newest = sql`(with ready as materialized (select id, sum(passages) over (order by created_at desc, id desc) - passages as newer from documents where project_id = ${projectId} and status = 'ready')
      select found.id, strip(found.tokens_index) as words from ready cross join lateral (select id, tokens_index from passages where document_id = ready.id order by position desc limit ${MAX_PER_WORD} - ready.newer) as found where ready.newer < ${MAX_PER_WORD} offset 0)`
    const columns = words.map(({ term }, index): [string, SQL<unknown>] => {
      const query = matchTerm(term)
      return [
        `value${index}`,
        sql`coalesce(json_agg(id) filter (where words @@ to_tsquery('simple', ${query})), '[]')::text`,
      ]
    })
    const [row = {}] = await readOffThread
      .select(Object.fromEntries(columns))
      .from(sql`${newest} as newest`)
    return words.map((word, index) => ({ ...word, ids: readIds(row[`value${index}`]) }))
  }

  /** The passages with these ids that are ready, with their words. A join might read the passages once for each document of all projects. */
  async function fetchPassages(projectId: ProjectId, ids: readonly number[]) {
    const rows = await readOffThread
      .select({
        id: passages.id,
        documentId: passages.documentId,
        position: passages.position,
        heading: passages.heading,
        page: passages.page,
        text: passages.text,
        tokens: passages.tokens,
        document: sql<string | null>`(select documents.name from documents
          where documents.id = passages.document_id and documents.status = 'ready')`,
      })
      .from(passages)
      .where(and(inArray(passages.id, [...ids]), eq(passages.projectId, projectId)))
    return rows.flatMap(({ document, ...passage }) =>
      document === null ? [] : [{ ...passage, document }],
    )
  }

  /**
   * Passages of ready documents that contain at least one of the words, best first. Those with all of them, and with the rarest
   * ones, are looked at first; of words that thousands of the project's passages have, only some are.
   */
  return async (
    projectId: ProjectId,
    words: readonly SearchTerm[],
    limit: number,
  ): Promise<FoundPassage[]> => {
    const terms = passageTerms(words)
    if (terms.length === 0) return []
    const { extent, all, allWords, isRead, listed } = await lists(projectId, terms)
    const rare = listed.filter(({ isWhole, ids }) => isWhole && ids.length > 0)
    const common = listed
      .filter(({ isWhole }) => !isWhole)
      .sort((a, b) => a.frequency - b.frequency)
      .slice(0, MAX_SAMPLED_WORDS)
    // Without a rare word, the least common ones take its place.
    const leading = rare.length > 0 ? rare : common.slice(0, 1)
    const others = rare.length > 0 ? common : common.slice(1)
    const isEverywhere = common.length > 0 && rare.length === 0 && !isRead
    const known = isEverywhere
      ? await amongNewest(projectId, common)
      : leading.length > 0 && others.length > 0
        ? [...leading, ...(await withRareWords(projectId, leading, others, extent))]
        : leading
    // Words that are common in other projects may be rare in this one.
    const isMissed = isEverywhere && known.every(({ ids }) => ids.length === 0)
    const withAll = isMissed ? await allWords() : all
    const ids = bestOf(known, withAll, extent, Math.max(MAX_RANKED, limit))
    if (ids.length === 0) return []
    return ranked(await fetchPassages(projectId, ids), listed, extent).slice(0, limit)
  }
}

const spanOf = (ids: readonly number[]): number => Math.max(...ids) - Math.min(...ids) + 1

/** About how many passages of the project have a word that too many have: as in all projects, or as among its newest passages. */
function frequencyOf(
  { word }: Term,
  ids: readonly number[],
  { count, newest, shares }: Extent,
): number {
  const share =
    shares.get(word) ?? (newest.length > 0 ? spanOf(newest) / spanOf(ids) : COMMON_SHARE)
  return Math.min(count, Math.max(MAX_PER_WORD, Math.round(count * share)))
}

/** The passages with the words that tell most, as far as the lists say, at most `most`. */
function bestOf(
  lists: readonly Listed[],
  all: readonly number[],
  { count }: Extent,
  most: number,
): number[] {
  const weights = new Map<number, number>()
  let sum = 0
  for (const { ids, frequency } of lists) {
    const weight = weightOf(frequency, count)
    sum += weight
    for (const id of new Set(ids)) weights.set(id, (weights.get(id) ?? 0) + weight)
  }
  for (const id of all) weights.set(id, sum)
  return [...weights]
    .sort(([a, ofA], [b, ofB]) => ofB - ofA || b - a)
    .slice(0, most)
    .map(([id]) => id)
}

/** The constants of BM25: how soon more of a word stop counting, and how much long passages are discounted. */
const SATURATION = 1.2
const LENGTH_SHARE = 0.75

/** Ranks passages by BM25. */
function ranked(
  found: readonly Omit<FoundPassage, 'score'>[],
  words: readonly Listed[],
  { count }: Extent,
): FoundPassage[] {
  const split = found.map((passage) => ({ passage, tokens: passage.tokens.split(' ') }))
  const average = split.reduce((sum, { tokens }) => sum + tokens.length, 0) / split.length
  const whole = new Map<string, number>()
  const prefixes: [string, number][] = []
  for (const { term, frequency } of words) {
    const weight = weightOf(frequency, count)
    if (term.prefix) prefixes.push([term.word.toLowerCase(), weight])
    else whole.set(term.word.toLowerCase(), weight)
  }
  const scoreOf = (tokens: readonly string[]): number => {
    const counts = new Map<string, number>()
    for (const token of tokens) {
      if (whole.has(token)) counts.set(token, (counts.get(token) ?? 0) + 1)
      for (const [beginning] of prefixes)
        if (token.startsWith(beginning))
          counts.set(`${beginning}*`, (counts.get(`${beginning}*`) ?? 0) + 1)
    }
    const discount = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * tokens.length) / average)
    const part = (times: number, weight: number): number =>
      (weight * times * (SATURATION + 1)) / (times + discount)
    let score = 0
    for (const [word, weight] of whole) score += part(counts.get(word) ?? 0, weight)
    for (const [beginning, weight] of prefixes)
      score += part(counts.get(`${beginning}*`) ?? 0, weight)
    return score
  }
  return split
    .map(({ passage, tokens }) => ({ ...passage, score: scoreOf(tokens) }))
    .sort((a, b) => b.score - a.score || a.id - b.id)
}
