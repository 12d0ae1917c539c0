// Traditional Chinese texts of requests that an administrator's rules refuse, by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'

export const administration: Record<keyof typeof ADMINISTRATION_FAILURES, string> = {
  approval_mode_not_permitted:
    '你所在的群組不能使用操作確認方式「{{mode}}」。可以使用：{{available}}。',
  cost_per_day_used_up: '你今天的費用額度（{{limit}}）已用完，將於 {{renews_at}} 重設。',
  cost_per_month_used_up: '你本月的費用額度（{{limit}}）已用完，將於 {{renews_at}} 重設。',
  group_cost_used_up:
    '你所在的群組「{{group}}」共用的費用額度（{{limit}}）已用完，將於 {{renews_at}} 重設。',
  group_member_not_found: '這個帳號不在該群組中。',
  group_name_taken: '已經有同名的群組。',
  group_not_found: '沒有這個群組。',
  group_tokens_used_up:
    '你所在的群組「{{group}}」共用的 {{limit}} 個 token 已用完，將於 {{renews_at}} 重設。',
  groups_exhausted: '已有 {{limit}} 個群組，請先刪除一個。',
  messages_per_day_used_up: '你今天的 {{limit}} 條頻道訊息已用完，將於 {{renews_at}} 重設。',
  model_not_permitted: '你所在的群組不能使用模型「{{model}}」。可以使用：{{available}}。',
  no_model_permitted: '你所在的群組不能使用這台伺服器上的任何模型。請聯絡管理員。',
  own_account_stays: '不能刪除自己的帳號。請聯絡另一位管理員。',
  program_seconds_used_up: '你今天的 {{limit}} 秒程式執行時間已用完，將於 {{renews_at}} 重設。',
  requests_exhausted: '你每分鐘最多可以傳送 {{limit}} 個請求。請在 {{seconds}} 秒後重試。',
  tokens_per_day_used_up: '你今天的 {{limit}} 個 token 已用完，將於 {{renews_at}} 重設。',
  tokens_per_month_used_up: '你本月的 {{limit}} 個 token 已用完，將於 {{renews_at}} 重設。',
}
