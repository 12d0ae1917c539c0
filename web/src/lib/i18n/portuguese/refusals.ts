// Portuguese texts of all refusals and failures, by the protocol's reasons.
import type { ErrorCode } from '../../../../../server/protocol/error.ts'
import type { FailureReason } from '../../../../../server/protocol/failures/failures.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'
import { access } from './access-refusals.ts'
import { files, models, storedFailures } from './failures.ts'
import { administration, conversations, runs, store } from './request-refusals.ts'

/** Texts for failures without a more specific reason. `message` is the server's text. */
const kinds: Record<Exclude<ErrorCode, FailureReason>, string> = {
  bad_request: 'A solicitação está incorreta: {{message}}',
  validation_failed: 'Os dados não são válidos: {{message}}',
  bad_cursor: 'A lista mudou. Comece de novo pela primeira página.',
  bad_attachment: 'Não é possível usar o anexo: {{message}}',
  no_project: 'Esta conversa não tem projeto. Escolha um primeiro.',
  unauthorized: 'Entre primeiro.',
  forbidden: 'Isso não é permitido: {{message}}',
  not_found: 'Não encontrado: {{message}}',
  conflict: 'Isso não combina com o estado atual: {{message}}',
  name_taken: 'Este nome já está em uso.',
  run_active: 'Há uma resposta em andamento nesta conversa. Espere que termine ou pare-a.',
  run_not_resumable:
    'Esta resposta não pode ser retomada. Envie a mensagem ou gere a resposta novamente.',
  approval_decided: 'Esta solicitação já foi decidida.',
  file_changed: 'O arquivo foi alterado. Leia-o novamente e tente outra vez.',
  payload_too_large: 'É grande demais: {{message}}',
  unsupported_media_type: 'Este tipo de conteúdo não é aceito: {{message}}',
  too_many_requests: 'Solicitações demais: {{message}}',
  too_many_runs: 'Respostas demais ao mesmo tempo. Espere uma terminar.',
  server_busy: 'O servidor está ocupado. Tente novamente em instantes.',
  store_unavailable: 'O banco de dados está indisponível. Tente novamente em instantes.',
  run_interrupted: 'Uma reinicialização do servidor interrompeu esta resposta.',
  budget_exceeded: 'Um limite foi atingido: {{message}}',
  model_bad_answer: 'O modelo devolveu uma resposta inutilizável: {{message}}',
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
  detail: ' O provedor diz: {{detail}}',
  next_model: ' Continua com “{{next_model}}”.',
}
