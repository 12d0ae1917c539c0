// Korean texts of failures (files, models, documents, deliveries, MCP servers and imports), by the protocol's reasons.
import type { FILE_FAILURES } from '../../../../../server/protocol/failures/files.ts'
import type { MODEL_FAILURES } from '../../../../../server/protocol/failures/models.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const files: Texts<typeof FILE_FAILURES> = {
  binary_file: '‘{{path}}’은(는) 바이너리 파일({{kind}}, {{size}})이라 텍스트로 읽을 수 없습니다.',
  checkpoint_not_found: '그런 상태가 없습니다.',
  content_expired:
    '‘{{path}}’의 이전 내용이 더 이상 저장되어 있지 않아 이 상태로 복원할 수 없습니다.',
  disk_full:
    '디스크가 가득 찼습니다. 아무것도 변경되지 않았습니다. 공간을 확보한 뒤 다시 시도하세요.',
  edit_failed: '{{detail}}',
  encoding_mismatch:
    '‘{{path}}’은(는) 올바른 {{encoding}}이(가) 아닙니다. 다른 인코딩을 시도하세요.',
  encoding_not_writable:
    '‘{{path}}’의 인코딩 {{encoding}}(으)로는 이 텍스트를 표현할 수 없습니다. 파일 전체를 UTF-8로 쓰세요.',
  encoding_unknown:
    '알 수 없는 인코딩 ‘{{encoding}}’. utf-8, utf-16le, gb18030, shift_jis, windows-1252를 시도하세요.',
  file_access_denied: '서버에 ‘{{path}}’에 대한 권한이 없습니다.',
  file_changed_meanwhile:
    '그 사이 다른 사람이 ‘{{path}}’을(를) 변경했습니다. 다시 읽은 뒤 변경하세요.',
  file_changed_while_read: '읽는 동안 ‘{{path}}’이(가) 변경되었습니다. 다시 시도하세요.',
  file_content_missing: '이 파일의 내용이 서버에 없습니다. 관리자가 백업에서 복원할 수 있습니다.',
  file_created_meanwhile: '파일 ‘{{path}}’이(가) 이미 있습니다. 읽은 뒤 변경하세요.',
  file_deleted_meanwhile:
    '그 사이 다른 사람이 ‘{{path}}’을(를) 삭제했습니다. 어떤 파일이 있는지 확인한 뒤 변경하세요.',
  file_exists: '‘{{path}}’이(가) 이미 있거나 폴더입니다.',
  file_in_the_way: '‘{{path}}’은(는) 파일이라 폴더로 바꿀 수 없습니다.',
  file_id_unknown: '그런 파일이 없습니다.',
  file_name_too_long: '‘{{path}}’의 이름이 너무 깁니다.',
  file_not_found: '파일 또는 폴더 ‘{{path}}’이(가) 없습니다.',
  file_removed_while_written: '쓰는 동안 ‘{{path}}’이(가) 제거되었습니다. 다시 시도하세요.',
  file_replaced:
    '사용 중에 ‘{{path}}’이(가) 교체되었습니다. 변경된 것은 없습니다. 다시 시도하세요.',
  file_too_large: '‘{{path}}’의 크기는 {{size}}이며 최대 {{limit}}까지 읽을 수 있습니다.',
  file_too_large_to_write:
    '‘{{path}}’의 크기가 {{size}}이(가) 되며 최대 {{limit}}까지 쓸 수 있습니다.',
  file_type_unsupported:
    '‘{{name}}’은(는) 첨부할 수 없습니다. 이미지(PNG, JPEG, WebP, GIF), PDF, DOCX, XLSX, PPTX 문서 또는 텍스트를 첨부하세요.',
  file_unusable: '‘{{path}}’에 접근할 수 없습니다.',
  file_upload_too_large: '파일은 최대 {{limit}}까지 가능합니다.',
  file_thumbnail_missing:
    '‘{{name}}’은(는) 이미지가 아니어서 미리 보기 이미지가 없습니다. 파일 자체를 받으려면 `thumb`를 빼세요.',
  file_used: '메시지에서 이 파일을 사용하고 있습니다. 먼저 메시지를 삭제하세요.',
  file_would_be_too_large: '‘{{path}}’이(가) 너무 커집니다.',
  file_missing: '`file` 필드에 파일 하나를 보내세요.',
  files_missing: '`files[]` 필드에 파일을 하나 이상 보내세요.',
  folder_exists: '폴더 ‘{{path}}’이(가) 이미 있습니다.',
  folder_in_the_way:
    '폴더 ‘{{path}}’에 이 상태가 모르는 파일이 있어 같은 이름의 파일을 복원할 수 없습니다.',
  folder_into_itself: '폴더를 자기 자신 안으로 옮길 수 없습니다.',
  folder_takes_no_file: '‘{{path}}’은(는) 폴더라 파일로 바꿀 수 없습니다.',
  glob_too_complex: '패턴의 중괄호에 선택지가 너무 많습니다. 패턴을 단순하게 바꾸세요.',
  glob_too_long: '패턴은 최대 {{limit}}자입니다.',
  image_unreadable:
    '‘{{name}}’을(를) 이미지로 읽을 수 없습니다. 손상되었거나 픽셀이 너무 많거나 지원하지 않는 형식입니다.',
  link_refused:
    '‘{{path}}’은(는) 심볼릭 링크이거나 그것을 거칩니다. 프로젝트에서는 링크를 따라가지 않습니다.',
  names_collide: '‘{{path}}’이(가) 이 디스크에서 같은 이름으로 취급되는 다른 파일과 충돌합니다.',
  not_a_file: '‘{{path}}’은(는) 파일이 아니라 폴더입니다.',
  not_a_regular_file: '‘{{path}}’은(는) 일반 파일이 아니라 장치, 파이프 또는 소켓입니다.',
  old_name_taken:
    '폴더 ‘{{path}}’의 이전 이름은 ‘{{old}}’이지만 지금은 다른 것이 그 이름을 쓰고 있습니다. 그것을 옮긴 뒤 다시 복원하세요.',
  path_escapes:
    '경로가 프로젝트를 벗어납니다. ‘src/main.py’처럼 프로젝트 폴더 기준의 경로를 사용하세요.',
  path_has_backslashes: '허용되지 않는 경로입니다. 폴더는 ‘\\’가 아니라 ‘/’로 구분하세요.',
  path_has_invisible_characters:
    '허용되지 않는 경로입니다. 제어 문자나 보이지 않는 문자가 있습니다.',
  path_is_project: '허용되지 않는 경로입니다. 프로젝트 폴더 자체를 가리킵니다.',
  path_name_too_long: '허용되지 않는 경로입니다. 너무 긴 이름이 있습니다.',
  path_not_unicode: '허용되지 않는 경로입니다. 올바른 유니코드가 아닙니다.',
  path_taken: '이름이 ‘{{path}}’인 파일이나 폴더가 이미 있습니다.',
  path_through_file: '‘{{path}}’이(가) 없습니다. 경로의 일부가 폴더가 아닙니다.',
  path_too_deep: '허용되지 않는 경로입니다. 폴더가 {{limit}}단계보다 깊습니다.',
  path_too_long: '허용되지 않는 경로입니다. 너무 깁니다.',
  project_busy: '이 프로젝트에서 다른 변경이 진행 중입니다. 변경된 것은 없습니다. 다시 시도하세요.',
  project_deleted: '삭제된 프로젝트입니다. 변경된 것은 없으며 더 이상 변경할 수 없습니다.',
  project_deleted_during_run:
    '답변하는 동안 이 대화의 프로젝트가 삭제되어 답변이 여기에서 끝납니다. 프로젝트 없이 계속하려면 메시지를 다시 보내세요.',
  project_full: '프로젝트가 한도 {{limit}}을(를) 넘게 됩니다. 먼저 파일을 몇 개 삭제하세요.',
  project_name_taken: '같은 이름의 프로젝트가 이미 있습니다.',
  project_not_found: '그런 프로젝트가 없습니다.',
  projects_exhausted: '프로젝트가 이미 {{limit}}개 있습니다. 먼저 하나를 삭제하세요.',
  quota_claim_refused:
    '{{more}}을(를) 더 저장할 공간이 없습니다. 프로젝트, 문서, 첨부 파일을 합쳐 최대 {{limit}}까지 저장할 수 있고 {{used}}을(를) 사용 중입니다. 먼저 일부를 삭제하세요.',
  quota_exceeded:
    '저장 공간을 넘어 변경을 되돌렸습니다. 프로젝트, 문서, 첨부 파일을 합쳐 최대 {{limit}}까지 저장할 수 있고 {{used}}을(를) 사용 중입니다. 먼저 일부를 삭제하세요.',
  quota_texts_refused:
    '텍스트 {{more}}을(를) 더 저장할 공간이 없습니다. 최대 {{limit}}까지 저장할 수 있고, 대화와 공유 링크의 텍스트를 포함해 {{used}}을(를) 사용 중입니다. 먼저 대화, 공유 링크 또는 파일을 일부 삭제하세요.',
  request_stopped: '요청이 취소되었습니다. 변경된 것은 없습니다.',
  search_not_isolated: '검색을 시스템에서 격리할 수 없습니다.',
  search_busy: '대기 중인 검색이 {{count}}개 있습니다. 끝난 뒤 다시 시도하세요.',
  search_not_started: '검색 프로그램을 시작할 수 없습니다.',
  search_path_is_link: '‘{{path}}’은(는) 심볼릭 링크라 따라가지 않습니다.',
  search_path_not_found: '검색할 파일 또는 폴더 ‘{{path}}’이(가) 없습니다.',
  search_pattern_invalid:
    '패턴이 올바르지 않습니다: {{detail}}. 특수 문자를 그대로 찾으려면 앞에 ‘\\’를 붙이세요.',
  too_many_changes: '한 번에 파일을 최대 {{limit}}개까지 변경할 수 있습니다.',
  too_many_files_open: '열린 파일이 너무 많습니다. 잠시 후 다시 시도하세요.',
  too_many_restored: '한 번에 파일을 최대 {{limit}}개까지 복원할 수 있습니다.',
  upload_fields_invalid: '{{detail}}',
  upload_has_too_many_files: '한 번에 파일을 최대 {{limit}}개까지 업로드할 수 있습니다.',
  upload_repeats: '업로드에 ‘{{path}}’이(가) 두 번 들어 있습니다.',
  upload_too_large: '업로드는 최대 {{limit}}까지 가능합니다.',
  upload_too_many_fields: '업로드의 필드 수가 서버 허용치를 넘습니다.',
  upload_too_many_files: '업로드의 파일 수가 서버 허용치를 넘습니다.',
  upload_too_many_parts: '업로드의 부분 수가 서버 허용치를 넘습니다.',
  uploaded_file_too_large: '업로드에 서버 허용 크기를 넘는 파일이 있습니다.',
  uploads_busy: '서버가 받고 있는 업로드가 너무 많습니다. 잠시 후 다시 시도하세요.',
  uploads_exhausted:
    '업로드는 동시에 최대 {{limit}}개까지 가능합니다. 하나가 끝난 뒤 다시 시도하세요.',
  work_stopped: '작업이 취소되었습니다.',
  work_too_slow: '작업이 {{seconds}}초보다 오래 걸렸습니다.',
  upload_not_multipart: '파일을 multipart/form-data로 보내세요.',
}

export const models: Texts<typeof MODEL_FAILURES> = {
  model_answer_unfinished: '모델이 답변을 마치지 않고 멈췄습니다.',
  model_answer_empty:
    '모델 ‘{{model}}’이(가) 아무 답변도 하지 않았습니다. 메시지를 다시 보내거나 다른 모델을 선택하세요.',
  model_answer_endless:
    '‘{{model}}’의 답변이 끝나지 않아 중단했습니다. 다시 시도하거나 다른 모델을 선택하세요.',
  model_answer_filtered:
    '제공업체의 콘텐츠 필터 또는 ‘{{model}}’ 자체가 이 답변을 종료했습니다({{finish_reason}}). 메시지를 바꿔 쓰거나 다른 모델을 선택하세요.',
  model_answer_is_page:
    '‘{{model}}’의 제공업체가 웹페이지를 보냈습니다. api_url이 모델 API의 주소인지 확인하세요.',
  model_answer_no_json:
    '‘{{model}}’의 제공업체 응답이 JSON 객체가 아닙니다. api_url이 모델 API의 주소인지 확인하세요.',
  model_answer_no_stream:
    '‘{{model}}’의 제공업체 응답이 이벤트 스트림이 아닙니다. api_url이 모델 API의 주소인지 확인하세요.',
  model_answer_only_thinking:
    '‘{{model}}’이(가) 생각만 하고 답변을 쓰지 않았습니다. 메시지를 다시 보내거나 다른 모델을 선택하세요.',
  model_answer_only_thinking_cut:
    '‘{{model}}’이(가) 답변을 쓰기 전에 출력 한도에 도달했습니다. 대화나 모델의 max_tokens를 늘리거나 생각을 줄이세요.',
  model_api_missing: '이 주소에는 OpenAI 호환 API가 없습니다. 주소를 확인하세요.',
  model_call_malformed:
    '‘{{model}}’이(가) 쓴 도구 호출을 읽을 수 없습니다. 메시지를 다시 보내거나 다른 모델을 선택하세요.',
  model_call_unreadable: '모델이 쓴 도구 호출을 읽을 수 없습니다. 다시 쓰도록 요청합니다.',
  model_context_exceeded:
    '대화가 ‘{{model}}’에 비해 너무 깁니다. 새 대화를 시작하거나 컨텍스트 창이 더 큰 모델을 선택하세요.',
  model_key_lost:
    '저장된 {{model}}의 API 키를 복호화할 수 없습니다. 관리자가 설정 → 모델에서 다시 입력해야 합니다.',
  model_list_empty: '제공업체의 모델 목록이 비어 있습니다. 모델 이름을 입력하세요.',
  model_not_found:
    '‘{{model}}’의 제공업체에 이 모델이나 주소가 없습니다({{status}}). api_url과 upstream_model을 확인하세요.',
  model_rate_limited:
    '‘{{model}}’의 제공업체가 요청 빈도를 제한하고 있습니다({{status}}). 잠시 후 다시 시도하세요.',
  model_rate_limited_quota:
    '제공업체에서 ‘{{model}}’의 할당량을 모두 사용했습니다({{status}}). 다른 모델을 선택하거나 갱신을 기다리세요.',
  model_redirected: '‘{{model}}’의 주소가 리디렉션됩니다({{status}}). api_url을 확인하세요.',
  model_refused: '‘{{model}}’의 제공업체가 요청을 거부했습니다({{status}}).',
  model_refused_credit:
    '‘{{model}}’의 제공업체 계정에 잔액이 없습니다({{status}}). 충전하거나 다른 모델을 선택하세요.',
  model_stopped: '‘{{model}}’에 대한 요청이 취소되었습니다.',
  model_stream_broken: '답변이 끝나기 전에 ‘{{model}}’와의 연결이 끊겼습니다.',
  model_stream_disordered:
    '‘{{model}}’의 제공업체가 답변의 일부를 두 번 또는 잘못된 순서로 보냈습니다. 다시 시도하거나 다른 모델을 선택하세요.',
  model_timeout: '‘{{model}}’의 제공업체가 너무 오래 걸렸습니다({{status}}).',
  model_timeout_silence: '‘{{model}}’ 모델이 {{seconds}}초 동안 아무것도 보내지 않았습니다.',
  model_unauthorized:
    '제공업체가 ‘{{model}}’의 API 키를 거부했습니다({{status}}). 설정에서 키를 확인하세요.',
  model_unavailable:
    '‘{{model}}’의 제공업체에 문제가 있습니다({{status}}). 다시 시도하거나 다른 모델을 선택하세요.',
  model_unavailable_connection:
    '‘{{model}}’에 연결할 수 없습니다: 연결에 실패했습니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_connection_closed:
    '‘{{model}}’에 연결할 수 없습니다: 연결이 닫혔습니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_connection_refused:
    '‘{{model}}’에 연결할 수 없습니다: 연결이 거부되었습니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_connection_timed_out:
    '‘{{model}}’에 연결할 수 없습니다: 연결 시간이 초과되었습니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_host_not_found:
    '‘{{model}}’에 연결할 수 없습니다: 호스트 이름을 확인할 수 없습니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_host_unknown:
    '‘{{model}}’에 연결할 수 없습니다: 알 수 없는 호스트 이름입니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_host_unreachable:
    '‘{{model}}’에 연결할 수 없습니다: 호스트에 도달할 수 없습니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_insecure:
    '‘{{model}}’에 연결할 수 없습니다: TLS 연결에 실패했습니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_network:
    '‘{{model}}’에 연결할 수 없습니다: 네트워크에 연결할 수 없습니다. 제공업체의 주소와 네트워크를 확인하세요.',
  model_unavailable_reported:
    '‘{{model}}’의 제공업체가 문제를 알렸습니다. 다시 시도하거나 다른 모델을 선택하세요.',
}

export const storedFailures: Record<StoredFailureReason, string> = {
  document_archive_unsupported: '{{extension}} 압축 파일은 지원하지 않습니다',
  document_archive_unknown: '이 종류의 압축 파일은 지원하지 않습니다',
  document_binary:
    '바이너리 파일입니다. 텍스트, Markdown, PDF, DOCX, XLSX, PPTX, HTML, CSV를 지원합니다',
  document_docx_damaged: 'DOCX 파일이 손상되었습니다',
  document_empty: '텍스트가 없습니다',
  document_lost: '업로드가 유실되었습니다. 다시 업로드하세요',
  document_not_indexed: '색인할 수 없습니다',
  document_not_what_its_name_says: '이름은 {{extension}}(으)로 끝나지만 내용의 형식은 다릅니다',
  document_office_damaged: '{{extension}} 파일이 손상되었습니다',
  document_page_too_deep: '페이지가 너무 깊게 중첩되어 있습니다',
  document_pdf_damaged: 'PDF가 손상되었습니다',
  document_partly_read: '다음 페이지에는 읽을 수 있는 텍스트가 없습니다: {{pages}}',
  document_pdf_protected: 'PDF가 비밀번호로 보호되어 있습니다',
  document_pdf_xfa: 'Adobe의 XFA 양식입니다(Adobe Acrobat에서 PDF로 인쇄한 파일을 첨부하세요)',
  document_reader_not_started: '문서를 읽는 프로그램을 시작할 수 없습니다',
  document_reading_stopped: '취소되었습니다',
  document_reading_too_slow: '읽는 데 너무 오래 걸렸습니다',
  document_scanned: '텍스트가 없습니다(스캔한 문서는 먼저 OCR을 거치세요)',
  document_too_large: '파일이 너무 큽니다',
  document_too_large_to_read: '너무 커서 읽을 수 없습니다',
  document_unreadable: '파일을 읽을 수 없습니다',
  delivery_channel_kind_gone: '이 종류의 채널은 더 이상 제공되지 않습니다',
  delivery_failed: '전송에 실패했습니다',
  delivery_mail_certificate_expired: '메일 서버의 인증서가 만료되었거나 아직 유효하지 않습니다',
  delivery_mail_certificate_other_host: '메일 서버의 인증서가 다른 호스트의 것입니다',
  delivery_mail_certificate_self_signed: '메일 서버의 인증서가 자체 서명된 것입니다',
  delivery_mail_certificate_untrusted:
    '이 서버가 신뢰하지 않는 기관에서 메일 서버의 인증서를 발급했습니다',
  delivery_mail_host_unknown: '메일 서버의 호스트 이름을 찾을 수 없습니다',
  delivery_mail_login_refused: '메일 서버가 이 서버의 사용자 이름 또는 비밀번호를 거부했습니다',
  delivery_mail_not_set_up: '이 서버에는 더 이상 SMTP 설정이 없습니다',
  delivery_mail_refused_connection: '메일 서버가 연결을 거부했습니다',
  delivery_mail_refused: '메일 서버가 거부했습니다({{status}})',
  delivery_mail_unconfirmed: '{{address}}의 소유자가 이 서버의 메일을 받는 데 동의하지 않았습니다',
  delivery_mail_unreachable: '메일 서버에 연결할 수 없거나 메일 서버가 바빴습니다',
  delivery_receiver_address_refused: '이 서버는 수신 측의 주소로 보낼 수 없습니다',
  delivery_receiver_certificate_invalid: '수신 측의 인증서가 올바르지 않습니다',
  delivery_receiver_closed_connection: '수신 측이 연결을 닫았습니다',
  delivery_receiver_host_unknown: '수신 측의 호스트 이름을 찾을 수 없습니다',
  delivery_receiver_refused_connection: '수신 측이 연결을 거부했습니다',
  delivery_receiver_timed_out: '수신 측이 제때 응답하지 않았습니다',
  delivery_receiver_unreachable: '수신 측에 연결할 수 없습니다',
  delivery_refused: '수신 측이 상태 {{status}}(으)로 응답했습니다',
  delivery_settings_unfit: '이 채널의 설정이 더 이상 유효하지 않습니다',
  mcp_certificate_invalid: '인증서가 유효하지 않거나 이 서버가 신뢰하지 않습니다',
  mcp_command_not_found: '서버에서 해당 명령 “{{command}}”을(를) 찾을 수 없습니다',
  mcp_command_not_allowed: '해당 명령을 실행할 수 없습니다',
  mcp_connection_failed: '연결에 실패했거나 연결이 끊겼습니다',
  mcp_connection_refused: '연결이 거부되었습니다',
  mcp_credentials_refused: '인증 정보가 거부되었습니다',
  mcp_ended: '프로세스가 종료되었습니다',
  mcp_folder_not_found: '서버에서 해당 작업 폴더를 찾을 수 없습니다',
  mcp_host_unknown: '알 수 없는 호스트 이름입니다',
  mcp_sign_in_needed: '로그인이 필요합니다',
  mcp_settings_unreadable:
    '저장된 설정을 더 이상 복호화할 수 없습니다. 편집해서 주소를 다시 입력하세요',
  mcp_wrong_address: '그 주소에 MCP 서버가 없습니다',
  mcp_too_slow: '제때 응답하지 않았습니다',
  blobs_unreachable: '파일 저장소를 사용할 수 없습니다. 나중에 다시 시도하세요',
  export_failed: '예상하지 못한 오류가 발생했습니다. 자세한 내용은 서버 로그에 있습니다',
  export_interrupted: '그 사이 서버가 다시 시작되었습니다. 내보내기를 다시 시작하세요',
  import_already_there: '이미 가져온 항목입니다',
  import_archive_bomb:
    '압축률이 {{ratio}}배를 넘으며, 실제 내보내기 파일은 이 정도로 압축되지 않습니다',
  import_archive_damaged: '압축 파일이 손상되었거나 불완전합니다. 다시 다운로드하세요',
  import_archive_encrypted:
    '비밀번호로 보호되어 있습니다. 압축을 풀고 비밀번호 없이 다시 압축하세요',
  import_archive_too_large: '압축을 풀면 {{limit}}보다 큽니다',
  import_archive_too_many_files: '압축 파일의 파일이 {{limit}}개를 넘습니다',
  import_conversation_too_large: '{{limit}}보다 큽니다',
  import_cycle: '메시지의 순서가 순환합니다',
  import_database_unreadable: 'SQLite 파일이 손상되었거나 알 수 없는 테이블이 있습니다',
  import_disk_full: '서버의 디스크가 가득 찼습니다',
  import_entry_link: '링크입니다',
  import_entry_unsafe: '이름이 압축 파일 밖을 가리킵니다',
  import_failed: '예상하지 못한 오류가 발생했습니다. 자세한 내용은 서버 로그에 있습니다',
  import_file_missing: '내보내기 파일에 들어 있지 않습니다',
  import_file_refused: '서버가 거부했습니다: {{detail}}',
  import_format_unknown:
    'NanoClaw, ChatGPT, Claude, Open WebUI, LibreChat의 내보내기 파일도, Python 버전 NanoClaw의 SQLite 파일도 아닙니다',
  import_in_trash: '휴지통에 있습니다. 그곳에서 복원하세요',
  import_interrupted:
    '그 사이 서버가 다시 시작되었습니다. 파일을 다시 가져오세요. 이미 있는 항목은 그대로이며 중복되지 않습니다',
  import_json_damaged: 'JSON이 손상되었거나 불완전합니다',
  import_marks_unknown:
    '“{{conversation}}”에 있는 이 종류의 표시는 알 수 없으며, 내보낸 파일에 그 내용도 없습니다',
  import_no_messages: '메시지가 없습니다',
  import_out_of_memory: '가져오기에 허용된 것보다 많은 메모리가 필요합니다',
  import_parts_unknown: '“{{conversation}}”에 있는 이 종류의 부분은 알 수 없어 제외했습니다',
  import_project_exists: '같은 이름의 프로젝트가 이미 있습니다. 그 파일은 변경되지 않았습니다',
  import_storage_full:
    '텍스트를 저장할 공간이 없습니다. 대화, 공유 링크 또는 파일을 일부 삭제하고 다시 가져오세요(이미 있는 항목은 두 번 가져오지 않습니다)',
  import_too_many_messages: '메시지가 {{limit}}개를 넘습니다',
  import_too_slow: '읽는 데 너무 오래 걸렸습니다',
  import_unreadable: '예상한 형식이 아닙니다({{detail}})',
}
