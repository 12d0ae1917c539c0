// What a channel that receives does with messages: the settings that its owner may choose.
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { UserId } from '../protocol/ids.ts'
import { type ReceiveBody, ReceiveSettings } from '../protocol/programs/channel.ts'

/** What decides how a user's channels may receive. */
interface ReceiveRules {
  store: Pick<Store, 'users' | 'projects'>
  /** Without accounts, nobody could share a channel with others. */
  hasAccounts: boolean
  /** @throws AppError `approval_mode_not_permitted`. */
  assertApprovalMode(userId: UserId, mode: ApprovalMode): void
  /** @throws AppError `unknown_model`. */
  assertOffered(userId: UserId, model: string): Promise<void>
}

/** Checks how a channel is to receive. */
export const receiveChecker =
  ({ store, hasAccounts, assertApprovalMode, assertOffered }: ReceiveRules) =>
  async (userId: UserId, body: ReceiveBody): Promise<ReceiveSettings> => {
    const receive = ReceiveSettings.parse({
      project_id: body.project_id ?? null,
      model: body.model ?? null,
      approval: body.approval ?? 'ask',
      groups: body.groups ?? 'off',
      shared: body.shared ?? false,
    })
    const user = await store.users.find(userId)
    if (receive.shared && (!hasAccounts || user?.role !== 'admin'))
      throw appError('channel_shared_by_admins')
    // In a channel for everybody, nobody else decides how freely somebody's tools run.
    if (receive.shared && receive.approval !== 'ask')
      throw appError('approval_mode_not_permitted', { mode: receive.approval, available: ['ask'] })
    assertApprovalMode(userId, receive.approval)
    if (receive.model !== null) await assertOffered(userId, receive.model)
    if (receive.project_id !== null && !(await store.projects.find(userId, receive.project_id)))
      throw appError('project_not_found')
    return receive
  }
