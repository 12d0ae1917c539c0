// Which tool an app of an MCP server may call, as everything that is switched off or not permitted leaves it.
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import type { ChatDependencies } from './dependencies.ts'
import { readRunOptions } from './state.ts'

type Dependencies = Pick<
  ChatDependencies,
  'store' | 'prepareTools' | 'appTool' | 'registry' | 'describeProject'
>

/** `for_models`: the server has the tool, but not for apps. */
export type FoundAppTool =
  | { kind: 'tool'; tool: ToolDefinition }
  | { kind: 'unknown' }
  | { kind: 'for_models' }

const UNKNOWN: FoundAppTool = { kind: 'unknown' }

/** Looks for the tool as the person of the run may use it now, in the run's conversation and project. */
export async function findAppTool(
  { store, prepareTools, appTool, registry, describeProject }: Dependencies,
  run: RunRow,
  { server, tool: name }: { server: string; tool: string },
): Promise<FoundAppTool> {
  const { userId, projectId } = run
  const setting = await store.conversations.findRunSetting(userId, run.conversationId)
  if (setting === undefined) return UNKNOWN
  if (projectId !== null && (await store.projects.isClosedTo(userId, projectId))) return UNKNOWN
  await prepareTools(userId)
  const offered = await appTool(userId, server, name)
  if (offered === undefined) return UNKNOWN
  if (offered === null) return { kind: 'for_models' }
  const tool = registry.admit(userId, offered)
  const project = projectId === null ? null : await describeProject(userId, projectId)
  const { conversation, preferences } = setting
  const off = [...preferences.disabled_tools, ...(project?.disabledTools ?? [])]
  const { tools: only } = readRunOptions(run.options)
  const isOff =
    tool === undefined ||
    conversation.disabledMcpServers.includes(server) ||
    off.includes(tool.name) ||
    !(only?.includes(tool.name) ?? true)
  return isOff ? UNKNOWN : { kind: 'tool', tool }
}

/** The approval mode of the run or that of its conversation now, whichever is stricter and permitted. */
export function modeOf(
  {
    access,
    settings,
  }: {
    access: Pick<ChatDependencies['access'], 'approvalMode'>
    settings: Pick<ChatDependencies['settings'], 'approvalDefault'>
  },
  run: RunRow,
  conversation: Pick<ConversationRow, 'approval'>,
): ApprovalMode {
  const modes = [
    readRunOptions(run.options).approval,
    conversation.approval ?? settings.approvalDefault(),
  ]
  const strictest = ApprovalMode.options.find((mode) => modes.includes(mode)) ?? 'ask'
  return access.approvalMode(run.userId, strictest)
}
