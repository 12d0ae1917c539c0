// French texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL =
  'Installez bubblewrap (apt-get install bubblewrap) et autorisez les espaces de noms d’utilisateurs.'
const ONE_BY_ONE = 'les vecteurs sont comparés un par un en JavaScript'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: 'NanoClaw n’est pas testé avec {{version}}',
    advice: 'Installez Node 20.19, 22.12, 24 ou une version plus récente.',
  },
  folder_not_folder: {
    detail: '{{folder}} n’est pas un dossier',
    advice: 'Déplacez-le, ou indiquez un autre dossier dans config.yml.',
  },
  folder_not_writable: {
    detail: 'cet utilisateur ne peut pas écrire dans {{folder}}',
    advice: 'Changez les droits avec chown ou chmod, ou indiquez un autre dossier dans config.yml.',
  },
  folder_created_later: { detail: '{{folder}} sera créé' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: 'il ne reste que {{megabytes}} Mo',
    advice: 'Libérez de l’espace : plus rien ne peut être enregistré quand le disque est plein.',
  },
  folder_readable: {
    detail: 'd’autres utilisateurs de cette machine peuvent le lire',
    advice: 'chmod 700 {{folder}}',
  },
  page_built: { subject: 'page', detail: 'construite' },
  page_not_built: { subject: 'page', detail: 'pas encore construite', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}, isolé par le noyau' },
  python_wasm: {
    detail: '{{engine}}, isolé seulement par WebAssembly {{reason}}',
    advice: INSTALL,
  },
  shell_off: { detail: 'désactivé dans config.yml (tools.exec.enabled)' },
  shell_network_broken: {
    detail: 'tools.exec.network ne fonctionne pas ici, et le serveur ne démarrera pas',
    advice: '{{advice}}',
  },
  shell_internet: { detail: 'activé, isolé par le noyau, avec accès à Internet seulement' },
  shell_host_network: {
    detail:
      'activé, isolé par le noyau, mais sur le réseau de l’hôte : les commandes atteignent ce serveur et tout ce qui l’entoure',
    advice: 'Réglez tools.exec.network sur true (Internet seulement) ou false.',
  },
  shell_kernel: { detail: 'activé, isolé par le noyau' },
  shell_not_isolated: { detail: 'activé, mais non isolé : {{reason}}', advice: INSTALL },
  database_created_later: {
    subject: 'base de données',
    detail: 'SQLite, créée au premier démarrage : {{file}}',
  },
  database_used: { subject: 'base de données', detail: '{{location}} ; un serveur l’utilise' },
  database_unused: {
    subject: 'base de données',
    detail: '{{location}} ; aucun serveur ne l’utilise',
  },
  tables_none: {
    subject: 'tables',
    detail: 'aucune pour l’instant : elles sont créées au premier démarrage',
  },
  tables_old: {
    subject: 'tables',
    detail: 'd’une version plus ancienne : {{count}} migrations en attente',
    advice: 'Le prochain démarrage les exécute. Lancez d’abord `nanoclaw backup`.',
  },
  sqlite_broken: {
    subject: 'base de données',
    detail: '{{reason}}',
    advice:
      'Vérifiez db_sqlite_file et ses droits ; `nanoclaw restore <fichier>` rétablit une sauvegarde.',
  },
  postgres_broken: {
    subject: 'base de données',
    detail: '{{reason}}',
    advice:
      'Vérifiez db_host, db_port, db_user, db_password et db_name (ou database_url), et que le serveur de base de données fonctionne.',
  },
  blobs_ok: { subject: 'pièces jointes', detail: '{{count}}, toutes présentes' },
  blobs_missing: {
    subject: 'pièces jointes',
    detail: '{{missing}} sur {{count}} manquent dans {{folder}} : {{named}}',
    advice:
      'Copiez-les depuis le dossier `files` d’une sauvegarde. D’ici là, ces pièces jointes ne s’ouvrent pas.',
  },
  blobs_unknown: { subject: 'pièces jointes', detail: '{{reason}}' },
  projects_ok: { subject: 'projets', detail: '{{count}} avec des fichiers, tous ont leur dossier' },
  projects_missing: {
    subject: 'projets',
    detail: '{{missing}} sur {{count}} n’ont pas de dossier dans {{folder}} : {{named}}',
    advice: 'Vérifiez workspace_root, ou rétablissez une sauvegarde qui contient les projets.',
  },
  projects_unknown: { subject: 'projets', detail: '{{reason}}' },
  secrets_ok: {
    subject: 'secrets enregistrés',
    detail: '{{count}} essayés, tous peuvent être ouverts',
  },
  secrets_unreadable: {
    subject: 'secrets enregistrés',
    detail: 'certains ne peuvent pas être ouverts avec la clé secrète : {{kinds}}',
    advice:
      'Ajoutez la clé de la sauvegarde à secret.key dans data_dir (plusieurs clés peuvent y figurer, une par ligne), ou indiquez-la dans NANOCLAW_SECRET_KEY.',
  },
  secrets_unknown: { subject: 'secrets enregistrés', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}} répond' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}} ne répond pas ({{reason}})',
    advice:
      'Démarrez Redis ou corrigez redis_url. D’ici là, chaque instance compte les limites pour elle-même, et les réponses des autres instances sont lues dans la base de données.',
  },
  registration_open: {
    subject: 'inscription',
    detail: 'toute personne qui peut joindre {{host}} peut créer un compte et utiliser les modèles',
    advice:
      'Si ce n’est pas voulu, définissez registration: invite (ou closed) dans config.yml ou sous Administration → Serveur.',
  },
  embeddings_ok: { subject: 'plongements', detail: '{{host}} répond, {{dimensions}} dimensions' },
  embeddings_broken: {
    subject: 'plongements',
    detail: '{{host}} n’a pas renvoyé de vecteurs ({{reason}})',
    advice:
      'Vérifiez embeddings.api_url, api_key et model. D’ici là, la recherche porte seulement sur les mots.',
  },
  vectors_ok: { subject: 'recherche vectorielle', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: 'recherche vectorielle',
    detail: ONE_BY_ONE,
    advice:
      'Installez l’extension pgvector pour ce PostgreSQL et autorisez son utilisateur à la créer.',
  },
  vectors_without_sqlite_vec: {
    subject: 'recherche vectorielle',
    detail: ONE_BY_ONE,
    advice: 'Lancez `npm ci` sans --omit=optional : sqlite-vec est deux fois plus rapide.',
  },
  vectors_unknown: {
    subject: 'recherche vectorielle',
    detail: 'non vérifiée : la base de données ne répond pas',
    advice: 'Réparez d’abord la base de données.',
  },
  copies: {
    subject: 'copies de ce qui a été remplacé',
    detail: '{{count}}, supprimées {{days}} jours après leur création : {{names}}',
  },
  copies_kept: {
    subject: 'copies de ce qui a été remplacé',
    detail: '{{count}}, conservées jusqu’à ce que vous les supprimiez : {{names}}',
  },
  installation_later: {
    subject: 'installation',
    detail: 'le prochain démarrage marquera les dossiers',
  },
  installation_differs: { subject: 'installation', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: {
    subject: 'installation',
    detail: 'les dossiers appartiennent à cette base de données',
  },
  installation_unknown: { subject: 'installation', detail: '{{reason}}' },
  bucket_broken: {
    subject: 'pièces jointes',
    detail: 'le bucket {{bucket}} sur {{host}} est inutilisable : {{reason}}',
    advice:
      'Vérifiez s3.endpoint, bucket, region et les deux clés. D’ici là, les fichiers ne peuvent être ni joints ni ouverts.',
  },
  mail_broken: {
    subject: 'serveur de messagerie',
    detail: '{{host}} : {{reason}}',
    advice: 'Vérifiez smtp.host, port, user et password. D’ici là, aucun e-mail n’est envoyé.',
  },
  mail_certificate: {
    subject: 'serveur de messagerie',
    detail: '{{host}} : {{reason}}',
    advice:
      'Donnez au serveur de messagerie un certificat auquel cette machine fait confiance, ou indiquez dans NODE_EXTRA_CA_CERTS un fichier avec le certificat, puis redémarrez.',
  },
  mail_ok: { subject: 'serveur de messagerie', detail: '{{host}} répond' },
  mcp_broken: {
    subject: 'serveur MCP {{server}}',
    detail: '{{reason}}',
    advice: 'Vérifiez ses paramètres. D’ici là, ses outils ne peuvent pas être appelés.',
  },
  mcp_broken_output: {
    subject: 'serveur MCP {{server}}',
    detail: '{{reason}}',
    advice: 'Dernière sortie de son programme : {{output}}',
  },
  mcp_connecting: {
    subject: 'serveur MCP {{server}}',
    detail: 'démarre encore ; un premier démarrage peut prendre des minutes',
  },
  mcp_ok: { subject: 'serveur MCP {{server}}', detail: 'répond, outils : {{tools}}' },
  mcp_sign_in: {
    subject: 'serveur MCP {{server}}',
    detail: 'répond ; chaque utilisateur s’y connecte lui-même',
  },
  models_none: {
    subject: 'modèles',
    detail:
      'aucun dans config.yml : le serveur utilise ceux ajoutés dans la page, sinon la démo intégrée',
  },
  model_key_refused: {
    subject: 'modèle {{model}}',
    detail: '{{host}} refuse la clé d’API ({{status}})',
    advice: 'Vérifiez api_key et la variable d’environnement à laquelle elle renvoie.',
  },
  model_ok: { subject: 'modèle {{model}}', detail: '{{host}} répond' },
  model_silent: {
    subject: 'modèle {{model}}',
    detail: '{{host}} ne répond pas',
    advice: 'Vérifiez api_url et le réseau et, pour un fournisseur local, qu’il fonctionne.',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': 'dossier des données',
  workspaces: 'espaces de travail',
}
