// French texts of refused requests (accounts, signing in and malformed requests), by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'

export const access: Record<keyof typeof ACCESS_FAILURES, string> = {
  address_missing: 'Votre compte n’a pas d’adresse e-mail. Indiquez-en une dans `address`.',
  mail_not_sent: 'L’e-mail n’a pas pu être envoyé. Vérifiez l’adresse ou réessayez plus tard.',
  mail_not_set_up:
    'Ce serveur ne peut pas envoyer d’e-mails. Demandez à un administrateur de configurer `smtp` et `public_url`.',
  mails_exhausted: 'Trop d’e-mails ont été demandés. Réessayez plus tard.',
  heir_is_same: 'Un compte ne peut pas être transmis à lui-même.',
  heir_missing: 'Indiquez dans `heir_id` le compte qui reçoit les données.',
  mcp_client_not_configured:
    'Le serveur d’autorisation n’enregistre pas de clients. Un administrateur doit définir `oauth.client_id` pour ce serveur MCP.',
  mcp_not_connected:
    'Le serveur MCP « {{server}} » est indisponible pour le moment. Réessayez plus tard.',
  mcp_prompt_failed: 'Le serveur MCP « {{server}} » n’a pas renvoyé ce prompt.',
  mcp_resource_empty: 'Cette ressource du serveur MCP « {{server}} » est vide.',
  mcp_resource_failed: 'Le serveur MCP « {{server}} » n’a pas renvoyé cette ressource.',
  mcp_headers_missing: 'L’URL du serveur MCP a changé. Saisissez de nouveau ses en-têtes.',
  mcp_server_configured: 'Ce serveur MCP est défini dans config.yml. Modifiez-le là.',
  mcp_server_name_taken: 'Il y a déjà un serveur MCP de ce nom.',
  tool_changed_again:
    'Le serveur MCP a encore changé cet outil. Relisez sa description, puis acceptez-la.',
  mcp_url_missing: 'Saisissez l’adresse du serveur MCP.',
  mcp_server_not_found: 'Ce serveur MCP n’existe pas.',
  mcp_sign_in_refused: 'La connexion à « {{server}} » a échoué ou a été refusée. Réessayez.',
  mcp_sign_in_unavailable:
    'La connexion à « {{server}} » est impossible pour le moment : il n’indique aucun serveur d’autorisation, ou celui-ci est injoignable.',
  mcp_sign_in_unknown: 'Cette connexion a expiré ou appartient à quelqu’un d’autre. Recommencez.',
  account_gone: 'Ce compte n’existe plus.',
  account_link_invalid:
    'Ce lien ne fonctionne plus : il a déjà été utilisé, a expiré ou a été révoqué. Demandez-en un nouveau à un administrateur.',
  account_not_found: 'Ce compte n’existe pas.',
  administrators_only: 'Seul un administrateur peut faire cela.',
  api_key_invalid: 'Cette clé d’API n’est pas valide.',
  api_key_expiry_past: 'La date d’expiration est déjà passée. Choisissez-en une plus tardive.',
  api_key_not_allowed:
    'Les clés d’API ne permettent pas cela. Connectez-vous avec votre mot de passe.',
  api_key_scope: 'Il manque à cette clé d’API le droit « {{scope}} ». Utilisez une clé qui l’a.',
  api_key_not_found: 'Cette clé d’API n’existe pas.',
  api_keys_exhausted: 'Vous avez déjà {{limit}} clés d’API. Supprimez-en d’abord une.',
  body_empty: 'Le corps de la requête est vide.',
  body_not_json: 'Le corps de la requête n’est pas du JSON valide.',
  body_too_large: 'Le corps de la requête dépasse la taille autorisée par ce serveur.',
  content_length_wrong: 'Le corps de la requête n’a pas la longueur indiquée par Content-Length.',
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
  invitations_exhausted: 'Il y a déjà {{limit}} invitations ouvertes. Révoquez-en d’abord.',
  json_list_too_long: 'Une liste du JSON compte plus de {{entries}} éléments.',
  json_too_many_values: 'Le JSON compte plus de {{limit}} valeurs.',
  json_too_deep: 'Le JSON est imbriqué sur plus de {{levels}} niveaux.',
  last_administrator:
    'C’est le dernier administrateur actif. Donnez d’abord le rôle d’administrateur à un autre compte.',
  multipart_broken:
    'Le corps multipart est illisible : il est incomplet, ou son séparateur manque ou dépasse 250 caractères.',
  multipart_expected: 'Envoyez ceci en multipart/form-data.',
  no_password_in_single_mode: 'En mode mono-utilisateur, il n’y a pas de mot de passe.',
  nothing_here: 'Cette URL n’existe pas. Vérifiez le chemin et la méthode.',
  origin_refused:
    'Les pages d’une autre origine ne peuvent pas appeler ce serveur. Si l’origine est correcte, ajoutez-la à cors_origins.',
  oidc_groups_withheld:
    'L’authentification unique n’a pas indiqué vos groupes, car ils sont trop nombreux. Contactez un administrateur.',
  oidc_no_account: 'Vous n’avez pas de compte ici. Demandez à un administrateur d’en créer un.',
  oidc_not_allowed:
    'Vous n’êtes dans aucun des groupes autorisés à se connecter ici. Contactez un administrateur.',
  oidc_refused: 'L’authentification unique a été annulée ou refusée. Réessayez.',
  oidc_response_invalid:
    'L’authentification unique a échoué : la réponse n’a pas pu être vérifiée. Réessayez ; si cela se reproduit, contactez un administrateur.',
  oidc_sign_in_unknown:
    'Cette connexion a expiré ou a été commencée dans un autre navigateur. Réessayez.',
  oidc_unreachable: 'L’authentification unique est indisponible. Réessayez dans un instant.',
  account_without_password:
    'Le compte « {{name}} » n’a pas de mot de passe, car son propriétaire utilise l’authentification unique. Un lien de mot de passe lui permettrait de se connecter même si elle ne l’autorise plus.',
  password_sign_in_off:
    'La connexion par mot de passe est désactivée sur ce serveur. Utilisez l’authentification unique.',
  password_common:
    'Ce mot de passe est l’un des plus courants et serait deviné aussitôt. Choisissez-en un autre.',
  password_is_name:
    'Le mot de passe ne peut pas être le nom d’utilisateur ni l’adresse e-mail. Choisissez-en un autre.',
  password_changed: 'Le mot de passe vient d’être changé. Reconnectez-vous.',
  registration_closed: 'Les inscriptions sont fermées. Demandez un compte à un administrateur.',
  registrations_exhausted:
    'Trop de comptes ont été créés depuis votre réseau. Réessayez plus tard, ou contactez un administrateur.',
  request_field_invalid: '{{part}} n’est pas valide : {{detail}}',
  request_invalid: '{{part}} n’est pas valide.',
  request_refused: 'La requête a été refusée.',
  second_factor_unreadable:
    'Le serveur ne peut plus lire le secret de votre application d’authentification. Utilisez un code de récupération ou une clé d’accès, ou demandez à un administrateur de réinitialiser vos seconds facteurs.',
  share_unreadable:
    'Le lien de ce partage n’est plus lisible, car il a été chiffré avec une autre clé secrète. Arrêtez le partage et partagez de nouveau pour obtenir un nouveau lien, ou demandez à l’exploitant de restaurer la clé.',
  secret_unreadable:
    'Un secret enregistré ne peut pas être déchiffré : il a été chiffré avec une autre clé. Rétablissez cette clé ou saisissez de nouveau le secret.',
  passkey_invalid:
    'Cette clé d’accès n’a pas pu être vérifiée. Réessayez, ou connectez-vous autrement.',
  passkey_not_found: 'Cette clé d’accès n’existe pas.',
  passkey_unavailable:
    'Les clés d’accès exigent un nom d’hôte et HTTPS, ou localhost. Définissez public_url en conséquence.',
  passkeys_exhausted: 'Vous avez déjà {{limit}} clés d’accès. Supprimez-en d’abord une.',
  second_factor_code_wrong: 'Ce code est erroné, expiré ou déjà utilisé. Saisissez le code actuel.',
  second_factor_expired: 'Cette connexion a expiré. Reconnectez-vous.',
  second_factor_missing:
    'Il n’y a aucune application d’authentification à confirmer ni à retirer. Recommencez.',
  second_factor_refused: 'Ce code ou cette clé d’accès est erroné, expiré ou déjà utilisé.',
  second_factor_required:
    'Le mot de passe est correct. Confirmez la connexion avec votre second facteur.',
  second_factor_set: 'Une application d’authentification est déjà configurée. Retirez-la d’abord.',
  session_not_found: 'Cette session n’existe pas.',
  session_ended: 'Votre session est terminée. Reconnectez-vous.',
  setup_link_required:
    'Ce serveur n’a pas encore d’administrateur. Ouvrez le lien de configuration affiché à son démarrage.',
  shutting_down: 'Le serveur redémarre. Réessayez sous peu.',
  sign_in_busy: 'Trop de personnes se connectent à la fois. Réessayez dans un instant.',
  sign_in_required: 'Connectez-vous d’abord.',
  sign_ins_exhausted: 'Trop d’échecs de connexion. Patientez un moment, puis réessayez.',
  single_user: 'Ce serveur fonctionne en mode mono-utilisateur et n’exige pas de connexion.',
  streams_exhausted:
    'Vous avez {{limit}} flux d’événements ouverts à la fois. Fermez quelques onglets ou connexions.',
  too_many_open:
    'Le serveur a trop de fichiers et de connexions ouverts. Réessayez dans un instant.',
  url_invalid: 'L’URL n’est pas valide.',
  url_too_long: 'L’URL est trop longue.',
  user_name_taken: 'Ce nom d’utilisateur ou cette adresse e-mail est déjà pris.',
  wrong_credentials: 'Le nom d’utilisateur ou le mot de passe est incorrect.',
  headers_too_large: 'Les en-têtes de la requête sont trop volumineux.',
  request_timeout: 'La requête a mis trop de temps à arriver. Réessayez.',
  request_malformed: 'Ce n’est pas une requête HTTP valide.',
}
