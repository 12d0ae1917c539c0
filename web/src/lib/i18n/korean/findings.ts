// Korean texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL =
  'bubblewrap을 설치하고(apt-get install bubblewrap) 사용자 네임스페이스를 허용하세요.'
const ONE_BY_ONE = 'JavaScript에서 벡터를 하나씩 비교'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: '{{version}}에서는 테스트하지 않았습니다',
    advice: 'Node 20.19, 22.12, 24 이상을 설치하세요.',
  },
  folder_not_folder: {
    detail: '{{folder}}은(는) 폴더가 아닙니다',
    advice: '다른 곳으로 옮기거나 config.yml에 다른 폴더를 지정하세요.',
  },
  folder_not_writable: {
    detail: '이 사용자는 {{folder}}에 쓸 수 없습니다',
    advice: 'chown 또는 chmod로 권한을 바꾸거나 config.yml에 다른 폴더를 지정하세요.',
  },
  folder_created_later: { detail: '{{folder}}은(는) 나중에 만들어집니다' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: '남은 공간이 {{megabytes}}MB뿐입니다',
    advice: '공간을 확보하세요. 디스크가 가득 차면 저장할 수 없습니다.',
  },
  folder_readable: {
    detail: '이 컴퓨터의 다른 사용자도 읽을 수 있습니다',
    advice: 'chmod 700 {{folder}}',
  },
  page_built: { subject: '페이지', detail: '빌드됨' },
  page_not_built: { subject: '페이지', detail: '빌드되지 않음', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}, 커널로 격리됨' },
  python_wasm: { detail: '{{engine}}, WebAssembly로만 격리됨 {{reason}}', advice: INSTALL },
  shell_off: { detail: 'config.yml에서 꺼져 있음(tools.exec.enabled)' },
  shell_network_broken: {
    detail: 'tools.exec.network를 여기서는 사용할 수 없어 서버가 시작되지 않습니다',
    advice: '{{advice}}',
  },
  shell_internet: { detail: '켜짐, 커널로 격리됨, 인터넷만 연결 가능' },
  shell_host_network: {
    detail:
      '켜짐, 커널로 격리되었지만 호스트 네트워크를 사용합니다. 명령이 이 서버와 그 주변 전체에 연결할 수 있습니다',
    advice: 'tools.exec.network를 true(인터넷만) 또는 false로 설정하세요.',
  },
  shell_kernel: { detail: '켜짐, 커널로 격리됨' },
  shell_not_isolated: { detail: '켜졌지만 격리되지 않음: {{reason}}', advice: INSTALL },
  database_created_later: {
    subject: '데이터베이스',
    detail: 'SQLite, 처음 시작할 때 만들어집니다: {{file}}',
  },
  database_used: { subject: '데이터베이스', detail: '{{location}}; 서버가 사용 중' },
  database_unused: { subject: '데이터베이스', detail: '{{location}}; 사용 중인 서버 없음' },
  tables_none: { subject: '테이블', detail: '아직 없음: 처음 시작할 때 만들어집니다' },
  tables_old: {
    subject: '테이블',
    detail: '이전 버전의 테이블: 마이그레이션 {{count}}개가 남아 있음',
    advice: '다음에 시작할 때 실행됩니다. 먼저 `nanoclaw backup`을 실행하세요.',
  },
  sqlite_broken: {
    subject: '데이터베이스',
    detail: '{{reason}}',
    advice:
      'db_sqlite_file과 그 권한을 확인하세요. `nanoclaw restore <파일>`로 백업을 복원할 수 있습니다.',
  },
  postgres_broken: {
    subject: '데이터베이스',
    detail: '{{reason}}',
    advice:
      'db_host, db_port, db_user, db_password, db_name(또는 database_url)과 데이터베이스 서버가 실행 중인지 확인하세요.',
  },
  blobs_ok: { subject: '첨부 파일', detail: '{{count}}개, 모두 정상' },
  blobs_missing: {
    subject: '첨부 파일',
    detail: '{{folder}}에 {{count}}개 중 {{missing}}개가 없습니다: {{named}}',
    advice: '백업의 `files` 폴더에서 복사하세요. 그때까지 이 첨부 파일은 열 수 없습니다.',
  },
  blobs_unknown: { subject: '첨부 파일', detail: '{{reason}}' },
  projects_ok: { subject: '프로젝트', detail: '파일이 있는 {{count}}개 모두 폴더가 있음' },
  projects_missing: {
    subject: '프로젝트',
    detail: '{{count}}개 중 {{missing}}개의 폴더가 {{folder}}에 없음: {{named}}',
    advice: 'workspace_root를 확인하거나 프로젝트가 포함된 백업을 복원하세요.',
  },
  projects_unknown: { subject: '프로젝트', detail: '{{reason}}' },
  secrets_ok: { subject: '저장된 비밀 값', detail: '{{count}}개를 확인했고 모두 열 수 있음' },
  secrets_unreadable: {
    subject: '저장된 비밀 값',
    detail: '비밀 키로 열 수 없는 항목이 있음: {{kinds}}',
    advice:
      '백업의 키를 data_dir의 secret.key에 추가하거나(한 줄에 하나씩 여러 개 가능) NANOCLAW_SECRET_KEY로 지정하세요.',
  },
  secrets_unknown: { subject: '저장된 비밀 값', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}}이(가) 응답합니다' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}}이(가) 응답하지 않습니다({{reason}})',
    advice:
      'Redis를 시작하거나 redis_url을 수정하세요. 그때까지 각 인스턴스는 제한을 따로 계산하고, 다른 인스턴스의 답변은 데이터베이스에서 읽습니다.',
  },
  registration_open: {
    subject: '가입',
    detail: '{{host}}에 접속할 수 있는 사람은 누구나 계정을 만들고 모델을 사용할 수 있습니다',
    advice:
      '의도한 것이 아니라면 config.yml 또는 관리 → 서버에서 registration: invite(또는 closed)로 설정하세요.',
  },
  embeddings_ok: { subject: '임베딩', detail: '{{host}} 응답함, {{dimensions}}차원' },
  embeddings_broken: {
    subject: '임베딩',
    detail: '{{host}}에서 벡터를 돌려주지 않았습니다({{reason}})',
    advice: 'embeddings.api_url, api_key, model을 확인하세요. 그때까지는 단어로만 검색합니다.',
  },
  vectors_ok: { subject: '벡터 검색', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: '벡터 검색',
    detail: ONE_BY_ONE,
    advice: '이 PostgreSQL에 pgvector 확장을 설치하고 사용자가 만들 수 있게 허용하세요.',
  },
  vectors_without_sqlite_vec: {
    subject: '벡터 검색',
    detail: ONE_BY_ONE,
    advice: '--omit=optional 없이 `npm ci`를 실행하세요. sqlite-vec는 두 배 빠릅니다.',
  },
  vectors_unknown: {
    subject: '벡터 검색',
    detail: '확인하지 못함: 데이터베이스가 응답하지 않습니다',
    advice: '먼저 데이터베이스 문제를 해결하세요.',
  },
  copies: {
    subject: '교체된 항목의 사본',
    detail: '{{count}}개, 만든 지 {{days}}일 후 삭제됨: {{names}}',
  },
  copies_kept: {
    subject: '교체된 항목의 사본',
    detail: '{{count}}개, 직접 삭제할 때까지 보관됨: {{names}}',
  },
  installation_later: { subject: '설치', detail: '다음에 시작할 때 폴더가 표시됩니다' },
  installation_differs: { subject: '설치', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: { subject: '설치', detail: '폴더가 이 데이터베이스에 속합니다' },
  installation_unknown: { subject: '설치', detail: '{{reason}}' },
  bucket_broken: {
    subject: '첨부 파일',
    detail: '{{host}}의 버킷 {{bucket}}을(를) 사용할 수 없습니다: {{reason}}',
    advice:
      's3.endpoint, bucket, region과 두 키를 확인하세요. 그때까지는 파일을 첨부하거나 열 수 없습니다.',
  },
  mail_broken: {
    subject: '메일 서버',
    detail: '{{host}}: {{reason}}',
    advice: 'smtp.host, port, user, password를 확인하세요. 그때까지는 메일이 전송되지 않습니다.',
  },
  mail_certificate: {
    subject: '메일 서버',
    detail: '{{host}}: {{reason}}',
    advice:
      '이 컴퓨터가 신뢰하는 인증서를 메일 서버에 설치하거나, NODE_EXTRA_CA_CERTS에 인증서 파일을 지정하고 다시 시작하세요.',
  },
  mail_ok: { subject: '메일 서버', detail: '{{host}}이(가) 응답합니다' },
  mcp_broken: {
    subject: 'MCP 서버 {{server}}',
    detail: '{{reason}}',
    advice: '설정을 확인하세요. 그때까지는 도구를 호출할 수 없습니다.',
  },
  mcp_broken_output: {
    subject: 'MCP 서버 {{server}}',
    detail: '{{reason}}',
    advice: '프로그램의 마지막 출력: {{output}}',
  },
  mcp_connecting: {
    subject: 'MCP 서버 {{server}}',
    detail: '아직 시작 중입니다. 첫 시작은 몇 분이 걸릴 수 있습니다',
  },
  mcp_ok: { subject: 'MCP 서버 {{server}}', detail: '응답합니다. 도구: {{tools}}' },
  mcp_sign_in: { subject: 'MCP 서버 {{server}}', detail: '응답합니다. 사용자마다 로그인합니다' },
  models_none: {
    subject: '모델',
    detail: 'config.yml에 없음: 페이지에서 추가한 모델을, 없으면 내장 데모를 사용합니다',
  },
  model_key_refused: {
    subject: '모델 {{model}}',
    detail: '{{host}}에서 API 키를 거부했습니다({{status}})',
    advice: 'api_key와 그것이 가리키는 환경 변수를 확인하세요.',
  },
  model_ok: { subject: '모델 {{model}}', detail: '{{host}} 응답함' },
  model_silent: {
    subject: '모델 {{model}}',
    detail: '{{host}} 응답 없음',
    advice: 'api_url과 네트워크를 확인하고, 로컬 제공업체라면 실행 중인지 확인하세요.',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': '데이터 폴더',
  workspaces: '작업 공간',
}
