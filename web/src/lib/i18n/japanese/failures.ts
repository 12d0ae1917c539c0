// Japanese texts of failures (files, models, documents, deliveries, MCP servers and imports), by the protocol's reasons.
import type { FILE_FAILURES } from '../../../../../server/protocol/failures/files.ts'
import type { MODEL_FAILURES } from '../../../../../server/protocol/failures/models.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const files: Texts<typeof FILE_FAILURES> = {
  binary_file: '「{{path}}」はバイナリファイル（{{kind}}、{{size}}）で、テキストとして読めません。',
  checkpoint_not_found: 'その状態はありません。',
  content_expired: '「{{path}}」の以前の内容は保存されていないため、この状態に復元できません。',
  disk_full:
    'ディスクがいっぱいです。何も変更していません。空きを作ってからもう一度お試しください。',
  edit_failed: '{{detail}}',
  encoding_mismatch:
    '「{{path}}」は有効な {{encoding}} ではありません。別の文字コードをお試しください。',
  encoding_not_writable:
    '「{{path}}」の文字コード {{encoding}} では、このテキストを表せません。ファイル全体を UTF-8 で書き込んでください。',
  encoding_unknown:
    '不明な文字コード「{{encoding}}」。utf-8、utf-16le、gb18030、shift_jis、windows-1252 をお試しください。',
  file_access_denied: 'サーバーには「{{path}}」に対するその操作の権限がありません。',
  file_changed_meanwhile:
    'その間に他の人が「{{path}}」を変更しました。読み直してから変更してください。',
  file_changed_while_read: '読み取り中に「{{path}}」が変更されました。もう一度お試しください。',
  file_content_missing:
    'このファイルの内容がサーバーにありません。管理者がバックアップから復元できます。',
  file_created_meanwhile: 'ファイル「{{path}}」は既にあります。読んでから変更してください。',
  file_deleted_meanwhile:
    'その間に他の人が「{{path}}」を削除しました。どのファイルがあるかを確認してから変更してください。',
  file_exists: '「{{path}}」は既にあるか、フォルダーです。',
  file_in_the_way: '「{{path}}」はファイルです。フォルダーに置き換えられません。',
  file_id_unknown: 'そのファイルはありません。',
  file_name_too_long: '「{{path}}」の名前が長すぎます。',
  file_not_found: 'ファイルまたはフォルダー「{{path}}」はありません。',
  file_removed_while_written: '書き込み中に「{{path}}」が削除されました。もう一度お試しください。',
  file_replaced:
    '使用中に「{{path}}」が置き換えられました。何も変更していません。もう一度お試しください。',
  file_too_large: '「{{path}}」は {{size}} です。読み取れるのは {{limit}} までです。',
  file_too_large_to_write:
    '「{{path}}」は {{size}} になります。書き込めるのは {{limit}} までです。',
  file_type_unsupported:
    '「{{name}}」は添付できません。画像（PNG、JPEG、WebP、GIF）、PDF、DOCX、XLSX、PPTX、またはテキストを添付してください。',
  file_unusable: '「{{path}}」にアクセスできませんでした。',
  file_upload_too_large: 'ファイルは {{limit}} までです。',
  file_thumbnail_missing:
    '「{{name}}」は画像ではないため、サムネイルがありません。ファイル自体を取得するには `thumb` を外してください。',
  file_used: 'メッセージがこのファイルを使っています。先にメッセージを削除してください。',
  file_would_be_too_large: '「{{path}}」が大きくなりすぎます。',
  file_missing: 'フィールド `file` でファイルを 1 つ送信してください。',
  files_missing: 'フィールド `files[]` でファイルを 1 つ以上送信してください。',
  folder_exists: 'フォルダー「{{path}}」は既にあります。',
  folder_in_the_way:
    'フォルダー「{{path}}」に、この状態にはないファイルがあるため、その名前のファイルを復元できません。',
  folder_into_itself: 'フォルダーを自分自身の中に移動することはできません。',
  folder_takes_no_file: '「{{path}}」はフォルダーです。ファイルに置き換えられません。',
  glob_too_complex: 'パターンの波かっこ内の選択肢が多すぎます。パターンを簡単にしてください。',
  glob_too_long: 'パターンは {{limit}} 文字までです。',
  image_unreadable:
    '「{{name}}」を画像として読めません。破損しているか、画素が多すぎるか、対応していない形式です。',
  link_refused:
    '「{{path}}」はシンボリックリンクか、それを経由しています。プロジェクトではリンクをたどりません。',
  names_collide:
    '「{{path}}」は、このディスクでは同じ名前とみなされる別のファイルと重複しています。',
  not_a_file: '「{{path}}」はファイルではなくフォルダーです。',
  not_a_regular_file:
    '「{{path}}」は通常のファイルではなく、デバイス、パイプ、またはソケットです。',
  old_name_taken:
    'フォルダー「{{path}}」は以前「{{old}}」でしたが、その名前は今は別のものに使われています。移動してから、もう一度復元してください。',
  path_escapes:
    'パスがプロジェクトの外に出ています。「src/main.py」のようにプロジェクトフォルダーからの相対パスを使ってください。',
  path_has_backslashes: '使えないパスです。フォルダーは「\\」ではなく「/」で区切ってください。',
  path_has_invisible_characters: '使えないパスです。制御文字または見えない文字が含まれています。',
  path_is_project: '使えないパスです。プロジェクトのフォルダー自体を指しています。',
  path_name_too_long: '使えないパスです。長すぎる名前が含まれています。',
  path_not_unicode: '使えないパスです。有効な Unicode ではありません。',
  path_taken: '「{{path}}」という名前のファイルまたはフォルダーが既にあります。',
  path_through_file: '「{{path}}」は存在しません。パスの途中にフォルダーでないものがあります。',
  path_too_deep: '使えないパスです。{{limit}} 階層を超えています。',
  path_too_long: '使えないパスです。長すぎます。',
  project_busy:
    'このプロジェクトでは別の変更が進行中です。何も変更していません。もう一度お試しください。',
  project_deleted: 'このプロジェクトは削除されました。何も変更しておらず、今後も変更できません。',
  project_deleted_during_run:
    '回答の生成中にこの会話のプロジェクトが削除されたため、回答はここで終わります。プロジェクトなしで続けるには、メッセージを送信し直してください。',
  project_full:
    'プロジェクトが上限の {{limit}} を超えます。先にファイルをいくつか削除してください。',
  project_name_taken: '同じ名前のプロジェクトが既にあります。',
  project_not_found: 'そのプロジェクトはありません。',
  projects_exhausted: 'プロジェクトが既に {{limit}} 件あります。先に 1 件削除してください。',
  quota_claim_refused:
    'あと {{more}} の空きがありません。プロジェクト、ドキュメント、添付ファイルの合計で {{limit}} まで保存でき、{{used}} を使用中です。先にいくつか削除してください。',
  quota_exceeded:
    '保存容量を超えるため、変更を元に戻しました。プロジェクト、ドキュメント、添付ファイルの合計で {{limit}} まで保存でき、{{used}} を使用中です。先にいくつか削除してください。',
  quota_texts_refused:
    'あと {{more}} のテキストを保存する空きがありません。保存できるのは {{limit}} までで、会話と共有リンクのテキストを含めて {{used}} を使用中です。先に会話、共有リンク、ファイルのいくつかを削除してください。',
  request_stopped: 'リクエストはキャンセルされました。何も変更していません。',
  search_not_isolated: '検索をシステムから隔離できませんでした。',
  search_busy: '{{count}} 件の検索が待機中です。終わってからもう一度お試しください。',
  search_not_started: '検索プログラムを起動できませんでした。',
  search_path_is_link: '「{{path}}」はシンボリックリンクで、たどりません。',
  search_path_not_found: '検索するファイルまたはフォルダー「{{path}}」はありません。',
  search_pattern_invalid:
    'パターンが正しくありません：{{detail}}。特殊文字をそのまま検索するには、前に「\\」を付けてください。',
  too_many_changes: '一度に変更できるファイルは {{limit}} 個までです。',
  too_many_files_open: '開いているファイルが多すぎます。少し待ってからもう一度お試しください。',
  too_many_restored: '一度に復元できるファイルは {{limit}} 個までです。',
  upload_fields_invalid: '{{detail}}',
  upload_has_too_many_files: '一度にアップロードできるファイルは {{limit}} 個までです。',
  upload_repeats: 'アップロードに「{{path}}」が 2 回含まれています。',
  upload_too_large: 'アップロードは {{limit}} までです。',
  upload_too_many_fields: 'アップロードのフィールドが、このサーバーの上限を超えています。',
  upload_too_many_files: 'アップロードのファイル数が、このサーバーの上限を超えています。',
  upload_too_many_parts: 'アップロードの部分の数が、このサーバーの上限を超えています。',
  uploaded_file_too_large: 'アップロードに、このサーバーの上限を超えるファイルがあります。',
  uploads_busy:
    'サーバーが受信中のアップロードが多すぎます。少し待ってからもう一度お試しください。',
  uploads_exhausted:
    '同時に行えるアップロードは {{limit}} 件までです。1 つ終わるのを待ってからお試しください。',
  work_stopped: '処理はキャンセルされました。',
  work_too_slow: '処理に {{seconds}} 秒を超える時間がかかりました。',
  upload_not_multipart: 'ファイルは multipart/form-data で送信してください。',
}

export const models: Texts<typeof MODEL_FAILURES> = {
  model_answer_unfinished: 'モデルが回答を終えずに停止しました。',
  model_answer_empty:
    'モデル「{{model}}」から回答がありませんでした。メッセージをもう一度送るか、別のモデルを選んでください。',
  model_answer_endless:
    '「{{model}}」の回答が終わらないため、途中で打ち切りました。もう一度試すか、別のモデルを選んでください。',
  model_answer_filtered:
    'プロバイダーのコンテンツフィルター、または「{{model}}」自身がこの回答を終了しました（{{finish_reason}}）。メッセージを言い換えるか、別のモデルを選んでください。',
  model_answer_is_page:
    '「{{model}}」のプロバイダーがウェブページを返しました。api_url がモデル API のアドレスか確認してください。',
  model_answer_no_json:
    '「{{model}}」のプロバイダーの応答が JSON オブジェクトではありません。api_url がモデル API のアドレスか確認してください。',
  model_answer_no_stream:
    '「{{model}}」のプロバイダーの応答がイベントストリームではありません。api_url がモデル API のアドレスか確認してください。',
  model_answer_only_thinking:
    '「{{model}}」は思考しましたが、回答を書きませんでした。メッセージをもう一度送るか、別のモデルを選んでください。',
  model_answer_only_thinking_cut:
    '「{{model}}」は回答を書く前に出力の上限に達しました。会話またはモデルの max_tokens を増やすか、思考を減らしてください。',
  model_api_missing: 'このアドレスに OpenAI 互換 API はありません。アドレスを確認してください。',
  model_call_malformed:
    '「{{model}}」のツール呼び出しを読み取れませんでした。メッセージをもう一度送るか、別のモデルを選んでください。',
  model_call_unreadable: 'モデルのツール呼び出しを読み取れません。書き直しを依頼します。',
  model_context_exceeded:
    '会話が「{{model}}」には長すぎます。新しい会話を始めるか、コンテキストウィンドウの大きいモデルを選んでください。',
  model_key_lost:
    '{{model}} の保存された API キーを復号できません。管理者が「設定 → モデル」で入力し直す必要があります。',
  model_list_empty: 'プロバイダーのモデル一覧が空です。モデル名を入力してください。',
  model_not_found:
    '「{{model}}」のプロバイダーに、このモデルまたはアドレスはありません（{{status}}）。api_url と upstream_model を確認してください。',
  model_rate_limited:
    '「{{model}}」のプロバイダーがリクエスト数を制限しています（{{status}}）。少し待ってからもう一度お試しください。',
  model_rate_limited_quota:
    'プロバイダーでの「{{model}}」の割り当てを使い切りました（{{status}}）。別のモデルを選ぶか、更新を待ってください。',
  model_redirected:
    '「{{model}}」のアドレスがリダイレクトされます（{{status}}）。api_url を確認してください。',
  model_refused: '「{{model}}」のプロバイダーがリクエストを拒否しました（{{status}}）。',
  model_refused_credit:
    '「{{model}}」のプロバイダーの残高がありません（{{status}}）。チャージするか、別のモデルを選んでください。',
  model_stopped: '「{{model}}」へのリクエストはキャンセルされました。',
  model_stream_broken: '回答が終わる前に「{{model}}」との接続が切れました。',
  model_stream_disordered:
    '「{{model}}」のプロバイダーが回答の一部を二重に、または順序を誤って送信しました。もう一度試すか、別のモデルを選んでください。',
  model_timeout: '「{{model}}」のプロバイダーの応答に時間がかかりすぎました（{{status}}）。',
  model_timeout_silence: 'モデル「{{model}}」から {{seconds}} 秒間応答がありません。',
  model_unauthorized:
    'プロバイダーが「{{model}}」の API キーを拒否しました（{{status}}）。設定でキーを確認してください。',
  model_unavailable:
    '「{{model}}」のプロバイダーで問題が起きています（{{status}}）。もう一度試すか、別のモデルを選んでください。',
  model_unavailable_connection:
    '「{{model}}」に接続できません：接続に失敗しました。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_connection_closed:
    '「{{model}}」に接続できません：接続が閉じられました。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_connection_refused:
    '「{{model}}」に接続できません：接続が拒否されました。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_connection_timed_out:
    '「{{model}}」に接続できません：接続がタイムアウトしました。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_host_not_found:
    '「{{model}}」に接続できません：ホスト名を解決できませんでした。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_host_unknown:
    '「{{model}}」に接続できません：ホスト名が不明です。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_host_unreachable:
    '「{{model}}」に接続できません：ホストに到達できません。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_insecure:
    '「{{model}}」に接続できません：TLS 接続に失敗しました。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_network:
    '「{{model}}」に接続できません：ネットワークに到達できません。プロバイダーのアドレスとネットワークを確認してください。',
  model_unavailable_reported:
    '「{{model}}」のプロバイダーが問題を報告しました。もう一度試すか、別のモデルを選んでください。',
}

export const storedFailures: Record<StoredFailureReason, string> = {
  document_archive_unsupported: '{{extension}} アーカイブには対応していません',
  document_archive_unknown: 'この種類のアーカイブには対応していません',
  document_binary:
    'バイナリファイルです。対応しているのはテキスト、Markdown、PDF、DOCX、XLSX、PPTX、HTML、CSV です',
  document_docx_damaged: 'DOCX ファイルが破損しています',
  document_empty: 'テキストが含まれていません',
  document_lost: 'アップロードが失われました。もう一度アップロードしてください',
  document_not_indexed: '索引を作成できませんでした',
  document_not_what_its_name_says: '拡張子は {{extension}} ですが、内容の形式が異なります',
  document_office_damaged: '{{extension}} ファイルが破損しています',
  document_page_too_deep: 'ページの入れ子が深すぎます',
  document_pdf_damaged: 'PDF が破損しています',
  document_partly_read: '次のページには読み取れるテキストがありません：{{pages}}',
  document_pdf_protected: 'PDF がパスワードで保護されています',
  document_pdf_xfa:
    'Adobe の XFA 形式のフォームです（Adobe Acrobat で PDF として印刷し、そのファイルを添付してください）',
  document_reader_not_started: 'ドキュメントを読み取るプログラムを起動できませんでした',
  document_reading_stopped: '読み取りはキャンセルされました',
  document_reading_too_slow: '読み取りに時間がかかりすぎました',
  document_scanned:
    'テキストが含まれていません（スキャンしたドキュメントは先に OCR を行ってください）',
  document_too_large: 'ファイルが大きすぎます',
  document_too_large_to_read: '大きすぎて読み取れません',
  document_unreadable: 'ファイルを読み取れませんでした',
  delivery_channel_kind_gone: 'この種類の送信先は提供されなくなりました',
  delivery_failed: '送信に失敗しました',
  delivery_mail_certificate_expired: 'メールサーバーの証明書は期限切れか、まだ有効ではありません',
  delivery_mail_certificate_other_host: 'メールサーバーの証明書は別のホストのものです',
  delivery_mail_certificate_self_signed: 'メールサーバーの証明書は自己署名です',
  delivery_mail_certificate_untrusted:
    'メールサーバーの証明書の発行元を、このサーバーは信頼していません',
  delivery_mail_host_unknown: 'メールサーバーのホスト名が見つかりませんでした',
  delivery_mail_login_refused:
    'メールサーバーがこのサーバーのユーザー名またはパスワードを拒否しました',
  delivery_mail_not_set_up: 'このサーバーには SMTP の設定がなくなりました',
  delivery_mail_refused_connection: 'メールサーバーが接続を拒否しました',
  delivery_mail_refused: 'メールサーバーが拒否しました（{{status}}）',
  delivery_mail_unconfirmed:
    '{{address}} の所有者が、このサーバーからのメールの受信に同意していません',
  delivery_mail_unreachable: 'メールサーバーに接続できないか、混み合っていました',
  delivery_receiver_address_refused: 'このサーバーは受信側のアドレスに送信できません',
  delivery_receiver_certificate_invalid: '受信側の証明書が無効です',
  delivery_receiver_closed_connection: '受信側が接続を閉じました',
  delivery_receiver_host_unknown: '受信側のホスト名が見つかりません',
  delivery_receiver_refused_connection: '受信側が接続を拒否しました',
  delivery_receiver_timed_out: '受信側が時間内に応答しませんでした',
  delivery_receiver_unreachable: '受信側に接続できませんでした',
  delivery_refused: '受信側が {{status}} を返しました',
  delivery_settings_unfit: 'この送信先の設定は有効ではなくなりました',
  mcp_certificate_invalid: '証明書が有効でないか、このサーバーが信頼していません',
  mcp_command_not_found: 'サーバーにそのコマンド「{{command}}」が見つかりません',
  mcp_command_not_allowed: 'そのコマンドの実行は許可されていません',
  mcp_connection_failed: '接続に失敗したか、切断されました',
  mcp_connection_refused: '接続が拒否されました',
  mcp_credentials_refused: '認証情報が拒否されました',
  mcp_ended: 'そのプロセスが終了しました',
  mcp_folder_not_found: 'サーバーにその作業フォルダーが見つかりません',
  mcp_host_unknown: 'ホスト名が不明です',
  mcp_sign_in_needed: 'サインインが必要です',
  mcp_settings_unreadable: '保存された設定を復号できません。編集してアドレスを入力し直してください',
  mcp_wrong_address: 'そのアドレスに MCP サーバーはありません',
  mcp_too_slow: '時間内に応答しませんでした',
  blobs_unreachable: 'ファイルの保存先を利用できません。後でもう一度お試しください',
  export_failed: '予期しないエラーが発生しました。詳細はサーバーのログにあります',
  export_interrupted: 'その間にサーバーが再起動しました。もう一度エクスポートしてください',
  import_already_there: '既にインポートされています',
  import_archive_bomb: '圧縮率が {{ratio}} 倍を超えています。実際のエクスポートではありえません',
  import_archive_damaged: 'アーカイブが破損しているか不完全です。もう一度ダウンロードしてください',
  import_archive_encrypted:
    'パスワードで保護されています。展開して、パスワードなしで作り直してください',
  import_archive_too_large: '展開するとアーカイブが {{limit}} を超えます',
  import_archive_too_many_files: 'アーカイブのファイルが {{limit}} 個を超えています',
  import_conversation_too_large: '{{limit}} を超えています',
  import_cycle: 'メッセージの前後関係が循環しています',
  import_database_unreadable: 'SQLite ファイルが破損しているか、不明なテーブルがあります',
  import_disk_full: 'サーバーのディスクがいっぱいです',
  import_entry_link: 'リンクです',
  import_entry_unsafe: '名前がアーカイブの外を指しています',
  import_failed: '予期しないエラーが発生しました。詳細はサーバーのログにあります',
  import_file_missing: 'エクスポートに含まれていません',
  import_file_refused: 'このサーバーが拒否しました：{{detail}}',
  import_format_unknown:
    'NanoClaw、ChatGPT、Claude、Open WebUI、LibreChat のエクスポートでも、Python 版 NanoClaw の SQLite ファイルでもありません',
  import_in_trash: 'ゴミ箱にあります。そこで復元してください',
  import_interrupted:
    'その間にサーバーが再起動しました。ファイルをもう一度インポートしてください。既にあるものは残り、重複しません',
  import_json_damaged: 'JSON が破損しているか不完全です',
  import_marks_unknown:
    '「{{conversation}}」にあるこの種類の記号は認識できず、エクスポートにその内容もありません',
  import_no_messages: 'メッセージが含まれていません',
  import_out_of_memory: 'インポートで使える上限を超えるメモリが必要です',
  import_parts_unknown:
    '「{{conversation}}」にあるこの種類の部分は認識できないため、省略されました',
  import_project_exists: '同じ名前のプロジェクトが既にあります。そのファイルは変更していません',
  import_storage_full:
    'テキストを保存する空きがありません。会話、共有リンク、ファイルのいくつかを削除して、もう一度インポートしてください（すでにあるものは重複しません）',
  import_too_many_messages: 'メッセージが {{limit}} 件を超えています',
  import_too_slow: '読み取りに時間がかかりすぎました',
  import_unreadable: '想定された形式ではありません（{{detail}}）',
}
