// Korean texts of refused requests (administration, conversations, runs and the store), by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

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
    '오늘의 채널 메시지 {{limit}}개를 모두 사용했습니다. {{renews_at}}에 갱신됩니다.',
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
  channel_address_refused:
    '이 서버는 {{address}} 주소로 메일을 보내지 않습니다. 허용된 주소를 관리자에게 확인하세요.',
  channel_mail_not_set_up:
    '이 서버는 메일을 보낼 수 없습니다. 관리자에게 `smtp` 설정을 요청하거나 다른 유형의 채널을 선택하세요.',
  channel_name_taken: '‘{{name}}’ 채널이 이미 있습니다.',
  channel_not_found: '그런 채널이 없습니다.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: '‘{{type}}’ 유형의 채널은 없습니다. 다음 중에서 선택하세요: {{types}}.',
  channels_exhausted: '채널은 최대 {{limit}}개까지 가질 수 있습니다. 먼저 하나를 삭제하세요.',
  conversation_not_found: '그런 대화가 없습니다.',
  document_not_found: '그런 문서가 없습니다.',
  document_encoding_fixed:
    '“{{name}}”의 인코딩은 바꿀 수 없습니다. 읽는 중이거나, 인코딩이 확실하거나, 파일이 더 이상 저장되어 있지 않습니다.',
  documents_exhausted:
    '프로젝트에는 문서를 최대 {{limit}}개까지 둘 수 있습니다. 먼저 몇 개를 삭제하세요.',
  export_not_found: '그런 내보내기가 없습니다. 내보내기는 하루 뒤 삭제됩니다.',
  export_not_ready:
    '내보내기가 아직 준비되지 않았습니다. 상태가 `completed`가 될 때까지 기다리세요.',
  export_running: '이미 진행 중인 내보내기가 있습니다. 끝날 때까지 기다리세요.',
  import_invalid: '이 파일에는 완전한 대화가 없습니다({{detail}}).',
  import_not_found: '그런 가져오기가 없습니다.',
  import_running: '이미 진행 중인 가져오기가 있습니다. 끝날 때까지 기다리세요.',
  import_upload_too_large: '가져오기는 최대 {{limit}}까지 가능합니다.',
  memory_too_long: '메모리는 최대 {{limit}}자이며, 이 텍스트는 {{length}}자입니다. 줄여 주세요.',
  message_not_found: '그런 메시지가 없습니다.',
  model_configured: '이 모델은 config.yml에 설정되어 있습니다. 그곳에서 변경하세요.',
  model_id_taken: '같은 ID의 모델이 이미 있습니다.',
  model_key_missing: '제공업체의 URL이 바뀌었습니다. API 키를 다시 입력하세요.',
  model_unknown: '그런 모델이 없습니다.',
  nothing_to_undelete: '되돌릴 수 있는 삭제가 없습니다.',
  outbox_full: '메시지 {{limit}}개가 이미 전송을 기다리고 있습니다. 나중에 다시 시도하세요.',
  recipients_exhausted:
    '채널은 시간당 {{limit}}명에게 보낼 수 있으며 그 한도에 도달했습니다. {{minutes}}분 후 다시 시도하세요.',
  response_item_not_found: '응답 중에 ‘{{id}}’ 항목이 없습니다.',
  response_not_found: '‘{{id}}’ 응답이 없습니다.',
  run_not_found: '그런 답변이 없습니다.',
  share_expired: '공유 만료 시각은 미래여야 합니다.',
  share_guesses_exhausted:
    '이 링크의 비밀번호를 너무 많이 틀렸습니다. 잠시 기다린 뒤 다시 시도하세요.',
  share_not_found: '존재하지 않거나 더 이상 공유되지 않는 링크입니다.',
  share_password_needed: '이 링크에는 비밀번호가 필요합니다(X-Share-Password).',
  share_password_wrong: '이 링크의 비밀번호가 틀렸습니다.',
  share_too_large: '이 대화는 너무 커서 공유할 수 없습니다.',
  share_views_exhausted: '이 네트워크에서 연 공유 대화가 너무 많습니다. 1분 뒤 다시 시도하세요.',
  sharing_off: '이 서버에서는 공유가 꺼져 있습니다.',
  unknown_model: '‘{{model}}’ 모델이 없습니다. 사용 가능: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: '비활성화된 계정입니다. 관리자에게 문의하세요.',
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
  call_decided: '이미 승인했거나 거부한 도구 호출입니다.',
  client_call_unknown:
    '이 결과 앞에 ID가 ‘{{id}}’인 도구 호출이 없습니다. 도구 호출과 결과를 함께 보내세요.',
  client_result_missing: '도구 호출 ‘{{name}}’의 결과가 없습니다. 도구 호출마다 결과를 보내세요.',
  conversation_busy: '이 대화에서 새 답변이 계속 시작되고 있습니다. 다시 시도하세요.',
  conversation_gone: '삭제된 대화입니다.',
  conversation_has_run: '이 대화에서 답변을 만들고 있습니다. 기다리거나 먼저 중지하세요.',
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
  parent_not_an_answer: '`parent_id`는 이 대화의 답변이어야 합니다.',
  programs_exhausted:
    '프로그램은 동시에 최대 {{limit}}개까지 실행할 수 있습니다. 하나가 끝나기를 기다리거나 중지하세요.',
  python_unavailable:
    '여기서는 Python을 실행할 수 없습니다. 이 서버가 제공하지 않거나 이 계정에는 허용되지 않습니다.',
  project_would_be_too_large:
    '프로젝트가 {{size}}이(가) 됩니다. 최대 {{limit}}까지 허용됩니다. 변경을 되돌렸습니다.',
  restore_not_recorded: '파일은 복원했지만 복원 기록을 아직 저장하지 못했습니다.',
  run_completed: '이 답변은 완료되어 계속할 내용이 없습니다.',
  run_continues_soon: '서버가 곧 이 답변을 계속합니다. 잠시 후 다시 시도하세요.',
  run_not_prepared: '답변을 준비할 수 없습니다. 다시 시도하세요.',
  run_not_stored:
    '답변을 저장할 수 없어 여기에서 끝납니다. 메시지를 다시 보내거나 답변을 계속하세요.',
  run_still_active: '이 답변은 아직 진행 중입니다.',
  run_takes_no_decision: '끝난 답변입니다. 결정을 기다리는 도구 호출이 없습니다.',
  run_takes_no_input: '끝난 답변입니다. 입력을 기다리는 도구 호출이 없습니다.',
  run_minutes_used_up: '이 답변은 한도인 {{limit}}분에 도달했습니다. 계속할 수 있습니다.',
  run_tokens_used_up:
    '이 답변은 한도인 {{limit}}토큰에 도달했습니다. 계속하려면 새 메시지를 보내세요.',
  run_without_answer: '답변을 얻지 못했습니다. 다시 시도하세요.',
  runs_exhausted:
    '진행 중인 답변이 이미 {{limit}}개 있습니다. 하나가 끝날 때까지 기다리거나 중지하세요.',
  task_not_found: '그런 백그라운드 작업이 없습니다.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  blobs_unavailable: '지금은 파일 저장소를 사용할 수 없습니다. 잠시 후 다시 시도하세요.',
  cursor_gone: '이 위치가 가리키는 메시지가 삭제되었습니다. 첫 페이지부터 다시 시작하세요.',
  cursor_invalid: '잘못된 위치입니다. 첫 페이지부터 다시 시작하세요.',
  disk_unconfirmed:
    '디스크가 쓰기를 확인하지 않았습니다. 디스크를 확인한 뒤 서버를 다시 시작하세요.',
  search_too_slow: '검색이 너무 오래 걸렸습니다. 범위를 좁혀 다시 시도하세요.',
  store_busy: '데이터베이스가 바쁩니다. 잠시 후 다시 시도하세요.',
  store_closed: '데이터베이스가 닫혀 있습니다.',
  store_file_unusable: '지금은 데이터베이스 파일을 사용할 수 없습니다. 잠시 후 다시 시도하세요.',
  store_full:
    '디스크가 가득 찼습니다. 아무것도 저장되지 않았습니다. 공간을 확보한 뒤 다시 시도하세요.',
  store_locked: '다른 프로그램이 데이터베이스를 잠갔습니다. 잠시 후 다시 시도하세요.',
  store_overloaded: '데이터베이스에 과부하가 걸렸습니다. 잠시 후 다시 시도하세요.',
  store_unanswered: '데이터베이스가 응답하지 않습니다. 잠시 후 다시 시도하세요.',
}
