// French texts of all refusals and failures, by the protocol's reasons.
import type { ErrorCode } from '../../../../../server/protocol/error.ts'
import type { FailureReason } from '../../../../../server/protocol/failures/failures.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'
import { access } from './access-refusals.ts'
import { files, models, storedFailures } from './failures.ts'
import { administration, conversations, runs, store } from './request-refusals.ts'

/** Texts for failures without a more specific reason. `message` is the server's text. */
const kinds: Record<Exclude<ErrorCode, FailureReason>, string> = {
  bad_request: 'La requête est incorrecte : {{message}}',
  validation_failed: 'Les données ne sont pas valides : {{message}}',
  bad_cursor: 'La liste a changé. Recommencez à la première page.',
  bad_attachment: 'La pièce jointe est inutilisable : {{message}}',
  no_project: 'Cette conversation n’a pas de projet. Choisissez-en d’abord un.',
  unauthorized: 'Connectez-vous d’abord.',
  forbidden: 'Ce n’est pas autorisé : {{message}}',
  not_found: 'Introuvable : {{message}}',
  conflict: 'Incompatible avec l’état actuel : {{message}}',
  name_taken: 'Ce nom est déjà pris.',
  run_active:
    'Une réponse est en cours dans cette conversation. Attendez-la, ou arrêtez-la d’abord.',
  run_not_resumable:
    'Cette réponse ne peut pas être reprise. Renvoyez le message ou régénérez la réponse.',
  approval_decided: 'Une décision a déjà été prise pour cette demande.',
  file_changed: 'Le fichier a changé. Relisez-le et réessayez.',
  payload_too_large: 'C’est trop volumineux : {{message}}',
  unsupported_media_type: 'Ce type de contenu n’est pas pris en charge : {{message}}',
  too_many_requests: 'Trop de requêtes : {{message}}',
  too_many_runs: 'Trop de réponses à la fois. Attendez que l’une se termine.',
  server_busy: 'Le serveur est occupé. Réessayez dans un instant.',
  store_unavailable: 'La base de données est indisponible. Réessayez dans un instant.',
  run_interrupted: 'Un redémarrage du serveur a interrompu cette réponse.',
  budget_exceeded: 'Une limite est atteinte : {{message}}',
  model_bad_answer: 'Le modèle a renvoyé une réponse inutilisable : {{message}}',
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
  detail: ' Le fournisseur dit : {{detail}}',
  next_model: ' Suite avec « {{next_model}} ».',
}
