// Chinese texts of requests that an administrator's rules refuse, by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'

export const administration: Record<keyof typeof ADMINISTRATION_FAILURES, string> = {
  approval_mode_not_permitted:
    '你所在的组不能使用操作确认方式“{{mode}}”。可以使用：{{available}}。',
  cost_per_day_used_up: '你今天的费用限额（{{limit}}）已用完，将于 {{renews_at}} 恢复。',
  cost_per_month_used_up: '你本月的费用限额（{{limit}}）已用完，将于 {{renews_at}} 恢复。',
  group_cost_used_up:
    '你所在的组“{{group}}”共用的费用限额（{{limit}}）已用完，将于 {{renews_at}} 恢复。',
  group_member_not_found: '这个账号不在该组中。',
  group_name_taken: '已经有同名的组。',
  group_not_found: '没有这个组。',
  group_tokens_used_up:
    '你所在的组“{{group}}”共用的 {{limit}} 个 token 已用完，将于 {{renews_at}} 恢复。',
  groups_exhausted: '已有 {{limit}} 个组，请先删除一个。',
  messages_per_day_used_up: '你今天的 {{limit}} 条渠道消息已用完，将于 {{renews_at}} 恢复。',
  model_not_permitted: '你所在的组不能使用模型“{{model}}”。可以使用：{{available}}。',
  no_model_permitted: '你所在的组不能使用这台服务器上的任何模型。请联系管理员。',
  own_account_stays: '不能删除自己的账号。请联系另一位管理员。',
  program_seconds_used_up: '你今天的 {{limit}} 秒程序运行时间已用完，将于 {{renews_at}} 恢复。',
  requests_exhausted: '你每分钟最多可以发送 {{limit}} 个请求。请在 {{seconds}} 秒后重试。',
  tokens_per_day_used_up: '你今天的 {{limit}} 个 token 已用完，将于 {{renews_at}} 恢复。',
  tokens_per_month_used_up: '你本月的 {{limit}} 个 token 已用完，将于 {{renews_at}} 恢复。',
}
