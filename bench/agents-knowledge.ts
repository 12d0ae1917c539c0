// Measures the search in documents beside those of other projects and in one large project, and whether it finds what questions ask for, on both databases.

import { eq } from 'drizzle-orm'
import { connect } from '../server/db/connect.ts'
import type { Database, DatabaseSettings } from '../server/db/database.ts'
import { passageTokens } from '../server/db/repositories/search/passage-words.ts'
import { createStore, type Store } from '../server/db/store.ts'
import { createKnowledge, type Knowledge } from '../server/knowledge/knowledge.ts'
import { type ProjectId, UserId } from '../server/protocol/ids.ts'
import { unlimitedStorage } from '../server/workspace/storage-quota.ts'
import { type Random, randomFrom } from '../tests/support/random.ts'
import { onConnection } from '../tests/support/store/explain.ts'
import { onBothDatabases } from './postgres.ts'
import { ofRounds, type Row } from './row.ts'
import { vocabularyOf } from './search-texts.ts'

const FEW = 100
const OTHERS = 30_000
const MANY = 100_000
const SEARCHES = 40
const INSERTED_TOGETHER = 500
const PASSAGES_PER_DOCUMENT = 1_000
/** A question counts as answered if its passage is among so many. */
const NEAR_TOP = 3

/** Passages with a question that each answers. Their words are common among all others, too, except for a few. */
const ANSWERED: readonly { question: string; passage: string }[] = [
  {
    question: 'How many days of parental leave does an employee get after a birth?',
    passage:
      'Parental leave: after a birth or an adoption, an employee takes up to 60 days. The manager is informed eight weeks before.',
  },
  {
    question: 'Which form do I need for parking at the office in Rotterdam?',
    passage:
      'Visitors and staff who park in Rotterdam hand in form P-12 at the reception. The office has 40 places.',
  },
  {
    question: 'Who approves the cost of hardware above 5000 euros?',
    passage:
      'Hardware: a purchase above 5000 euros is approved by the board, everything below by the manager of the team.',
  },
  {
    question: 'What should I do when I lose my laptop on a business trip?',
    passage:
      'A lost or stolen laptop is reported to the security desk within one hour, also on a trip. The device is then wiped.',
  },
  {
    question: 'Where are the backups of the payroll database stored?',
    passage:
      'The payroll database is copied each night; the backups are kept encrypted in the vault of the second site for ten years.',
  },
  {
    question: 'When does the training for new managers begin?',
    passage:
      'Training for managers who are new in their role begins on the first Monday of a quarter and lasts three days.',
  },
  {
    question: 'How long do we keep the recordings of the cameras at the entrance?',
    passage: 'Cameras at the entrance record day and night. Recordings are deleted after 72 hours.',
  },
  {
    question: 'Can I expense a taxi to the airport?',
    passage:
      'Travel: trains come first. A taxi to the airport is reimbursed only before six in the morning.',
  },
  {
    question: '出差住宿费的报销标准是多少？',
    passage: '差旅规定：出差期间的住宿费按城市级别报销，一线城市每晚不超过六百元，其他城市四百元。',
  },
  {
    question: '试用期员工可以申请年假吗？',
    passage: '年假从入职之日起计算。试用期内的员工不能申请年假，转正之后补发相应天数。',
  },
  {
    question: 'Wie beantrage ich eine Reisekostenerstattung?',
    passage:
      'Die Reisekostenerstattung wird im Portal beantragt; Belege werden als Foto angehängt und zehn Jahre aufbewahrt.',
  },
  {
    question: 'What is the maximum weight of a parcel that the mail room accepts?',
    passage: 'The mail room takes parcels of at most 23 kg; heavier ones go to the loading dock.',
  },
]

/** Words that passages and questions share, the most frequent first. */
const COMMON =
  'the office employee manager request approved days cost report team policy security travel training form hardware new portal night site board room begin store keep parking laptop payroll 规定 员工 申请 报销'.split(
    ' ',
  )
const vocabulary = vocabularyOf(50).words

function noise(random: Random): string {
  const zipf = (words: readonly string[]): string =>
    words[Math.floor(words.length ** random.share()) - 1] ?? ''
  const length = 60 + random.below(80)
  return Array.from({ length }, () => zipf(random.share() < 0.35 ? COMMON : vocabulary)).join(' ')
}

/** Stores passages as documents that have been read. */
async function fill(
  { database, store }: Measured,
  userId: UserId,
  projectId: ProjectId,
  texts: readonly string[],
): Promise<void> {
  const { documents, passages } = database.tables
  for (let from = 0; from < texts.length; from += PASSAGES_PER_DOCUMENT) {
    const some = texts.slice(from, from + PASSAGES_PER_DOCUMENT)
    const name = `${from}.md`
    const document = await store.documents.create({
      projectId,
      userId,
      name,
      mime: 'text/markdown',
      size: 1,
    })
    const rows = some.map((text, position) => ({
      ...{ documentId: document.id, projectId, position, heading: null, page: null, text },
      tokens: passageTokens({ name, position, heading: null, text }),
    }))
    for (let at = 0; at < rows.length; at += INSERTED_TOGETHER)
      await database.write(async (tx) => {
        await tx.insert(passages).values(rows.slice(at, at + INSERTED_TOGETHER))
      })
    await database.write(async (tx) => {
      await tx
        .update(documents)
        .set({ status: 'ready', passages: some.length })
        .where(eq(documents.id, document.id))
    })
  }
}

/** No account: what is measured costs nobody anything. */
const ASKER = UserId.parse('asker')

interface Measured {
  database: Database
  store: Store
  knowledge: Knowledge
}

/** Questions of which each word is in a third of all passages or more. */
const COMMON_QUESTIONS: readonly string[] = [
  'the office employee manager',
  'request approved days cost report',
  'employee manager travel training form hardware',
  'new office portal security',
]
const NATURAL_QUESTIONS = ANSWERED.map(({ question }) => question)

async function timesOf(
  { knowledge }: Measured,
  projectId: ProjectId,
  questions: readonly string[] = NATURAL_QUESTIONS,
): Promise<number[]> {
  const times: number[] = []
  for (let search = -5; search < SEARCHES; search += 1) {
    const question = questions.at(search % questions.length) ?? ''
    const startedAt = performance.now()
    await knowledge.search({ userId: ASKER, projectId }, question, 5)
    if (search >= 0) times.push(performance.now() - startedAt)
  }
  return times
}

/** The share of the questions whose passage is near the top. */
async function answered({ knowledge }: Measured, projectId: ProjectId): Promise<number> {
  let count = 0
  for (const { question, passage } of ANSWERED) {
    const found = await knowledge.search({ userId: ASKER, projectId }, question, NEAR_TOP)
    if (found.some(({ text }) => text === passage)) count += 1
  }
  return count / ANSWERED.length
}

async function measure(settings: DatabaseSettings): Promise<Row[]> {
  const log = { info: () => {}, warn: () => {} }
  const database = await connect(settings, { log })
  try {
    const store = createStore(database)
    const user = await store.users.register({ username: 'bench', passwordHash: 'x' }, async () => ({
      role: 'admin',
    }))
    const knowledge = createKnowledge({
      documents: store.documents,
      folder: 'none',
      storage: unlimitedStorage,
      openFolder: () => {
        throw new Error('no project has a folder here')
      },
      log,
      onChange: () => {},
    })
    const measured = { database, store, knowledge }
    const random = randomFrom(50)
    const project = async (name: string, texts: readonly string[]): Promise<ProjectId> => {
      const { id } = await store.projects.create(user.id, { name, description: null })
      await fill(measured, user.id, id, texts)
      return id
    }
    const texts = (count: number): string[] => Array.from({ length: count }, () => noise(random))
    const answers = ANSWERED.map(({ passage }) => passage)
    const half = (FEW - answers.length) / 2

    await project('other', texts(OTHERS / 2))
    const few = await project('few', [...texts(half), ...answers, ...texts(half)])
    await project('another', texts(OTHERS / 2))
    const beside = ofRounds(await timesOf(measured, few))
    const many = await project('many', [
      ...texts(MANY / 2),
      ...answers,
      ...texts(MANY / 2 - answers.length),
    ])
    // As PostgreSQL does on its own within a minute.
    if (settings.dialect === 'postgres') await onConnection(settings, 'analyze passages')
    const large = ofRounds(await timesOf(measured, many))
    const common = ofRounds(await timesOf(measured, many, COMMON_QUESTIONS))
    const share = await answered(measured, many)
    const of = database.dialect
    return [
      {
        ...{ suite: 'agents', unit: 'ms', target: '≤ 5 ms', ...beside, ok: beside.value <= 5 },
        figure: `search_knowledge in ${FEW} passages beside ${OTHERS} of other projects, ${of}`,
      },
      {
        ...{ suite: 'agents', unit: 'ms', target: '≤ 50 ms', ...large, ok: large.value <= 50 },
        figure: `search_knowledge in ${MANY} passages of one project, ${of}`,
      },
      {
        ...{ suite: 'agents', unit: 'ms', target: '≤ 50 ms', ...common, ok: common.value <= 50 },
        figure: `… with words that are all common, ${of}`,
      },
      {
        ...{ suite: 'agents', unit: '', target: '≥ 0.9', value: share, ok: share >= 0.9 },
        figure: `questions answered by one of the first ${NEAR_TOP} of ${MANY} passages, ${of}`,
      },
    ]
  } finally {
    await database.close()
  }
}

/** Runs the measurements on both databases. */
export const run = async (): Promise<Row[]> => (await onBothDatabases(measure)).flat()
