// Measures the overhead of sub-agents and of document search.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { RunScope } from '../server/agent/run-scope.ts'
import { createSubAgents } from '../server/agent/sub-agents.ts'
import { connect } from '../server/db/connect.ts'
import { createStore } from '../server/db/store.ts'
import { createKnowledge } from '../server/knowledge/knowledge.ts'
import { newId } from '../server/lib/ids.ts'
import { indexWords, queryWords } from '../server/lib/words.ts'
import type { LlmClient } from '../server/llm/client.ts'
import { CallId, type ProjectId, type RunId, type UserId } from '../server/protocol/ids.ts'
import { multiAgent } from '../server/tools/builtin/agents/multi-agent.ts'
import { createSearchKnowledgeTool } from '../server/tools/builtin/knowledge/search-knowledge.ts'
import type { AgentStarter, ToolContext, ToolDefinition } from '../server/tools/definition.ts'
import { createMemoryLongResults } from '../server/tools/long-results.ts'
import { createToolSet } from '../server/tools/registry.ts'
import { createResultCache } from '../server/tools/result-cache.ts'
import { unlimitedStorage } from '../server/workspace/storage-quota.ts'
import { median, type Row } from './row.ts'

const AGENTS = 5
const ANSWER_CHUNKS = 100
const CHUNK_MS = 5
const AGENT_ROUNDS = 5
const AGENT_LIMIT = 1.3

const PASSAGES = 10_000
const PASSAGES_EACH = 100
const SEARCHES = 60
const SEARCH_LIMIT = 2

export async function run(): Promise<Row[]> {
  return [await subAgents(), await knowledgeSearch()]
}

/** A model that answers with a chunk of text every few milliseconds. */
const steadyModel: LlmClient = {
  async *stream({ prose }) {
    for (let chunk = 0; chunk < ANSWER_CHUNKS; chunk++) {
      await wait(CHUNK_MS)
      await prose.append('text', 'some words of an answer ')
    }
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
    yield { type: 'finished', reason: 'stop', usage, estimated: false, model: 'bench' }
  },
}

/** Five parallel tasks (`max_concurrency: 5`) compared with a single one. */
async function subAgents(): Promise<Row> {
  const scope: RunScope = {
    llm: steadyModel,
    request: {},
    contextWindow: 100_000,
    tools: [],
    resources: {
      tools: createToolSet([]),
      cache: createResultCache({ ttlSeconds: 300 }),
      results: createMemoryLongResults(),
      safety: { redact: (text) => text, onFault() {} },
      maxWorkers: 4,
    },
    approvals: {
      permissionFor: async () => ({ kind: 'free' }),
      newAddresses: async () => [],
      allowsRedirect: async () => true,
      request: async () => ({ decision: 'approve' }),
    },
    countGrantUse: async () => true,
    isTainted: () => false,
    whenOwner: async () => {},
    isBudgetLeft: async () => true,
    journal: { read: async () => [], write: async () => {} },
  }
  const limits = { maxIterations: 3, maxConcurrency: AGENTS, maxTokens: 4096, timeout: 60 }
  const context: ToolContext = {
    ...contextOf(null),
    agents: { ...noAgents, performTasks: createSubAgents(scope, limits) },
  }
  const tasks = (count: number) => ({
    tasks: Array.from({ length: count }, (_, index) => ({ name: `${index}`, instruction: 'work' })),
  })
  const alone: number[] = []
  const together: number[] = []
  for (let round = 0; round < AGENT_ROUNDS; round++) {
    alone.push(await timed(multiAgent, tasks(1), context))
    together.push(await timed(multiAgent, tasks(AGENTS), context))
  }
  return row(
    'five equal sub-agents in parallel vs. one',
    median(together) / median(alone),
    AGENT_LIMIT,
  )
}

/** The search tool compared with the full-text query alone, over passages in English and Chinese. */
async function knowledgeSearch(): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  const log = { info: () => {}, warn: () => {} }
  const database = await connect({ dialect: 'sqlite', file: join(folder, 'bench.db') }, { log })
  try {
    const store = createStore(database)
    const user = await store.users.register({ username: 'bench', passwordHash: 'x' }, async () => ({
      role: 'admin',
    }))
    const { id: projectId } = await store.projects.create(user.id, {
      name: 'bench',
      description: null,
    })
    for (let from = 0; from < PASSAGES; from += PASSAGES_EACH) {
      const document = await store.documents.create({
        projectId,
        userId: user.id,
        name: `${from}.md`,
        mime: 'text/markdown',
        size: 1,
      })
      const passages = Array.from({ length: PASSAGES_EACH }, (_, at) => passage(from + at))
      await store.documents.index(document, passages)
    }
    const knowledge = createKnowledge({
      documents: store.documents,
      folder,
      storage: unlimitedStorage,
      openFolder: () => {
        throw new Error('no project has a folder here')
      },
      log,
      onChange: () => {},
    })
    const tool = createSearchKnowledgeTool(knowledge, store.projects)
    const context = contextOf(projectId)
    const bare: number[] = []
    const whole: number[] = []
    for (let index = 0; index < SEARCHES; index++) {
      const query = `Which rule about ${subject(index)} is approved? 第${index}条规定`
      const words = queryWords(query)
      const startedAt = performance.now()
      const found = await store.documents.search(projectId, words, 5)
      if (found.length < 5) throw new Error('Each question of this figure needs five answers.')
      bare.push(performance.now() - startedAt)
      whole.push(await timed(tool, { query, max_results: 5 }, context))
    }
    return row(
      `search_knowledge in ${PASSAGES} passages vs. its bare query`,
      median(whole) / median(bare),
      SEARCH_LIMIT,
    )
  } finally {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const SUBJECTS = ['travel', 'vacation', 'hardware', 'security', 'payroll', 'training', 'parking']
const subject = (index: number): string =>
  `${SUBJECTS[(index % 500) % SUBJECTS.length]} ${index % 500}`

function passage(index: number) {
  const sentence = `Rule ${index} about ${subject(index)}: requests are approved by the office within ${index % 30} days. 第${index % 500}条规定由部门主管审批。`
  const text = sentence.repeat(6)
  return { heading: `Chapter ${index % 40}`, page: null, text, tokens: indexWords(text).join(' ') }
}

async function timed(
  tool: ToolDefinition,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<number> {
  const startedAt = performance.now()
  const parsed = tool.parse(JSON.stringify(input))
  if (!parsed.ok) throw new Error(parsed.error)
  const result = await parsed.input.run(context)
  if (!result.success) throw new Error(result.error)
  return performance.now() - startedAt
}

const noAgents: AgentStarter = {
  performTasks: () => Promise.reject(new Error('no sub-agents here')),
  startBackgroundTask: () => Promise.reject(new Error('no background tasks here')),
}

const contextOf = (projectId: ProjectId | null): ToolContext => ({
  userId: newId<UserId>(),
  conversationId: null,
  isTainted: () => false,
  spending: { admit: async () => null },
  agents: noAgents,
  projectId,
  runId: newId<RunId>(),
  messageId: null,
  model: 'bench',
  callId: CallId.parse('call'),
  signal: new AbortController().signal,
  progress: () => {},
})

const row = (figure: string, value: number, limit: number): Row => ({
  suite: 'agents',
  figure,
  target: `≤ ${limit}`,
  value: Number(value.toFixed(3)),
  unit: '×',
  ok: value <= limit,
})
