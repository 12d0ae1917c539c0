// The dependencies of the MCP server's tools: the chat, the store, the search and the workspace.
import type { SecretBox } from '../../auth/secret-box.ts'
import type { ChatService } from '../../chat/chat-service.ts'
import { toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { AppError, appError } from '../../errors.ts'
import type { McpServices, RunReport } from '../../mcp-server/server.ts'
import { CallId, type ProjectId, type RunId, type UserId } from '../../protocol/ids.ts'
import { ownProject } from '../../routes/projects/own-project.ts'
import { followRun } from '../../runs/log/follow.ts'
import type { Search } from '../../search/search.ts'
import { parsePath } from '../../workspace/files/paths.ts'
import { decodeText } from '../../workspace/files/text.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'

const QUIET_MS = 60_000
const MAX_TITLE_CHARACTERS = 60
const MAX_PROJECTS = 100

/** The tools of `/mcp`, for the user of each request. */
export function createMcpServices({
  chat,
  store,
  search,
  workspace,
  box,
}: {
  chat: ChatService
  store: Store
  search: Search
  workspace: Pick<WorkspaceServices, 'workspaces'>
  /** Must not register what it seals as secrets of the log. */
  box: SecretBox
}): McpServices {
  const purposeOf = (userId: UserId): string => `mcp ${userId}`

  async function getRun(userId: UserId, id: RunId): Promise<RunRow> {
    const run = await store.runs.findOwned(userId, id)
    if (run === undefined) throw appError('run_not_found')
    return run
  }

  /** Listens to the run until it has ended or waits for a person. */
  async function settled(userId: UserId, run: RunRow, signal: AbortSignal): Promise<RunReport> {
    const runLog = await chat.runs.runLog(run)
    if (runLog !== null)
      for await (const _event of followRun(runLog, { signal, quietMs: QUIET_MS }))
        if (runLog.terminal !== null || runLog.isWaiting) break
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

  const workspaceOf = async (userId: UserId, id: ProjectId) =>
    (await ownProject({ projects: store.projects, workspaces: workspace.workspaces }, userId, id))
      .workspace

  return {
    async ask(userId, { text, previousRun, projectId, model }, signal) {
      const question = { text, attachments: [] }
      const run = await chat.answerProgram(userId, {
        model,
        systemPrompt: undefined,
        temperature: undefined,
        maxTokens: undefined,
        thinking: undefined,
        projectId,
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
      return await settled(userId, run, signal)
    },
    async decide(userId, { runId, idRef, approve, actor }, signal) {
      const decision = {
        id_ref: CallId.parse(idRef),
        decision: approve ? ('approve' as const) : ('reject' as const),
        reason: undefined,
        arguments: undefined,
        remember: undefined,
      }
      const by = { ...actor, details: { ...actor.details, by: 'mcp' } }
      const run = await chat.decide(userId, runId, decision, by)
      return await settled(userId, run, signal)
    },
    runStatus: report,
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
