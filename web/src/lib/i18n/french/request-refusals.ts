// Why requests are refused: access, administration, conversations and runs, in French, by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const access: Texts<typeof ACCESS_FAILURES> = {
  address_missing: 'Votre compte n’a pas d’adresse e-mail. Indiquez-en une dans `address`.',
  mail_not_sent: 'L’e-mail n’a pas pu être envoyé. Vérifiez l’adresse ou réessayez plus tard.',
  mail_not_set_up:
    'Ce serveur ne peut pas envoyer d’e-mails : il lui faut `smtp` et `public_url` dans sa configuration. Adressez-vous à un administrateur.',
  mails_exhausted: 'Trop d’e-mails ont été demandés. Réessayez plus tard.',
  heir_is_same: 'Un compte ne peut pas être transmis à lui-même.',
  heir_missing: 'Indiquez dans « heir_id » le compte qui reçoit les données.',
  mcp_client_not_configured:
    'Le serveur d’autorisation n’enregistre pas de clients. Un administrateur doit définir « oauth.client_id » pour ce serveur MCP.',
  mcp_not_connected: 'Le serveur MCP « {{server}} » est indisponible pour le moment. Réessayez.',
  mcp_prompt_failed: 'Le serveur MCP « {{server}} » n’a pas renvoyé cette invite.',
  mcp_resource_empty: 'Cette ressource du serveur MCP « {{server}} » est vide.',
  mcp_resource_failed: 'Le serveur MCP « {{server}} » n’a pas renvoyé cette ressource.',
  mcp_headers_missing: 'Vous avez changé l’adresse du serveur MCP ; saisissez aussi ses en-têtes.',
  mcp_server_configured: 'Ce serveur MCP est défini dans config.yml. Modifiez-le là.',
  mcp_server_name_taken: 'Il y a déjà un serveur MCP de ce nom.',
  mcp_url_missing: 'Saisissez l’adresse du serveur MCP.',
  mcp_server_not_found: 'Ce serveur MCP n’existe pas.',
  mcp_sign_in_refused: 'La connexion à « {{server}} » a échoué ou a été refusée. Réessayez.',
  mcp_sign_in_unavailable:
    'La connexion à « {{server}} » est impossible pour le moment : il n’indique aucun serveur d’autorisation, ou celui-ci est injoignable.',
  mcp_sign_in_unknown:
    'Cette connexion est terminée ou a été commencée par quelqu’un d’autre. Recommencez.',
  account_gone: 'Ce compte n’existe plus.',
  account_link_invalid:
    'Ce lien ne fonctionne plus : il a été utilisé, a expiré ou a été retiré. Demandez-en un nouveau à un administrateur.',
  account_not_found: 'Ce compte n’existe pas.',
  administrators_only: 'Seul un administrateur peut faire cela.',
  api_key_invalid: 'Cette clé d’API n’est pas valide.',
  api_key_expiry_past: 'La clé aurait déjà expiré.',
  api_key_not_allowed:
    'Les clés d’API ne permettent pas cela. Connectez-vous avec votre mot de passe.',
  api_key_scope:
    'Cette clé d’API ne permet pas cela : il lui manque le droit « {{scope}} ». Utilisez-en une autre.',
  api_key_not_found: 'Cette clé d’API n’existe pas.',
  api_keys_exhausted: 'Vous avez déjà {{limit}} clés d’API. Supprimez-en d’abord une.',
  body_empty: 'Le contenu est vide.',
  body_not_json: 'Le contenu n’est pas du JSON valide.',
  body_too_large: 'Le contenu dépasse ce que ce serveur autorise.',
  content_length_wrong: 'Le contenu n’a pas la longueur indiquée par Content-Length.',
  content_type_unsupported:
    'Ce type de contenu n’est pas pris en charge ici. Envoyez application/json.',
  email_needs_password:
    'Pour changer l’adresse e-mail, il faut le mot de passe actuel, car les liens pour un nouveau mot de passe y sont envoyés.',
  current_password_missing: 'Pour changer le mot de passe, il faut le mot de passe actuel.',
  current_password_wrong: 'Le mot de passe actuel est incorrect.',
  host_refused:
    'Ce serveur ne répond pas sous ce nom d’hôte. Si le nom est correct, ajoutez-le à trusted_hosts.',
  host_repeated: 'La requête a plusieurs en-têtes Host.',
  idempotency_body_gone:
    'Une requête avec cette Idempotency-Key a abouti, mais sa réponse était trop volumineuse pour être répétée.',
  idempotency_key_invalid: 'Une Idempotency-Key compte de 1 à {{limit}} caractères.',
  idempotency_key_reused:
    'Cette Idempotency-Key a servi à une autre requête. Utilisez-en une nouvelle à chaque fois.',
  idempotency_pending:
    'Une requête avec cette Idempotency-Key est encore en cours. Réessayez dans un instant.',
  internal:
    'Une erreur s’est produite sur le serveur. Réessayez ; si cela se reproduit, cherchez l’identifiant de la requête dans le journal.',
  invitation_not_found: 'Cette invitation n’existe pas.',
  invitation_required:
    'Il faut une invitation pour s’inscrire ici. Demandez-en une à un administrateur.',
  invitations_exhausted: 'Il y a déjà {{limit}} invitations ouvertes. Retirez-en d’abord.',
  json_list_too_long: 'Une liste du JSON compte plus de {{entries}} éléments.',
  json_too_deep: 'Le JSON est imbriqué sur plus de {{levels}} niveaux.',
  last_administrator: 'C’est le dernier administrateur actif.',
  multipart_broken:
    'Le contenu multipart est illisible : il se termine trop tôt, ou son séparateur manque ou dépasse 250 caractères.',
  multipart_expected: 'Envoyez ceci en multipart/form-data.',
  no_password_in_single_mode: 'En mode mono-utilisateur, il n’y a pas de mot de passe.',
  nothing_here: 'Il n’y a rien à cette adresse.',
  origin_refused:
    'Les pages d’une autre origine ne peuvent pas appeler ce serveur. Si l’origine est correcte, ajoutez-la à cors_origins.',
  oidc_groups_withheld:
    'L’authentification unique n’a pas indiqué vos groupes, car ils sont trop nombreux. Contactez un administrateur.',
  oidc_no_account: 'Vous n’avez pas de compte ici. Demandez à un administrateur d’en créer un.',
  oidc_not_allowed:
    'Vous n’êtes dans aucun des groupes autorisés à se connecter ici. Contactez un administrateur.',
  oidc_refused: 'L’authentification unique a été annulée ou refusée. Réessayez.',
  oidc_response_invalid:
    'L’authentification unique a échoué : la réponse n’était pas fiable. Réessayez ; si cela se reproduit, prévenez un administrateur.',
  oidc_sign_in_unknown:
    'Cette connexion a pris trop de temps ou a été commencée dans un autre navigateur. Réessayez.',
  oidc_unreachable: 'L’authentification unique est indisponible. Réessayez dans un instant.',
  password_sign_in_off:
    'Les mots de passe sont désactivés sur ce serveur. Utilisez l’authentification unique.',
  password_common:
    'Ce mot de passe est l’un des plus courants et serait deviné aussitôt. Choisissez-en un autre.',
  password_is_name:
    'Le mot de passe ne peut pas être le nom d’utilisateur ni l’adresse e-mail. Choisissez-en un autre.',
  password_changed: 'Le mot de passe vient d’être changé. Reconnectez-vous.',
  registration_closed: 'Les inscriptions sont fermées. Demandez un compte à un administrateur.',
  registrations_exhausted:
    'Trop de comptes ont été créés depuis votre adresse. Réessayez plus tard, ou contactez un administrateur.',
  request_field_invalid: '{{part}} n’est pas valide : {{detail}}',
  request_invalid: '{{part}} n’est pas valide.',
  request_refused: 'La requête a été refusée.',
  secret_unreadable:
    'Un secret enregistré est illisible : il l’a été avec une autre clé. Rétablissez cette clé ou saisissez de nouveau le secret.',
  passkey_invalid:
    'Cette clé d’accès n’a pas pu être vérifiée. Réessayez, ou connectez-vous autrement.',
  passkey_not_found: 'Cette clé d’accès n’existe pas.',
  passkey_unavailable:
    'Les clés d’accès exigent un nom d’hôte et HTTPS, ou localhost. Définissez public_url en conséquence.',
  passkeys_exhausted: 'Vous avez déjà {{limit}} clés d’accès. Supprimez-en d’abord une.',
  second_factor_code_wrong: 'Ce code est erroné, expiré ou déjà utilisé. Saisissez le code actuel.',
  second_factor_expired: 'Cela a pris trop de temps. Reconnectez-vous depuis le début.',
  second_factor_missing: 'Il n’y a rien à confirmer ni à retirer. Recommencez.',
  second_factor_refused: 'Ce code ou cette clé d’accès est erroné, expiré ou déjà utilisé.',
  second_factor_required:
    'Le mot de passe est correct. Confirmez la connexion avec votre second facteur.',
  second_factor_set: 'Une application d’authentification est déjà configurée. Retirez-la d’abord.',
  session_not_found: 'Cette session n’existe pas.',
  session_ended: 'Votre session est terminée. Reconnectez-vous.',
  setup_link_required:
    'Ce serveur n’a pas encore d’administrateur. Ouvrez le lien de configuration affiché à son démarrage.',
  shutting_down: 'Le serveur va redémarrer. Réessayez sous peu.',
  sign_in_busy: 'Trop de personnes se connectent à la fois. Réessayez dans un instant.',
  sign_in_required: 'Connectez-vous d’abord.',
  sign_ins_exhausted: 'Trop d’échecs de connexion. Patientez un moment, puis réessayez.',
  single_user: 'Ce serveur n’a qu’un utilisateur : aucune connexion n’est nécessaire.',
  streams_exhausted:
    'Vous avez {{limit}} flux d’événements ouverts à la fois. Fermez quelques onglets ou connexions.',
  too_many_open:
    'Le serveur a trop de fichiers et de connexions ouverts. Réessayez dans un instant.',
  url_invalid: 'L’URL n’est pas valide.',
  url_too_long: 'L’URL est trop longue.',
  user_name_taken: 'Ce nom d’utilisateur ou cette adresse e-mail est déjà pris.',
  wrong_credentials: 'Le nom d’utilisateur ou le mot de passe est incorrect.',
  headers_too_large: 'Les en-têtes de la requête sont trop volumineux.',
  request_timeout: 'La requête a mis trop de temps à arriver.',
  request_malformed: 'Ce n’est pas une requête HTTP valide.',
}

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
    'Vos {{limit}} messages d’aujourd’hui sont épuisés. Ils sont renouvelés le {{renews_at}}.',
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
  channel_name_taken: 'Vous avez déjà un canal nommé « {{name}} ».',
  channel_not_found: 'Ce canal n’existe pas.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown:
    'Il n’y a pas de canal de type « {{type}} ». Utilisez l’un de ceux-ci : {{types}}.',
  channels_exhausted: 'Vous pouvez avoir {{limit}} canaux au plus. Supprimez-en d’abord un.',
  conversation_not_found: 'Cette conversation n’existe pas.',
  document_not_found: 'Ce document n’existe pas.',
  documents_exhausted: 'Un projet peut avoir {{limit}} documents au plus. Supprimez-en d’abord.',
  export_not_found: 'Cet export n’existe pas. Les exports sont supprimés au bout d’un jour.',
  export_not_ready: 'Cet export n’est pas encore prêt. Attendez que son état soit « completed ».',
  export_running: 'Un export est déjà en cours. Attendez qu’il se termine.',
  import_invalid: 'Ce fichier ne contient pas de conversation complète ({{detail}}).',
  import_not_found: 'Cette importation n’existe pas.',
  import_running: 'Une importation est déjà en cours. Attendez qu’elle se termine.',
  import_upload_too_large: 'Une importation peut faire {{limit}} au plus.',
  memory_too_long:
    'La mémoire peut compter {{limit}} caractères au plus ; ce texte en a {{length}}.',
  message_not_found: 'Ce message n’existe pas.',
  model_configured: 'Ce modèle est défini dans config.yml. Modifiez-le là.',
  model_id_taken: 'Il y a déjà un modèle avec cet identifiant.',
  model_key_missing: 'Vous avez changé l’adresse du fournisseur ; saisissez aussi sa clé d’API.',
  model_unknown: 'Ce modèle n’existe pas.',
  nothing_to_undelete: 'Il n’y a aucune suppression à annuler.',
  outbox_full: '{{limit}} messages attendent déjà d’être envoyés. Réessayez plus tard.',
  recipients_exhausted:
    'Vos canaux peuvent écrire à {{limit}} destinataires par heure, et cette limite est atteinte. Réessayez dans {{minutes}} minutes.',
  response_item_not_found: 'Aucune de vos réponses ne contient l’élément « {{id}} ».',
  response_not_found: 'Il n’y a pas de réponse « {{id}} ».',
  run_not_found: 'Cette exécution n’existe pas.',
  share_expired: 'La date d’expiration d’un partage doit être dans le futur.',
  share_guesses_exhausted:
    'Trop de mots de passe erronés pour ce lien. Patientez un peu, puis réessayez.',
  share_not_found: 'Rien n’est partagé sous ce lien.',
  share_password_needed: 'Ce lien exige un mot de passe (X-Share-Password).',
  share_password_wrong: 'Le mot de passe de ce lien est incorrect.',
  share_too_large: 'Cette conversation est trop volumineuse pour être partagée.',
  share_views_exhausted:
    'Trop de conversations partagées ont été ouvertes depuis ce réseau. Attendez une minute, puis réessayez.',
  sharing_off: 'Le partage est désactivé sur ce serveur.',
  unknown_model: 'Il n’y a pas de modèle « {{model}} ». Disponibles : {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Ce compte est désactivé.',
  answer_without_question:
    'Aucun message ne correspond à cette réponse ; elle ne peut donc pas être régénérée.',
  approval_not_found: 'Aucune demande d’approbation n’attend sous cet id_ref.',
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
  call_decided: 'Une décision a déjà été prise pour cet appel.',
  client_call_unknown:
    'Aucun appel n’a l’identifiant « {{id}} » avant son résultat. Envoyez ensemble les appels et leurs résultats.',
  client_result_missing:
    'Le résultat de l’appel de « {{name}} » manque. Envoyez un résultat pour chaque appel de vos outils.',
  conversation_busy:
    'De nouvelles exécutions démarrent sans cesse dans cette conversation. Réessayez.',
  conversation_gone: 'La conversation a été supprimée.',
  conversation_has_run:
    'Cette conversation a déjà une exécution active. Attendez-la, ou arrêtez-la d’abord.',
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
  parent_not_an_answer: '« parent_id » doit être une réponse de cette conversation.',
  project_would_be_too_large:
    'Le projet ferait {{size}} ; {{limit}} au plus sont autorisés. La modification a été annulée.',
  restore_not_recorded:
    'Les fichiers sont restaurés, mais l’état de cette restauration n’a pas encore pu être enregistré.',
  run_completed: 'Cette exécution est terminée ; il n’y a rien à continuer.',
  run_continues_soon:
    'Le serveur est sur le point de continuer cette exécution. Réessayez sous peu.',
  run_not_prepared: 'La réponse n’a pas pu être préparée. Réessayez.',
  run_not_stored:
    'La réponse n’a pas pu être enregistrée et s’arrête ici. Redemandez, ou reprenez-la.',
  run_still_active: 'Cette exécution est encore active.',
  run_takes_no_decision: 'Cette exécution est terminée : aucun de ses appels n’attend de décision.',
  run_takes_no_input: 'Cette exécution est terminée : aucun de ses appels n’attend de saisie.',
  run_minutes_used_up:
    'Une réponse s’arrête après {{limit}} minutes. Vous pouvez la laisser continuer.',
  run_tokens_used_up:
    'Les {{limit}} tokens d’une réponse sont épuisés. Demandez la suite dans un nouveau message.',
  run_without_answer: 'L’exécution s’est terminée sans réponse.',
  runs_exhausted:
    'Vous avez déjà {{limit}} exécutions actives. Attendez que l’une se termine, ou arrêtez-en une.',
  task_not_found: 'Cette tâche n’existe pas.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  cursor_gone:
    'Le message désigné par cette position a été supprimé. Recommencez à la première page.',
  cursor_invalid: 'Position non valide. Recommencez à la première page.',
  disk_unconfirmed:
    'Le disque n’a pas confirmé l’écriture. Vérifiez le disque, puis redémarrez le serveur.',
  search_too_slow: 'La recherche a pris trop de temps. Précisez-la et réessayez.',
  store_busy: 'La base de données est occupée. Réessayez bientôt.',
  store_closed: 'La base de données est fermée.',
  store_file_unusable: 'Le fichier de la base de données est inutilisable pour le moment.',
  store_full: 'Le disque est plein : rien n’a été enregistré. Libérez de la place et réessayez.',
  store_locked: 'Un autre programme verrouille la base de données. Réessayez bientôt.',
  store_overloaded: 'La base de données a trop à faire. Réessayez bientôt.',
  store_unanswered: 'La base de données ne répond pas. Réessayez bientôt.',
}
