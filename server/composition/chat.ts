// Creates the chat as configured, with what its runs need of the other modules.

import type { ChangeLog } from '../changes/change-log.ts'
import { type ChatService, createChatService } from '../chat/chat-service.ts'
import type { FileService } from '../files/files.ts'
import { memorySection } from '../knowledge/memory.ts'
import type { ModelCatalog } from '../llm/catalog.ts'
import type { RunRecords } from '../runs/inspection/run-records.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Base } from './base.ts'
import type { Observers } from './observers/observers.ts'
import { chatSettings } from './settings.ts'
import { createProjectDescription } from './storage/workspace.ts'
import type { ToolModule } from './tools/tools.ts'

/** Every event of a run reaches the user's open pages, webhooks and push notifications. */
export function createConfiguredChat(
  base: Base,
  {
    catalog,
    changes,
    files,
    observers,
    records,
    tools,
    workspace,
  }: {
    catalog: ModelCatalog
    changes: ChangeLog
    files: FileService
    observers: Observers
    records: RunRecords
    tools: ToolModule
    workspace: WorkspaceServices
  },
): ChatService {
  const { instance } = base
  return createChatService({
    ...base,
    observe: observers.observe,
    records,
    // The user's pages may be open at another instance.
    isFollowed: instance.sharing === undefined ? changes.isFollowed : () => true,
    notices: tools.webhooks.events,
    announce: tools.push.sentWith(tools.webhooks.sentWith(changes.publish)),
    files,
    storage: workspace.workspaces.storage,
    documents: tools.knowledge,
    settings: chatSettings(base.config, base.settings),
    catalog,
    registry: tools.registry,
    cache: tools.cache,
    results: tools.results,
    safety: tools.safety,
    isToolAllowed: tools.isToolAllowed,
    prepareTools: tools.mcp.prepare,
    memory: memorySection,
    describeProject: createProjectDescription(base.store.projects, workspace),
    budgets: tools.budgets,
    instance: instance.id,
    whenOwner: instance.whenOwner,
    sharing: instance.sharing,
  })
}
