// Japanese texts of refused requests (administration, conversations, runs and the store), by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const administration: Texts<typeof ADMINISTRATION_FAILURES> = {
  approval_mode_not_permitted:
    '所属グループでは承認モード「{{mode}}」を使えません。次から選んでください：{{available}}。',
  cost_per_day_used_up: '今日の予算 {{limit}} を使い切りました。{{renews_at}} にリセットされます。',
  cost_per_month_used_up:
    '今月の予算 {{limit}} を使い切りました。{{renews_at}} にリセットされます。',
  group_cost_used_up:
    'グループ「{{group}}」で共有する予算 {{limit}} を使い切りました。{{renews_at}} にリセットされます。',
  group_member_not_found: 'このアカウントはグループに属していません。',
  group_name_taken: '同じ名前のグループが既にあります。',
  group_not_found: 'そのグループはありません。',
  group_tokens_used_up:
    'グループ「{{group}}」で共有する {{limit}} トークンを使い切りました。{{renews_at}} にリセットされます。',
  groups_exhausted: 'グループが既に {{limit}} 個あります。先に 1 つ削除してください。',
  messages_per_day_used_up:
    '今日の送信先へのメッセージ {{limit}} 件を使い切りました。{{renews_at}} にリセットされます。',
  model_not_permitted:
    '所属グループではモデル「{{model}}」を使えません。次から選んでください：{{available}}。',
  no_model_permitted:
    '所属グループではこのサーバーのモデルを使えません。管理者にお問い合わせください。',
  own_account_stays: '自分のアカウントは削除できません。別の管理者に依頼してください。',
  program_seconds_used_up:
    '今日のプログラム実行 {{limit}} 秒を使い切りました。{{renews_at}} にリセットされます。',
  requests_exhausted:
    '送信できるリクエストは 1 分あたり {{limit}} 件です。{{seconds}} 秒後にもう一度お試しください。',
  tokens_per_day_used_up:
    '今日の {{limit}} トークンを使い切りました。{{renews_at}} にリセットされます。',
  tokens_per_month_used_up:
    '今月の {{limit}} トークンを使い切りました。{{renews_at}} にリセットされます。',
}

export const conversations: Texts<typeof CONVERSATION_FAILURES> = {
  webhook_not_found: 'その Webhook はありません。',
  webhook_tests_exhausted:
    '送信できるテストは 1 時間に {{limit}} 件までで、上限に達しました。後でもう一度お試しください。',
  webhooks_exhausted: 'Webhook は {{limit}} 件までです。先に 1 つ削除してください。',
  attachment_not_found: 'その添付ファイルはありません。',
  channel_address_refused:
    'このサーバーから {{address}} にメールは送信できません。許可されているアドレスを管理者に確認してください。',
  channel_mail_not_set_up:
    'このサーバーはメールを送信できません。`smtp` の設定を管理者に依頼するか、別の種類の送信先を選んでください。',
  channel_name_taken: '「{{name}}」という送信先は既にあります。',
  channel_not_found: 'その送信先はありません。',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: '種類「{{type}}」の送信先はありません。次から選んでください：{{types}}。',
  channels_exhausted: '送信先は {{limit}} 件までです。先に 1 つ削除してください。',
  conversation_not_found: 'その会話はありません。',
  document_not_found: 'そのドキュメントはありません。',
  document_encoding_fixed:
    '「{{name}}」の文字コードは変更できません。読み込み中か、文字コードが確定しているか、ファイルがもう保存されていません。',
  documents_exhausted:
    'プロジェクトのドキュメントは {{limit}} 件までです。先にいくつか削除してください。',
  export_not_found: 'そのエクスポートはありません。エクスポートは 1 日後に削除されます。',
  export_not_ready:
    'このエクスポートはまだできていません。状態が `completed` になるまで待ってください。',
  export_running: 'エクスポートが既に進行中です。終わるのを待ってください。',
  import_invalid: 'このファイルには完全な会話が含まれていません（{{detail}}）。',
  import_not_found: 'そのインポートはありません。',
  import_running: 'インポートが既に進行中です。終わるのを待ってください。',
  import_upload_too_large: 'インポートできるのは {{limit}} までです。',
  memory_too_long:
    'メモリは {{limit}} 文字までです。このテキストは {{length}} 文字あります。短くしてください。',
  message_not_found: 'そのメッセージはありません。',
  model_configured: 'このモデルは config.yml で設定されています。そこで変更してください。',
  model_id_taken: '同じ ID のモデルが既にあります。',
  model_key_missing: 'プロバイダーの URL が変わりました。API キーを入力し直してください。',
  model_unknown: 'そのモデルはありません。',
  nothing_to_undelete: '元に戻せる削除はありません。',
  outbox_full: '{{limit}} 件のメッセージが既に送信待ちです。後でもう一度お試しください。',
  recipients_exhausted:
    '1 時間に送信できる宛先は {{limit}} 件までで、上限に達しました。{{minutes}} 分後にもう一度お試しください。',
  response_item_not_found: '項目「{{id}}」を含む応答はありません。',
  response_not_found: '応答「{{id}}」はありません。',
  run_not_found: 'その回答はありません。',
  share_expired: '共有の有効期限は未来の時刻にしてください。',
  share_guesses_exhausted:
    'このリンクのパスワードの間違いが多すぎます。しばらく待ってからもう一度お試しください。',
  share_not_found: 'このリンクは存在しないか、共有が終了しています。',
  share_password_needed: 'このリンクにはパスワードが必要です（X-Share-Password）。',
  share_password_wrong: 'このリンクのパスワードが違います。',
  share_too_large: 'この会話は大きすぎて共有できません。',
  share_views_exhausted:
    'このネットワークから開かれた共有会話が多すぎます。1 分待ってからもう一度お試しください。',
  sharing_off: 'このサーバーでは共有は無効です。',
  unknown_model: 'モデル「{{model}}」はありません。利用可能：{{available}}。',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'このアカウントは無効になっています。管理者にお問い合わせください。',
  answer_without_question: 'この回答に対応するメッセージがないため、再生成できません。',
  approval_not_found: 'この id_ref で待機中の承認リクエストはありません。',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    'このモデルは画像に対応していないため、「{{name}}」を添付できません。画像を認識できるモデルを選んでください。',
  attachment_not_image: '「{{name}}」は {{type}} の画像ではありません。',
  attachment_not_text:
    '「{{name}}」はテキストファイルではありません。テキスト、または PNG、JPEG、WebP、GIF の画像を添付してください。',
  attachments_too_large:
    '添付ファイルの合計は {{size}} です。上限は {{limit}} です。数を減らすか、小さくしてください。',
  background_tasks_exhausted:
    'バックグラウンドタスクが既に {{limit}} 件実行中です。いずれかが終わるのを待ってください。',
  call_decided: 'このツール呼び出しは既に承認または拒否されています。',
  client_call_unknown:
    'この結果の前に ID「{{id}}」のツール呼び出しがありません。ツール呼び出しと結果を一緒に送信してください。',
  client_result_missing:
    'ツール呼び出し「{{name}}」の結果がありません。ツールの呼び出しごとに結果を送信してください。',
  conversation_busy: 'この会話では新しい回答が始まり続けています。もう一度お試しください。',
  conversation_gone: 'この会話は削除されました。',
  conversation_has_run: 'この会話では回答を生成中です。終わるのを待つか、先に停止してください。',
  image_not_data_url:
    '画像はデータ URL で送信してください：data:image/png;base64,…（PNG、JPEG、WebP、GIF）。',
  input_answered: 'この質問には既に回答済みです。',
  input_content_invalid: '{{detail}}',
  input_not_found: 'この id_ref で入力を待っている MCP サーバーはありません。',
  message_too_long: 'メッセージは {{length}} 文字あります。上限は {{limit}} 文字です。',
  nothing_to_answer:
    '回答するものがありません。最後はユーザーのメッセージか、ツールの結果にしてください。',
  only_own_messages_editable: '編集できるのは自分のメッセージだけです。',
  only_answers_revisable: 'この方法で変更できるのは回答のテキストだけです。',
  answer_not_finished: 'この回答はまだ生成中です。待つか、先に停止してください。',
  parent_gone: 'このメッセージの元のメッセージは、その間に削除されました。',
  parent_not_an_answer: '`parent_id` はこの会話の回答でなければなりません。',
  programs_exhausted:
    '同時に実行できるプログラムは {{limit}} 件までです。1 つ終わるのを待つか、1 つ停止してください。',
  python_unavailable:
    'ここでは Python を実行できません。このサーバーでは利用できないか、このアカウントでは許可されていません。',
  project_would_be_too_large:
    'プロジェクトが {{size}} になります。上限は {{limit}} です。変更を元に戻しました。',
  restore_not_recorded: 'ファイルは復元されましたが、復元の記録はまだ保存できていません。',
  run_completed: 'この回答は完了していて、続けるものはありません。',
  run_continues_soon: 'サーバーがまもなくこの回答を続けます。少し待ってからお試しください。',
  run_not_prepared: '回答を準備できませんでした。もう一度お試しください。',
  run_not_stored:
    '回答を保存できないため、ここで終わります。メッセージを送信し直すか、回答を続けてください。',
  run_still_active: 'この回答はまだ生成中です。',
  run_takes_no_decision: 'この回答は終了しています。決定を待っているツール呼び出しはありません。',
  run_takes_no_input: 'この回答は終了しています。入力を待っているツール呼び出しはありません。',
  run_minutes_used_up: 'この回答は上限の {{limit}} 分に達しました。続けることができます。',
  run_tokens_used_up:
    'この回答は上限の {{limit}} トークンに達しました。続けるには新しいメッセージを送信してください。',
  run_without_answer: '回答が得られませんでした。もう一度お試しください。',
  runs_exhausted:
    '生成中の回答が既に {{limit}} 件あります。いずれかが終わるのを待つか、停止してください。',
  task_not_found: 'そのバックグラウンドタスクはありません。',
}

export const store: Texts<typeof STORE_FAILURES> = {
  blobs_unavailable:
    '現在、ファイルの保存先を利用できません。しばらくしてからもう一度お試しください。',
  cursor_gone: 'この位置が指すメッセージは削除されました。最初のページからやり直してください。',
  cursor_invalid: '無効な位置です。最初のページからやり直してください。',
  disk_unconfirmed:
    'ディスクが書き込みを確認しませんでした。ディスクを確認してから、サーバーを再起動してください。',
  search_too_slow: '検索に時間がかかりすぎました。条件を絞ってもう一度お試しください。',
  store_busy: 'データベースが混み合っています。しばらくしてからもう一度お試しください。',
  store_closed: 'データベースは閉じられています。',
  store_file_unusable:
    'データベースファイルを現在使用できません。しばらくしてからもう一度お試しください。',
  store_full:
    'ディスクがいっぱいです。何も保存していません。空きを作ってからもう一度お試しください。',
  store_locked:
    'データベースが別のプログラムにロックされています。しばらくしてからもう一度お試しください。',
  store_overloaded: 'データベースの負荷が高すぎます。しばらくしてからもう一度お試しください。',
  store_unanswered: 'データベースが応答しません。しばらくしてからもう一度お試しください。',
}
