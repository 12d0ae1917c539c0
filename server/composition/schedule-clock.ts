// The clock of schedules as configured, with what it needs of the other modules: sending, files, pages, commands, notices.
import { Counter, Histogram, type Registry } from 'prom-client'
import { deadline } from '../lib/abort.ts'
import { newId } from '../lib/ids.ts'
import { SOLE_WORKER } from '../lib/work-claims.ts'
import { CallId, type ProjectId, type UserId } from '../protocol/ids.ts'
import { createScheduleClock, type ScheduleClock } from '../schedules/clock.ts'
import { describeFiles } from '../schedules/watched-files.ts'
import type { Services } from '../services.ts'
import type { ToolContext } from '../tools/definition.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import { compileGlob } from '../workspace/files/glob.ts'
import { openProject } from '../workspace/open-project.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Base } from './base.ts'
import { createConversationModel } from './conversation-model.ts'
import { patternMatcher } from './schedules.ts'
import type { Tools } from './tools.ts'

const MAX_FILES = 10_000
const COMMAND_SECONDS = 120

/** The clock. It does nothing before it leads. */
export function createConfiguredClock(
  base: Base,
  {
    chat,
    tools,
    workspace,
    receipts,
    offeredModels,
    changes,
    metrics,
  }: Pick<Services, 'chat' | 'workspace' | 'receipts' | 'offeredModels' | 'changes'> & {
    tools: Tools
    metrics: Registry
  },
): ScheduleClock {
  const { config, database, store, log, now, clock, instance, claims } = base
  const { schedules, webhooks, push, channels, registry, readPage } = tools
  return createScheduleClock({
    database,
    store,
    schedules,
    now,
    every: clock.every,
    log,
    receipts,
    announce: changes.publish,
    observe: countOccurrences(metrics),
    isEnabled: config.schedules.enabled,
    isShared: instance.sharing !== undefined,
    catchUpHours: config.schedules.catch_up_hours,
    maxFailures: config.schedules.max_failures,
    keepRuns: config.schedules.keep_runs,
    assertAllowed: schedules.assertAllowed,
    makeDiff: workspace.makeDiff,
    compileGlob,
    trashConversation: chat.trashConversation,
    scheduleEnded: webhooks.events.scheduleEnded,
    afterCommit: webhooks.afterCommit,
    send(userId, id, { settings, tools: only, attachments, origin, text, clientId }) {
      const { skills, model, approval, approvalDeadline, limits, quiet } = settings
      return chat.send(userId, id, {
        text,
        attachments: attachments.map((file) => ({ ...file, extension: undefined })),
        client_id: clientId,
        origin,
        skills,
        ...(model === null ? {} : { model }),
        ...(approval === null ? {} : { approval }),
        ...(approvalDeadline === undefined ? {} : { approval_deadline: approvalDeadline }),
        ...(only === null ? {} : { tools: only }),
        ...(Object.keys(limits).length === 0 ? {} : { limits }),
        quiet,
      })
    },
    conversationModel: createConversationModel({ store, offeredModels }),
    claims: claims ?? SOLE_WORKER,
    async readPage(url, userId, ending) {
      const signal = deadline(45_000, ending)
      const page = await readPage(url, 'text', { signal, userId })
      if (!page.ok) return page
      const { text } = page.data
      // An empty text would look like a page that never changes.
      if (typeof text !== 'string') throw new Error('A page was read without its text.')
      return { ok: true, text }
    },
    ...projectFiles(workspace),
    matchesPattern: patternMatcher(workspace),
    runCommand: commandRunner(registry),
    async tellChannel(userId, name, text) {
      const signal = AbortSignal.timeout(5_000)
      try {
        const sent = await channels.send(userId, name, { text, conversationId: null, signal })
        if (sent === null) log.warn({ user_id: userId }, 'a schedule names a channel that is gone')
      } catch (error) {
        log.warn({ err: error, user_id: userId }, 'the end of a scheduled task could not be told')
      }
    },
    async tellPush(userId, { id, scheduleId, runId, conversationId, state }) {
      if (runId === null || conversationId === null)
        return await push.tellNotRun(userId, { schedule_id: scheduleId, occurrence_id: id })
      await push.tellEnded(userId, {
        run_id: runId,
        conversation_id: conversationId,
        failed: state !== 'done',
      })
    },
  })
}

/** The files of projects, as looks and checks read them. */
function projectFiles(services: Pick<WorkspaceServices, 'workspaces' | 'records' | 'projects'>) {
  async function open(userId: UserId, projectId: ProjectId) {
    await services.records.assertProject(projectId)
    return (await openProject(services, userId, projectId, 'read')).workspace
  }
  async function findFiles(userId: UserId, projectId: ProjectId, glob: string): Promise<string[]> {
    const workspace = await open(userId, projectId)
    const matches = compileGlob(glob)
    const found: string[] = []
    const folders = ['']
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
      for (const entry of await workspace.list(folder)) {
        if (entry.kind === 'directory') folders.push(entry.path)
        else if (entry.kind === 'file' && matches(entry.path)) found.push(entry.path)
        if (found.length >= MAX_FILES) return found.sort()
      }
    return found.sort()
  }
  return {
    findFiles,
    async readFile(userId: UserId, projectId: ProjectId, path: string): Promise<string | null> {
      const workspace = await open(userId, projectId)
      if ((await workspace.state(path)) === null) return null
      return (await workspace.read(path)).bytes.toString('utf8')
    },
    async readFiles(
      userId: UserId,
      projectId: ProjectId,
      glob: string,
      signal: AbortSignal,
    ): Promise<string> {
      const workspace = await open(userId, projectId)
      return await describeFiles(workspace, await findFiles(userId, projectId, glob), signal)
    },
  }
}

/** Runs commands of checks with the tool `exec`, in the sandbox and with its limits. */
const commandRunner =
  (registry: ToolRegistry): Parameters<typeof createScheduleClock>[0]['runCommand'] =>
  async (command, run, ending) => {
    const tool = registry.snapshot(run.userId).get('exec')
    const parsed = tool?.parse(JSON.stringify({ command, timeout: COMMAND_SECONDS }))
    if (parsed?.ok !== true) return { exitCode: null, detail: 'commands are off' }
    const unavailable = (): never => {
      throw new Error('A check has no agents and spends nothing.')
    }
    const context: ToolContext = {
      userId: run.userId,
      conversationId: run.conversationId,
      projectId: run.projectId,
      runId: run.id,
      messageId: null,
      model: run.model,
      callId: CallId.parse(newId<string>()),
      isTainted: () => true,
      agents: { performTasks: unavailable, startBackgroundTask: unavailable },
      spending: { admit: unavailable },
      signal: deadline((COMMAND_SECONDS + 30) * 1_000, ending),
      progress() {},
    }
    const result = await parsed.input.run(context)
    if (!result.success) return { exitCode: null, detail: result.error }
    const data = new Map(Object.entries(result.data ?? {}))
    const exitCode = data.get('exit_code')
    return { exitCode: typeof exitCode === 'number' ? exitCode : null, detail: '' }
  }

/** Counts what comes of occurrences. */
function countOccurrences(
  registry: Registry,
): Parameters<typeof createScheduleClock>[0]['observe'] {
  const registers = [registry]
  const ends = new Counter({
    name: 'nanoclaw_schedule_occurrences_total',
    help: 'Due times of schedules, by what came of them.',
    labelNames: ['state'],
    registers,
  })
  const delay = new Histogram({
    name: 'nanoclaw_schedule_delay_seconds',
    help: 'Time from the due time of a schedule until it was begun.',
    buckets: [0.5, 1, 2, 5, 10, 30, 60, 300, 3_600],
    registers,
  })
  return (seen) => {
    if (seen.kind === 'ended') ends.inc({ state: seen.state })
    else delay.observe(seen.seconds)
  }
}
