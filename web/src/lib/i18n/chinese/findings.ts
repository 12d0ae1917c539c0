// Chinese texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL = '安装 bubblewrap（apt-get install bubblewrap），并允许用户命名空间。'
const ONE_BY_ONE = '在 JavaScript 中逐个比较向量'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: 'NanoClaw 未在 {{version}} 上测试',
    advice: '请安装 Node 20.19、22.12、24 或更高版本。',
  },
  folder_not_folder: {
    detail: '{{folder}} 不是文件夹',
    advice: '把它移走，或在 config.yml 中设置另一个文件夹。',
  },
  folder_not_writable: {
    detail: '当前用户无法写入 {{folder}}',
    advice: '用 chown 或 chmod 修改权限，或在 config.yml 中设置另一个文件夹。',
  },
  folder_created_later: { detail: '将创建 {{folder}}' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: '只剩 {{megabytes}} MB 可用空间',
    advice: '请清理磁盘：磁盘写满后无法保存数据。',
  },
  folder_readable: { detail: '本机的其他用户可以读取', advice: 'chmod 700 {{folder}}' },
  page_built: { subject: '网页', detail: '已构建' },
  page_not_built: { subject: '网页', detail: '尚未构建', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}，由内核隔离' },
  python_wasm: { detail: '{{engine}}，仅由 WebAssembly 隔离 {{reason}}', advice: INSTALL },
  shell_off: { detail: '已在 config.yml 中关闭（tools.exec.enabled）' },
  shell_network_broken: {
    detail: 'tools.exec.network 在此不可用，服务器将无法启动',
    advice: '{{advice}}',
  },
  shell_internet: { detail: '已开启，由内核隔离，只能访问互联网' },
  shell_host_network: {
    detail: '已开启，由内核隔离，但使用主机网络：命令可以访问本服务器及其周围的一切',
    advice: '将 tools.exec.network 设为 true（只能访问互联网）或 false。',
  },
  shell_kernel: { detail: '已开启，由内核隔离' },
  shell_not_isolated: { detail: '已开启，但未隔离：{{reason}}', advice: INSTALL },
  database_created_later: { subject: '数据库', detail: 'SQLite，首次启动时创建 {{file}}' },
  database_used: { subject: '数据库', detail: '{{location}}；有服务器正在使用' },
  database_unused: { subject: '数据库', detail: '{{location}}；没有服务器在使用' },
  tables_none: { subject: '数据表', detail: '尚无：首次启动时创建' },
  tables_old: {
    subject: '数据表',
    detail: '来自旧版本：有 {{count}} 个迁移待执行',
    advice: '下次启动时会执行。请先运行 `nanoclaw backup`。',
  },
  sqlite_broken: {
    subject: '数据库',
    detail: '{{reason}}',
    advice: '请检查 db_sqlite_file 及其权限；`nanoclaw restore <文件>` 可恢复备份。',
  },
  postgres_broken: {
    subject: '数据库',
    detail: '{{reason}}',
    advice:
      '请检查 db_host、db_port、db_user、db_password 和 db_name（或 database_url），并确认数据库服务器正在运行。',
  },
  blobs_ok: { subject: '附件', detail: '{{count}} 个，全部完好' },
  blobs_missing: {
    subject: '附件',
    detail: '{{folder}} 中缺少 {{missing}} 个（共 {{count}} 个）：{{named}}',
    advice: '请从备份的 `files` 文件夹中复制。在此之前这些附件无法打开。',
  },
  blobs_unknown: { subject: '附件', detail: '{{reason}}' },
  projects_ok: { subject: '项目', detail: '{{count}} 个项目有文件，目录齐全' },
  projects_missing: {
    subject: '项目',
    detail: '{{count}} 个项目中有 {{missing}} 个在 {{folder}} 中没有目录：{{named}}',
    advice: '请检查 workspace_root，或恢复包含这些项目的备份。',
  },
  projects_unknown: { subject: '项目', detail: '{{reason}}' },
  secrets_ok: { subject: '已保存的机密', detail: '检查了 {{count}} 个，均可解密' },
  secrets_unreadable: {
    subject: '已保存的机密',
    detail: '部分内容无法用当前密钥解密：{{kinds}}',
    advice:
      '请把备份中的密钥写入 data_dir 下的 secret.key（可以有多个密钥，每行一个），或用 NANOCLAW_SECRET_KEY 指定它。',
  },
  secrets_unknown: { subject: '已保存的机密', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}} 有响应' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}} 没有响应（{{reason}}）',
    advice:
      '请启动 Redis，或更正 redis_url。在此之前，各实例各自计算限额，其他实例上的回答从数据库读取。',
  },
  registration_open: {
    subject: '注册',
    detail: '任何能访问 {{host}} 的人都可以创建账号并使用模型',
    advice:
      '如非有意，请在 config.yml 中或在“管理 → 服务器”下设置 registration: invite（或 closed）。',
  },
  embeddings_ok: { subject: '嵌入', detail: '{{host}} 有响应，{{dimensions}} 维' },
  embeddings_broken: {
    subject: '嵌入',
    detail: '{{host}} 没有返回向量（{{reason}}）',
    advice: '请检查 embeddings.api_url、api_key 和 model。在此之前只按词语搜索。',
  },
  vectors_ok: { subject: '向量搜索', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: '向量搜索',
    detail: ONE_BY_ONE,
    advice: '请为这个 PostgreSQL 安装 pgvector 扩展，并允许其用户创建。',
  },
  vectors_without_sqlite_vec: {
    subject: '向量搜索',
    detail: ONE_BY_ONE,
    advice: '请运行不带 --omit=optional 的 `npm ci`：sqlite-vec 快一倍。',
  },
  vectors_unknown: {
    subject: '向量搜索',
    detail: '未检查：数据库没有响应',
    advice: '请先修复数据库。',
  },
  copies: {
    subject: '被替换内容的副本',
    detail: '{{count}} 个，创建 {{days}} 天后删除：{{names}}',
  },
  copies_kept: { subject: '被替换内容的副本', detail: '{{count}} 个，保留到你删除为止：{{names}}' },
  installation_later: { subject: '安装', detail: '下次启动时会标记文件夹' },
  installation_differs: { subject: '安装', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: { subject: '安装', detail: '文件夹属于此数据库' },
  installation_unknown: { subject: '安装', detail: '{{reason}}' },
  bucket_broken: {
    subject: '附件',
    detail: '无法使用 {{host}} 上的存储桶 {{bucket}}：{{reason}}',
    advice: '请检查 s3.endpoint、bucket、region 和两个密钥。在此之前，文件既不能添加也不能打开。',
  },
  mail_broken: {
    subject: '邮件服务器',
    detail: '{{host}}：{{reason}}',
    advice: '请检查 smtp.host、port、user 和 password。在此之前不会发送邮件。',
  },
  mail_certificate: {
    subject: '邮件服务器',
    detail: '{{host}}：{{reason}}',
    advice:
      '请为邮件服务器配置本机信任的证书，或将 NODE_EXTRA_CA_CERTS 设为包含该证书的文件，然后重新启动。',
  },
  mail_ok: { subject: '邮件服务器', detail: '{{host}} 有响应' },
  mcp_broken: {
    subject: 'MCP 服务器 {{server}}',
    detail: '{{reason}}',
    advice: '请检查它的设置。在此之前无法调用它的工具。',
  },
  mcp_broken_output: {
    subject: 'MCP 服务器 {{server}}',
    detail: '{{reason}}',
    advice: '它的程序最后输出：{{output}}',
  },
  mcp_connecting: { subject: 'MCP 服务器 {{server}}', detail: '仍在启动，首次启动可能需要几分钟' },
  mcp_ok: { subject: 'MCP 服务器 {{server}}', detail: '有响应，工具：{{tools}} 个' },
  mcp_sign_in: { subject: 'MCP 服务器 {{server}}', detail: '有响应，由每位用户自行登录' },
  models_none: {
    subject: '模型',
    detail: 'config.yml 中没有：服务器使用在网页中添加的模型，否则使用内置演示',
  },
  model_key_refused: {
    subject: '模型 {{model}}',
    detail: '{{host}} 拒绝了 API 密钥（{{status}}）',
    advice: '请检查 api_key 及其引用的环境变量。',
  },
  model_ok: { subject: '模型 {{model}}', detail: '{{host}} 有响应' },
  model_silent: {
    subject: '模型 {{model}}',
    detail: '{{host}} 没有响应',
    advice: '请检查 api_url 和网络；如果是本地提供商，请确认它正在运行。',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': '数据文件夹',
  workspaces: '工作区',
}
