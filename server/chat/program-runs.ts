// Runs that other programs start through the OpenAI-compatible routes, in a new conversation or an earlier one.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { appError } from '../errors.ts'
import type { OnDisconnect, ToolChoice } from '../protocol/conversations/message.ts'
import type { ConversationId, ProjectId, RunId, UserId } from '../protocol/ids.ts'
import type { AnswerFormat } from '../protocol/runs/answer-format.ts'
import { createAnswerCheck } from '../runs/answer-format.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import {
  type ClientTool,
  type ResponseOptions,
  type RunSettings,
  readRunOptions,
} from '../runs/state.ts'
import { createProgramTurn, type PastMessage, type ProgramTurn } from './program-turn.ts'
import { runSiteOf, type Sending } from './send.ts'

type Question = ProgramTurn['question']

/** A request of another program, translated from its format. */
export interface ProgramRequest {
  /** The model's id in this server; undefined for the default model. */
  model: string | undefined
  systemPrompt: string | undefined
  temperature: number | undefined
  maxTokens: number | undefined
  /** Undefined for the model's default. */
  thinking: boolean | undefined
  projectId: ProjectId | undefined
  /** Whether a conversation without a project may have files of its own. */
  ownFiles: boolean
  /** The title for a new conversation. */
  title: string
  /**
   * Whether the conversation is in no list. It is removed after its run, or an hour after the run began to wait for
   * results.
   */
  isTemporary: boolean
  /** The whole conversation in the program's version. Ignored if the request continues an earlier run. */
  past: readonly PastMessage[]
  question: Question
  /** The run that the request continues, and what follows it. */
  previous: {
    runId: RunId
    results: ReadonlyMap<string, string>
    past: readonly PastMessage[]
    question: Question
    /** Whether the request fails without the run, instead of starting from `past`. */
    isRequired: boolean
  } | null
  toolsEnabled: boolean
  /** Names of the server's tools that the answer may use. Absent: all. */
  serverTools?: readonly string[]
  /** Whether the program asked for a web search; for the form of its response, as are the `warnings`. */
  searchesWeb?: boolean
  /** The form that the answer must have. Absent: text. */
  format?: AnswerFormat
  /** How often a failed model call is repeated at most, because the program repeats the request itself. Absent: as usual. */
  retries?: number
  /** What the server left out of the program's request. */
  warnings?: readonly string[]
  toolChoice: ToolChoice | undefined
  clientTools: readonly ClientTool[]
  /** Whether calls that need approval fail instead of waiting for a person. */
  refusesApprovals: boolean
  onDisconnect: OnDisconnect
  /** Set for requests through the Responses API; stored with the run. */
  response?: ResponseOptions
}

/** The part of the chat service that serves other programs. */
export interface ProgramRuns {
  /**
   * Stores what the program sent and starts a run.
   * @throws AppError `not_found` if a required earlier run is gone, and the errors of `send`.
   */
  answerProgram(userId: UserId, request: ProgramRequest): Promise<RunRow>
}

/** Creates the part of the chat service that serves other programs. */
export function createProgramRuns(
  { store, catalog, access }: ChatDependencies,
  begin: Sending['begin'],
): ProgramRuns {
  const bodyOf = (
    request: ProgramRequest,
    settings: { settings?: RunSettings; begunWith?: RunSettings },
  ) => ({
    model: request.model,
    tools_enabled: request.toolsEnabled,
    project_id: request.projectId,
    ...(request.ownFiles ? { ownFiles: true } : {}),
    tool_choice: request.toolChoice,
    on_disconnect: request.onDisconnect,
    clientTools: [...request.clientTools],
    ...(request.serverTools === undefined ? {} : { tools: [...request.serverTools] }),
    ...(request.format === undefined ? {} : { format: request.format }),
    ...(request.retries === undefined ? {} : { retries: request.retries }),
    ...(request.searchesWeb === true ? { searchesWeb: true } : {}),
    ...((request.warnings ?? []).length === 0 ? {} : { warnings: [...(request.warnings ?? [])] }),
    refusesApprovals: request.refusesApprovals,
    origin: { type: 'api' as const },
    ...settings,
    ...(request.response === undefined ? {} : { response: request.response }),
  })

  async function findPrevious(
    userId: UserId,
    previous: NonNullable<ProgramRequest['previous']>,
  ): Promise<RunRow | null> {
    const run = await store.runs.findOwned(userId, previous.runId)
    if (run !== undefined) return run
    if (previous.isRequired) throw appError('run_not_found')
    return null
  }

  async function beginIn(
    userId: UserId,
    conversationId: ConversationId,
    request: ProgramRequest,
    { turn, earlier, given }: { turn: ProgramTurn; earlier: RunRow | null; given: RunSettings },
  ): Promise<RunRow> {
    const site = await runSiteOf(store, userId, conversationId, undefined)
    const { begunWith } = earlier === null ? { begunWith: given } : readRunOptions(earlier.options)
    const settings =
      earlier === null
        ? {}
        : { settings: continuedSettings(request, { own: site.conversation, begunWith, given }) }
    const begun = begunWith === undefined ? {} : { begunWith }
    return await begin(userId, site, bodyOf(request, { ...settings, ...begun }), turn)
  }

  /** The settings that the request asks for, with the model's defaults. */
  async function settingsOf(userId: UserId, request: ProgramRequest): Promise<RunSettings> {
    const { model } = await catalog.resolve(request.model, access.models(userId))
    return {
      systemPrompt: request.systemPrompt ?? null,
      temperature: request.temperature ?? null,
      maxTokens: request.maxTokens ?? null,
      thinkingEnabled: request.thinking ?? (!model.demo && model.thinking !== false),
    }
  }

  return {
    async answerProgram(userId, request) {
      // Refused before anything is stored.
      if (request.format !== undefined) await createAnswerCheck(request.format)
      const given = await settingsOf(userId, request)
      const { previous } = request
      const earlier = previous === null ? null : await findPrevious(userId, previous)
      if (previous !== null && earlier !== null) {
        const turn = createProgramTurn({
          after: earlier.messageId,
          results: { messageId: earlier.messageId, results: previous.results },
          past: previous.past,
          question: previous.question,
        })
        if (previous.question === null && previous.results.size === 0)
          throw appError('nothing_to_answer')
        return await beginIn(userId, earlier.conversationId, request, { turn, earlier, given })
      }
      const { past, question, title } = request
      const turn = createProgramTurn({ after: null, results: null, past, question })
      const conversation = await store.conversations.create(userId, {
        ...given,
        title,
        model: request.model ?? null,
        projectId: request.projectId ?? null,
        temporary: request.isTemporary,
      })
      try {
        return await beginIn(userId, conversation.id, request, { turn, earlier: null, given })
      } catch (error) {
        await store.conversations.remove(userId, conversation.id)
        throw error
      }
    },
  }
}

/**
 * The settings of a run that continues a conversation: what the request says, otherwise the conversation's own, which
 * stay as they are. What a program set when it began the conversation is not the conversation's own: in the programs'
 * formats, each request says again what applies to it.
 */
function continuedSettings(
  { systemPrompt, temperature, maxTokens, thinking }: ProgramRequest,
  {
    own,
    begunWith,
    given,
  }: { own: RunSettings; begunWith: RunSettings | undefined; given: RunSettings },
): RunSettings {
  const pick = <Key extends keyof RunSettings>(key: Key, requested: unknown): RunSettings[Key] =>
    requested !== undefined || own[key] === begunWith?.[key] ? given[key] : own[key]
  return {
    systemPrompt: pick('systemPrompt', systemPrompt),
    temperature: pick('temperature', temperature),
    maxTokens: pick('maxTokens', maxTokens),
    thinkingEnabled: pick('thinkingEnabled', thinking),
  }
}
