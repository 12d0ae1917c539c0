// French texts of failures (files, models, documents, deliveries, MCP servers and imports), by the protocol's reasons.
import type { FILE_FAILURES } from '../../../../../server/protocol/failures/files.ts'
import type { MODEL_FAILURES } from '../../../../../server/protocol/failures/models.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const files: Texts<typeof FILE_FAILURES> = {
  binary_file:
    '« {{path}} » est un fichier binaire ({{kind}}, {{size}}) et ne peut pas être lu comme texte.',
  checkpoint_not_found: 'Cet état n’existe pas.',
  content_expired:
    'L’ancien contenu de « {{path}} » n’est plus conservé ; cet état ne peut donc pas être restauré.',
  disk_full: 'Le disque est plein : rien n’a été modifié. Libérez de la place et réessayez.',
  edit_failed: '{{detail}}',
  encoding_mismatch: '« {{path}} » n’est pas du {{encoding}} valide. Essayez un autre encodage.',
  encoding_not_writable:
    '« {{path}} » est encodé en {{encoding}}, qui ne peut pas contenir ce texte. Écrivez tout le fichier en UTF-8.',
  encoding_unknown:
    'Encodage inconnu « {{encoding}} ». Essayez utf-8, utf-16le, gb18030, shift_jis ou windows-1252.',
  file_access_denied: 'Le serveur n’a pas les droits nécessaires sur « {{path}} ».',
  file_changed_meanwhile:
    'Quelqu’un d’autre a modifié « {{path}} » entre-temps. Relisez-le avant de le modifier.',
  file_changed_while_read: '« {{path}} » a changé pendant la lecture. Réessayez.',
  file_content_missing:
    'Le contenu de ce fichier manque sur le serveur. Un administrateur peut le restaurer d’une sauvegarde.',
  file_created_meanwhile: 'Le fichier « {{path}} » existe déjà. Lisez-le avant de le modifier.',
  file_deleted_meanwhile:
    'Quelqu’un d’autre a supprimé « {{path}} » entre-temps. Vérifiez quels fichiers existent avant de le modifier.',
  file_exists: '« {{path}} » existe déjà, ou est un dossier.',
  file_in_the_way: '« {{path}} » est un fichier ; un dossier ne peut pas prendre sa place.',
  file_id_unknown: 'Ce fichier n’existe pas.',
  file_name_too_long: 'Le nom de « {{path}} » est trop long.',
  file_not_found: 'Il n’y a ni fichier ni dossier « {{path}} ».',
  file_removed_while_written: '« {{path}} » a été supprimé pendant l’écriture. Réessayez.',
  file_replaced:
    '« {{path}} » a été remplacé en cours d’utilisation. Rien n’a été modifié ; réessayez.',
  file_too_large: '« {{path}} » fait {{size}} ; on peut lire {{limit}} au plus.',
  file_too_large_to_write: '« {{path}} » ferait {{size}} ; on peut écrire {{limit}} au plus.',
  file_type_unsupported:
    '« {{name}} » ne peut pas être joint. Joignez une image (PNG, JPEG, WebP, GIF), un document PDF, DOCX, XLSX ou PPTX, ou du texte.',
  file_unusable: '« {{path}} » est inaccessible.',
  file_upload_too_large: 'Un fichier peut faire {{limit}} au plus.',
  file_thumbnail_missing:
    '« {{name}} » n’est pas une image et n’a pas de miniature. Omettez `thumb` pour obtenir le fichier.',
  file_used: 'Un message utilise ce fichier. Supprimez d’abord le message.',
  file_would_be_too_large: '« {{path}} » serait trop volumineux.',
  file_missing: 'Envoyez un fichier dans le champ `file`.',
  files_missing: 'Envoyez au moins un fichier dans le champ `files[]`.',
  folder_exists: 'Il y a déjà un dossier « {{path}} ».',
  folder_in_the_way:
    'Le dossier « {{path}} » contient des fichiers inconnus de l’état ; le fichier de ce nom ne peut donc pas être restauré.',
  folder_into_itself: 'Un dossier ne peut pas être déplacé dans lui-même.',
  folder_takes_no_file: '« {{path}} » est un dossier ; un fichier ne peut pas prendre sa place.',
  glob_too_complex: 'Le motif a trop d’alternatives entre accolades. Simplifiez-le.',
  glob_too_long: 'Un motif peut compter {{limit}} caractères au plus.',
  image_unreadable:
    '« {{name}} » est illisible comme image : elle est endommagée, a trop de pixels, ou son format n’est pas pris en charge.',
  link_refused:
    '« {{path}} » est un lien symbolique ou en traverse un. Les liens ne sont pas suivis dans un projet.',
  names_collide:
    '« {{path}} » entre en conflit avec un autre fichier dont le nom est identique pour ce disque.',
  not_a_file: '« {{path}} » est un dossier, pas un fichier.',
  not_a_regular_file:
    '« {{path}} » est un périphérique, un tube ou une socket, pas un fichier ordinaire.',
  old_name_taken:
    'Le dossier « {{path}} » s’appelait « {{old}} », mais autre chose porte maintenant ce nom. Déplacez-le, puis restaurez de nouveau.',
  path_escapes:
    'Le chemin sort du projet. Utilisez un chemin relatif au dossier du projet, comme « src/main.py ».',
  path_has_backslashes: 'Chemin refusé : séparez les dossiers par « / », pas par « \\ ».',
  path_has_invisible_characters:
    'Chemin refusé : il contient des caractères de contrôle ou invisibles.',
  path_is_project: 'Chemin refusé : il désigne le dossier du projet lui-même.',
  path_name_too_long: 'Chemin refusé : un nom y est trop long.',
  path_not_unicode: 'Chemin refusé : ce n’est pas de l’Unicode valide.',
  path_taken: 'Il y a déjà un fichier ou un dossier nommé « {{path}} ».',
  path_through_file: '« {{path}} » n’existe pas : une partie du chemin n’est pas un dossier.',
  path_too_deep: 'Chemin refusé : plus de {{limit}} dossiers de profondeur.',
  path_too_long: 'Chemin refusé : il est trop long.',
  project_busy:
    'Une autre modification de ce projet est en cours. Rien n’a été modifié. Réessayez.',
  project_deleted: 'Ce projet a été supprimé. Rien n’a été modifié, et il ne peut plus l’être.',
  project_deleted_during_run:
    'Le projet de cette conversation a été supprimé pendant la réponse ; la réponse s’arrête donc ici. Renvoyez le message pour continuer sans le projet.',
  project_full:
    'Le projet dépasserait sa limite de {{limit}}. Supprimez d’abord quelques fichiers.',
  project_name_taken: 'Vous avez déjà un projet de ce nom.',
  project_not_found: 'Ce projet n’existe pas.',
  projects_exhausted: 'Vous avez déjà {{limit}} projets. Supprimez-en un d’abord.',
  quota_claim_refused:
    'Il n’y a pas assez de place pour {{more}} de plus. Vous pouvez stocker {{limit}} au plus dans l’ensemble des projets, documents et fichiers joints, et vous en avez stocké {{used}}. Supprimez-en d’abord.',
  quota_exceeded:
    'La modification a été annulée car elle dépasse votre espace. Vous pouvez stocker {{limit}} au plus dans l’ensemble des projets, documents et fichiers joints, et vous en avez stocké {{used}}. Supprimez-en d’abord.',
  quota_texts_refused:
    'Il n’y a pas assez de place pour {{more}} de texte de plus. Vous pouvez stocker {{limit}} au plus et, avec les textes de vos conversations et de vos liens partagés, vous en avez stocké {{used}}. Supprimez d’abord des conversations, des liens partagés ou des fichiers.',
  request_stopped: 'La requête a été annulée. Rien n’a été modifié.',
  search_not_isolated: 'La recherche n’a pas pu être isolée du système.',
  search_busy: 'Vous avez {{count}} recherches en attente. Réessayez quand elles seront terminées.',
  search_not_started: 'Le programme de recherche n’a pas pu démarrer.',
  search_path_is_link: '« {{path}} » est un lien symbolique, qui n’est pas suivi.',
  search_path_not_found: 'Il n’y a ni fichier ni dossier « {{path}} » où chercher.',
  search_pattern_invalid:
    'Le motif n’est pas valide : {{detail}}. Faites précéder les caractères spéciaux de « \\ » pour les chercher tels quels.',
  too_many_changes: 'On peut modifier {{limit}} fichiers au plus à la fois.',
  too_many_files_open: 'Trop de fichiers sont ouverts. Réessayez dans un instant.',
  too_many_restored: 'On peut restaurer {{limit}} fichiers au plus à la fois.',
  upload_fields_invalid: '{{detail}}',
  upload_has_too_many_files: 'Un envoi peut compter {{limit}} fichiers au plus.',
  upload_repeats: 'L’envoi contient deux fois « {{path}} ».',
  upload_too_large: 'Un envoi peut faire {{limit}} au plus.',
  upload_too_many_fields: 'L’envoi contient plus de champs que ce serveur n’en autorise.',
  upload_too_many_files: 'L’envoi contient plus de fichiers que ce serveur n’en autorise.',
  upload_too_many_parts: 'L’envoi contient plus de parties que ce serveur n’en autorise.',
  uploaded_file_too_large: 'Un fichier de l’envoi dépasse ce que ce serveur autorise.',
  uploads_busy: 'Le serveur reçoit trop d’envois. Réessayez dans un instant.',
  uploads_exhausted:
    'Il peut y avoir {{limit}} envois à la fois au plus. Attendez que l’un se termine, puis réessayez.',
  work_stopped: 'L’opération a été annulée.',
  work_too_slow: 'L’opération a duré plus de {{seconds}} s.',
  upload_not_multipart: 'Envoyez les fichiers en multipart/form-data.',
}

export const models: Texts<typeof MODEL_FAILURES> = {
  model_answer_unfinished: 'Le modèle s’est arrêté sans terminer sa réponse.',
  model_answer_empty:
    'Le modèle « {{model}} » n’a rien répondu. Renvoyez votre message, ou choisissez un autre modèle.',
  model_answer_endless:
    'La réponse de « {{model}} » ne se terminait pas et a été coupée. Réessayez, ou choisissez un autre modèle.',
  model_answer_filtered:
    'Un filtre de contenu du fournisseur, ou « {{model}} » lui-même, a mis fin à cette réponse ({{finish_reason}}). Reformulez votre message, ou choisissez un autre modèle.',
  model_answer_is_page:
    'Le fournisseur de « {{model}} » a envoyé une page Web. Vérifiez que api_url est l’adresse d’une API de modèles.',
  model_answer_no_json:
    'La réponse du fournisseur de « {{model}} » n’est pas un objet JSON. Vérifiez que api_url est l’adresse d’une API de modèles.',
  model_answer_no_stream:
    'La réponse du fournisseur de « {{model}} » n’est pas un flux d’événements. Vérifiez que api_url est l’adresse d’une API de modèles.',
  model_answer_only_thinking:
    '« {{model}} » a réfléchi, mais n’a écrit aucune réponse. Renvoyez votre message, ou choisissez un autre modèle.',
  model_answer_only_thinking_cut:
    '« {{model}} » a atteint sa limite de sortie avant d’écrire une réponse. Augmentez max_tokens de la conversation ou du modèle, ou faites-le moins réfléchir.',
  model_api_missing:
    'Il n’y a pas d’API compatible avec OpenAI à cette adresse. Vérifiez l’adresse.',
  model_call_malformed:
    '« {{model}} » a écrit un appel d’outil illisible. Renvoyez votre message, ou choisissez un autre modèle.',
  model_call_unreadable:
    'Le modèle a écrit un appel d’outil illisible. Il lui sera demandé de l’écrire de nouveau.',
  model_context_exceeded:
    'La conversation est trop longue pour « {{model}} ». Commencez-en une nouvelle, ou choisissez un modèle à plus grande fenêtre de contexte.',
  model_key_lost:
    'La clé d’API enregistrée de {{model}} ne peut pas être déchiffrée. Un administrateur doit la saisir de nouveau dans Paramètres → Modèles.',
  model_list_empty: 'Le fournisseur n’indique aucun modèle. Saisissez le nom d’un modèle.',
  model_not_found:
    'Le fournisseur de « {{model}} » ne connaît pas ce modèle ou cette adresse ({{status}}). Vérifiez api_url et upstream_model.',
  model_rate_limited:
    'Le fournisseur de « {{model}} » limite le rythme des requêtes ({{status}}). Réessayez dans un instant.',
  model_rate_limited_quota:
    'Votre quota de « {{model}} » chez le fournisseur est épuisé ({{status}}). Choisissez un autre modèle, ou attendez son renouvellement.',
  model_redirected:
    'L’adresse de « {{model}} » répond par une redirection ({{status}}). Vérifiez api_url.',
  model_refused: 'Le fournisseur de « {{model}} » a refusé la requête ({{status}}).',
  model_refused_credit:
    'Votre compte chez le fournisseur de « {{model}} » n’a plus de crédit ({{status}}). Rechargez-le, ou choisissez un autre modèle.',
  model_stopped: 'La requête à « {{model}} » a été annulée.',
  model_stream_broken: 'La connexion à « {{model}} » s’est fermée avant la fin de la réponse.',
  model_stream_disordered:
    'Le fournisseur de « {{model}} » a envoyé des parties de la réponse deux fois ou dans le désordre. Réessayez, ou choisissez un autre modèle.',
  model_timeout: 'Le fournisseur de « {{model}} » a mis trop de temps ({{status}}).',
  model_timeout_silence: 'Le modèle « {{model}} » n’a rien envoyé pendant {{seconds}} secondes.',
  model_unauthorized:
    'Le fournisseur a refusé la clé d’API de « {{model}} » ({{status}}). Vérifiez la clé dans les paramètres.',
  model_unavailable:
    'Le fournisseur de « {{model}} » a un problème ({{status}}). Réessayez, ou choisissez un autre modèle.',
  model_unavailable_connection:
    '« {{model}} » est injoignable : la connexion a échoué. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_connection_closed:
    '« {{model}} » est injoignable : la connexion a été fermée. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_connection_refused:
    '« {{model}} » est injoignable : la connexion a été refusée. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_connection_timed_out:
    '« {{model}} » est injoignable : le délai de connexion a été dépassé. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_host_not_found:
    '« {{model}} » est injoignable : le nom d’hôte n’a pas pu être résolu. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_host_unknown:
    '« {{model}} » est injoignable : le nom d’hôte est inconnu. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_host_unreachable:
    '« {{model}} » est injoignable : l’hôte est inaccessible. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_insecure:
    '« {{model}} » est injoignable : la connexion TLS a échoué. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_network:
    '« {{model}} » est injoignable : le réseau est inaccessible. Vérifiez l’adresse du fournisseur et le réseau.',
  model_unavailable_reported:
    'Le fournisseur de « {{model}} » a signalé un problème. Réessayez, ou choisissez un autre modèle.',
}

export const storedFailures: Record<StoredFailureReason, string> = {
  document_archive_unsupported: 'les archives {{extension}} ne sont pas prises en charge',
  document_archive_unknown: 'ce type d’archive n’est pas pris en charge',
  document_binary:
    'c’est un fichier binaire ; le texte, Markdown, PDF, DOCX, XLSX, PPTX, HTML et CSV sont pris en charge',
  document_docx_damaged: 'le fichier DOCX est endommagé',
  document_empty: 'il ne contient pas de texte',
  document_lost: 'l’envoi a été perdu ; renvoyez-le',
  document_not_indexed: 'il n’a pas pu être indexé',
  document_not_what_its_name_says:
    'son nom se termine par {{extension}}, mais son contenu a un autre format',
  document_office_damaged: 'le fichier {{extension}} est endommagé',
  document_page_too_deep: 'la page est imbriquée trop profondément',
  document_pdf_damaged: 'le PDF est endommagé',
  document_partly_read: 'aucun texte lisible sur ces pages : {{pages}}',
  document_pdf_protected: 'le PDF est protégé par un mot de passe',
  document_pdf_xfa:
    'c’est un formulaire au format XFA d’Adobe (imprimez-le en PDF dans Adobe Acrobat et joignez ce fichier)',
  document_reader_not_started: 'le programme qui lit les documents n’a pas pu démarrer',
  document_reading_stopped: 'l’opération a été annulée',
  document_reading_too_slow: 'la lecture a pris trop de temps',
  document_scanned:
    'il ne contient pas de texte (passez d’abord un document numérisé par une reconnaissance de texte)',
  document_too_large: 'le fichier est trop volumineux',
  document_too_large_to_read: 'il est trop volumineux pour être lu',
  document_unreadable: 'le fichier n’a pas pu être lu',
  delivery_channel_kind_gone: 'ce type de canal n’est plus proposé',
  delivery_failed: 'l’envoi a échoué',
  delivery_mail_certificate_expired:
    'le certificat du serveur de messagerie a expiré ou n’est pas encore valide',
  delivery_mail_certificate_other_host:
    'le certificat du serveur de messagerie appartient à un autre hôte',
  delivery_mail_certificate_self_signed: 'le certificat du serveur de messagerie est auto-signé',
  delivery_mail_certificate_untrusted:
    'le certificat du serveur de messagerie vient d’une autorité à laquelle ce serveur ne fait pas confiance',
  delivery_mail_host_unknown: 'le nom d’hôte du serveur de messagerie est introuvable',
  delivery_mail_login_refused:
    'le serveur de messagerie a refusé le nom d’utilisateur ou le mot de passe de ce serveur',
  delivery_mail_not_set_up: 'ce serveur n’a plus de paramètres SMTP',
  delivery_mail_refused_connection: 'le serveur de messagerie a refusé la connexion',
  delivery_mail_refused: 'le serveur de messagerie l’a refusé ({{status}})',
  delivery_mail_unconfirmed:
    'le propriétaire de {{address}} n’a pas accepté de recevoir des e-mails de ce serveur',
  delivery_mail_unreachable: 'le serveur de messagerie était injoignable ou occupé',
  delivery_receiver_address_refused: 'ce serveur ne peut pas envoyer à l’adresse du destinataire',
  delivery_receiver_certificate_invalid: 'le certificat du destinataire n’est pas valide',
  delivery_receiver_closed_connection: 'le destinataire a fermé la connexion',
  delivery_receiver_host_unknown: 'le nom d’hôte du destinataire est introuvable',
  delivery_receiver_refused_connection: 'le destinataire a refusé la connexion',
  delivery_receiver_timed_out: 'le destinataire n’a pas répondu à temps',
  delivery_receiver_unreachable: 'le destinataire était injoignable',
  delivery_refused: 'le destinataire a répondu avec le statut {{status}}',
  delivery_settings_unfit: 'les paramètres de ce canal ne sont plus valides',
  mcp_certificate_invalid:
    'son certificat n’est pas valide, ou ce serveur ne lui fait pas confiance',
  mcp_command_not_found: 'sa commande « {{command}} » est introuvable sur le serveur',
  mcp_command_not_allowed: 'sa commande ne peut pas être exécutée',
  mcp_connection_failed: 'la connexion a échoué ou a été perdue',
  mcp_connection_refused: 'il a refusé la connexion',
  mcp_credentials_refused: 'il a refusé les identifiants',
  mcp_ended: 'son processus s’est terminé',
  mcp_folder_not_found: 'son dossier de travail est introuvable sur le serveur',
  mcp_host_unknown: 'son nom d’hôte est inconnu',
  mcp_sign_in_needed: 'vous devez vous connecter',
  mcp_settings_unreadable:
    'ses paramètres enregistrés ne peuvent plus être déchiffrés ; modifiez-le et saisissez de nouveau son adresse',
  mcp_wrong_address: 'il n’y a pas de serveur MCP à son adresse',
  mcp_too_slow: 'il n’a pas répondu à temps',
  blobs_unreachable: 'le stockage des fichiers n’est pas disponible ; réessayez plus tard',
  export_failed: 'une erreur inattendue s’est produite ; consultez le journal du serveur',
  export_interrupted: 'le serveur a redémarré entre-temps ; relancez l’export',
  import_already_there: 'il a déjà été importé',
  import_archive_bomb:
    'son taux de compression dépasse {{ratio}}, ce qu’aucun vrai export n’atteint',
  import_archive_damaged: 'l’archive est endommagée ou incomplète ; téléchargez-la de nouveau',
  import_archive_encrypted:
    'elle est protégée par un mot de passe ; décompressez l’archive et refaites-la sans mot de passe',
  import_archive_too_large: 'décompressée, l’archive dépasse {{limit}}',
  import_archive_too_many_files: 'l’archive compte plus de {{limit}} fichiers',
  import_conversation_too_large: 'il dépasse {{limit}}',
  import_cycle: 'ses messages forment une boucle',
  import_database_unreadable: 'le fichier SQLite est endommagé ou a des tables inconnues',
  import_disk_full: 'le disque du serveur est plein',
  import_entry_link: 'c’est un lien',
  import_entry_unsafe: 'son nom mène hors de l’archive',
  import_failed: 'une erreur inattendue s’est produite ; consultez le journal du serveur',
  import_file_missing: 'l’export ne le contient pas',
  import_file_refused: 'ce serveur le refuse : {{detail}}',
  import_format_unknown:
    'ce n’est ni un export de NanoClaw, ChatGPT, Claude, Open WebUI ou LibreChat, ni un fichier SQLite du NanoClaw en Python',
  import_in_trash: 'il est dans la corbeille ; restaurez-le là',
  import_interrupted:
    'le serveur a redémarré entre-temps ; importez de nouveau le fichier : ce qui est déjà là reste et n’est pas importé deux fois',
  import_json_damaged: 'le JSON est endommagé ou incomplet',
  import_marks_unknown:
    'les repères de ce type dans « {{conversation}} » sont inconnus, et l’export n’en donne pas le contenu',
  import_no_messages: 'il ne contient aucun message',
  import_out_of_memory: 'il exige plus de mémoire qu’une importation n’en peut utiliser',
  import_parts_unknown:
    'les parties de ce type dans « {{conversation}} » sont inconnues et ont été omises',
  import_project_exists: 'vous avez déjà un projet de ce nom ; ses fichiers n’ont pas été modifiés',
  import_storage_full:
    'votre espace de stockage ne suffit pas pour ses textes ; supprimez des conversations, des liens partagés ou des fichiers et importez-le de nouveau (ce qui est déjà là n’est pas importé deux fois)',
  import_too_many_messages: 'il compte plus de {{limit}} messages',
  import_too_slow: 'la lecture a pris trop de temps',
  import_unreadable: 'il n’a pas la forme attendue ({{detail}})',
}
