// Japanese texts of refused requests (accounts, signing in and malformed requests), by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'

export const access: Record<keyof typeof ACCESS_FAILURES, string> = {
  address_missing: 'アカウントにメールアドレスがありません。`address` で指定してください。',
  mail_not_sent: 'メールを送信できませんでした。アドレスを確認するか、後でもう一度お試しください。',
  mail_not_set_up:
    'このサーバーはメールを送信できません。`smtp` と `public_url` の設定を管理者に依頼してください。',
  mails_exhausted: 'メールの要求が多すぎます。後でもう一度お試しください。',
  heir_is_same: 'アカウントを自分自身に引き継ぐことはできません。',
  heir_missing: 'データを受け取るアカウントを `heir_id` で指定してください。',
  mcp_client_not_configured:
    '認可サーバーがクライアントの登録に対応していません。管理者がこの MCP サーバーの `oauth.client_id` を設定する必要があります。',
  mcp_not_connected: 'MCP サーバー「{{server}}」は現在利用できません。後でもう一度お試しください。',
  mcp_prompt_failed: 'MCP サーバー「{{server}}」はこのプロンプトを返しませんでした。',
  mcp_resource_empty: 'MCP サーバー「{{server}}」のこのリソースは空です。',
  mcp_resource_failed: 'MCP サーバー「{{server}}」はこのリソースを返しませんでした。',
  mcp_headers_missing: 'MCP サーバーの URL が変わりました。ヘッダーを入力し直してください。',
  mcp_server_configured:
    'この MCP サーバーは config.yml で設定されています。そこで変更してください。',
  mcp_server_name_taken: '同じ名前の MCP サーバーが既にあります。',
  tool_changed_again:
    'MCP サーバーがこのツールを再び変更しました。説明をもう一度読んでから承認してください。',
  mcp_url_missing: 'MCP サーバーのアドレスを入力してください。',
  mcp_server_not_found: 'その MCP サーバーはありません。',
  mcp_sign_in_refused:
    '「{{server}}」へのサインインに失敗したか、拒否されました。もう一度お試しください。',
  mcp_sign_in_unavailable:
    '現在「{{server}}」にサインインできません。認可サーバーが示されていないか、接続できません。',
  mcp_sign_in_unknown:
    'このサインインは期限切れか、別のユーザーのものです。最初からやり直してください。',
  account_gone: 'このアカウントはもうありません。',
  account_link_invalid:
    'このリンクは使えなくなりました。使用済み、期限切れ、または取り消されています。管理者に新しいリンクを依頼してください。',
  account_not_found: 'そのアカウントはありません。',
  administrators_only: 'この操作は管理者だけができます。',
  api_key_invalid: 'この API キーは無効です。',
  api_key_expiry_past: '有効期限が過去の日時です。もっと後の日時を選んでください。',
  api_key_not_allowed: 'API キーではこの操作はできません。パスワードでサインインしてください。',
  api_key_scope:
    'この API キーには権限「{{scope}}」がありません。その権限のあるキーを使ってください。',
  api_key_not_found: 'その API キーはありません。',
  api_keys_exhausted: 'API キーが既に {{limit}} 個あります。先に 1 つ削除してください。',
  body_empty: 'リクエストの本文が空です。',
  body_not_json: 'リクエストの本文が有効な JSON ではありません。',
  body_too_large: 'リクエストの本文がこのサーバーの上限を超えています。',
  content_length_wrong: 'リクエストの本文の長さが Content-Length と一致しません。',
  content_type_unsupported:
    'このコンテンツタイプには対応していません。application/json で送信してください。',
  email_needs_password:
    'メールアドレスには新しいパスワード用のリンクが届くため、変更するには現在のパスワードが必要です。',
  current_password_missing: 'パスワードを変更するには、現在のパスワードが必要です。',
  current_password_wrong: '現在のパスワードが違います。',
  host_refused:
    'サーバーはこのホスト名では応答しません。名前が正しければ trusted_hosts に追加してください。',
  host_repeated: 'リクエストに Host ヘッダーが複数あります。',
  idempotency_body_gone:
    'この Idempotency-Key のリクエストは完了しましたが、応答が大きすぎて再送できません。',
  idempotency_key_invalid: 'Idempotency-Key は 1～{{limit}} 文字です。',
  idempotency_key_reused:
    'この Idempotency-Key は別のリクエストで使われました。リクエストごとに新しいキーを使ってください。',
  idempotency_pending:
    'この Idempotency-Key のリクエストは処理中です。少し待ってからもう一度お試しください。',
  internal:
    'サーバーで問題が発生しました。もう一度お試しください。繰り返す場合は、リクエスト ID でログを調べてください。',
  invitation_not_found: 'その招待はありません。',
  invitation_required: '登録には招待が必要です。管理者に依頼してください。',
  invitations_exhausted:
    '未使用の招待が既に {{limit}} 件あります。先にいくつか取り消してください。',
  json_list_too_long: 'JSON に {{entries}} 件を超える一覧があります。',
  json_too_many_values: 'JSON に {{limit}} 個を超える値があります。',
  json_too_deep: 'JSON の入れ子が {{levels}} 段を超えています。',
  last_administrator: 'これが最後の有効な管理者です。先に別のアカウントを管理者にしてください。',
  multipart_broken:
    'multipart の本文を読み取れません。不完全か、区切りがないか、区切りが 250 文字を超えています。',
  multipart_expected: 'multipart/form-data で送信してください。',
  no_password_in_single_mode: 'シングルユーザーモードにはパスワードがありません。',
  nothing_here: 'この URL は存在しません。パスとメソッドを確認してください。',
  origin_refused:
    '別のオリジンのページからは呼び出せません。オリジンが正しければ cors_origins に追加してください。',
  oidc_groups_withheld:
    '所属グループが多すぎるため、シングルサインオンから通知されませんでした。管理者にお問い合わせください。',
  oidc_no_account: 'ここにアカウントがありません。管理者に作成を依頼してください。',
  oidc_not_allowed: 'サインインできるグループに属していません。管理者にお問い合わせください。',
  oidc_refused: 'シングルサインオンがキャンセルされたか、拒否されました。もう一度お試しください。',
  oidc_response_invalid:
    'シングルサインオンに失敗しました。応答を検証できませんでした。もう一度お試しください。繰り返す場合は管理者にお問い合わせください。',
  oidc_sign_in_unknown:
    'このサインインは期限切れか、別のブラウザーで始められたものです。もう一度お試しください。',
  oidc_unreachable:
    'シングルサインオンは現在利用できません。少し待ってからもう一度お試しください。',
  account_without_password:
    'アカウント「{{name}}」の所有者はシングルサインオンを使っているため、パスワードがありません。パスワードのリンクを渡すと、シングルサインオンで許可されなくなってもサインインできるようになります。',
  password_sign_in_off:
    'このサーバーではパスワードでのサインインは無効です。シングルサインオンを使ってください。',
  password_common:
    'このパスワードはよく使われるもので、すぐに推測されます。別のものにしてください。',
  password_is_name: 'ユーザー名やメールアドレスはパスワードにできません。別のものにしてください。',
  password_changed: 'パスワードが変更されました。もう一度サインインしてください。',
  registration_closed: '登録は受け付けていません。管理者にアカウントを依頼してください。',
  registrations_exhausted:
    'このネットワークからの登録が多すぎます。後でもう一度試すか、管理者にお問い合わせください。',
  request_field_invalid: '{{part}} が正しくありません：{{detail}}',
  request_invalid: '{{part}} が正しくありません。',
  request_refused: 'リクエストは拒否されました。',
  second_factor_unreadable:
    'サーバーは認証アプリの秘密を読み取れなくなりました。リカバリーコードかパスキーを使うか、管理者に第二要素のリセットを依頼してください。',
  share_unreadable:
    'この共有のリンクは別の秘密鍵で暗号化されているため、読み取れません。共有を停止してから再び共有すると新しいリンクになります。または、運用者に鍵の復元を依頼してください。',
  secret_unreadable:
    '保存されたシークレットを復号できません。別の鍵で暗号化されています。その鍵を戻すか、シークレットを入力し直してください。',
  passkey_invalid:
    'このパスキーを確認できませんでした。もう一度試すか、別の方法でサインインしてください。',
  passkey_not_found: 'そのパスキーはありません。',
  passkey_unavailable:
    'パスキーにはホスト名と HTTPS、または localhost が必要です。public_url をそのように設定してください。',
  passkeys_exhausted: 'パスキーが既に {{limit}} 個あります。先に 1 つ削除してください。',
  second_factor_code_wrong:
    'コードが違うか、期限切れか、使用済みです。現在のコードを入力してください。',
  second_factor_expired: 'このサインインは期限切れです。もう一度サインインしてください。',
  second_factor_missing: '確認または削除する認証アプリがありません。最初からやり直してください。',
  second_factor_refused: 'コードまたはパスキーが違うか、期限切れか、使用済みです。',
  second_factor_required: 'パスワードは正しいです。第 2 要素でサインインを確認してください。',
  second_factor_set: '認証アプリは既に設定されています。先に削除してください。',
  session_not_found: 'そのセッションはありません。',
  session_ended: 'セッションが終了しました。もう一度サインインしてください。',
  setup_link_required:
    'このサーバーにはまだ管理者がいません。起動時に表示されたセットアップ用リンクを開いてください。',
  shutting_down: 'サーバーを再起動しています。少し待ってからお試しください。',
  sign_in_busy: '同時にサインインする人が多すぎます。少し待ってからもう一度お試しください。',
  sign_in_required: '先にサインインしてください。',
  sign_ins_exhausted: 'サインインの失敗が多すぎます。少し待ってからもう一度お試しください。',
  single_user: 'このサーバーはシングルユーザーモードで動いており、サインインは不要です。',
  streams_exhausted:
    'イベントストリームを同時に {{limit}} 本開いています。タブや接続をいくつか閉じてください。',
  too_many_open:
    'サーバーが開いているファイルと接続が多すぎます。少し待ってからもう一度お試しください。',
  url_invalid: 'URL が正しくありません。',
  url_too_long: 'URL が長すぎます。',
  user_name_taken: 'このユーザー名またはメールアドレスは既に使われています。',
  wrong_credentials: 'ユーザー名またはパスワードが違います。',
  headers_too_large: 'リクエストのヘッダーが大きすぎます。',
  request_timeout: 'リクエストの到着に時間がかかりすぎました。もう一度お試しください。',
  request_malformed: '有効な HTTP リクエストではありません。',
}
