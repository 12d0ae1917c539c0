// Why requests are refused: access, administration, conversations and runs, in German, by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const access: Texts<typeof ACCESS_FAILURES> = {
  address_missing: 'Dein Konto hat keine E-Mail-Adresse. Gib eine in `address` an.',
  mail_not_sent:
    'Die E-Mail konnte nicht gesendet werden. Prüfe die Adresse oder versuche es später noch einmal.',
  mail_not_set_up:
    'Dieser Server kann keine E-Mails senden: In der Konfiguration fehlen `smtp` und `public_url`. Frag die Administration.',
  mails_exhausted: 'Es wurden zu viele E-Mails angefordert. Versuche es später noch einmal.',
  heir_is_same: 'Ein Konto kann nicht an sich selbst übergeben werden.',
  heir_missing: 'Nenne in „heir_id“ das Konto, das die Daten erhält.',
  mcp_client_not_configured:
    'Der Autorisierungsserver registriert keine Clients. Ein Administrator muss „oauth.client_id“ dieses MCP-Servers setzen.',
  mcp_not_connected:
    'Der MCP-Server „{{server}}“ ist gerade nicht verfügbar. Versuche es noch einmal.',
  mcp_prompt_failed: 'Der MCP-Server „{{server}}“ hat diesen Prompt nicht geliefert.',
  mcp_resource_empty: 'Diese Ressource des MCP-Servers „{{server}}“ ist leer.',
  mcp_resource_failed: 'Der MCP-Server „{{server}}“ hat diese Ressource nicht geliefert.',
  mcp_headers_missing: 'Du hast die Adresse des MCP-Servers geändert; gib auch seine Header ein.',
  mcp_server_configured: 'Dieser MCP-Server steht in config.yml. Ändere ihn dort.',
  mcp_server_name_taken: 'Es gibt schon einen MCP-Server mit diesem Namen.',
  mcp_url_missing: 'Gib die Adresse des MCP-Servers ein.',
  mcp_server_not_found: 'Diesen MCP-Server gibt es nicht.',
  mcp_sign_in_refused:
    'Die Anmeldung bei „{{server}}“ ist fehlgeschlagen oder wurde abgelehnt. Versuche es noch einmal.',
  mcp_sign_in_unavailable:
    'Die Anmeldung bei „{{server}}“ ist gerade nicht möglich: Er nennt keinen Autorisierungsserver, oder dieser ist nicht erreichbar.',
  mcp_sign_in_unknown:
    'Diese Anmeldung ist beendet oder wurde von jemand anderem begonnen. Beginne neu.',
  account_gone: 'Dieses Konto gibt es nicht mehr.',
  account_link_invalid:
    'Dieser Link funktioniert nicht mehr: Er wurde verwendet, ist abgelaufen oder wurde zurückgezogen. Bitte einen Administrator um einen neuen.',
  account_not_found: 'Dieses Konto gibt es nicht.',
  administrators_only: 'Das darf nur ein Administrator.',
  api_key_invalid: 'Dieser API-Schlüssel ist nicht gültig.',
  api_key_expiry_past: 'Der Schlüssel wäre schon abgelaufen.',
  api_key_not_allowed: 'API-Schlüssel dürfen das nicht. Melde dich mit deinem Passwort an.',
  api_key_scope:
    'Dieser API-Schlüssel darf das nicht: Ihm fehlt die Berechtigung „{{scope}}“. Verwende einen anderen.',
  api_key_not_found: 'Diesen API-Schlüssel gibt es nicht.',
  api_keys_exhausted: 'Du hast schon {{limit}} API-Schlüssel. Lösche zuerst einen.',
  body_empty: 'Der Inhalt der Anfrage ist leer.',
  body_not_json: 'Der Inhalt der Anfrage ist kein gültiges JSON.',
  body_too_large: 'Der Inhalt der Anfrage ist größer, als dieser Server erlaubt.',
  content_length_wrong: 'Der Inhalt der Anfrage hat nicht die Länge, die Content-Length angibt.',
  content_type_unsupported:
    'Dieser Inhaltstyp wird hier nicht unterstützt. Sende application/json.',
  email_needs_password:
    'Zum Ändern der E-Mail-Adresse ist das aktuelle Passwort nötig, weil Links für ein neues Passwort dorthin gehen.',
  current_password_missing: 'Zum Ändern des Passworts ist das aktuelle Passwort nötig.',
  current_password_wrong: 'Das aktuelle Passwort ist falsch.',
  host_refused:
    'Unter diesem Hostnamen antwortet der Server nicht. Wenn der Name stimmt, füge ihn zu trusted_hosts hinzu.',
  host_repeated: 'Die Anfrage hat mehr als einen Host-Header.',
  idempotency_body_gone:
    'Eine Anfrage mit diesem Idempotency-Key wurde erledigt, aber ihre Antwort war zu groß, um wiederholt zu werden.',
  idempotency_key_invalid: 'Ein Idempotency-Key hat 1 bis {{limit}} Zeichen.',
  idempotency_key_reused:
    'Dieser Idempotency-Key wurde für eine andere Anfrage verwendet. Nimm für jede Anfrage einen neuen.',
  idempotency_pending:
    'Eine Anfrage mit diesem Idempotency-Key ist noch in Arbeit. Versuche es gleich noch einmal.',
  internal:
    'Auf dem Server ist etwas schiefgegangen. Versuche es noch einmal; wenn es wieder passiert, suche im Log nach der Anfrage-ID.',
  invitation_not_found: 'Diese Einladung gibt es nicht.',
  invitation_required:
    'Zum Registrieren brauchst du eine Einladung. Bitte einen Administrator darum.',
  invitations_exhausted: 'Es gibt schon {{limit}} offene Einladungen. Ziehe zuerst einige zurück.',
  json_list_too_long: 'Eine Liste im JSON hat mehr als {{entries}} Einträge.',
  json_too_deep: 'Das JSON ist tiefer als {{levels}} Ebenen verschachtelt.',
  last_administrator: 'Das ist der letzte aktive Administrator.',
  multipart_broken:
    'Der multipart-Inhalt ist nicht lesbar: Er endet zu früh, oder seine Trennzeile fehlt oder ist länger als 250 Zeichen.',
  multipart_expected: 'Sende das als multipart/form-data.',
  no_password_in_single_mode: 'Im Einzelbenutzermodus gibt es kein Passwort.',
  nothing_here: 'Unter dieser Adresse gibt es nichts.',
  origin_refused:
    'Seiten anderer Herkunft dürfen diesen Server nicht aufrufen. Wenn die Herkunft stimmt, füge sie zu cors_origins hinzu.',
  oidc_groups_withheld:
    'Single Sign-on hat nicht mitgeteilt, in welchen Gruppen du bist, weil es zu viele sind. Wende dich an einen Administrator.',
  oidc_no_account: 'Du hast hier kein Konto. Bitte einen Administrator, eines für dich anzulegen.',
  oidc_not_allowed:
    'Du bist in keiner Gruppe, die sich hier anmelden darf. Wende dich an einen Administrator.',
  oidc_refused: 'Single Sign-on wurde abgebrochen oder abgelehnt. Versuche es noch einmal.',
  oidc_response_invalid:
    'Single Sign-on ist fehlgeschlagen: Der Antwort war nicht zu trauen. Versuche es noch einmal; wenn es wieder passiert, sag es einem Administrator.',
  oidc_sign_in_unknown:
    'Diese Anmeldung hat zu lange gedauert oder wurde in einem anderen Browser begonnen. Versuche es noch einmal.',
  oidc_unreachable: 'Single Sign-on ist gerade nicht verfügbar. Versuche es gleich noch einmal.',
  password_sign_in_off: 'Passwörter sind auf diesem Server ausgeschaltet. Verwende Single Sign-on.',
  password_common:
    'Dieses Passwort gehört zu den häufigsten und wäre sofort erraten. Wähle ein anderes.',
  password_is_name:
    'Das Passwort darf nicht der Benutzername oder die E-Mail-Adresse sein. Wähle ein anderes.',
  password_changed: 'Das Passwort wurde eben geändert. Melde dich neu an.',
  registration_closed: 'Die Registrierung ist geschlossen. Bitte einen Administrator um ein Konto.',
  registrations_exhausted:
    'Von deiner Adresse wurden zu viele Konten registriert. Versuche es später noch einmal oder frage einen Administrator.',
  request_field_invalid: '{{part}} ist nicht gültig: {{detail}}',
  request_invalid: '{{part}} ist nicht gültig.',
  request_refused: 'Die Anfrage wurde abgelehnt.',
  secret_unreadable:
    'Ein gespeichertes Geheimnis ist nicht lesbar: Es wurde mit einem anderen Schlüssel gespeichert. Stelle diesen Schlüssel wieder her oder gib das Geheimnis neu ein.',
  passkey_invalid:
    'Dieser Passkey konnte nicht geprüft werden. Versuche es noch einmal oder melde dich anders an.',
  passkey_not_found: 'Diesen Passkey gibt es nicht.',
  passkey_unavailable:
    'Passkeys brauchen einen Hostnamen und HTTPS oder localhost. Setze public_url auf eine solche Adresse.',
  passkeys_exhausted: 'Du hast schon {{limit}} Passkeys. Lösche zuerst einen.',
  second_factor_code_wrong:
    'Dieser Code ist falsch, abgelaufen oder schon verwendet. Gib den aktuellen ein.',
  second_factor_expired: 'Das hat zu lange gedauert. Melde dich von vorn an.',
  second_factor_missing: 'Es gibt nichts zu bestätigen oder zu entfernen. Beginne neu.',
  second_factor_refused: 'Dieser Code oder Passkey ist falsch, abgelaufen oder schon verwendet.',
  second_factor_required: 'Das Passwort stimmt. Bestätige die Anmeldung mit deinem zweiten Faktor.',
  second_factor_set: 'Eine Authenticator-App ist schon eingerichtet. Entferne sie zuerst.',
  session_not_found: 'Diese Sitzung gibt es nicht.',
  session_ended: 'Deine Sitzung ist beendet. Melde dich neu an.',
  setup_link_required:
    'Dieser Server hat noch keinen Administrator. Öffne den Einrichtungslink, den er beim Start ausgegeben hat.',
  shutting_down: 'Der Server startet gleich neu. Versuche es in Kürze noch einmal.',
  sign_in_busy: 'Zu viele melden sich gleichzeitig an. Versuche es gleich noch einmal.',
  sign_in_required: 'Melde dich zuerst an.',
  sign_ins_exhausted:
    'Zu viele fehlgeschlagene Anmeldungen. Warte einen Moment und versuche es noch einmal.',
  single_user: 'Dieser Server hat einen einzigen Benutzer: Eine Anmeldung ist nicht nötig.',
  streams_exhausted:
    'Du hast {{limit}} Ereignisströme gleichzeitig offen. Schließe einige Tabs oder Verbindungen.',
  too_many_open:
    'Der Server hat zu viele Dateien und Verbindungen offen. Versuche es gleich noch einmal.',
  url_invalid: 'Die URL ist nicht gültig.',
  url_too_long: 'Die URL ist zu lang.',
  user_name_taken: 'Dieser Benutzername oder diese E-Mail-Adresse ist vergeben.',
  wrong_credentials: 'Benutzername oder Passwort ist falsch.',
  headers_too_large: 'Die Header der Anfrage sind zu groß.',
  request_timeout: 'Die Anfrage kam zu langsam an.',
  request_malformed: 'Das ist keine gültige HTTP-Anfrage.',
}

export const administration: Texts<typeof ADMINISTRATION_FAILURES> = {
  approval_mode_not_permitted:
    'Deine Gruppe darf den Freigabemodus „{{mode}}“ nicht verwenden. Wähle einen anderen: {{available}}.',
  cost_per_day_used_up:
    'Dein Budget von {{limit}} für heute ist aufgebraucht. Es wird am {{renews_at}} erneuert.',
  cost_per_month_used_up:
    'Dein Budget von {{limit}} für diesen Monat ist aufgebraucht. Es wird am {{renews_at}} erneuert.',
  group_cost_used_up:
    'Das gemeinsame Budget von {{limit}} deiner Gruppe „{{group}}“ ist aufgebraucht. Es wird am {{renews_at}} erneuert.',
  group_member_not_found: 'Dieses Konto ist nicht in der Gruppe.',
  group_name_taken: 'Es gibt schon eine Gruppe mit diesem Namen.',
  group_not_found: 'Diese Gruppe gibt es nicht.',
  group_tokens_used_up:
    'Die gemeinsamen {{limit}} Token deiner Gruppe „{{group}}“ sind aufgebraucht. Sie werden am {{renews_at}} erneuert.',
  groups_exhausted: 'Es gibt schon {{limit}} Gruppen. Lösche zuerst eine.',
  messages_per_day_used_up:
    'Deine {{limit}} Nachrichten für heute sind aufgebraucht. Sie werden am {{renews_at}} erneuert.',
  model_not_permitted:
    'Deine Gruppe darf das Modell „{{model}}“ nicht verwenden. Wähle ein anderes: {{available}}.',
  no_model_permitted:
    'Deine Gruppe darf kein Modell dieses Servers verwenden. Wende dich an einen Administrator.',
  own_account_stays:
    'Du kannst dein eigenes Konto nicht löschen. Bitte einen anderen Administrator.',
  program_seconds_used_up:
    'Deine {{limit}} Sekunden für Programme sind für heute aufgebraucht. Sie werden am {{renews_at}} erneuert.',
  requests_exhausted:
    'Du darfst {{limit}} Anfragen pro Minute senden. Versuche es in {{seconds}} Sekunden noch einmal.',
  tokens_per_day_used_up:
    'Deine {{limit}} Token für heute sind aufgebraucht. Sie werden am {{renews_at}} erneuert.',
  tokens_per_month_used_up:
    'Deine {{limit}} Token für diesen Monat sind aufgebraucht. Sie werden am {{renews_at}} erneuert.',
}

export const conversations: Texts<typeof CONVERSATION_FAILURES> = {
  webhook_not_found: 'Diesen Webhook gibt es nicht.',
  webhook_tests_exhausted:
    'Du kannst {{limit}} Tests pro Stunde senden; das ist erreicht. Versuche es später noch einmal.',
  webhooks_exhausted: 'Du kannst höchstens {{limit}} Webhooks haben. Lösche zuerst einen.',
  attachment_not_found: 'Diesen Anhang gibt es nicht.',
  channel_name_taken: 'Du hast schon einen Kanal namens „{{name}}“.',
  channel_not_found: 'Diesen Kanal gibt es nicht.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: 'Es gibt keinen Kanal der Art „{{type}}“. Möglich sind: {{types}}.',
  channels_exhausted: 'Du kannst höchstens {{limit}} Kanäle haben. Lösche zuerst einen.',
  conversation_not_found: 'Diese Unterhaltung gibt es nicht.',
  document_not_found: 'Dieses Dokument gibt es nicht.',
  documents_exhausted:
    'Ein Projekt kann höchstens {{limit}} Dokumente haben. Lösche zuerst einige.',
  export_not_found: 'Diesen Export gibt es nicht. Exporte werden nach einem Tag gelöscht.',
  export_not_ready: 'Dieser Export ist noch nicht fertig. Warte, bis sein Status „completed“ ist.',
  export_running: 'Du hast schon einen laufenden Export. Warte, bis er beendet ist.',
  import_invalid: 'Diese Datei enthält keine vollständige Unterhaltung ({{detail}}).',
  import_not_found: 'Diesen Import gibt es nicht.',
  import_running: 'Du hast schon einen laufenden Import. Warte, bis er beendet ist.',
  import_upload_too_large: 'Ein Import darf höchstens {{limit}} groß sein.',
  memory_too_long: 'Das Gedächtnis fasst höchstens {{limit}} Zeichen; dieser Text hat {{length}}.',
  message_not_found: 'Diese Nachricht gibt es nicht.',
  model_configured: 'Dieses Modell steht in config.yml. Ändere es dort.',
  model_id_taken: 'Es gibt schon ein Modell mit dieser ID.',
  model_key_missing:
    'Du hast die Adresse des Anbieters geändert; gib auch seinen API-Schlüssel ein.',
  model_unknown: 'Dieses Modell gibt es nicht.',
  nothing_to_undelete: 'Es gibt keine Löschung, die sich rückgängig machen lässt.',
  outbox_full:
    '{{limit}} Nachrichten warten schon auf den Versand. Versuche es später noch einmal.',
  recipients_exhausted:
    'Deine Kanäle dürfen an {{limit}} Empfänger pro Stunde senden; das ist erreicht. Versuche es in {{minutes}} Minuten noch einmal.',
  response_item_not_found: 'In keiner deiner Antworten gibt es ein Element „{{id}}“.',
  response_not_found: 'Es gibt keine Antwort „{{id}}“.',
  run_not_found: 'Diesen Lauf gibt es nicht.',
  share_expired: 'Der Zeitpunkt, zu dem der Link abläuft, muss in der Zukunft liegen.',
  share_guesses_exhausted:
    'Zu viele falsche Passwörter für diesen Link. Warte etwas und versuche es noch einmal.',
  share_not_found: 'Unter diesem Link wird nichts geteilt.',
  share_password_needed: 'Dieser Link braucht ein Passwort (X-Share-Password).',
  share_password_wrong: 'Das Passwort für diesen Link ist falsch.',
  share_too_large: 'Diese Unterhaltung ist zu groß zum Teilen.',
  share_views_exhausted:
    'Aus diesem Netz wurden zu viele geteilte Unterhaltungen geöffnet. Warte eine Minute und versuche es noch einmal.',
  sharing_off: 'Teilen ist auf diesem Server ausgeschaltet.',
  unknown_model: 'Es gibt kein Modell „{{model}}“. Verfügbar: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Dieses Konto ist deaktiviert.',
  answer_without_question:
    'Zu dieser Antwort gibt es keine Nachricht, deshalb lässt sie sich nicht neu generieren.',
  approval_not_found: 'Unter dieser id_ref wartet keine Freigabe.',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    'Dieses Modell nimmt keine Bilder an, deshalb lässt sich „{{name}}“ nicht anhängen. Wähle ein Modell, das Bilder sieht.',
  attachment_not_image: '„{{name}}“ ist kein Bild vom Typ {{type}}.',
  attachment_not_text:
    '„{{name}}“ ist keine Textdatei. Möglich sind Text oder Bilder als PNG, JPEG, WebP oder GIF.',
  attachments_too_large:
    'Die Anhänge sind zusammen {{size}} groß; höchstens {{limit}} sind erlaubt. Sende weniger oder kleinere Dateien.',
  background_tasks_exhausted: '{{limit}} Hintergrundaufgaben laufen schon. Warte, bis eine endet.',
  call_decided: 'Über diesen Aufruf wurde schon entschieden.',
  client_call_unknown:
    'Vor seinem Ergebnis gibt es keinen Aufruf mit der ID „{{id}}“. Sende Aufrufe und Ergebnisse zusammen.',
  client_result_missing:
    'Das Ergebnis des Aufrufs von „{{name}}“ fehlt. Sende für jeden Aufruf deiner Tools ein Ergebnis.',
  conversation_busy: 'In dieser Unterhaltung beginnen ständig neue Läufe. Versuche es noch einmal.',
  conversation_gone: 'Die Unterhaltung wurde gelöscht.',
  conversation_has_run:
    'In dieser Unterhaltung läuft schon eine Antwort. Warte darauf oder stoppe sie zuerst.',
  image_not_data_url:
    'Sende Bilder als Data-URLs: data:image/png;base64,… (PNG, JPEG, WebP oder GIF).',
  input_answered: 'Diese Frage wurde schon beantwortet.',
  input_content_invalid: '{{detail}}',
  input_not_found: 'Unter dieser id_ref wartet kein MCP-Server auf eine Eingabe.',
  message_too_long: 'Die Nachricht hat {{length}} Zeichen; höchstens {{limit}} sind erlaubt.',
  nothing_to_answer:
    'Es gibt nichts zu beantworten: Am Ende muss eine Nachricht des Benutzers stehen oder Ergebnisse deiner Tools.',
  only_own_messages_editable: 'Nur deine eigenen Nachrichten lassen sich bearbeiten.',
  only_answers_revisable: 'So lässt sich nur der Text einer Antwort ändern.',
  answer_not_finished: 'Diese Antwort wird noch geschrieben. Warte oder stoppe sie zuerst.',
  parent_gone: 'Die Nachricht, zu der diese gehört, wurde inzwischen gelöscht.',
  parent_not_an_answer: '„parent_id“ muss eine Antwort in dieser Unterhaltung sein.',
  project_would_be_too_large:
    'Das Projekt wäre {{size}} groß; höchstens {{limit}} sind erlaubt. Die Änderung wurde rückgängig gemacht.',
  restore_not_recorded:
    'Die Dateien sind wiederhergestellt, aber der Stand dazu konnte noch nicht gespeichert werden.',
  run_completed: 'Dieser Lauf ist abgeschlossen; es gibt nichts fortzusetzen.',
  run_continues_soon: 'Der Server setzt diesen Lauf gleich fort. Versuche es in Kürze noch einmal.',
  run_not_prepared: 'Die Antwort konnte nicht vorbereitet werden. Versuche es noch einmal.',
  run_not_stored:
    'Die Antwort konnte nicht gespeichert werden und endet hier. Frage noch einmal oder setze sie fort.',
  run_still_active: 'Dieser Lauf ist noch aktiv.',
  run_takes_no_decision:
    'Dieser Lauf ist beendet: Keiner seiner Aufrufe wartet auf eine Entscheidung.',
  run_takes_no_input: 'Dieser Lauf ist beendet: Keiner seiner Aufrufe wartet auf eine Eingabe.',
  run_minutes_used_up:
    'Nach {{limit}} Minuten endet eine Antwort. Du kannst sie fortfahren lassen.',
  run_tokens_used_up:
    'Die {{limit}} Tokens einer Antwort sind verbraucht. Frage mit einer neuen Nachricht weiter.',
  run_without_answer: 'Der Lauf endete ohne Antwort.',
  runs_exhausted:
    'Du hast schon {{limit}} aktive Läufe. Warte, bis einer endet, oder stoppe einen.',
  task_not_found: 'Diese Aufgabe gibt es nicht.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  cursor_gone:
    'Die Nachricht, auf die diese Stelle zeigt, wurde gelöscht. Beginne wieder mit der ersten Seite.',
  cursor_invalid: 'Ungültige Stelle in der Liste. Beginne wieder mit der ersten Seite.',
  disk_unconfirmed:
    'Der Datenträger hat das Geschriebene nicht bestätigt. Prüfe ihn und starte dann den Server neu.',
  search_too_slow: 'Die Suche hat zu lange gedauert. Grenze sie ein und versuche es noch einmal.',
  store_busy: 'Die Datenbank ist beschäftigt. Versuche es gleich noch einmal.',
  store_closed: 'Die Datenbank ist geschlossen.',
  store_file_unusable: 'Die Datenbankdatei ist gerade nicht verwendbar.',
  store_full:
    'Der Datenträger ist voll: Nichts wurde gespeichert. Schaffe Platz und versuche es noch einmal.',
  store_locked:
    'Die Datenbank ist durch ein anderes Programm gesperrt. Versuche es gleich noch einmal.',
  store_overloaded: 'Die Datenbank hat zu viel zu tun. Versuche es gleich noch einmal.',
  store_unanswered: 'Die Datenbank antwortet nicht. Versuche es gleich noch einmal.',
}
