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
import { topFolders } from '../workspace/open-project.ts'
import { createScratchProjects } from '../workspace/scratch-projects.ts'
import type { Base } from './base.ts'
import type { Tools } from './tools.ts'

export function createConfiguredChat(
  base: Base,
  parts: Pick<
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
  return createChatService({
    database,
    store,
    files: parts.files,
    storage: parts.workspace.workspaces.storage,
    documents: parts.tools.knowledge,
    scratch: createScratchProjects({
      projects: store.projects,
      workspace: parts.workspace,
      onNew: (userId, id) =>
        parts.changes.publish(userId, { type: 'conversation', id, change: 'updated' }),
      log,
    }),
    receipts: parts.receipts,
    settings: chatSettings(config, settings),
    catalog: parts.catalog,
    access,
    registry: parts.tools.registry,
    cache: parts.tools.cache,
    results: parts.tools.results,
    safety: parts.tools.safety,
    prepareTools: parts.tools.mcp.prepare,
    appTool: parts.tools.mcp.appTool,
    toolsOfServers: parts.tools.mcp.toolNamesOf,
    memory: memorySection,
    skills: parts.skills,
    describeProject: createProjectDescription({
      find: findDescribedProject({ projects: store.projects, consents: parts.consents }),
      ...topFolders(parts.workspace, parts.workspace.checkpoints.outsideText),
    }),
    announce: parts.announcer.announce,
    // The user's pages may be open at another instance.
    isFollowed: instance.sharing === undefined ? parts.changes.isFollowed : () => true,
    notices: parts.tools.webhooks.events,
    tell: tellWaitingThrough({
      publicUrl: config.public_url,
      store,
      log,
      push: parts.tools.push,
      channels: parts.tools.channels,
    }),
    observe: parts.observers.observe,
    records: parts.records,
    budgets: parts.tools.budgets,
    log,
    redact,
    now,
    instance: instance.id,
    whenOwner: instance.whenOwner,
    sharing: instance.sharing,
  })
}
