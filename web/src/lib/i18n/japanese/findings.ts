// Japanese texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL =
  'bubblewrap をインストールし（apt-get install bubblewrap）、ユーザー名前空間を許可してください。'
const ONE_BY_ONE = 'JavaScript でベクトルを一つずつ比較'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: '{{version}} での動作は確認していません',
    advice: 'Node 20.19、22.12、24 以降をインストールしてください。',
  },
  folder_not_folder: {
    detail: '{{folder}} はフォルダーではありません',
    advice: '移動するか、config.yml で別のフォルダーを指定してください。',
  },
  folder_not_writable: {
    detail: 'このユーザーは {{folder}} に書き込めません',
    advice: 'chown または chmod で権限を変えるか、config.yml で別のフォルダーを指定してください。',
  },
  folder_created_later: { detail: '{{folder}} は後で作成されます' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: '空き容量が {{megabytes}} MB しかありません',
    advice: '空き容量を増やしてください。ディスクがいっぱいになると保存できません。',
  },
  folder_readable: {
    detail: 'このマシンの他のユーザーも読み取れます',
    advice: 'chmod 700 {{folder}}',
  },
  page_built: { subject: 'ページ', detail: 'ビルド済み' },
  page_not_built: { subject: 'ページ', detail: '未ビルド', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}、カーネルで隔離' },
  python_wasm: { detail: '{{engine}}、WebAssembly だけで隔離 {{reason}}', advice: INSTALL },
  shell_off: { detail: 'config.yml でオフになっています（tools.exec.enabled）' },
  shell_network_broken: {
    detail: 'tools.exec.network はここでは使えないため、サーバーは起動しません',
    advice: '{{advice}}',
  },
  shell_internet: { detail: 'オン、カーネルで隔離、インターネットのみ接続可' },
  shell_host_network: {
    detail:
      'オン、カーネルで隔離されていますが、ホストのネットワークを使います。コマンドはこのサーバーとその周囲すべてに接続できます',
    advice: 'tools.exec.network を true（インターネットのみ）または false にしてください。',
  },
  shell_kernel: { detail: 'オン、カーネルで隔離' },
  shell_not_isolated: { detail: 'オンですが、隔離されていません：{{reason}}', advice: INSTALL },
  database_created_later: {
    subject: 'データベース',
    detail: 'SQLite、初回の起動時に {{file}} を作成',
  },
  database_used: { subject: 'データベース', detail: '{{location}}。サーバーが使用中' },
  database_unused: { subject: 'データベース', detail: '{{location}}。使用中のサーバーなし' },
  tables_none: { subject: 'テーブル', detail: 'まだありません。初回の起動時に作成されます' },
  tables_old: {
    subject: 'テーブル',
    detail: '古いバージョンのものです。{{count}} 件のマイグレーションが残っています',
    advice: '次の起動時に実行されます。先に `nanoclaw backup` を実行してください。',
  },
  sqlite_broken: {
    subject: 'データベース',
    detail: '{{reason}}',
    advice:
      'db_sqlite_file とその権限を確認してください。`nanoclaw restore <ファイル>` でバックアップを復元できます。',
  },
  postgres_broken: {
    subject: 'データベース',
    detail: '{{reason}}',
    advice:
      'db_host、db_port、db_user、db_password、db_name（または database_url）と、データベースサーバーが動いていることを確認してください。',
  },
  blobs_ok: { subject: '添付ファイル', detail: '{{count}} 件、すべて揃っています' },
  blobs_missing: {
    subject: '添付ファイル',
    detail: '{{folder}} に {{count}} 件中 {{missing}} 件がありません：{{named}}',
    advice:
      'バックアップの `files` フォルダーからコピーしてください。それまで、これらの添付ファイルは開けません。',
  },
  blobs_unknown: { subject: '添付ファイル', detail: '{{reason}}' },
  projects_ok: {
    subject: 'プロジェクト',
    detail: 'ファイルのある {{count}} 件すべてにフォルダーがあります',
  },
  projects_missing: {
    subject: 'プロジェクト',
    detail: '{{count}} 件中 {{missing}} 件のフォルダーが {{folder}} にありません: {{named}}',
    advice: 'workspace_root を確認するか、プロジェクトを含むバックアップを復元してください。',
  },
  projects_unknown: { subject: 'プロジェクト', detail: '{{reason}}' },
  secrets_ok: {
    subject: '保存された秘密情報',
    detail: '{{count}} 件を確認し、すべて復号できました',
  },
  secrets_unreadable: {
    subject: '保存された秘密情報',
    detail: 'この秘密鍵では復号できないものがあります: {{kinds}}',
    advice:
      'バックアップの鍵を data_dir の secret.key に追加するか（1 行に 1 つ、複数可）、NANOCLAW_SECRET_KEY に設定してください。',
  },
  secrets_unknown: { subject: '保存された秘密情報', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}} は応答しています' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}} が応答しません（{{reason}}）',
    advice:
      'Redis を起動するか、redis_url を修正してください。それまでは各インスタンスが制限を個別に数え、ほかのインスタンスの回答はデータベースから読み込まれます。',
  },
  registration_open: {
    subject: '登録',
    detail: '{{host}} にアクセスできる人は誰でもアカウントを作成し、モデルを利用できます',
    advice:
      '意図していない場合は、config.yml または「管理 → サーバー」で registration: invite（または closed）を設定してください。',
  },
  embeddings_ok: { subject: '埋め込み', detail: '{{host}} は応答しています。{{dimensions}} 次元' },
  embeddings_broken: {
    subject: '埋め込み',
    detail: '{{host}} がベクトルを返しませんでした（{{reason}}）',
    advice:
      'embeddings.api_url、api_key、model を確認してください。それまでは単語だけで検索します。',
  },
  vectors_ok: { subject: 'ベクトル検索', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: 'ベクトル検索',
    detail: ONE_BY_ONE,
    advice:
      'この PostgreSQL に拡張機能 pgvector をインストールし、ユーザーに作成を許可してください。',
  },
  vectors_without_sqlite_vec: {
    subject: 'ベクトル検索',
    detail: ONE_BY_ONE,
    advice:
      '--omit=optional なしで `npm ci` を実行してください。sqlite-vec なら 2 倍速くなります。',
  },
  vectors_unknown: {
    subject: 'ベクトル検索',
    detail: '未確認：データベースが応答しません',
    advice: '先にデータベースを直してください。',
  },
  copies: {
    subject: '置き換えられたもののコピー',
    detail: '{{count}} 件、作成から {{days}} 日後に削除されます: {{names}}',
  },
  copies_kept: {
    subject: '置き換えられたもののコピー',
    detail: '{{count}} 件、削除するまで保存されます: {{names}}',
  },
  installation_later: { subject: 'インストール', detail: '次回の起動時にフォルダーに印が付きます' },
  installation_differs: { subject: 'インストール', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: { subject: 'インストール', detail: 'フォルダーはこのデータベースのものです' },
  installation_unknown: { subject: 'インストール', detail: '{{reason}}' },
  bucket_broken: {
    subject: '添付ファイル',
    detail: '{{host}} のバケット {{bucket}} を利用できません: {{reason}}',
    advice:
      's3.endpoint、bucket、region と 2 つのキーを確認してください。それまではファイルを添付することも開くこともできません。',
  },
  mail_broken: {
    subject: 'メールサーバー',
    detail: '{{host}}: {{reason}}',
    advice: 'smtp.host、port、user、password を確認してください。それまでメールは送信されません。',
  },
  mail_certificate: {
    subject: 'メールサーバー',
    detail: '{{host}}: {{reason}}',
    advice:
      'このマシンが信頼する証明書をメールサーバーに設定するか、証明書のファイルを NODE_EXTRA_CA_CERTS に指定して再起動してください。',
  },
  mail_ok: { subject: 'メールサーバー', detail: '{{host}} が応答します' },
  mcp_broken: {
    subject: 'MCP サーバー {{server}}',
    detail: '{{reason}}',
    advice: '設定を確認してください。それまでそのツールは呼び出せません。',
  },
  mcp_broken_output: {
    subject: 'MCP サーバー {{server}}',
    detail: '{{reason}}',
    advice: 'プログラムの最後の出力: {{output}}',
  },
  mcp_connecting: {
    subject: 'MCP サーバー {{server}}',
    detail: '起動中です。最初の起動には数分かかることがあります',
  },
  mcp_ok: { subject: 'MCP サーバー {{server}}', detail: '応答します。ツール: {{tools}}' },
  mcp_sign_in: {
    subject: 'MCP サーバー {{server}}',
    detail: '応答します。各ユーザーがサインインします',
  },
  models_none: {
    subject: 'モデル',
    detail: 'config.yml にはありません。ページで追加したモデル、なければ内蔵のデモを使います',
  },
  model_key_refused: {
    subject: 'モデル {{model}}',
    detail: '{{host}} が API キーを拒否しました（{{status}}）',
    advice: 'api_key と、それが参照する環境変数を確認してください。',
  },
  model_ok: { subject: 'モデル {{model}}', detail: '{{host}} は応答しています' },
  model_silent: {
    subject: 'モデル {{model}}',
    detail: '{{host}} が応答しません',
    advice:
      'api_url とネットワークを確認してください。ローカルのプロバイダーなら、動いているか確認してください。',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': 'データフォルダー',
  workspaces: 'ワークスペース',
}
