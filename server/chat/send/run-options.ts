// The options of a new run: what the request says, or else the conversation and the server.
import type { ConversationRow } from '../../db/repositories/conversations/conversations.ts'
import type { RegenerateBody } from '../../protocol/conversations/message.ts'
import { isUnattended, PAGE_ORIGIN } from '../../protocol/runs/origin.ts'
import type { ChatSettings } from '../../runs/dependencies.ts'
import type { RunOptions } from '../../runs/state.ts'

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
