// German texts of all refusals and failures, by the protocol's reasons.
import type { ErrorCode } from '../../../../../server/protocol/error.ts'
import type { FailureReason } from '../../../../../server/protocol/failures/failures.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'
import { access } from './access-refusals.ts'
import { files, models, storedFailures } from './failures.ts'
import { administration, conversations, runs, store } from './request-refusals.ts'

/** Texts for failures without a more specific reason. `message` is the server's text. */
const kinds: Record<Exclude<ErrorCode, FailureReason>, string> = {
  bad_request: 'Die Anfrage ist fehlerhaft: {{message}}',
  validation_failed: 'Die Angaben sind nicht gültig: {{message}}',
  bad_cursor: 'Die Liste hat sich geändert. Beginne wieder mit der ersten Seite.',
  bad_attachment: 'Der Anhang lässt sich nicht verwenden: {{message}}',
  no_project: 'Diese Unterhaltung hat kein Projekt. Wähle zuerst eines.',
  unauthorized: 'Melde dich zuerst an.',
  forbidden: 'Das ist nicht erlaubt: {{message}}',
  not_found: 'Nicht gefunden: {{message}}',
  conflict: 'Das passt nicht zum aktuellen Stand: {{message}}',
  name_taken: 'Dieser Name ist schon vergeben.',
  run_active:
    'In dieser Unterhaltung wird gerade geantwortet. Warte, bis die Antwort fertig ist, oder stoppe sie.',
  run_not_resumable:
    'Diese Antwort lässt sich nicht fortsetzen. Sende die Nachricht noch einmal oder generiere die Antwort neu.',
  approval_decided: 'Über diese Anfrage wurde schon entschieden.',
  file_changed: 'Die Datei wurde geändert. Lies sie neu und versuche es noch einmal.',
  payload_too_large: 'Das ist zu groß: {{message}}',
  unsupported_media_type: 'Diese Art von Inhalt wird nicht unterstützt: {{message}}',
  too_many_requests: 'Zu viele Anfragen: {{message}}',
  too_many_runs: 'Zu viele Antworten gleichzeitig. Warte, bis eine fertig ist.',
  server_busy: 'Der Server ist ausgelastet. Versuche es gleich noch einmal.',
  store_unavailable: 'Die Datenbank ist gerade nicht verfügbar. Versuche es gleich noch einmal.',
  run_interrupted: 'Ein Neustart des Servers hat diese Antwort unterbrochen.',
  budget_exceeded: 'Ein Limit ist erreicht: {{message}}',
  model_bad_answer: 'Die Antwort des Modells ist unbrauchbar: {{message}}',
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
  detail: ' Der Anbieter sagt: {{detail}}',
  next_model: ' Weiter mit „{{next_model}}“.',
}
