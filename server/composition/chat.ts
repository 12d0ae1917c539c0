// The chat as configured, with what its runs need of the other modules; who is told of its changes.
import { createProjectDescription } from '../agent/project-description.ts'
import { type ChatService, createChatService } from '../chat/chat-service.ts'
import { toApprovers } from '../chat/tell-approvers.ts'
import { tellWaitingThrough } from '../chat/tell-waiting.ts'
import { givesRole } from '../db/repositories/projects/membership.ts'
import { settingsOf } from '../db/repositories/projects/projects.ts'
import { memorySection } from '../knowledge/memory.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { RunRecords } from '../runs/inspection/run-records.ts'
import type { Services } from '../services.ts'
import { createScratchProjects } from '../workspace/scratch-projects.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Base } from './base.ts'
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
    mayOpenApps: (userId) => access.allowsFeature(userId, 'apps'),
    announce: tools.push.sentWith(
      tools.webhooks.sentWith(
        tools.schedules.toldOfRuns(toApprovers(changes.publish, { store, log })),
      ),
    ),
    // The user's pages may be open at another instance.
    isFollowed: instance.sharing === undefined ? changes.isFollowed : () => true,
    notices: tools.webhooks.events,
    tell: tellWaitingThrough({
      publicUrl: config.public_url,
      store,
      log,
      push: tools.push,
      channels: tools.channels,
    }),
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
