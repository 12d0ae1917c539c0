// What a person does through a messenger, as the acts of the chat and of the workspace.
import type { ChatService } from '../chat/chat-service.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type {
  CallId,
  ConversationId,
  FileId,
  MessageId,
  ProjectId,
  RunId,
  UserId,
} from '../protocol/ids.ts'
import type { InputAnswerBody } from '../protocol/runs/input.ts'
import type { RunOrigin } from '../protocol/runs/origin.ts'
import { ApprovalDecisionBody } from '../protocol/runs/run.ts'
import { restoreIfChanged } from '../workspace/restore-before-message.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'

/** A message for a conversation, from a messenger. */
export interface ChannelMessage {
  text: string
  clientId: string
  files: readonly FileId[]
  /** Text that is not the person's own. */
  outside: { name: string; content: string }[]
  origin: RunOrigin
  approval: ApprovalMode
}

/** The acts of people at messengers. */
export interface PersonActs {
  /** @throws AppError why it cannot start, now or at all. */
  send(userId: UserId, id: ConversationId, message: ChannelMessage): Promise<RunRow>
  stop(userId: UserId, runId: RunId): Promise<void>
  /** @throws AppError why the call cannot be decided. */
  decide(
    userId: UserId,
    request: { runId: RunId; idRef: CallId; callHash: string; decision: 'approve' | 'reject' },
    actor: Actor,
  ): Promise<void>
  /** @throws AppError why the question takes no such answer. */
  answer(userId: UserId, runId: RunId, body: InputAnswerBody, actor: Actor): Promise<void>
  /** Restores a project to before a message. Returns how many files were restored. */
  restore(userId: UserId, projectId: ProjectId, messageId: MessageId): Promise<number>
}

/** @param access says which approval modes an account may use. */
export const createPersonActs = ({
  chat,
  access,
  workspace,
}: {
  chat: Pick<ChatService, 'send' | 'stop' | 'decide' | 'answerInput'>
  access: { approvalModes(userId: UserId): ApprovalMode[] }
  workspace: WorkspaceServices
}): PersonActs => ({
  send: (userId, id, { text, clientId, files, outside, origin, approval }) =>
    chat.send(userId, id, {
      text,
      attachments: [
        ...files.map((file_id) => ({ file_id })),
        ...outside.map((file) => ({ ...file, extension: undefined })),
      ],
      client_id: clientId,
      origin,
      // Another mode may have been chosen for the conversation since.
      ...(access.approvalModes(userId).includes(approval) ? { approval } : {}),
    }),
  async stop(userId, runId) {
    await chat.stop(userId, runId)
  },
  async decide(userId, { runId, idRef, callHash, decision }, actor) {
    const body = ApprovalDecisionBody.parse({ id_ref: idRef, decision, call_hash: callHash })
    await chat.decide(userId, runId, body, actor)
  },
  async answer(userId, runId, body, actor) {
    await chat.answerInput(userId, runId, body, actor)
  },
  restore: (userId, projectId, messageId) =>
    restoreIfChanged(workspace, { userId, projectId, messageId }),
})
