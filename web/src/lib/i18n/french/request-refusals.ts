// French texts of refused requests (administration, conversations, runs and the store), by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const administration: Texts<typeof ADMINISTRATION_FAILURES> = {
  approval_mode_not_permitted:
    'Votre groupe ne peut pas utiliser le mode d’approbation « {{mode}} ». Choisissez-en un autre : {{available}}.',
  cost_per_day_used_up:
    'Votre budget de {{limit}} pour aujourd’hui est épuisé. Il est renouvelé le {{renews_at}}.',
  cost_per_month_used_up:
    'Votre budget de {{limit}} pour ce mois est épuisé. Il est renouvelé le {{renews_at}}.',
  group_cost_used_up:
    'Le budget de {{limit}} partagé par votre groupe « {{group}} » est épuisé. Il est renouvelé le {{renews_at}}.',
  group_member_not_found: 'Ce compte n’est pas dans le groupe.',
  group_name_taken: 'Il y a déjà un groupe de ce nom.',
  group_not_found: 'Ce groupe n’existe pas.',
  group_tokens_used_up:
    'Les {{limit}} tokens partagés par votre groupe « {{group}} » sont épuisés. Ils sont renouvelés le {{renews_at}}.',
  groups_exhausted: 'Il y a déjà {{limit}} groupes. Supprimez-en d’abord un.',
  messages_per_day_used_up:
    'Vos {{limit}} messages aux canaux d’aujourd’hui sont épuisés. Ils sont renouvelés le {{renews_at}}.',
  model_not_permitted:
    'Votre groupe ne peut pas utiliser le modèle « {{model}} ». Choisissez-en un autre : {{available}}.',
  no_model_permitted:
    'Votre groupe ne peut utiliser aucun modèle de ce serveur. Contactez un administrateur.',
  own_account_stays:
    'Vous ne pouvez pas supprimer votre propre compte. Demandez à un autre administrateur.',
  program_seconds_used_up:
    'Vos {{limit}} secondes de programme d’aujourd’hui sont épuisées. Elles sont renouvelées le {{renews_at}}.',
  requests_exhausted:
    'Vous pouvez envoyer {{limit}} requêtes par minute. Réessayez dans {{seconds}} secondes.',
  tokens_per_day_used_up:
    'Vos {{limit}} tokens d’aujourd’hui sont épuisés. Ils sont renouvelés le {{renews_at}}.',
  tokens_per_month_used_up:
    'Vos {{limit}} tokens de ce mois sont épuisés. Ils sont renouvelés le {{renews_at}}.',
}

export const conversations: Texts<typeof CONVERSATION_FAILURES> = {
  webhook_not_found: 'Ce webhook n’existe pas.',
  webhook_tests_exhausted:
    'Vous pouvez envoyer {{limit}} tests par heure, et cette limite est atteinte. Réessayez plus tard.',
  webhooks_exhausted: 'Vous pouvez avoir {{limit}} webhooks au plus. Supprimez-en d’abord un.',
  attachment_not_found: 'Cette pièce jointe n’existe pas.',
  channel_address_refused:
    'Ce serveur n’envoie pas d’e-mails à {{address}}. Demandez à un administrateur quelles adresses sont autorisées.',
  channel_mail_not_set_up:
    'Ce serveur ne peut pas envoyer d’e-mails. Demandez à un administrateur de configurer `smtp`, ou choisissez un autre type de canal.',
  channel_name_taken: 'Vous avez déjà un canal nommé « {{name}} ».',
  channel_not_found: 'Ce canal n’existe pas.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown:
    'Il n’y a pas de canal de type « {{type}} ». Utilisez l’un de ceux-ci : {{types}}.',
  channels_exhausted: 'Vous pouvez avoir {{limit}} canaux au plus. Supprimez-en d’abord un.',
  conversation_not_found: 'Cette conversation n’existe pas.',
  document_not_found: 'Ce document n’existe pas.',
  document_encoding_fixed:
    'Aucun autre encodage ne peut être choisi pour « {{name}} » : le document est en cours de lecture, son encodage est certain ou son fichier n’est plus stocké.',
  documents_exhausted: 'Un projet peut avoir {{limit}} documents au plus. Supprimez-en d’abord.',
  export_not_found: 'Cet export n’existe pas. Les exports sont supprimés au bout d’un jour.',
  export_not_ready: 'Cet export n’est pas encore prêt. Attendez que son état soit `completed`.',
  export_running: 'Un export est déjà en cours. Attendez qu’il se termine.',
  import_invalid: 'Ce fichier ne contient pas de conversation complète ({{detail}}).',
  import_not_found: 'Cette importation n’existe pas.',
  import_running: 'Une importation est déjà en cours. Attendez qu’elle se termine.',
  import_upload_too_large: 'Une importation peut faire {{limit}} au plus.',
  memory_too_long:
    'La mémoire peut compter {{limit}} caractères au plus ; ce texte en a {{length}}. Raccourcissez-le.',
  message_not_found: 'Ce message n’existe pas.',
  model_configured: 'Ce modèle est défini dans config.yml. Modifiez-le là.',
  model_id_taken: 'Il y a déjà un modèle avec cet identifiant.',
  model_key_missing: 'L’URL du fournisseur a changé. Saisissez de nouveau sa clé d’API.',
  model_unknown: 'Ce modèle n’existe pas.',
  nothing_to_undelete: 'Il n’y a aucune suppression à annuler.',
  outbox_full: '{{limit}} messages attendent déjà d’être envoyés. Réessayez plus tard.',
  recipients_exhausted:
    'Vos canaux peuvent écrire à {{limit}} destinataires par heure, et cette limite est atteinte. Réessayez dans {{minutes}} minutes.',
  response_item_not_found: 'Aucune de vos réponses ne contient l’élément « {{id}} ».',
  response_not_found: 'Il n’y a pas de réponse « {{id}} ».',
  run_not_found: 'Cette réponse n’existe pas.',
  share_expired: 'La date d’expiration d’un partage doit être dans le futur.',
  share_guesses_exhausted:
    'Trop de mots de passe erronés pour ce lien. Patientez un peu, puis réessayez.',
  share_not_found: 'Ce lien n’existe pas ou n’est plus partagé.',
  share_password_needed: 'Ce lien exige un mot de passe (X-Share-Password).',
  share_password_wrong: 'Le mot de passe de ce lien est incorrect.',
  share_too_large: 'Cette conversation est trop volumineuse pour être partagée.',
  share_views_exhausted:
    'Trop de conversations partagées ont été ouvertes depuis ce réseau. Attendez une minute, puis réessayez.',
  sharing_off: 'Le partage est désactivé sur ce serveur.',
  unknown_model: 'Il n’y a pas de modèle « {{model}} ». Disponibles : {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Ce compte est désactivé. Contactez un administrateur.',
  answer_without_question:
    'Aucun message ne correspond à cette réponse ; elle ne peut donc pas être régénérée.',
  approval_not_found: 'Aucune demande d’approbation n’attend de décision sous cet id_ref.',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    'Ce modèle n’accepte pas les images ; « {{name}} » ne peut donc pas être joint. Choisissez un modèle qui voit les images.',
  attachment_not_image: '« {{name}} » n’est pas une image de type {{type}}.',
  attachment_not_text:
    '« {{name}} » n’est pas un fichier texte. Joignez du texte, ou une image PNG, JPEG, WebP ou GIF.',
  attachments_too_large:
    'Les pièces jointes font {{size}} au total ; {{limit}} au plus sont autorisés. Envoyez-en moins ou de plus petites.',
  background_tasks_exhausted:
    '{{limit}} tâches de fond sont déjà en cours. Attendez que l’une se termine.',
  call_decided: 'Cet appel d’outil a déjà été approuvé ou refusé.',
  client_call_unknown:
    'Aucun appel d’outil avec l’identifiant « {{id}} » ne précède ce résultat. Envoyez les appels d’outils avec leurs résultats.',
  client_result_missing:
    'Le résultat de l’appel d’outil « {{name}} » manque. Envoyez un résultat pour chaque appel de vos outils.',
  conversation_busy:
    'De nouvelles réponses commencent sans cesse dans cette conversation. Réessayez.',
  conversation_gone: 'La conversation a été supprimée.',
  conversation_has_run:
    'Une réponse est déjà en cours dans cette conversation. Attendez-la, ou arrêtez-la d’abord.',
  image_not_data_url:
    'Envoyez les images en URL de données : data:image/png;base64,… (PNG, JPEG, WebP ou GIF).',
  input_answered: 'Une réponse a déjà été donnée à cette question.',
  input_content_invalid: '{{detail}}',
  input_not_found: 'Aucun serveur MCP n’attend de saisie sous cet id_ref.',
  message_too_long: 'Le message compte {{length}} caractères ; {{limit}} au plus sont autorisés.',
  nothing_to_answer:
    'Il n’y a rien à quoi répondre : terminez les messages par un message de l’utilisateur ou par des résultats de vos outils.',
  only_own_messages_editable: 'Vous ne pouvez modifier que vos propres messages.',
  only_answers_revisable: 'Seul le texte d’une réponse peut être modifié ainsi.',
  answer_not_finished:
    'Cette réponse est encore en cours d’écriture. Attendez, ou arrêtez-la d’abord.',
  parent_gone: 'Le message auquel celui-ci se rattache a été supprimé entre-temps.',
  parent_not_an_answer: '`parent_id` doit être une réponse de cette conversation.',
  programs_exhausted:
    'Vous pouvez exécuter {{limit}} programmes à la fois. Attendez que l’un se termine, ou arrêtez-en un.',
  python_unavailable:
    'Python ne peut pas être exécuté ici : ce serveur ne le propose pas, ou pas à votre compte.',
  project_would_be_too_large:
    'Le projet ferait {{size}} ; {{limit}} au plus sont autorisés. La modification a été annulée.',
  restore_not_recorded:
    'Les fichiers sont restaurés, mais l’état de cette restauration n’a pas encore pu être enregistré.',
  run_completed: 'Cette réponse est terminée ; il n’y a rien à reprendre.',
  run_continues_soon: 'Le serveur est sur le point de reprendre cette réponse. Réessayez sous peu.',
  run_not_prepared: 'La réponse n’a pas pu être préparée. Réessayez.',
  run_not_stored:
    'La réponse n’a pas pu être enregistrée et s’arrête ici. Renvoyez le message, ou reprenez la réponse.',
  run_still_active: 'Cette réponse est encore en cours.',
  run_takes_no_decision:
    'Cette réponse est terminée : aucun de ses appels d’outils n’attend de décision.',
  run_takes_no_input:
    'Cette réponse est terminée : aucun de ses appels d’outils n’attend de saisie.',
  run_minutes_used_up:
    'Cette réponse a atteint la limite de {{limit}} minutes. Vous pouvez la reprendre.',
  run_tokens_used_up:
    'Cette réponse a atteint la limite de {{limit}} tokens. Envoyez un nouveau message pour continuer.',
  run_without_answer: 'Aucune réponse n’a été produite. Réessayez.',
  runs_exhausted:
    'Vous avez déjà {{limit}} réponses en cours. Attendez que l’une se termine, ou arrêtez-en une.',
  task_not_found: 'Cette tâche de fond n’existe pas.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  blobs_unavailable:
    'Le stockage des fichiers n’est pas disponible pour le moment. Réessayez dans un instant.',
  cursor_gone:
    'Le message désigné par cette position a été supprimé. Recommencez à la première page.',
  cursor_invalid: 'Position non valide. Recommencez à la première page.',
  disk_unconfirmed:
    'Le disque n’a pas confirmé l’écriture. Vérifiez le disque, puis redémarrez le serveur.',
  search_too_slow: 'La recherche a pris trop de temps. Précisez-la et réessayez.',
  store_busy: 'La base de données est occupée. Réessayez dans un instant.',
  store_closed: 'La base de données est fermée.',
  store_file_unusable:
    'Le fichier de la base de données est inutilisable pour le moment. Réessayez dans un instant.',
  store_full: 'Le disque est plein : rien n’a été enregistré. Libérez de la place et réessayez.',
  store_locked: 'Un autre programme verrouille la base de données. Réessayez dans un instant.',
  store_overloaded: 'La base de données est surchargée. Réessayez dans un instant.',
  store_unanswered: 'La base de données ne répond pas. Réessayez dans un instant.',
}
