// The options of a new run: what the request says, or else the conversation and the server; the skills that it asks for, checked.
import type { ConversationRow } from '../../db/repositories/conversations/conversations.ts'
import type { RegenerateBody } from '../../protocol/conversations/message.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import { isUnattended, PAGE_ORIGIN } from '../../protocol/runs/origin.ts'
import type { ChatDependencies, ChatSettings } from '../../runs/dependencies.ts'
import type { RunOptions } from '../../runs/state.ts'
import { RESEARCH } from '../../skills/built-in.ts'
import { requireSkills } from '../../skills/skills.ts'

/** The body of a request, and options that only programs have. */
export type RunBody = Partial<RegenerateBody> &
  Partial<
    Pick<
      RunOptions,
      | 'origin'
      | 'tools'
      | 'clientTools'
      | 'ownFiles'
      | 'searchesWeb'
      | 'retries'
      | 'language'
      | 'format'
      | 'warnings'
      | 'refusesApprovals'
      | 'response'
      | 'settings'
      | 'begunWith'
      | 'limits'
      | 'quiet'
    >
  >

/** The options of a run without its skills. The approval mode of the request must be allowed. */
export function runOptions(
  body: RunBody,
  conversation: Pick<ConversationRow, 'approval' | 'approvalDeadline'>,
  settings: Pick<ChatSettings, 'approvalDefault' | 'unattendedDeadline'>,
): RunOptions {
  const origin = body.origin ?? PAGE_ORIGIN
  return {
    toolsEnabled: body.tools_enabled ?? true,
    ...(body.tool_choice === undefined ? {} : { toolChoice: body.tool_choice }),
    approval: body.approval ?? conversation.approval ?? settings.approvalDefault(),
    ...deadlineOf(
      body.approval_deadline,
      conversation.approvalDeadline ?? (isUnattended(origin) ? settings.unattendedDeadline : null),
    ),
    origin,
    // Nobody listens to an unattended run from its beginning.
    onDisconnect: isUnattended(origin) ? 'continue' : (body.on_disconnect ?? 'grace'),
    ...(body.tools === undefined ? {} : { tools: body.tools }),
    ...(body.clientTools === undefined ? {} : { clientTools: body.clientTools }),
    ...(body.ownFiles === true ? { ownFiles: true } : {}),
    ...(body.searchesWeb === undefined ? {} : { searchesWeb: body.searchesWeb }),
    ...(body.retries === undefined ? {} : { retries: body.retries }),
    ...(body.language === undefined ? {} : { language: body.language }),
    ...(body.format === undefined ? {} : { format: body.format }),
    ...(body.warnings === undefined ? {} : { warnings: body.warnings }),
    ...(body.response === undefined ? {} : { response: body.response }),
    ...(body.settings === undefined ? {} : { settings: body.settings }),
    ...(body.begunWith === undefined ? {} : { begunWith: body.begunWith }),
    ...(body.quiet === true ? { quiet: true } : {}),
    ...(body.refusesApprovals === true ? { refusesApprovals: true } : {}),
  }
}

/** The option of the request, or else of the conversation, or for unattended runs of the server. */
function deadlineOf(
  requested: number | null | undefined,
  ofConversation: number | null,
): Pick<RunOptions, 'approvalDeadline'> {
  const seconds = requested === undefined ? ofConversation : requested
  return seconds === null ? {} : { approvalDeadline: seconds }
}

/**
 * The options of a run with these skills, each name once.
 * @throws AppError `skill_unknown` or `skill_not_active`; `details` has the name, and the state of a skill that exists.
 */
export async function skillOptions(
  asked: readonly string[] | undefined,
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  { skills, settings }: Pick<ChatDependencies, 'skills' | 'settings'>,
): Promise<Pick<RunOptions, 'skills' | 'limits'>> {
  const names = [...new Set(asked)]
  if (names.length === 0) return {}
  const active = await requireSkills(skills, { userId, projectId }, names)
  const isResearch = active.some(
    ({ name, source }) => name === RESEARCH && source === 'server' && names.includes(name),
  )
  return { skills: names, ...(isResearch ? { limits: settings.research } : {}) }
}
