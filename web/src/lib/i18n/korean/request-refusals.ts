// Why requests are refused: access, administration, conversations and runs, in Korean, by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const access: Texts<typeof ACCESS_FAILURES> = {
  address_missing: '계정에 이메일 주소가 없습니다. `address`에 주소를 지정하세요.',
  mail_not_sent: '메일을 보내지 못했습니다. 주소를 확인하거나 나중에 다시 시도하세요.',
  mail_not_set_up:
    '이 서버는 메일을 보낼 수 없습니다. 설정에 `smtp`와 `public_url`이 필요합니다. 관리자에게 문의하세요.',
  mails_exhausted: '메일 요청이 너무 많습니다. 나중에 다시 시도하세요.',
  heir_is_same: '계정을 자기 자신에게 넘길 수 없습니다.',
  heir_missing: '데이터를 받을 계정을 heir_id에 지정하세요.',
  mcp_client_not_configured:
    '인증 서버가 클라이언트 등록을 지원하지 않습니다. 관리자가 이 MCP 서버의 oauth.client_id를 설정해야 합니다.',
  mcp_not_connected: 'MCP 서버 ‘{{server}}’을(를) 지금 사용할 수 없습니다. 다시 시도하세요.',
  mcp_prompt_failed: 'MCP 서버 ‘{{server}}’이(가) 이 프롬프트를 반환하지 않았습니다.',
  mcp_resource_empty: 'MCP 서버 ‘{{server}}’의 이 리소스는 비어 있습니다.',
  mcp_resource_failed: 'MCP 서버 ‘{{server}}’이(가) 이 리소스를 반환하지 않았습니다.',
  mcp_headers_missing: 'MCP 서버의 주소를 바꿨으므로 헤더도 입력하세요.',
  mcp_server_configured: '이 MCP 서버는 config.yml에 설정되어 있습니다. 그곳에서 변경하세요.',
  mcp_server_name_taken: '같은 이름의 MCP 서버가 이미 있습니다.',
  mcp_url_missing: 'MCP 서버의 주소를 입력하세요.',
  mcp_server_not_found: '그런 MCP 서버가 없습니다.',
  mcp_sign_in_refused: '‘{{server}}’ 로그인에 실패했거나 거부되었습니다. 다시 시도하세요.',
  mcp_sign_in_unavailable:
    '지금은 ‘{{server}}’에 로그인할 수 없습니다. 인증 서버가 지정되지 않았거나 연결할 수 없습니다.',
  mcp_sign_in_unknown: '이 로그인은 끝났거나 다른 사람이 시작했습니다. 처음부터 다시 하세요.',
  account_gone: '더 이상 존재하지 않는 계정입니다.',
  account_link_invalid:
    '이 링크는 더 이상 작동하지 않습니다. 사용되었거나 만료되었거나 취소되었습니다. 관리자에게 새 링크를 요청하세요.',
  account_not_found: '그런 계정이 없습니다.',
  administrators_only: '관리자만 할 수 있습니다.',
  api_key_invalid: '올바르지 않은 API 키입니다.',
  api_key_expiry_past: '키가 이미 만료된 상태가 됩니다.',
  api_key_not_allowed: 'API 키로는 할 수 없습니다. 비밀번호로 로그인하세요.',
  api_key_scope: '이 API 키에는 ‘{{scope}}’ 권한이 없어 할 수 없습니다. 다른 키를 사용하세요.',
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
  json_too_deep: 'JSON이 {{levels}}단계보다 깊습니다.',
  last_administrator: '마지막 활성 관리자입니다.',
  multipart_broken:
    'multipart 본문을 읽을 수 없습니다. 중간에 끝났거나 구분자가 없거나 250자를 넘습니다.',
  multipart_expected: 'multipart/form-data로 보내세요.',
  no_password_in_single_mode: '단일 사용자 모드에는 비밀번호가 없습니다.',
  nothing_here: '이 주소에는 아무것도 없습니다.',
  origin_refused:
    '다른 출처의 페이지는 이 서버를 호출할 수 없습니다. 출처가 맞으면 cors_origins에 추가하세요.',
  oidc_groups_withheld:
    '그룹이 너무 많아 통합 인증에서 소속 그룹을 알려 주지 않았습니다. 관리자에게 문의하세요.',
  oidc_no_account: '이곳에 계정이 없습니다. 관리자에게 만들어 달라고 요청하세요.',
  oidc_not_allowed: '로그인할 수 있는 그룹에 속해 있지 않습니다. 관리자에게 문의하세요.',
  oidc_refused: '통합 인증이 취소되었거나 거부되었습니다. 다시 시도하세요.',
  oidc_response_invalid:
    '통합 인증에 실패했습니다. 응답을 신뢰할 수 없습니다. 다시 시도하고, 반복되면 관리자에게 알리세요.',
  oidc_sign_in_unknown:
    '로그인에 시간이 너무 오래 걸렸거나 다른 브라우저에서 시작했습니다. 다시 시도하세요.',
  oidc_unreachable: '통합 인증을 지금 사용할 수 없습니다. 잠시 후 다시 시도하세요.',
  password_sign_in_off: '이 서버에서는 비밀번호를 사용하지 않습니다. 통합 인증을 이용하세요.',
  password_common: '매우 흔한 비밀번호라 바로 추측될 수 있습니다. 다른 비밀번호를 선택하세요.',
  password_is_name:
    '비밀번호는 사용자 이름이나 이메일 주소와 같을 수 없습니다. 다른 비밀번호를 선택하세요.',
  password_changed: '방금 비밀번호가 변경되었습니다. 다시 로그인하세요.',
  registration_closed: '가입이 닫혀 있습니다. 관리자에게 계정을 요청하세요.',
  registrations_exhausted:
    '이 주소에서 가입한 계정이 너무 많습니다. 나중에 다시 시도하거나 관리자에게 문의하세요.',
  request_field_invalid: '{{part}}이(가) 올바르지 않습니다: {{detail}}',
  request_invalid: '{{part}}이(가) 올바르지 않습니다.',
  request_refused: '요청이 거부되었습니다.',
  secret_unreadable:
    '저장된 비밀 정보를 읽을 수 없습니다. 다른 키로 저장되었습니다. 그 키를 복원하거나 비밀 정보를 다시 입력하세요.',
  passkey_invalid: '패스키를 확인할 수 없습니다. 다시 시도하거나 다른 방법으로 로그인하세요.',
  passkey_not_found: '그런 패스키가 없습니다.',
  passkey_unavailable:
    '패스키에는 호스트 이름과 HTTPS 또는 localhost가 필요합니다. public_url을 그런 주소로 설정하세요.',
  passkeys_exhausted: '패스키가 이미 {{limit}}개 있습니다. 먼저 하나를 삭제하세요.',
  second_factor_code_wrong:
    '코드가 틀렸거나 만료되었거나 이미 사용되었습니다. 현재 코드를 입력하세요.',
  second_factor_expired: '시간이 너무 오래 걸렸습니다. 처음부터 다시 로그인하세요.',
  second_factor_missing: '확인하거나 제거할 항목이 없습니다. 처음부터 다시 하세요.',
  second_factor_refused: '코드 또는 패스키가 틀렸거나 만료되었거나 이미 사용되었습니다.',
  second_factor_required: '비밀번호가 맞습니다. 2차 인증으로 로그인을 확인하세요.',
  second_factor_set: '인증 앱이 이미 설정되어 있습니다. 먼저 제거하세요.',
  session_not_found: '그런 세션이 없습니다.',
  session_ended: '세션이 끝났습니다. 다시 로그인하세요.',
  setup_link_required: '이 서버에는 아직 관리자가 없습니다. 시작할 때 표시된 설정 링크를 여세요.',
  shutting_down: '서버가 곧 다시 시작됩니다. 잠시 후 다시 시도하세요.',
  sign_in_busy: '동시에 로그인하는 사람이 너무 많습니다. 잠시 후 다시 시도하세요.',
  sign_in_required: '먼저 로그인하세요.',
  sign_ins_exhausted: '로그인 실패가 너무 많습니다. 잠시 기다린 뒤 다시 시도하세요.',
  single_user: '이 서버는 사용자가 한 명이라 로그인이 필요 없습니다.',
  streams_exhausted: '이벤트 스트림을 동시에 {{limit}}개 열었습니다. 탭이나 연결을 몇 개 닫으세요.',
  too_many_open: '서버가 연 파일과 연결이 너무 많습니다. 잠시 후 다시 시도하세요.',
  url_invalid: '올바르지 않은 URL입니다.',
  url_too_long: 'URL이 너무 깁니다.',
  user_name_taken: '이미 사용 중인 사용자 이름 또는 이메일 주소입니다.',
  wrong_credentials: '사용자 이름 또는 비밀번호가 틀렸습니다.',
  headers_too_large: '요청 헤더가 너무 큽니다.',
  request_timeout: '요청이 도착하는 데 너무 오래 걸렸습니다.',
  request_malformed: '올바른 HTTP 요청이 아닙니다.',
}

export const administration: Texts<typeof ADMINISTRATION_FAILURES> = {
  approval_mode_not_permitted:
    '소속 그룹에서는 승인 모드 ‘{{mode}}’을(를) 사용할 수 없습니다. 다른 모드를 선택하세요: {{available}}.',
  cost_per_day_used_up:
    '오늘의 예산 {{limit}}을(를) 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
  cost_per_month_used_up:
    '이달의 예산 {{limit}}을(를) 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
  group_cost_used_up:
    '그룹 ‘{{group}}’이(가) 함께 쓰는 예산 {{limit}}을(를) 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
  group_member_not_found: '이 계정은 그룹에 없습니다.',
  group_name_taken: '같은 이름의 그룹이 이미 있습니다.',
  group_not_found: '그런 그룹이 없습니다.',
  group_tokens_used_up:
    '그룹 ‘{{group}}’이(가) 함께 쓰는 {{limit}}토큰을 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
  groups_exhausted: '그룹이 이미 {{limit}}개 있습니다. 먼저 하나를 삭제하세요.',
  messages_per_day_used_up:
    '오늘의 메시지 {{limit}}개를 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
  model_not_permitted:
    '소속 그룹에서는 모델 ‘{{model}}’을(를) 사용할 수 없습니다. 다른 모델을 선택하세요: {{available}}.',
  no_model_permitted: '소속 그룹에서는 이 서버의 모델을 사용할 수 없습니다. 관리자에게 문의하세요.',
  own_account_stays: '자신의 계정은 삭제할 수 없습니다. 다른 관리자에게 요청하세요.',
  program_seconds_used_up:
    '오늘의 프로그램 실행 시간 {{limit}}초를 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
  requests_exhausted:
    '1분에 {{limit}}개의 요청을 보낼 수 있습니다. {{seconds}}초 후 다시 시도하세요.',
  tokens_per_day_used_up: '오늘의 {{limit}}토큰을 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
  tokens_per_month_used_up: '이달의 {{limit}}토큰을 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
}

export const conversations: Texts<typeof CONVERSATION_FAILURES> = {
  webhook_not_found: '그런 웹훅이 없습니다.',
  webhook_tests_exhausted:
    '테스트는 시간당 {{limit}}번 보낼 수 있으며 그 한도에 도달했습니다. 나중에 다시 시도하세요.',
  webhooks_exhausted: '웹훅은 최대 {{limit}}개까지 가질 수 있습니다. 먼저 하나를 삭제하세요.',
  attachment_not_found: '그런 첨부 파일이 없습니다.',
  channel_name_taken: '‘{{name}}’ 채널이 이미 있습니다.',
  channel_not_found: '그런 채널이 없습니다.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: '‘{{type}}’ 유형의 채널은 없습니다. 다음 중에서 선택하세요: {{types}}.',
  channels_exhausted: '채널은 최대 {{limit}}개까지 가질 수 있습니다. 먼저 하나를 삭제하세요.',
  conversation_not_found: '그런 대화가 없습니다.',
  document_not_found: '그런 문서가 없습니다.',
  documents_exhausted:
    '프로젝트에는 문서를 최대 {{limit}}개까지 둘 수 있습니다. 먼저 몇 개를 삭제하세요.',
  export_not_found: '그런 내보내기가 없습니다. 내보내기는 하루 뒤 삭제됩니다.',
  export_not_ready: '내보내기가 아직 준비되지 않았습니다. 상태가 completed가 될 때까지 기다리세요.',
  export_running: '이미 진행 중인 내보내기가 있습니다. 끝날 때까지 기다리세요.',
  import_invalid: '이 파일에는 완전한 대화가 없습니다({{detail}}).',
  import_not_found: '그런 가져오기가 없습니다.',
  import_running: '이미 진행 중인 가져오기가 있습니다. 끝날 때까지 기다리세요.',
  import_upload_too_large: '가져오기는 최대 {{limit}}까지 가능합니다.',
  memory_too_long: '메모리는 최대 {{limit}}자이며, 이 텍스트는 {{length}}자입니다.',
  message_not_found: '그런 메시지가 없습니다.',
  model_configured: '이 모델은 config.yml에 설정되어 있습니다. 그곳에서 변경하세요.',
  model_id_taken: '같은 ID의 모델이 이미 있습니다.',
  model_key_missing: '제공업체의 주소를 바꿨으므로 API 키도 입력하세요.',
  model_unknown: '그런 모델이 없습니다.',
  nothing_to_undelete: '되돌릴 수 있는 삭제가 없습니다.',
  outbox_full: '메시지 {{limit}}개가 이미 전송을 기다리고 있습니다. 나중에 다시 시도하세요.',
  recipients_exhausted:
    '채널은 시간당 {{limit}}명에게 보낼 수 있으며 그 한도에 도달했습니다. {{minutes}}분 후 다시 시도하세요.',
  response_item_not_found: '응답 중에 ‘{{id}}’ 항목이 없습니다.',
  response_not_found: '‘{{id}}’ 응답이 없습니다.',
  run_not_found: '그런 실행이 없습니다.',
  share_expired: '공유 만료 시각은 미래여야 합니다.',
  share_guesses_exhausted:
    '이 링크의 비밀번호를 너무 많이 틀렸습니다. 잠시 기다린 뒤 다시 시도하세요.',
  share_not_found: '이 링크에 공유된 내용이 없습니다.',
  share_password_needed: '이 링크에는 비밀번호가 필요합니다(X-Share-Password).',
  share_password_wrong: '이 링크의 비밀번호가 틀렸습니다.',
  share_too_large: '이 대화는 너무 커서 공유할 수 없습니다.',
  share_views_exhausted: '이 네트워크에서 연 공유 대화가 너무 많습니다. 1분 뒤 다시 시도하세요.',
  sharing_off: '이 서버에서는 공유가 꺼져 있습니다.',
  unknown_model: '‘{{model}}’ 모델이 없습니다. 사용 가능: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: '비활성화된 계정입니다.',
  answer_without_question: '이 답변에 해당하는 메시지가 없어 다시 생성할 수 없습니다.',
  approval_not_found: '이 id_ref로 대기 중인 승인 요청이 없습니다.',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    '이 모델은 이미지를 받지 않아 ‘{{name}}’을(를) 첨부할 수 없습니다. 이미지를 인식하는 모델을 선택하세요.',
  attachment_not_image: '‘{{name}}’은(는) {{type}} 형식의 이미지가 아닙니다.',
  attachment_not_text:
    '‘{{name}}’은(는) 텍스트 파일이 아닙니다. 텍스트 또는 PNG, JPEG, WebP, GIF 이미지를 첨부하세요.',
  attachments_too_large:
    '첨부 파일의 전체 크기는 {{size}}이며 최대 {{limit}}까지 허용됩니다. 파일 수나 크기를 줄이세요.',
  background_tasks_exhausted:
    '백그라운드 작업이 이미 {{limit}}개 실행 중입니다. 하나가 끝날 때까지 기다리세요.',
  call_decided: '이미 처리된 호출입니다.',
  client_call_unknown: '결과 앞에 ID가 ‘{{id}}’인 호출이 없습니다. 호출과 결과를 함께 보내세요.',
  client_result_missing: '‘{{name}}’ 호출의 결과가 없습니다. 도구 호출마다 결과를 보내세요.',
  conversation_busy: '이 대화에서 새 실행이 계속 시작되고 있습니다. 다시 시도하세요.',
  conversation_gone: '삭제된 대화입니다.',
  conversation_has_run: '이 대화에 이미 진행 중인 실행이 있습니다. 기다리거나 먼저 중지하세요.',
  image_not_data_url:
    '이미지를 데이터 URL로 보내세요: data:image/png;base64,…(PNG, JPEG, WebP, GIF).',
  input_answered: '이미 답한 질문입니다.',
  input_content_invalid: '{{detail}}',
  input_not_found: '이 id_ref로 입력을 기다리는 MCP 서버가 없습니다.',
  message_too_long: '메시지가 {{length}}자입니다. 최대 {{limit}}자까지 허용됩니다.',
  nothing_to_answer: '답할 내용이 없습니다. 마지막은 사용자의 메시지나 도구의 결과여야 합니다.',
  only_own_messages_editable: '자신의 메시지만 편집할 수 있습니다.',
  only_answers_revisable: '이 방법으로는 답변의 텍스트만 바꿀 수 있습니다.',
  answer_not_finished: '답변을 아직 쓰고 있습니다. 기다리거나 먼저 중지하세요.',
  parent_gone: '이 메시지가 속한 메시지가 그 사이 삭제되었습니다.',
  parent_not_an_answer: '‘parent_id’는 이 대화의 답변이어야 합니다.',
  project_would_be_too_large:
    '프로젝트가 {{size}}이(가) 됩니다. 최대 {{limit}}까지 허용됩니다. 변경을 되돌렸습니다.',
  restore_not_recorded: '파일은 복원했지만 복원 기록을 아직 저장하지 못했습니다.',
  run_completed: '이 실행은 완료되어 계속할 내용이 없습니다.',
  run_continues_soon: '서버가 곧 이 실행을 계속합니다. 잠시 후 다시 시도하세요.',
  run_not_prepared: '답변을 준비할 수 없습니다. 다시 시도하세요.',
  run_not_stored: '답변을 저장할 수 없어 여기에서 끝납니다. 다시 질문하거나 계속하세요.',
  run_still_active: '이 실행은 아직 진행 중입니다.',
  run_takes_no_decision: '끝난 실행입니다. 결정을 기다리는 호출이 없습니다.',
  run_takes_no_input: '끝난 실행입니다. 입력을 기다리는 호출이 없습니다.',
  run_minutes_used_up: '답변은 {{limit}}분이 지나면 끝납니다. 계속하게 할 수 있습니다.',
  run_tokens_used_up:
    '답변 하나에 쓸 수 있는 토큰 {{limit}}개를 모두 썼습니다. 나머지는 새 메시지로 요청하세요.',
  run_without_answer: '실행이 답변 없이 끝났습니다.',
  runs_exhausted:
    '진행 중인 실행이 이미 {{limit}}개 있습니다. 하나가 끝날 때까지 기다리거나 중지하세요.',
  task_not_found: '그런 작업이 없습니다.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  cursor_gone: '이 위치가 가리키는 메시지가 삭제되었습니다. 첫 페이지부터 다시 시작하세요.',
  cursor_invalid: '잘못된 위치입니다. 첫 페이지부터 다시 시작하세요.',
  disk_unconfirmed:
    '디스크가 쓰기를 확인하지 않았습니다. 디스크를 확인한 뒤 서버를 다시 시작하세요.',
  search_too_slow: '검색이 너무 오래 걸렸습니다. 범위를 좁혀 다시 시도하세요.',
  store_busy: '데이터베이스가 바쁩니다. 곧 다시 시도하세요.',
  store_closed: '데이터베이스가 닫혀 있습니다.',
  store_file_unusable: '지금은 데이터베이스 파일을 사용할 수 없습니다.',
  store_full:
    '디스크가 가득 찼습니다. 아무것도 저장되지 않았습니다. 공간을 확보한 뒤 다시 시도하세요.',
  store_locked: '다른 프로그램이 데이터베이스를 잠갔습니다. 곧 다시 시도하세요.',
  store_overloaded: '데이터베이스의 작업이 너무 많습니다. 곧 다시 시도하세요.',
  store_unanswered: '데이터베이스가 응답하지 않습니다. 곧 다시 시도하세요.',
}
