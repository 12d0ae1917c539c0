// The dependencies of the MCP server's tools: the chat, the store, the search and the workspace.
import type { SecretBox } from '../auth/secret-box.ts'
import type { ChatService } from '../chat/chat-service.ts'
import { toStep } from '../db/repositories/conversations/steps.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError } from '../errors.ts'
import { CallId, type ProjectId, type RunId, type UserId } from '../protocol/ids.ts'
import { followRun } from '../runs/log/follow.ts'
import type { OutgoingEvent } from '../runs/log/view.ts'
import type { Search } from '../search/search.ts'
import { parsePath } from '../workspace/files/paths.ts'
import { decodeText } from '../workspace/files/text.ts'
import { openProject } from '../workspace/open-project.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { McpServices, RunReport, Waiting } from './server.ts'

/** Clients take a call without a sign of life for dead after a minute. */
const PROGRESS_MS = 10_000
/** How long a client that takes no progress waits; afterwards it asks for the status. */
const PATIENCE_MS = 45_000
const MAX_TITLE_CHARACTERS = 60
const MAX_PROJECTS = 100

/** What clients read from, and who answers them. */
interface McpServicesDependencies {
  chat: ChatService
  store: Store
  search: Search
  workspace: Pick<WorkspaceServices, 'workspaces' | 'projects'>
  /** Must not register what it seals as secrets of the log. */
  box: SecretBox
}

/** The tools of `/mcp`, for the user of each request. */
export function createMcpServices(dependencies: McpServicesDependencies): McpServices {
  const parts = mcpRuns(dependencies)
  return {
    ...askedRuns(dependencies, parts),
    ...watchedRuns(dependencies, parts),
    ...readThings(dependencies),
  }
}

/** Runs that clients ask for, as they are told of them. */
function mcpRuns({ chat, store }: McpServicesDependencies) {
  async function getRun(userId: UserId, id: RunId): Promise<RunRow> {
    const run = await store.runs.findOwned(userId, id)
    if (run === undefined) throw appError('run_not_found')
    return run
  }

  /** Listens to the run until it has ended, waits for a person, or the client has waited long enough. */
  async function settled(
    userId: UserId,
    run: RunRow,
    { signal, progress }: Waiting,
  ): Promise<RunReport> {
    const runLog = await chat.runs.runLog(run)
    if (runLog === null) return await report(userId, run.id)
    const began = performance.now()
    let reported = began
    let happens = 'begins'
    const patience = AbortSignal.timeout(PATIENCE_MS)
    const until = progress === undefined ? AbortSignal.any([signal, patience]) : signal
    for await (const event of followRun(runLog, { signal: until, quietMs: PROGRESS_MS })) {
      if (runLog.terminal !== null || runLog.isWaiting) break
      if (event !== null) happens = describeEvent(event) ?? happens
      if (progress === undefined || performance.now() - reported < PROGRESS_MS - 100) continue
      reported = performance.now()
      // A connection that is closing takes no progress. The run must be stopped below nevertheless.
      await progress(`${happens} (${Math.round((reported - began) / 1_000)} s)`).catch((error) => {
        if (!signal.aborted) throw error
      })
    }
    // The client has cancelled the call, or is gone: nobody waits for the answer.
    if (signal.aborted && runLog.terminal === null) await chat.stop(userId, run.id)
    return await report(userId, run.id)
  }

  async function report(userId: UserId, id: RunId): Promise<RunReport> {
    const run = await getRun(userId, id)
    const [rows, waiting] = await Promise.all([
      store.steps.list(run.messageId),
      store.runs.pendingApprovals([id]),
    ])
    const texts = rows.map(toStep).flatMap((step) => (step.type === 'text' ? [step.content] : []))
    const call = waiting.get(id)?.[0]
    return {
      run_id: id,
      status: run.status,
      model: run.model,
      text: texts.join('\n\n'),
      error: run.error?.content ?? null,
      waits_for:
        call === undefined
          ? null
          : {
              id_ref: call.id_ref,
              name: call.name,
              arguments: call.arguments,
              preview: call.preview?.diff ?? call.preview?.command ?? call.arguments,
            },
    }
  }

  return { getRun, settled, report }
}

type McpRuns = ReturnType<typeof mcpRuns>

/** Questions, and the runs that answer them. */
function askedRuns(
  { chat, store }: McpServicesDependencies,
  { getRun, settled }: McpRuns,
): Pick<McpServices, 'ask' | 'begin' | 'cancel'> {
  /** What clients wait for, by user and id of the request. */
  const requests = new Map<string, Set<AbortController>>()
  const requestKey = (userId: UserId, id: string | number): string => `${userId} ${typeof id} ${id}`

  return {
    async ask(userId, { text, previousRun, projectId, model }, waiting) {
      if (previousRun !== undefined && projectId !== undefined) {
        const { conversationId } = await getRun(userId, previousRun)
        const conversation = await store.conversations.find(userId, conversationId)
        if (conversation !== undefined && conversation.projectId !== projectId)
          throw appError('run_project_differs')
      }
      const question = { text, attachments: [] }
      const run = await chat.answerProgram(userId, {
        model,
        systemPrompt: undefined,
        temperature: undefined,
        maxTokens: undefined,
        thinking: undefined,
        projectId,
        ownFiles: false,
        title: text.trim().split('\n', 1)[0]?.slice(0, MAX_TITLE_CHARACTERS) ?? '',
        isTemporary: false,
        past: [],
        question: previousRun === undefined ? question : null,
        previous:
          previousRun === undefined
            ? null
            : { runId: previousRun, results: new Map(), past: [], question, isRequired: true },
        toolsEnabled: true,
        toolChoice: undefined,
        clientTools: [],
        refusesApprovals: false,
        onDisconnect: 'grace',
      })
      return await settled(userId, run, waiting)
    },
    begin(userId, requestId) {
      const key = requestKey(userId, requestId)
      const controller = new AbortController()
      const known = requests.get(key) ?? new Set()
      requests.set(key, known.add(controller))
      return {
        signal: controller.signal,
        end() {
          known.delete(controller)
          if (known.size === 0) requests.delete(key)
        },
      }
    },
    cancel(userId, requestId) {
      const [only, ...others] = requests.get(requestKey(userId, requestId)) ?? []
      if (others.length === 0) only?.abort()
    },
  }
}

/** What becomes of a run, and what waits in it. */
function watchedRuns(
  { chat }: McpServicesDependencies,
  { settled, report }: McpRuns,
): Pick<McpServices, 'decide' | 'runStatus'> {
  return {
    async decide(userId, { runId, idRef, approve, actor }, waiting) {
      const decision = {
        id_ref: CallId.parse(idRef),
        decision: approve ? ('approve' as const) : ('reject' as const),
        reason: undefined,
        arguments: undefined,
        remember: undefined,
        grant: undefined,
        call_hash: undefined,
      }
      const by = { ...actor, details: { ...actor.details, by: 'mcp' } }
      const run = await chat.decide(userId, runId, decision, by)
      return await settled(userId, run, waiting)
    },
    runStatus: report,
  }
}

/** What clients read. */
function readThings({
  store,
  search,
  workspace,
  box,
}: McpServicesDependencies): Pick<
  McpServices,
  'search' | 'listProjects' | 'listFiles' | 'readFile' | 'seal' | 'open'
> {
  const purposeOf = (userId: UserId): string => `mcp ${userId}`

  const workspaceOf = async (userId: UserId, id: ProjectId) =>
    (await openProject(workspace, userId, id, 'read')).workspace

  return {
    async search(userId, query, limit) {
      const { items } = await search.find(userId, { q: query, limit })
      return items.map(({ type, title, snippet, conversationId, projectId, createdAt }) => ({
        type,
        title,
        snippet: snippet.replaceAll(/<\/?mark>/g, ''),
        conversation_id: conversationId,
        project_id: projectId,
        created_at: createdAt.toISOString(),
      }))
    },
    async listProjects(userId) {
      const { items } = await store.projects.list(userId, { limit: MAX_PROJECTS })
      return items.map(({ id, name }) => ({ id, name }))
    },
    async listFiles(userId, projectId, path) {
      const opened = await workspaceOf(userId, projectId)
      return (await opened.list(parsePath(path).text)).map((entry) => ({
        path: entry.path,
        kind: entry.kind,
        ...('size' in entry ? { size: entry.size } : {}),
      }))
    },
    async readFile(userId, projectId, path) {
      const opened = await workspaceOf(userId, projectId)
      const { bytes } = await opened.read(path)
      return decodeText(bytes, parsePath(path).text).text
    },
    seal: (userId, text) => box.seal(text, purposeOf(userId)),
    open(userId, sealed) {
      try {
        return box.open(sealed, purposeOf(userId))
      } catch (error) {
        if (error instanceof AppError) return undefined
        throw error
      }
    },
  }
}

/** What the event says about what the run does, in a few words; null for nothing new. */
function describeEvent({ event, data }: OutgoingEvent): string | null {
  const { type, name } = Object(data)
  if (event === 'retry') return 'waits for the provider of the model'
  if (event === 'step_delta') return type === 'thinking' ? 'thinks' : 'writes the answer'
  if (event !== 'process_step') return null
  if (type === 'tool_call') return `calls ${String(name)}`
  return type === 'tool_result' ? `has the result of ${String(name)}` : null
}
