// Russian texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL =
  'Установите bubblewrap (apt-get install bubblewrap) и разрешите пользовательские пространства имён.'
const ONE_BY_ONE = 'векторы сравниваются по одному в JavaScript'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: 'NanoClaw не проверялся с {{version}}',
    advice: 'Установите Node 20.19, 22.12, 24 или новее.',
  },
  folder_not_folder: {
    detail: '{{folder}} — не папка',
    advice: 'Переместите этот файл или укажите другую папку в config.yml.',
  },
  folder_not_writable: {
    detail: 'у этого пользователя нет права записи в {{folder}}',
    advice: 'Измените права с помощью chown или chmod либо укажите другую папку в config.yml.',
  },
  folder_created_later: { detail: 'папка {{folder}} будет создана' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: 'свободно только {{megabytes}} МБ',
    advice: 'Освободите место: когда диск заполнен, ничего нельзя сохранить.',
  },
  folder_readable: {
    detail: 'её могут читать другие пользователи этого компьютера',
    advice: 'chmod 700 {{folder}}',
  },
  page_built: { subject: 'страница', detail: 'собрана' },
  page_not_built: { subject: 'страница', detail: 'не собрана', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}, изоляция средствами ядра' },
  python_wasm: {
    detail: '{{engine}}, изоляция только средствами WebAssembly {{reason}}',
    advice: INSTALL,
  },
  shell_off: { detail: 'выключено в config.yml (tools.exec.enabled)' },
  shell_network_broken: {
    detail: 'tools.exec.network здесь не работает, и сервер не запустится',
    advice: '{{advice}}',
  },
  shell_internet: { detail: 'включено, изоляция средствами ядра, доступен только интернет' },
  shell_host_network: {
    detail:
      'включено, изоляция средствами ядра, но в сети компьютера: командам доступен этот сервер и всё вокруг него',
    advice: 'Задайте для tools.exec.network значение true (только интернет) или false.',
  },
  shell_kernel: { detail: 'включено, изоляция средствами ядра' },
  shell_not_isolated: { detail: 'включено, но не изолировано: {{reason}}', advice: INSTALL },
  database_created_later: {
    subject: 'база данных',
    detail: 'SQLite, будет создана при первом запуске: {{file}}',
  },
  database_used: { subject: 'база данных', detail: '{{location}}; используется сервером' },
  database_unused: {
    subject: 'база данных',
    detail: '{{location}}; ни один сервер её не использует',
  },
  tables_none: { subject: 'таблицы', detail: 'пока нет: будут созданы при первом запуске' },
  tables_old: {
    subject: 'таблицы',
    detail: 'от старой версии: ожидают миграции ({{count}})',
    advice: 'Они выполнятся при следующем запуске. Сначала выполните `nanoclaw backup`.',
  },
  sqlite_broken: {
    subject: 'база данных',
    detail: '{{reason}}',
    advice:
      'Проверьте db_sqlite_file и права на файл; `nanoclaw restore <файл>` восстановит резервную копию.',
  },
  postgres_broken: {
    subject: 'база данных',
    detail: '{{reason}}',
    advice:
      'Проверьте db_host, db_port, db_user, db_password и db_name (или database_url), а также что сервер базы данных работает.',
  },
  blobs_ok: { subject: 'вложения', detail: '{{count}}, все на месте' },
  blobs_missing: {
    subject: 'вложения',
    detail: 'не хватает {{missing}} из {{count}} в {{folder}}: {{named}}',
    advice:
      'Скопируйте их из папки `files` резервной копии. До этого такие вложения не открываются.',
  },
  blobs_unknown: { subject: 'вложения', detail: '{{reason}}' },
  projects_ok: { subject: 'проекты', detail: 'с файлами: {{count}}, у всех есть папка' },
  projects_missing: {
    subject: 'проекты',
    detail: 'нет папки в {{folder}}: {{missing}} из {{count}} ({{named}})',
    advice: 'Проверьте workspace_root или восстановите резервную копию с этими проектами.',
  },
  projects_unknown: { subject: 'проекты', detail: '{{reason}}' },
  secrets_ok: { subject: 'сохранённые секреты', detail: 'проверено: {{count}}, все открываются' },
  secrets_unreadable: {
    subject: 'сохранённые секреты',
    detail: 'не все открываются этим ключом: {{kinds}}',
    advice:
      'Добавьте ключ из резервной копии в secret.key в data_dir (там может быть несколько ключей, по одному в строке) или укажите его в NANOCLAW_SECRET_KEY.',
  },
  secrets_unknown: { subject: 'сохранённые секреты', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}} отвечает' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}} не отвечает ({{reason}})',
    advice:
      'Запустите Redis или исправьте redis_url. До этого каждый экземпляр считает ограничения сам, а ответы других экземпляров читаются из базы данных.',
  },
  registration_open: {
    subject: 'регистрация',
    detail: 'любой, кому доступен {{host}}, может создать учётную запись и пользоваться моделями',
    advice:
      'Если это не нужно, задайте registration: invite (или closed) в config.yml или в разделе «Администрирование → Сервер».',
  },
  embeddings_ok: { subject: 'эмбеддинги', detail: '{{host}} отвечает, размерность {{dimensions}}' },
  embeddings_broken: {
    subject: 'эмбеддинги',
    detail: '{{host}} не вернул векторы ({{reason}})',
    advice: 'Проверьте embeddings.api_url, api_key и model. До этого поиск идёт только по словам.',
  },
  vectors_ok: { subject: 'векторный поиск', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: 'векторный поиск',
    detail: ONE_BY_ONE,
    advice:
      'Установите расширение pgvector для этого PostgreSQL и разрешите пользователю его создавать.',
  },
  vectors_without_sqlite_vec: {
    subject: 'векторный поиск',
    detail: ONE_BY_ONE,
    advice: 'Выполните `npm ci` без --omit=optional: с sqlite-vec поиск вдвое быстрее.',
  },
  vectors_unknown: {
    subject: 'векторный поиск',
    detail: 'не проверено: база данных не отвечает',
    advice: 'Сначала исправьте базу данных.',
  },
  copies: {
    subject: 'копии заменённого',
    detail: '{{count}}, удаляются через {{days}} дн. после создания: {{names}}',
  },
  copies_kept: {
    subject: 'копии заменённого',
    detail: '{{count}}, хранятся, пока вы их не удалите: {{names}}',
  },
  installation_later: { subject: 'установка', detail: 'следующий запуск пометит папки' },
  installation_differs: { subject: 'установка', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: { subject: 'установка', detail: 'папки относятся к этой базе данных' },
  installation_unknown: { subject: 'установка', detail: '{{reason}}' },
  bucket_broken: {
    subject: 'вложения',
    detail: 'бакет {{bucket}} на {{host}} использовать нельзя: {{reason}}',
    advice:
      'Проверьте s3.endpoint, bucket, region и оба ключа. До тех пор файлы нельзя ни прикрепить, ни открыть.',
  },
  mail_broken: {
    subject: 'почтовый сервер',
    detail: '{{host}}: {{reason}}',
    advice: 'Проверьте smtp.host, port, user и password. До тех пор письма не отправляются.',
  },
  mail_certificate: {
    subject: 'почтовый сервер',
    detail: '{{host}}: {{reason}}',
    advice:
      'Установите на почтовом сервере сертификат, которому доверяет эта машина, или укажите в NODE_EXTRA_CA_CERTS файл с сертификатом и перезапустите сервер.',
  },
  mail_ok: { subject: 'почтовый сервер', detail: '{{host}} отвечает' },
  mcp_broken: {
    subject: 'MCP-сервер {{server}}',
    detail: '{{reason}}',
    advice: 'Проверьте его настройки. До тех пор его инструменты вызвать нельзя.',
  },
  mcp_broken_output: {
    subject: 'MCP-сервер {{server}}',
    detail: '{{reason}}',
    advice: 'Последний вывод его программы: {{output}}',
  },
  mcp_connecting: {
    subject: 'MCP-сервер {{server}}',
    detail: 'ещё запускается; первый запуск может занять минуты',
  },
  mcp_ok: { subject: 'MCP-сервер {{server}}', detail: 'отвечает, инструментов: {{tools}}' },
  mcp_sign_in: {
    subject: 'MCP-сервер {{server}}',
    detail: 'отвечает; каждый пользователь входит сам',
  },
  models_none: {
    subject: 'модели',
    detail:
      'в config.yml нет: сервер использует добавленные на странице, а без них — встроенную демонстрацию',
  },
  model_key_refused: {
    subject: 'модель {{model}}',
    detail: '{{host}} отклоняет ключ API ({{status}})',
    advice: 'Проверьте api_key и переменную окружения, на которую он ссылается.',
  },
  model_ok: { subject: 'модель {{model}}', detail: '{{host}} отвечает' },
  model_silent: {
    subject: 'модель {{model}}',
    detail: '{{host}} не отвечает',
    advice: 'Проверьте api_url и сеть, а для локального провайдера — что он запущен.',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': 'папка данных',
  workspaces: 'рабочие папки',
}
