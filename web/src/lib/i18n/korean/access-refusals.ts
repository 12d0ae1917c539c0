// Korean texts of refused requests (accounts, signing in and malformed requests), by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'

export const access: Record<keyof typeof ACCESS_FAILURES, string> = {
  address_missing: '계정에 이메일 주소가 없습니다. `address`에 주소를 지정하세요.',
  mail_not_sent: '메일을 보내지 못했습니다. 주소를 확인하거나 나중에 다시 시도하세요.',
  mail_not_set_up:
    '이 서버는 메일을 보낼 수 없습니다. 관리자에게 `smtp`와 `public_url` 설정을 요청하세요.',
  mails_exhausted: '메일 요청이 너무 많습니다. 나중에 다시 시도하세요.',
  heir_is_same: '계정을 자기 자신에게 넘길 수 없습니다.',
  heir_missing: '데이터를 받을 계정을 `heir_id`에 지정하세요.',
  mcp_client_not_configured:
    '권한 부여 서버가 클라이언트 등록을 지원하지 않습니다. 관리자가 이 MCP 서버의 `oauth.client_id`를 설정해야 합니다.',
  mcp_not_connected: 'MCP 서버 ‘{{server}}’을(를) 지금 사용할 수 없습니다. 나중에 다시 시도하세요.',
  mcp_prompt_failed: 'MCP 서버 ‘{{server}}’이(가) 이 프롬프트를 반환하지 않았습니다.',
  mcp_resource_empty: 'MCP 서버 ‘{{server}}’의 이 리소스는 비어 있습니다.',
  mcp_resource_failed: 'MCP 서버 ‘{{server}}’이(가) 이 리소스를 반환하지 않았습니다.',
  mcp_headers_missing: 'MCP 서버의 URL이 바뀌었습니다. 헤더를 다시 입력하세요.',
  mcp_server_configured: '이 MCP 서버는 config.yml에 설정되어 있습니다. 그곳에서 변경하세요.',
  mcp_server_name_taken: '같은 이름의 MCP 서버가 이미 있습니다.',
  tool_changed_again: 'MCP 서버가 이 도구를 다시 바꾸었습니다. 설명을 다시 읽은 뒤 수락하세요.',
  mcp_url_missing: 'MCP 서버의 주소를 입력하세요.',
  mcp_server_not_found: '그런 MCP 서버가 없습니다.',
  mcp_sign_in_refused: '‘{{server}}’ 로그인에 실패했거나 거부되었습니다. 다시 시도하세요.',
  mcp_sign_in_unavailable:
    '지금은 ‘{{server}}’에 로그인할 수 없습니다. 권한 부여 서버가 지정되지 않았거나 연결할 수 없습니다.',
  mcp_sign_in_unknown: '이 로그인은 만료되었거나 다른 사용자의 것입니다. 처음부터 다시 하세요.',
  account_gone: '더 이상 존재하지 않는 계정입니다.',
  account_link_invalid:
    '이 링크는 더 이상 작동하지 않습니다. 사용되었거나 만료되었거나 취소되었습니다. 관리자에게 새 링크를 요청하세요.',
  account_not_found: '그런 계정이 없습니다.',
  administrators_only: '관리자만 할 수 있습니다.',
  api_key_invalid: '올바르지 않은 API 키입니다.',
  api_key_expiry_past: '만료 시각이 이미 지났습니다. 더 늦은 시각을 선택하세요.',
  api_key_not_allowed: 'API 키로는 할 수 없습니다. 비밀번호로 로그인하세요.',
  api_key_scope: '이 API 키에는 ‘{{scope}}’ 권한이 없습니다. 그 권한이 있는 키를 사용하세요.',
  api_key_not_found: '그런 API 키가 없습니다.',
  api_keys_exhausted: 'API 키가 이미 {{limit}}개 있습니다. 먼저 하나를 삭제하세요.',
  body_empty: '요청 본문이 비어 있습니다.',
  body_not_json: '요청 본문이 올바른 JSON이 아닙니다.',
  body_too_large: '요청 본문이 이 서버에서 허용하는 크기를 넘습니다.',
  content_length_wrong: '요청 본문의 길이가 Content-Length와 다릅니다.',
  content_type_unsupported: '지원하지 않는 내용 형식입니다. application/json으로 보내세요.',
  email_needs_password:
    '새 비밀번호 링크가 전송되는 주소이므로 이메일 주소를 변경하려면 현재 비밀번호가 필요합니다.',
  current_password_missing: '비밀번호를 변경하려면 현재 비밀번호가 필요합니다.',
  current_password_wrong: '현재 비밀번호가 틀렸습니다.',
  host_refused: '이 호스트 이름으로는 응답하지 않습니다. 이름이 맞으면 trusted_hosts에 추가하세요.',
  host_repeated: '요청에 Host 헤더가 여러 개 있습니다.',
  idempotency_body_gone:
    '이 Idempotency-Key의 요청은 완료되었지만 응답이 너무 커서 다시 보낼 수 없습니다.',
  idempotency_key_invalid: 'Idempotency-Key는 1~{{limit}}자입니다.',
  idempotency_key_reused:
    '이 Idempotency-Key는 다른 요청에 사용되었습니다. 요청마다 새 키를 사용하세요.',
  idempotency_pending:
    '이 Idempotency-Key의 요청을 아직 처리하고 있습니다. 잠시 후 다시 시도하세요.',
  internal: '서버에서 문제가 발생했습니다. 다시 시도하세요. 반복되면 요청 ID로 로그를 찾아보세요.',
  invitation_not_found: '그런 초대가 없습니다.',
  invitation_required: '가입하려면 초대가 필요합니다. 관리자에게 요청하세요.',
  invitations_exhausted: '열린 초대가 이미 {{limit}}개 있습니다. 먼저 몇 개를 취소하세요.',
  json_list_too_long: 'JSON에 항목이 {{entries}}개를 넘는 목록이 있습니다.',
  json_too_many_values: 'JSON에 값이 {{limit}}개를 넘습니다.',
  json_too_deep: 'JSON이 {{levels}}단계보다 깊습니다.',
  last_administrator: '마지막 활성 관리자입니다. 먼저 다른 계정을 관리자로 지정하세요.',
  multipart_broken:
    'multipart 본문을 읽을 수 없습니다. 불완전하거나 구분자가 없거나 구분자가 250자를 넘습니다.',
  multipart_expected: 'multipart/form-data로 보내세요.',
  no_password_in_single_mode: '단일 사용자 모드에는 비밀번호가 없습니다.',
  nothing_here: '존재하지 않는 URL입니다. 경로와 메서드를 확인하세요.',
  origin_refused:
    '다른 출처의 페이지는 이 서버를 호출할 수 없습니다. 출처가 맞으면 cors_origins에 추가하세요.',
  oidc_groups_withheld:
    '그룹이 너무 많아 통합 인증에서 소속 그룹을 알려 주지 않았습니다. 관리자에게 문의하세요.',
  oidc_no_account: '이곳에 계정이 없습니다. 관리자에게 만들어 달라고 요청하세요.',
  oidc_not_allowed: '로그인할 수 있는 그룹에 속해 있지 않습니다. 관리자에게 문의하세요.',
  oidc_refused: '통합 인증이 취소되었거나 거부되었습니다. 다시 시도하세요.',
  oidc_response_invalid:
    '통합 인증에 실패했습니다. 응답을 확인할 수 없습니다. 다시 시도하고, 반복되면 관리자에게 문의하세요.',
  oidc_sign_in_unknown:
    '이 로그인은 만료되었거나 다른 브라우저에서 시작되었습니다. 다시 시도하세요.',
  oidc_unreachable: '통합 인증을 지금 사용할 수 없습니다. 잠시 후 다시 시도하세요.',
  account_without_password:
    '계정 ‘{{name}}’의 소유자는 통합 인증을 사용하므로 비밀번호가 없습니다. 비밀번호 링크를 주면 통합 인증에서 더 이상 허용하지 않아도 로그인할 수 있게 됩니다.',
  password_sign_in_off: '이 서버에서는 비밀번호 로그인이 꺼져 있습니다. 통합 인증을 이용하세요.',
  password_common: '매우 흔한 비밀번호라 바로 추측될 수 있습니다. 다른 비밀번호를 선택하세요.',
  password_is_name:
    '비밀번호는 사용자 이름이나 이메일 주소와 같을 수 없습니다. 다른 비밀번호를 선택하세요.',
  password_changed: '방금 비밀번호가 변경되었습니다. 다시 로그인하세요.',
  registration_closed: '가입이 닫혀 있습니다. 관리자에게 계정을 요청하세요.',
  registrations_exhausted:
    '이 네트워크에서 가입한 계정이 너무 많습니다. 나중에 다시 시도하거나 관리자에게 문의하세요.',
  request_field_invalid: '{{part}}이(가) 올바르지 않습니다: {{detail}}',
  request_invalid: '{{part}}이(가) 올바르지 않습니다.',
  request_refused: '요청이 거부되었습니다.',
  second_factor_unreadable:
    '서버가 인증 앱의 비밀 값을 더 이상 읽을 수 없습니다. 복구 코드나 패스키를 사용하거나 관리자에게 2차 인증 초기화를 요청하세요.',
  share_unreadable:
    '이 공유의 링크는 다른 비밀 키로 암호화되어 더 이상 읽을 수 없습니다. 공유를 중지하고 다시 공유하면 새 링크가 만들어집니다. 또는 운영자에게 키 복원을 요청하세요.',
  secret_unreadable:
    '저장된 비밀 정보를 복호화할 수 없습니다. 다른 키로 암호화되었습니다. 그 키를 복원하거나 비밀 정보를 다시 입력하세요.',
  passkey_invalid: '패스키를 확인할 수 없습니다. 다시 시도하거나 다른 방법으로 로그인하세요.',
  passkey_not_found: '그런 패스키가 없습니다.',
  passkey_unavailable:
    '패스키에는 호스트 이름과 HTTPS 또는 localhost가 필요합니다. public_url을 그런 주소로 설정하세요.',
  passkeys_exhausted: '패스키가 이미 {{limit}}개 있습니다. 먼저 하나를 삭제하세요.',
  second_factor_code_wrong:
    '코드가 틀렸거나 만료되었거나 이미 사용되었습니다. 현재 코드를 입력하세요.',
  second_factor_expired: '이 로그인은 만료되었습니다. 다시 로그인하세요.',
  second_factor_missing: '확인하거나 제거할 인증 앱이 없습니다. 처음부터 다시 하세요.',
  second_factor_refused: '코드 또는 패스키가 틀렸거나 만료되었거나 이미 사용되었습니다.',
  second_factor_required: '비밀번호가 맞습니다. 2차 인증으로 로그인을 확인하세요.',
  second_factor_set: '인증 앱이 이미 설정되어 있습니다. 먼저 제거하세요.',
  session_not_found: '그런 세션이 없습니다.',
  session_ended: '세션이 끝났습니다. 다시 로그인하세요.',
  setup_link_required: '이 서버에는 아직 관리자가 없습니다. 시작할 때 표시된 설정 링크를 여세요.',
  shutting_down: '서버가 다시 시작되고 있습니다. 잠시 후 다시 시도하세요.',
  sign_in_busy: '동시에 로그인하는 사람이 너무 많습니다. 잠시 후 다시 시도하세요.',
  sign_in_required: '먼저 로그인하세요.',
  sign_ins_exhausted: '로그인 실패가 너무 많습니다. 잠시 기다린 뒤 다시 시도하세요.',
  single_user: '이 서버는 단일 사용자 모드로 실행되며 로그인이 필요 없습니다.',
  streams_exhausted: '이벤트 스트림을 동시에 {{limit}}개 열었습니다. 탭이나 연결을 몇 개 닫으세요.',
  too_many_open: '서버가 연 파일과 연결이 너무 많습니다. 잠시 후 다시 시도하세요.',
  url_invalid: '올바르지 않은 URL입니다.',
  url_too_long: 'URL이 너무 깁니다.',
  user_name_taken: '이미 사용 중인 사용자 이름 또는 이메일 주소입니다.',
  wrong_credentials: '사용자 이름 또는 비밀번호가 틀렸습니다.',
  headers_too_large: '요청 헤더가 너무 큽니다.',
  request_timeout: '요청이 도착하는 데 너무 오래 걸렸습니다. 다시 시도하세요.',
  request_malformed: '올바른 HTTP 요청이 아닙니다.',
}
