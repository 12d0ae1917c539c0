// The chat as configured, with what its runs need of the other modules; who is told of its changes.
import { createProjectDescription } from '../agent/project-description.ts'
import type { ChangeLog } from '../changes/change-log.ts'
import { type ChatService, createChatService } from '../chat/chat-service.ts'
import { givesRole } from '../db/repositories/projects/membership.ts'
import { settingsOf } from '../db/repositories/projects/projects.ts'
import { memorySection } from '../knowledge/memory.ts'
import type { Change } from '../protocol/change.ts'
import type { ProjectId, RunId, UserId } from '../protocol/ids.ts'
import type { RunRecords } from '../runs/inspection/run-records.ts'
import type { Services } from '../services.ts'
import { createScratchProjects } from '../workspace/scratch-projects.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Base } from './base.ts'
import { createTelling } from './messaging.ts'
import type { Observers } from './observers.ts'
import { chatSettings } from './settings.ts'
import type { Tools } from './tools.ts'

/** Every event of a run reaches the user's open pages, webhooks and push notifications. */
export function createConfiguredChat(
  base: Base,
  {
    catalog,
    changes,
    files,
    workspace,
    skills,
    consents,
    observers,
    records,
    tools,
    receipts,
  }: Pick<
    Services,
    'catalog' | 'changes' | 'files' | 'workspace' | 'skills' | 'consents' | 'receipts'
  > & {
    observers: Observers
    records: RunRecords
    tools: Tools
  },
): ChatService {
  const { config, settings, database, store, access, instance, log, redact, now } = base
  return createChatService({
    database,
    store,
    files,
    storage: workspace.workspaces.storage,
    documents: tools.knowledge,
    scratch: createScratchProjects({
      projects: store.projects,
      workspace,
      onNew: (userId, id) =>
        changes.publish(userId, { type: 'conversation', id, change: 'updated' }),
      log,
    }),
    receipts,
    settings: chatSettings(config, settings),
    catalog,
    access,
    registry: tools.registry,
    cache: tools.cache,
    results: tools.results,
    safety: tools.safety,
    prepareTools: tools.mcp.prepare,
    appTool: tools.mcp.appTool,
    isToolAllowed: tools.isToolAllowed,
    memory: memorySection,
    skills,
    describeProject: describeProject(base, { ...workspace, consents }),
    mayOpenApps: (userId) => config.apps.enabled && access.allowsFeature(userId, 'apps'),
    announce: tools.push.sentWith(
      tools.webhooks.sentWith(
        tools.schedules.toldOfRuns(toApprovers(changes.publish, { store, log })),
      ),
    ),
    // The user's pages may be open at another instance.
    isFollowed: instance.sharing === undefined ? changes.isFollowed : () => true,
    notices: tools.webhooks.events,
    tell: createTelling(base, tools),
    observe: observers.observe,
    records,
    budgets: tools.budgets,
    log,
    redact,
    now,
    instance: instance.id,
    whenOwner: instance.whenOwner,
    sharing: instance.sharing,
  })
}

const describeProject = (
  { store }: Pick<Base, 'store'>,
  {
    workspaces,
    checkpoints,
    consents,
  }: Pick<WorkspaceServices, 'workspaces' | 'checkpoints'> & Pick<Services, 'consents'>,
) => {
  // Asked after `find`, which says whether the user is a member.
  const open = async (userId: UserId, id: ProjectId) =>
    workspaces.open((await store.projects.ownerOf(id)) ?? userId, id)
  return createProjectDescription({
    async find(userId, id) {
      const project = await store.projects.find(userId, id)
      if (project === undefined) return undefined
      const { instructions, disabled_tools, uses_memory } = settingsOf(project)
      const { name, description } = project
      const { info, text } = await consents.agentsMd({ userId, projectId: id })
      return {
        agents: info.path === null || text === null ? null : { path: info.path, text },
        name,
        isScratch: project.scratch,
        description,
        instructions,
        disabledTools: disabled_tools,
        usesMemory: uses_memory,
        isReadOnly: !givesRole(project.role, 'edit'),
      }
    },
    list: async (userId, id) => (await open(userId, id)).list(''),
    namesFromOutside: async (userId, id, names) =>
      checkpoints.outsideText.namesIn(await open(userId, id), names),
  })
}

/** Publishes every change to its user, and changes of approval requests also to the approvers of the project of the run. */
const toApprovers =
  (publish: ChangeLog['publish'], { store, log }: Pick<Base, 'store' | 'log'>) =>
  (userId: UserId, change: Change): void => {
    publish(userId, change)
    if (change.type !== 'approval') return
    publishToOthers(change.run_id).catch((error: unknown) =>
      log.warn({ err: error, run: change.run_id }, 'could not tell the approvers of a request'),
    )

    async function publishToOthers(runId: RunId): Promise<void> {
      const run = await store.runs.find(runId)
      if (run === undefined || run.projectId === null) return
      for (const approver of await store.approvers.people(run.projectId))
        if (approver !== userId) publish(approver, change)
    }
  }
