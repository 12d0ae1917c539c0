// Korean texts of all refusals and failures, by the protocol's reasons.
import type { ErrorCode } from '../../../../../server/protocol/error.ts'
import type { FailureReason } from '../../../../../server/protocol/failures/failures.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'
import { access } from './access-refusals.ts'
import { files, models, storedFailures } from './failures.ts'
import { administration, conversations, runs, store } from './request-refusals.ts'

/** Texts for failures without a more specific reason. `message` is the server's text. */
const kinds: Record<Exclude<ErrorCode, FailureReason>, string> = {
  bad_request: '요청이 잘못되었습니다: {{message}}',
  validation_failed: '내용이 올바르지 않습니다: {{message}}',
  bad_cursor: '목록이 바뀌었습니다. 첫 페이지부터 다시 시작하세요.',
  bad_attachment: '첨부 파일을 사용할 수 없습니다: {{message}}',
  no_project: '이 대화에는 프로젝트가 없습니다. 먼저 선택하세요.',
  unauthorized: '먼저 로그인하세요.',
  forbidden: '허용되지 않습니다: {{message}}',
  not_found: '찾을 수 없습니다: {{message}}',
  conflict: '현재 상태와 맞지 않습니다: {{message}}',
  name_taken: '이미 사용 중인 이름입니다.',
  run_active: '이 대화에서 답변을 만들고 있습니다. 끝날 때까지 기다리거나 먼저 중지하세요.',
  run_not_resumable: '이 답변은 계속할 수 없습니다. 메시지를 다시 보내거나 답변을 다시 생성하세요.',
  approval_decided: '이미 처리된 요청입니다.',
  file_changed: '파일이 변경되었습니다. 다시 읽은 뒤 시도하세요.',
  payload_too_large: '너무 큽니다: {{message}}',
  unsupported_media_type: '지원하지 않는 내용입니다: {{message}}',
  too_many_requests: '요청이 너무 많습니다: {{message}}',
  too_many_runs: '동시에 진행 중인 답변이 너무 많습니다. 하나가 끝날 때까지 기다리세요.',
  server_busy: '서버가 바쁩니다. 잠시 후 다시 시도하세요.',
  store_unavailable: '데이터베이스를 사용할 수 없습니다. 잠시 후 다시 시도하세요.',
  run_interrupted: '서버가 다시 시작되어 이 답변이 중단되었습니다.',
  budget_exceeded: '한도에 도달했습니다: {{message}}',
  model_bad_answer: '모델의 응답을 사용할 수 없습니다: {{message}}',
}

export const refusals: Record<FailureReason | StoredFailureReason | ErrorCode, string> = {
  ...kinds,
  ...access,
  ...administration,
  ...conversations,
  ...files,
  ...models,
  ...runs,
  ...store,
  ...storedFailures,
}

/** Texts appended to a text whose parameters include these names. */
export const additions = {
  detail: ' 제공업체의 설명: {{detail}}',
  next_model: ' 다음 모델: ‘{{next_model}}’.',
}
