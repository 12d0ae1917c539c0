// Spanish texts of all refusals and failures, by the protocol's reasons.
import type { ErrorCode } from '../../../../../server/protocol/error.ts'
import type { FailureReason } from '../../../../../server/protocol/failures/failures.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'
import { access } from './access-refusals.ts'
import { files, models, storedFailures } from './failures.ts'
import { administration, conversations, runs, store } from './request-refusals.ts'

/** Texts for failures without a more specific reason. `message` is the server's text. */
const kinds: Record<Exclude<ErrorCode, FailureReason>, string> = {
  bad_request: 'La solicitud no es correcta: {{message}}',
  validation_failed: 'Los datos no son válidos: {{message}}',
  bad_cursor: 'La lista ha cambiado. Empieza de nuevo por la primera página.',
  bad_attachment: 'No se puede usar el adjunto: {{message}}',
  no_project: 'Esta conversación no tiene proyecto. Elige uno primero.',
  unauthorized: 'Inicia sesión primero.',
  forbidden: 'No está permitido: {{message}}',
  not_found: 'No se encontró: {{message}}',
  conflict: 'No encaja con el estado actual: {{message}}',
  name_taken: 'Este nombre ya está en uso.',
  run_active: 'En esta conversación hay una respuesta en curso. Espera a que termine o detenla.',
  run_not_resumable:
    'Esta respuesta no se puede reanudar. Envía de nuevo el mensaje o regenera la respuesta.',
  approval_decided: 'Ya se decidió sobre esta solicitud.',
  file_changed: 'El archivo ha cambiado. Léelo de nuevo e inténtalo otra vez.',
  payload_too_large: 'Es demasiado grande: {{message}}',
  unsupported_media_type: 'Este tipo de contenido no se admite: {{message}}',
  too_many_requests: 'Demasiadas solicitudes: {{message}}',
  too_many_runs: 'Demasiadas respuestas a la vez. Espera a que termine una.',
  server_busy: 'El servidor está ocupado. Inténtalo de nuevo en un momento.',
  store_unavailable: 'La base de datos no está disponible. Inténtalo de nuevo en un momento.',
  run_interrupted: 'Un reinicio del servidor interrumpió esta respuesta.',
  budget_exceeded: 'Se alcanzó un límite: {{message}}',
  model_bad_answer: 'El modelo devolvió una respuesta inservible: {{message}}',
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
  detail: ' El proveedor dice: {{detail}}',
  next_model: ' Se sigue con «{{next_model}}».',
}
