// Traditional Chinese texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL = '安裝 bubblewrap（apt-get install bubblewrap），並允許使用者命名空間。'
const ONE_BY_ONE = '在 JavaScript 中逐個比較向量'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: 'NanoClaw 未在 {{version}} 上測試',
    advice: '請安裝 Node 20.19、22.12、24 或更高版本。',
  },
  folder_not_folder: {
    detail: '{{folder}} 不是資料夾',
    advice: '把它移走，或在 config.yml 中設定另一個資料夾。',
  },
  folder_not_writable: {
    detail: '目前使用者無法寫入 {{folder}}',
    advice: '用 chown 或 chmod 修改權限，或在 config.yml 中設定另一個資料夾。',
  },
  folder_created_later: { detail: '將建立 {{folder}}' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: '只剩 {{megabytes}} MB 可用空間',
    advice: '請清理磁碟：磁碟寫滿後無法儲存資料。',
  },
  folder_readable: { detail: '本機的其他使用者可以讀取', advice: 'chmod 700 {{folder}}' },
  page_built: { subject: '網頁', detail: '已構建' },
  page_not_built: { subject: '網頁', detail: '尚未構建', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}，由核心隔離' },
  python_wasm: { detail: '{{engine}}，僅由 WebAssembly 隔離 {{reason}}', advice: INSTALL },
  shell_off: { detail: '已在 config.yml 中關閉（tools.exec.enabled）' },
  shell_network_broken: {
    detail: 'tools.exec.network 在此不可用，伺服器將無法啟動',
    advice: '{{advice}}',
  },
  shell_internet: { detail: '已開啟，由核心隔離，只能存取網際網路' },
  shell_host_network: {
    detail: '已開啟，由核心隔離，但使用主機網路：命令可以存取本伺服器及其周圍的一切',
    advice: '將 tools.exec.network 設為 true（只能存取網際網路）或 false。',
  },
  shell_kernel: { detail: '已開啟，由核心隔離' },
  shell_not_isolated: { detail: '已開啟，但未隔離：{{reason}}', advice: INSTALL },
  database_created_later: { subject: '資料庫', detail: 'SQLite，首次啟動時建立 {{file}}' },
  database_used: { subject: '資料庫', detail: '{{location}}；有伺服器正在使用' },
  database_unused: { subject: '資料庫', detail: '{{location}}；沒有伺服器在使用' },
  tables_none: { subject: '資料表', detail: '尚無：首次啟動時建立' },
  tables_old: {
    subject: '資料表',
    detail: '來自舊版本：有 {{count}} 個遷移待執行',
    advice: '下次啟動時會執行。請先執行 `nanoclaw backup`。',
  },
  sqlite_broken: {
    subject: '資料庫',
    detail: '{{reason}}',
    advice: '請檢查 db_sqlite_file 及其權限；`nanoclaw restore <檔案>` 可還原備份。',
  },
  postgres_broken: {
    subject: '資料庫',
    detail: '{{reason}}',
    advice:
      '請檢查 db_host、db_port、db_user、db_password 和 db_name（或 database_url），並確認資料庫伺服器正在執行。',
  },
  blobs_ok: { subject: '附件', detail: '{{count}} 個，全部完好' },
  blobs_missing: {
    subject: '附件',
    detail: '{{folder}} 中缺少 {{missing}} 個（共 {{count}} 個）：{{named}}',
    advice: '請從備份的 `files` 資料夾中複製。在此之前這些附件無法開啟。',
  },
  blobs_unknown: { subject: '附件', detail: '{{reason}}' },
  projects_ok: { subject: '專案', detail: '{{count}} 個專案有檔案，目錄齊全' },
  projects_missing: {
    subject: '專案',
    detail: '{{count}} 個專案中有 {{missing}} 個在 {{folder}} 中沒有目錄：{{named}}',
    advice: '請檢查 workspace_root，或還原包含這些專案的備份。',
  },
  projects_unknown: { subject: '專案', detail: '{{reason}}' },
  secrets_ok: { subject: '已儲存的機密', detail: '檢查了 {{count}} 個，均可解密' },
  secrets_unreadable: {
    subject: '已儲存的機密',
    detail: '部分內容無法用目前金鑰解密：{{kinds}}',
    advice:
      '請把備份中的金鑰寫入 data_dir 下的 secret.key（可以有多個金鑰，每行一個），或用 NANOCLAW_SECRET_KEY 指定它。',
  },
  secrets_unknown: { subject: '已儲存的機密', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}} 有回應' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}} 沒有回應（{{reason}}）',
    advice:
      '請啟動 Redis，或更正 redis_url。在此之前，各執行個體各自計算額度，其他執行個體上的回答從資料庫讀取。',
  },
  registration_open: {
    subject: '註冊',
    detail: '任何能存取 {{host}} 的人都可以建立帳號並使用模型',
    advice:
      '如非有意，請在 config.yml 中或在「管理 → 伺服器」下設定 registration: invite（或 closed）。',
  },
  embeddings_ok: { subject: '嵌入', detail: '{{host}} 有回應，{{dimensions}} 維' },
  embeddings_broken: {
    subject: '嵌入',
    detail: '{{host}} 沒有返回向量（{{reason}}）',
    advice: '請檢查 embeddings.api_url、api_key 和 model。在此之前只按詞語搜尋。',
  },
  vectors_ok: { subject: '向量搜尋', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: '向量搜尋',
    detail: ONE_BY_ONE,
    advice: '請為這個 PostgreSQL 安裝 pgvector 擴充套件，並允許其使用者建立。',
  },
  vectors_without_sqlite_vec: {
    subject: '向量搜尋',
    detail: ONE_BY_ONE,
    advice: '請執行不帶 --omit=optional 的 `npm ci`：sqlite-vec 快一倍。',
  },
  vectors_unknown: {
    subject: '向量搜尋',
    detail: '未檢查：資料庫沒有回應',
    advice: '請先修復資料庫。',
  },
  copies: {
    subject: '被替換內容的副本',
    detail: '{{count}} 個，建立 {{days}} 天後刪除：{{names}}',
  },
  copies_kept: { subject: '被替換內容的副本', detail: '{{count}} 個，保留到你刪除為止：{{names}}' },
  installation_later: { subject: '安裝', detail: '下次啟動時會標記資料夾' },
  installation_differs: { subject: '安裝', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: { subject: '安裝', detail: '資料夾屬於此資料庫' },
  installation_unknown: { subject: '安裝', detail: '{{reason}}' },
  bucket_broken: {
    subject: '附件',
    detail: '無法使用 {{host}} 上的儲存桶 {{bucket}}：{{reason}}',
    advice: '請檢查 s3.endpoint、bucket、region 和兩個金鑰。在此之前，檔案既不能新增也不能開啟。',
  },
  mail_broken: {
    subject: '郵件伺服器',
    detail: '{{host}}：{{reason}}',
    advice: '請檢查 smtp.host、port、user 和 password。在此之前不會傳送郵件。',
  },
  mail_certificate: {
    subject: '郵件伺服器',
    detail: '{{host}}：{{reason}}',
    advice:
      '請為郵件伺服器設定本機信任的憑證，或將 NODE_EXTRA_CA_CERTS 設為包含該憑證的檔案，然後重新啟動。',
  },
  mail_ok: { subject: '郵件伺服器', detail: '{{host}} 有回應' },
  mcp_broken: {
    subject: 'MCP 伺服器 {{server}}',
    detail: '{{reason}}',
    advice: '請檢查它的設定。在此之前無法呼叫它的工具。',
  },
  mcp_broken_output: {
    subject: 'MCP 伺服器 {{server}}',
    detail: '{{reason}}',
    advice: '它的程式最後輸出：{{output}}',
  },
  mcp_connecting: { subject: 'MCP 伺服器 {{server}}', detail: '仍在啟動，首次啟動可能需要幾分鐘' },
  mcp_ok: { subject: 'MCP 伺服器 {{server}}', detail: '有回應，工具：{{tools}} 個' },
  mcp_sign_in: { subject: 'MCP 伺服器 {{server}}', detail: '有回應，由每位使用者自行登入' },
  models_none: {
    subject: '模型',
    detail: 'config.yml 中沒有：伺服器使用在網頁中新增的模型，否則使用內建展示',
  },
  model_key_refused: {
    subject: '模型 {{model}}',
    detail: '{{host}} 拒絕了 API 金鑰（{{status}}）',
    advice: '請檢查 api_key 及其引用的環境變數。',
  },
  model_ok: { subject: '模型 {{model}}', detail: '{{host}} 有回應' },
  model_silent: {
    subject: '模型 {{model}}',
    detail: '{{host}} 沒有回應',
    advice: '請檢查 api_url 和網路；如果是本地供應商，請確認它正在執行。',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': '資料資料夾',
  workspaces: '工作區',
}
