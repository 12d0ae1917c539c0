// Starts a background task: a separate run that a tool call of another run requests.
import type { MessageRow } from '../../db/repositories/conversations/messages.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { AppError, appError } from '../../errors.ts'
import { newId } from '../../lib/ids.ts'
import type { MessageId, RunId } from '../../protocol/ids.ts'
import { storedOrigin } from '../../protocol/runs/origin.ts'
import type { AgentStarter } from '../../tools/definition.ts'
import type { RunDependencies } from '../performed-run.ts'
import { originOfRun, type RunOptions, readRunOptions } from '../state.ts'
import { MESSAGE_DEFAULTS, RUN_DEFAULTS } from './row-defaults.ts'

/** Background tasks per conversation that may run at the same time. */
const MAX_TASKS = 5

type Task = Parameters<AgentStarter['startBackgroundTask']>[0] & {
  /** Names of the tools that the task may use. */
  tools: string[]
}

/** Starts the task. Idempotent for each call of the parent run: a repeated call returns the same task. */
export async function startBackgroundTask(
  parent: RunRow,
  { callId, task, announce, tools }: Task,
  dependencies: Pick<RunDependencies, 'store' | 'settings' | 'instance' | 'now' | 'runs'>,
): ReturnType<AgentStarter['startBackgroundTask']> {
  const { store, settings, runs } = dependencies
  const tasks = await store.runs.background(parent.userId, parent.conversationId)
  const started = tasks.find(
    (run) => run.parentRunId === parent.id && readRunOptions(run.options).callId === callId,
  )
  if (started !== undefined) return { ok: true, id: started.id }
  const createdAt = dependencies.now()
  const { approval, approvalDeadline, origin, refusesApprovals } = readRunOptions(parent.options)
  const options: RunOptions = {
    toolsEnabled: true,
    approval,
    ...(approvalDeadline === undefined ? {} : { approvalDeadline }),
    ...(origin === undefined ? {} : { origin }),
    ...(refusesApprovals === undefined ? {} : { refusesApprovals }),
    onDisconnect: 'continue',
    task,
    announce,
    callId,
    tools,
  }
  const run: RunRow = {
    ...RUN_DEFAULTS,
    id: newId<RunId>(),
    kind: 'background',
    parentRunId: parent.id,
    conversationId: parent.conversationId,
    userId: parent.userId,
    projectId: parent.projectId,
    messageId: newId<MessageId>(),
    userMessageId: null,
    model: parent.model,
    options,
    state: { grants: [], iterationLimit: settings.subAgents.maxIterations },
    clientId: null,
    owner: dependencies.instance,
    createdAt,
    startedAt: createdAt,
  }
  const message: MessageRow = {
    ...MESSAGE_DEFAULTS,
    id: run.messageId,
    conversationId: run.conversationId,
    parentId: null,
    role: 'assistant',
    model: run.model,
    runId: run.id,
    status: 'streaming',
    origin: storedOrigin(originOfRun(parent)),
    createdAt,
  }
  try {
    await runs.begin(run, async (tx) => {
      // The count includes this task.
      if ((await store.runs.countBackground(tx, run.conversationId)) > MAX_TASKS)
        throw appError('background_tasks_exhausted', { limit: MAX_TASKS })
      if ((await store.messages.lockLeaf(tx, run.conversationId)) === undefined)
        throw appError('conversation_gone')
      await store.messages.insertDetached(tx, message)
      return undefined
    })
  } catch (error) {
    if (error instanceof AppError && !error.retryable) return { ok: false, error: error.message }
    throw error
  }
  return { ok: true, id: run.id }
}
