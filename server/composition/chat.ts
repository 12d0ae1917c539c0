// The chat as configured, with what its runs need of the other modules.
import { createProjectDescription } from '../agent/project-description.ts'
import type { Announcer } from '../changes/change-log.ts'
import { type ChatService, createChatService } from '../chat/chat-service.ts'
import { tellWaitingThrough } from '../chat/tell-waiting.ts'
import { chatSettings } from '../config/settings.ts'
import { memorySection } from '../knowledge/memory.ts'
import type { Observers } from '../observability/observers.ts'
import { findDescribedProject } from '../runs/context/described-project.ts'
import type { RunRecords } from '../runs/inspection/run-records.ts'
import type { Services } from '../services.ts'
import { createScratchProjects } from '../workspace/scratch-projects.ts'
import type { Base } from './base.ts'
import type { Tools } from './tools.ts'

export function createConfiguredChat(
  base: Base,
  {
    catalog,
    changes,
    announcer,
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
    announcer: Announcer
    observers: Observers
    records: RunRecords
    tools: Tools
  },
): ChatService {
  const { config, settings, database, store, access, instance, log, redact, now } = base
  const { workspaces, checkpoints } = workspace
  return createChatService({
    database,
    store,
    files,
    storage: workspaces.storage,
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
    toolsOfServers: tools.mcp.toolNamesOf,
    memory: memorySection,
    skills,
    describeProject: createProjectDescription({
      find: findDescribedProject({ projects: store.projects, consents }),
      list: (storedBy, id) => workspaces.open(storedBy, id).list(''),
      namesFromOutside: (storedBy, id, names) =>
        checkpoints.outsideText.namesIn(workspaces.open(storedBy, id), names),
    }),
    announce: announcer.announce,
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
