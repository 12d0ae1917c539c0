// German texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL = 'Installiere bubblewrap (apt-get install bubblewrap) und erlaube User-Namespaces.'
const ONE_BY_ONE = 'Vektoren werden einzeln in JavaScript verglichen'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: 'NanoClaw ist mit {{version}} nicht getestet',
    advice: 'Installiere Node 20.19, 22.12, 24 oder neuer.',
  },
  folder_not_folder: {
    detail: '{{folder}} ist kein Ordner',
    advice: 'Verschiebe es oder gib in config.yml einen anderen Ordner an.',
  },
  folder_not_writable: {
    detail: 'Dieser Benutzer darf nicht in {{folder}} schreiben',
    advice:
      'Ändere die Rechte mit chown oder chmod, oder gib in config.yml einen anderen Ordner an.',
  },
  folder_created_later: { detail: '{{folder}} wird angelegt' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: 'nur {{megabytes}} MB sind frei',
    advice: 'Schaffe Platz: Ist der Datenträger voll, kann nichts mehr gespeichert werden.',
  },
  folder_readable: {
    detail: 'andere Benutzer dieses Rechners können ihn lesen',
    advice: 'chmod 700 {{folder}}',
  },
  page_built: { subject: 'Seite', detail: 'gebaut' },
  page_not_built: { subject: 'Seite', detail: 'nicht gebaut', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}, vom Kernel isoliert' },
  python_wasm: { detail: '{{engine}}, nur durch WebAssembly isoliert {{reason}}', advice: INSTALL },
  shell_off: { detail: 'in config.yml ausgeschaltet (tools.exec.enabled)' },
  shell_network_broken: {
    detail: 'tools.exec.network funktioniert hier nicht, und der Server wird nicht starten',
    advice: '{{advice}}',
  },
  shell_internet: { detail: 'eingeschaltet, vom Kernel isoliert, nur mit Zugang zum Internet' },
  shell_host_network: {
    detail:
      'eingeschaltet, vom Kernel isoliert, aber im Netz des Rechners: Befehle erreichen diesen Server und alles um ihn herum',
    advice: 'Setze tools.exec.network auf true (nur das Internet) oder false.',
  },
  shell_kernel: { detail: 'eingeschaltet, vom Kernel isoliert' },
  shell_not_isolated: { detail: 'eingeschaltet, aber nicht isoliert: {{reason}}', advice: INSTALL },
  database_created_later: {
    subject: 'Datenbank',
    detail: 'SQLite, wird beim ersten Start angelegt: {{file}}',
  },
  database_used: { subject: 'Datenbank', detail: '{{location}}; ein Server verwendet sie' },
  database_unused: { subject: 'Datenbank', detail: '{{location}}; kein Server verwendet sie' },
  tables_none: { subject: 'Tabellen', detail: 'noch keine: sie werden beim ersten Start angelegt' },
  tables_old: {
    subject: 'Tabellen',
    detail: 'aus einer älteren Version: {{count}} Migrationen stehen aus',
    advice: 'Der nächste Start führt sie aus. Sichere vorher mit `nanoclaw backup`.',
  },
  sqlite_broken: {
    subject: 'Datenbank',
    detail: '{{reason}}',
    advice:
      'Prüfe db_sqlite_file und die Rechte; `nanoclaw restore <Datei>` stellt eine Sicherung wieder her.',
  },
  postgres_broken: {
    subject: 'Datenbank',
    detail: '{{reason}}',
    advice:
      'Prüfe db_host, db_port, db_user, db_password und db_name (oder database_url), und ob der Datenbankserver läuft.',
  },
  blobs_ok: { subject: 'Anhänge', detail: '{{count}}, alle vollständig' },
  blobs_missing: {
    subject: 'Anhänge',
    detail: '{{missing}} von {{count}} fehlen in {{folder}}: {{named}}',
    advice:
      'Kopiere sie aus dem Ordner `files` einer Sicherung. Bis dahin lassen sich diese Anhänge nicht öffnen.',
  },
  blobs_unknown: { subject: 'Anhänge', detail: '{{reason}}' },
  projects_ok: { subject: 'Projekte', detail: '{{count}} mit Dateien, alle haben ihren Ordner' },
  projects_missing: {
    subject: 'Projekte',
    detail: '{{missing}} von {{count}} haben keinen Ordner in {{folder}}: {{named}}',
    advice: 'Prüfe workspace_root oder stelle eine Sicherung wieder her, die die Projekte enthält.',
  },
  projects_unknown: { subject: 'Projekte', detail: '{{reason}}' },
  secrets_ok: {
    subject: 'gespeicherte Geheimnisse',
    detail: '{{count}} geprüft, alle lassen sich öffnen',
  },
  secrets_unreadable: {
    subject: 'gespeicherte Geheimnisse',
    detail: 'nicht alle lassen sich mit dem Schlüssel öffnen: {{kinds}}',
    advice:
      'Trage den Schlüssel der Sicherung in secret.key in data_dir ein (mehrere Schlüssel dürfen dort stehen, je Zeile einer) oder setze NANOCLAW_SECRET_KEY darauf.',
  },
  secrets_unknown: { subject: 'gespeicherte Geheimnisse', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}} antwortet' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}} antwortet nicht ({{reason}})',
    advice:
      'Starte Redis oder berichtige redis_url. Bis dahin zählt jede Instanz Grenzwerte für sich, und Antworten anderer Instanzen werden aus der Datenbank gelesen.',
  },
  registration_open: {
    subject: 'Registrierung',
    detail: 'Jeder, der {{host}} erreicht, kann ein Konto anlegen und die Modelle benutzen',
    advice:
      'Setze registration: invite (oder closed) in config.yml oder unter Verwaltung → Server, wenn das nicht gewollt ist.',
  },
  embeddings_ok: {
    subject: 'Einbettungen',
    detail: '{{host}} antwortet, {{dimensions}} Dimensionen',
  },
  embeddings_broken: {
    subject: 'Einbettungen',
    detail: '{{host}} hat keine Vektoren geliefert ({{reason}})',
    advice: 'Prüfe embeddings.api_url, api_key und model. Bis dahin wird nur nach Wörtern gesucht.',
  },
  vectors_ok: { subject: 'Vektorsuche', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: 'Vektorsuche',
    detail: ONE_BY_ONE,
    advice:
      'Installiere für dieses PostgreSQL die Erweiterung pgvector und erlaube dem Benutzer, sie anzulegen.',
  },
  vectors_without_sqlite_vec: {
    subject: 'Vektorsuche',
    detail: ONE_BY_ONE,
    advice: 'Führe `npm ci` ohne --omit=optional aus: Mit sqlite-vec geht es doppelt so schnell.',
  },
  vectors_unknown: {
    subject: 'Vektorsuche',
    detail: 'nicht geprüft: die Datenbank antwortet nicht',
    advice: 'Behebe zuerst das Problem der Datenbank.',
  },
  copies: {
    subject: 'Kopien von Ersetztem',
    detail: '{{count}}, werden {{days}} Tage nach ihrer Entstehung entfernt: {{names}}',
  },
  copies_kept: {
    subject: 'Kopien von Ersetztem',
    detail: '{{count}}, bleiben, bis du sie entfernst: {{names}}',
  },
  installation_later: {
    subject: 'Installation',
    detail: 'Der nächste Start kennzeichnet die Ordner',
  },
  installation_differs: { subject: 'Installation', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: { subject: 'Installation', detail: 'Die Ordner gehören zu dieser Datenbank' },
  installation_unknown: { subject: 'Installation', detail: '{{reason}}' },
  bucket_broken: {
    subject: 'Anhänge',
    detail: 'Der Bucket {{bucket}} auf {{host}} ist nicht benutzbar: {{reason}}',
    advice:
      'Prüfe s3.endpoint, bucket, region und beide Schlüssel. Bis dahin lassen sich Dateien weder anhängen noch öffnen.',
  },
  mail_broken: {
    subject: 'Mailserver',
    detail: '{{host}}: {{reason}}',
    advice: 'Prüfe smtp.host, port, user und password. Bis dahin wird keine E-Mail versendet.',
  },
  mail_certificate: {
    subject: 'Mailserver',
    detail: '{{host}}: {{reason}}',
    advice:
      'Gib dem Mailserver ein Zertifikat, dem dieser Rechner vertraut, oder setze NODE_EXTRA_CA_CERTS auf eine Datei mit dem Zertifikat und starte neu.',
  },
  mail_ok: { subject: 'Mailserver', detail: '{{host}} antwortet' },
  mcp_broken: {
    subject: 'MCP-Server {{server}}',
    detail: '{{reason}}',
    advice: 'Prüfe seine Einstellungen. Bis dahin lassen sich seine Werkzeuge nicht aufrufen.',
  },
  mcp_broken_output: {
    subject: 'MCP-Server {{server}}',
    detail: '{{reason}}',
    advice: 'Sein Programm hat zuletzt ausgegeben: {{output}}',
  },
  mcp_connecting: {
    subject: 'MCP-Server {{server}}',
    detail: 'startet noch; ein erster Start kann Minuten dauern',
  },
  mcp_ok: { subject: 'MCP-Server {{server}}', detail: 'antwortet, Werkzeuge: {{tools}}' },
  mcp_sign_in: {
    subject: 'MCP-Server {{server}}',
    detail: 'antwortet; jeder meldet sich selbst bei ihm an',
  },
  models_none: {
    subject: 'Modelle',
    detail:
      'keine in config.yml: Der Server verwendet die in der Seite hinzugefügten, sonst die eingebaute Demo',
  },
  model_key_refused: {
    subject: 'Modell {{model}}',
    detail: '{{host}} weist den API-Schlüssel ab ({{status}})',
    advice: 'Prüfe api_key und die Umgebungsvariable, auf die er verweist.',
  },
  model_ok: { subject: 'Modell {{model}}', detail: '{{host}} antwortet' },
  model_silent: {
    subject: 'Modell {{model}}',
    detail: '{{host}} antwortet nicht',
    advice: 'Prüfe api_url und das Netz, und bei einem lokalen Anbieter, ob er läuft.',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': 'Datenordner',
  workspaces: 'Arbeitsbereiche',
}
