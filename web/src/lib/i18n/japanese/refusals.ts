// Japanese texts of all refusals and failures, by the protocol's reasons.
import type { ErrorCode } from '../../../../../server/protocol/error.ts'
import type { FailureReason } from '../../../../../server/protocol/failures/failures.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'
import { access } from './access-refusals.ts'
import { files, models, storedFailures } from './failures.ts'
import { administration, conversations, runs, store } from './request-refusals.ts'

/** Texts for failures without a more specific reason. `message` is the server's text. */
const kinds: Record<Exclude<ErrorCode, FailureReason>, string> = {
  bad_request: 'リクエストに誤りがあります：{{message}}',
  validation_failed: '内容が正しくありません：{{message}}',
  bad_cursor: '一覧が変わりました。最初のページからやり直してください。',
  bad_attachment: '添付ファイルを使用できません：{{message}}',
  no_project: 'この会話にはプロジェクトがありません。先に選んでください。',
  unauthorized: '先にサインインしてください。',
  forbidden: '許可されていません：{{message}}',
  not_found: '見つかりません：{{message}}',
  conflict: '現在の状態と合いません：{{message}}',
  name_taken: 'この名前は既に使われています。',
  run_active: 'この会話では回答を生成中です。終わるのを待つか、先に停止してください。',
  run_not_resumable:
    'この回答は続けられません。メッセージを送信し直すか、回答を再生成してください。',
  approval_decided: 'このリクエストは既に処理されています。',
  file_changed: 'ファイルが変更されました。読み直してからもう一度お試しください。',
  payload_too_large: '大きすぎます：{{message}}',
  unsupported_media_type: 'この種類の内容には対応していません：{{message}}',
  too_many_requests: 'リクエストが多すぎます：{{message}}',
  too_many_runs: '同時に行う回答が多すぎます。いずれかが終わるのを待ってください。',
  server_busy: 'サーバーが混み合っています。少し待ってからもう一度お試しください。',
  store_unavailable: 'データベースを使用できません。少し待ってからもう一度お試しください。',
  run_interrupted: 'サーバーの再起動により、この回答は中断されました。',
  budget_exceeded: '上限に達しました：{{message}}',
  model_bad_answer: 'モデルの応答を使用できません：{{message}}',
}

export const refusals: Record<FailureReason | StoredFailureReason | ErrorCode, string> = {
  ...kinds,
  ...access,
  ...administration,
  ...conversations,
  ...files,
  ...models,
  ...runs,
  ...store,
  ...storedFailures,
}

/** Texts appended to a text whose parameters include these names. */
export const additions = {
  detail: 'プロバイダーの説明：{{detail}}',
  next_model: '「{{next_model}}」に切り替えます。',
}
