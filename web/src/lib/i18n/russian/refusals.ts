// Russian texts of all refusals and failures, by the protocol's reasons.
import type { ErrorCode } from '../../../../../server/protocol/error.ts'
import type { FailureReason } from '../../../../../server/protocol/failures/failures.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'
import { access } from './access-refusals.ts'
import { files, models, storedFailures } from './failures.ts'
import { administration, conversations, runs, store } from './request-refusals.ts'

/** Texts for failures without a more specific reason. `message` is the server's text. */
const kinds: Record<Exclude<ErrorCode, FailureReason>, string> = {
  bad_request: 'Неверный запрос: {{message}}',
  validation_failed: 'Данные не подходят: {{message}}',
  bad_cursor: 'Список изменился. Начните снова с первой страницы.',
  bad_attachment: 'Вложение нельзя использовать: {{message}}',
  no_project: 'У этой беседы нет проекта. Сначала выберите его.',
  unauthorized: 'Сначала войдите.',
  forbidden: 'Это не разрешено: {{message}}',
  not_found: 'Не найдено: {{message}}',
  conflict: 'Не согласуется с текущим состоянием: {{message}}',
  name_taken: 'Это название уже занято.',
  run_active: 'В этой беседе ещё готовится ответ. Дождитесь его или остановите.',
  run_not_resumable:
    'Этот ответ нельзя продолжить. Отправьте сообщение ещё раз или создайте ответ заново.',
  approval_decided: 'По этому запросу решение уже принято.',
  file_changed: 'Файл изменился. Прочитайте его заново и повторите.',
  payload_too_large: 'Слишком большой объём: {{message}}',
  unsupported_media_type: 'Такое содержимое не поддерживается: {{message}}',
  too_many_requests: 'Слишком много запросов: {{message}}',
  too_many_runs: 'Слишком много ответов одновременно. Дождитесь одного из них.',
  server_busy: 'Сервер занят. Повторите чуть позже.',
  store_unavailable: 'База данных недоступна. Повторите чуть позже.',
  run_interrupted: 'Перезапуск сервера прервал этот ответ.',
  budget_exceeded: 'Достигнут лимит: {{message}}',
  model_bad_answer: 'Модель вернула непригодный ответ: {{message}}',
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
  detail: ' Провайдер сообщает: {{detail}}',
  next_model: ' Дальше отвечает «{{next_model}}».',
}
