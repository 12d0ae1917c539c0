// NanoClaw as an MCP server: the tools for other agents, independent of the transport.
import {
  acceptedContent,
  type CallToolResult,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import { ProjectId, RunId, type UserId } from '../protocol/ids.ts'

/** A run as reported to a program. */
export interface RunReport {
  run_id: RunId
  status: string
  model: string
  /** The answer so far. */
  text: string
  error: string | null
  /** The call that waits for the approval of a person. */
  waits_for: { id_ref: string; name: string; arguments: string; preview: string } | null
}

/** How a client waits for a run. */
export interface Waiting {
  /** Aborted when the client cancels; the run is then stopped. */
  signal: AbortSignal
  /** Called every ten seconds with what happens; undefined if the client takes no progress. */
  progress: ((message: string) => Promise<void>) | undefined
}

/** The services that the tools use. Every method acts for one user, and throws an AppError for what that user lacks. */
export interface McpServices {
  /** Starts a run and waits until it has ended or waits for a person; without `progress`, for at most 45 seconds. */
  ask(
    userId: UserId,
    question: {
      text: string
      previousRun: RunId | undefined
      projectId: ProjectId | undefined
      model: string | undefined
    },
    waiting: Waiting,
  ): Promise<RunReport>
  decide(
    userId: UserId,
    decision: { runId: RunId; idRef: string; approve: boolean; actor: Actor },
    waiting: Waiting,
  ): Promise<RunReport>
  runStatus(userId: UserId, runId: RunId): Promise<RunReport>
  /**
   * Makes the request cancellable until `end` is called: clients of the earlier protocol era cancel with a message of its own, not by
   * closing the connection.
   */
  begin(userId: UserId, requestId: string | number): { signal: AbortSignal; end(): void }
  /** Cancels the request, unless several clients of the user have one with this id. */
  cancel(userId: UserId, requestId: string | number): void
  search(userId: UserId, query: string, limit: number): Promise<unknown[]>
  listProjects(userId: UserId): Promise<{ id: ProjectId; name: string }[]>
  listFiles(userId: UserId, projectId: ProjectId, path: string): Promise<unknown[]>
  /** The text of a file. */
  readFile(userId: UserId, projectId: ProjectId, path: string): Promise<string>
  /** Seals data that a client keeps between two requests, so that it can neither read nor change it. */
  seal(userId: UserId, text: string): string
  /** The sealed text; undefined if it was not sealed for this user. */
  open(userId: UserId, sealed: string): string | undefined
}

const MAX_TEXT_CHARACTERS = 200_000
const MAX_FILE_CHARACTERS = 200_000
const APPROVE = z.object({ approve: z.boolean().meta({ title: 'Run this tool call' }) })
const PendingCall = z.object({ runId: RunId, idRef: z.string() })
const Path = z.string().max(4_000)

const result = (value: unknown): CallToolResult => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
})

/** Returns a failure as a tool result, so that the client's model reads it. */
async function orFailure<T>(work: () => Promise<T>): Promise<T | CallToolResult> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError)
      return { ...result(`${error.message} (${error.reason})`), isError: true }
    throw error
  }
}

const READ_ONLY = { annotations: { readOnlyHint: true, openWorldHint: false } }

interface ToolContext {
  userId: UserId
  actor: Actor
  services: McpServices
  /** Whether the client's version of MCP has results that ask a person. */
  isModern: boolean
}

/** Create one per request: it serves one user. */
export function createMcpServer(
  { userId, actor }: Pick<ToolContext, 'userId' | 'actor'>,
  services: McpServices,
  { version, isModern }: { version: string; isModern: boolean },
): McpServer {
  const server = new McpServer({ name: 'nanoclaw', title: 'NanoClaw', version })
  const context = { userId, actor, services, isModern }
  registerRunTools(server, context)
  registerSearch(server, context)
  registerProjectTools(server, context)
  return server
}

type Request = Parameters<Parameters<McpServer['registerTool']>[2]>[1]['mcpReq']

/** Reports progress if the client has sent a token for it. */
function waitingOf({ signal: closed, _meta, notify }: Request, cancelled: AbortSignal): Waiting {
  const signal = AbortSignal.any([closed, cancelled])
  const token = _meta?.progressToken
  if (token === undefined) return { signal, progress: undefined }
  let count = 0
  return {
    signal,
    async progress(message) {
      count += 1
      const params = { progressToken: token, progress: count, message }
      await notify({ method: 'notifications/progress', params })
    },
  }
}

/** Tools that start a run, decide what it waits for, and read it. */
function registerRunTools(
  server: McpServer,
  { userId, actor, services, isModern }: ToolContext,
): void {
  /** The answer, or an approval request if the client can ask a person. */
  function present(report: RunReport) {
    const call = report.waits_for
    if (report.status === 'running' || report.status === 'queued')
      return result({ ...report, note: 'The run goes on. Call run_status for its answer.' })
    if (call === null) return { ...result(report), isError: report.status === 'failed' }
    const canAsk = isModern && server.server.getClientCapabilities()?.elicitation !== undefined
    if (!canAsk)
      return result({
        ...report,
        note: 'The run is waiting for approval in the NanoClaw page. Ask the user to approve or reject it there, then call run_status.',
      })
    return inputRequired({
      inputRequests: {
        approval: inputRequired.elicit({
          message: `NanoClaw wants to call ${call.name}:\n${call.preview}`,
          requestedSchema: APPROVE,
        }),
      },
      requestState: services.seal(
        userId,
        JSON.stringify({ runId: report.run_id, idRef: call.id_ref }),
      ),
    })
  }

  server.registerTool(
    'ask',
    {
      title: 'Ask NanoClaw',
      description:
        "Sends a message to the NanoClaw agent, which works with its own tools (web, files, code), and returns its answer. Use it for tasks that need these tools or the user's projects. To continue a conversation, pass previous_run_id.",
      inputSchema: z.object({
        text: z
          .string()
          .max(MAX_TEXT_CHARACTERS)
          .refine((text) => text.trim() !== '', 'The text is blank: write the message.'),
        previous_run_id: RunId.optional(),
        project_id: ProjectId.optional(),
        model: z.string().max(200).optional(),
      }),
      annotations: { readOnlyHint: false, openWorldHint: true },
    },
    ({ text, previous_run_id, project_id, model }, context) =>
      orFailure(async () => {
        const { signal, end } = services.begin(userId, context.mcpReq.id)
        const waiting = waitingOf(context.mcpReq, signal)
        const state = context.mcpReq.requestState<unknown>()
        const opened = typeof state === 'string' ? services.open(userId, state) : undefined
        if (opened === undefined) {
          const question = { text, previousRun: previous_run_id, projectId: project_id, model }
          return present(await services.ask(userId, question, waiting).finally(end))
        }
        const answer = acceptedContent(context.mcpReq.inputResponses, 'approval', APPROVE)
        const pending = PendingCall.parse(JSON.parse(opened))
        const approve = answer?.approve === true
        const decision = { ...pending, approve, actor }
        return present(await services.decide(userId, decision, waiting).finally(end))
      }),
  )

  server.registerTool(
    'run_status',
    {
      description:
        'Returns the status and the answer of a run. Use it after ask reports that a run is waiting for approval or still running.',
      inputSchema: z.object({ run_id: RunId }),
      ...READ_ONLY,
    },
    ({ run_id }) => orFailure(async () => result(await services.runStatus(userId, run_id))),
  )
}

/** The tool that searches the user's data. */
function registerSearch(server: McpServer, { userId, services }: ToolContext): void {
  server.registerTool(
    'search',
    {
      description: "Searches the user's conversations, tool calls, files and documents.",
      inputSchema: z.object({
        query: z.string().min(1).max(200),
        limit: z.int().min(1).max(50).default(20),
      }),
      ...READ_ONLY,
    },
    ({ query, limit }) =>
      orFailure(async () => result(await services.search(userId, query, limit))),
  )
}

/** Tools for projects and their files. */
function registerProjectTools(server: McpServer, { userId, services }: ToolContext): void {
  server.registerTool(
    'list_projects',
    { description: "Lists the user's projects with their ids.", ...READ_ONLY },
    () => orFailure(async () => result(await services.listProjects(userId))),
  )

  server.registerTool(
    'list_project_files',
    {
      description: 'Lists the contents of a project folder; the default path is the project root.',
      inputSchema: z.object({ project_id: ProjectId, path: Path.default('') }),
      ...READ_ONLY,
    },
    ({ project_id, path }) =>
      orFailure(async () => result(await services.listFiles(userId, project_id, path))),
  )

  server.registerTool(
    'read_project_file',
    {
      description:
        'Reads a text file of a project, starting at a character offset. Long files are truncated; the result gives the offset to continue with.',
      inputSchema: z.object({
        project_id: ProjectId,
        path: Path.min(1),
        offset: z.int().min(0).default(0),
      }),
      ...READ_ONLY,
    },
    ({ project_id, path, offset }) =>
      orFailure(async () => {
        const text = await services.readFile(userId, project_id, path)
        const shown = text.slice(offset, offset + MAX_FILE_CHARACTERS)
        const rest = text.length - offset - shown.length
        return result(
          rest > 0
            ? `${shown}\n[${rest} more characters: continue with offset ${offset + shown.length}]`
            : shown,
        )
      }),
  )
}
