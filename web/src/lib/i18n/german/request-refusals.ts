// German texts of refused requests (administration, conversations, runs and the store), by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

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
    'Deine {{limit}} Kanalnachrichten für heute sind aufgebraucht. Sie werden am {{renews_at}} erneuert.',
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
  channel_address_refused:
    'Dieser Server sendet keine E-Mails an {{address}}. Frag einen Administrator, welche Adressen erlaubt sind.',
  channel_mail_not_set_up:
    'Dieser Server kann keine E-Mails senden. Bitte einen Administrator, `smtp` zu konfigurieren, oder wähle eine andere Art von Kanal.',
  channel_name_taken: 'Du hast schon einen Kanal namens „{{name}}“.',
  channel_not_found: 'Diesen Kanal gibt es nicht.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: 'Es gibt keinen Kanal der Art „{{type}}“. Möglich sind: {{types}}.',
  channels_exhausted: 'Du kannst höchstens {{limit}} Kanäle haben. Lösche zuerst einen.',
  conversation_not_found: 'Diese Unterhaltung gibt es nicht.',
  document_not_found: 'Dieses Dokument gibt es nicht.',
  document_encoding_fixed:
    'Für „{{name}}“ kann keine andere Zeichencodierung gewählt werden: Das Dokument wird gerade gelesen, seine Codierung steht fest oder seine Datei ist nicht mehr gespeichert.',
  documents_exhausted:
    'Ein Projekt kann höchstens {{limit}} Dokumente haben. Lösche zuerst einige.',
  export_not_found: 'Diesen Export gibt es nicht. Exporte werden nach einem Tag gelöscht.',
  export_not_ready: 'Dieser Export ist noch nicht fertig. Warte, bis sein Status `completed` ist.',
  export_running: 'Du hast schon einen laufenden Export. Warte, bis er beendet ist.',
  import_invalid: 'Diese Datei enthält keine vollständige Unterhaltung ({{detail}}).',
  import_not_found: 'Diesen Import gibt es nicht.',
  import_running: 'Du hast schon einen laufenden Import. Warte, bis er beendet ist.',
  import_upload_too_large: 'Ein Import darf höchstens {{limit}} groß sein.',
  memory_too_long:
    'Das Gedächtnis fasst höchstens {{limit}} Zeichen; dieser Text hat {{length}}. Kürze ihn.',
  message_not_found: 'Diese Nachricht gibt es nicht.',
  model_configured: 'Dieses Modell steht in config.yml. Ändere es dort.',
  model_id_taken: 'Es gibt schon ein Modell mit dieser ID.',
  model_key_missing: 'Die URL des Anbieters hat sich geändert. Gib seinen API-Schlüssel neu ein.',
  model_unknown: 'Dieses Modell gibt es nicht.',
  nothing_to_undelete: 'Es gibt keine Löschung, die sich rückgängig machen lässt.',
  outbox_full:
    '{{limit}} Nachrichten warten schon auf den Versand. Versuche es später noch einmal.',
  recipients_exhausted:
    'Deine Kanäle dürfen an {{limit}} Empfänger pro Stunde senden; das ist erreicht. Versuche es in {{minutes}} Minuten noch einmal.',
  response_item_not_found: 'In keiner deiner Antworten gibt es ein Element „{{id}}“.',
  response_not_found: 'Es gibt keine Antwort „{{id}}“.',
  run_not_found: 'Diese Antwort gibt es nicht.',
  share_expired: 'Der Zeitpunkt, zu dem der Link abläuft, muss in der Zukunft liegen.',
  share_guesses_exhausted:
    'Zu viele falsche Passwörter für diesen Link. Warte etwas und versuche es noch einmal.',
  share_not_found: 'Diesen Link gibt es nicht, oder er wird nicht mehr geteilt.',
  share_password_needed: 'Dieser Link braucht ein Passwort (X-Share-Password).',
  share_password_wrong: 'Das Passwort für diesen Link ist falsch.',
  share_too_large: 'Diese Unterhaltung ist zu groß zum Teilen.',
  share_views_exhausted:
    'Aus diesem Netz wurden zu viele geteilte Unterhaltungen geöffnet. Warte eine Minute und versuche es noch einmal.',
  sharing_off: 'Teilen ist auf diesem Server ausgeschaltet.',
  unknown_model: 'Es gibt kein Modell „{{model}}“. Verfügbar: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Dieses Konto ist deaktiviert. Wende dich an einen Administrator.',
  answer_without_question:
    'Zu dieser Antwort gibt es keine Nachricht, deshalb lässt sie sich nicht neu generieren.',
  approval_not_found: 'Unter dieser id_ref wartet keine Freigabeanfrage auf eine Entscheidung.',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    'Dieses Modell nimmt keine Bilder an, deshalb lässt sich „{{name}}“ nicht anhängen. Wähle ein Modell, das Bilder sieht.',
  attachment_not_image: '„{{name}}“ ist kein Bild vom Typ {{type}}.',
  attachment_not_text:
    '„{{name}}“ ist keine Textdatei. Möglich sind Text oder Bilder als PNG, JPEG, WebP oder GIF.',
  attachments_too_large:
    'Die Anhänge sind zusammen {{size}} groß; höchstens {{limit}} sind erlaubt. Sende weniger oder kleinere Dateien.',
  background_tasks_exhausted: '{{limit}} Hintergrundaufgaben laufen schon. Warte, bis eine endet.',
  call_decided: 'Dieser Toolaufruf wurde schon freigegeben oder abgelehnt.',
  client_call_unknown:
    'Vor diesem Ergebnis gibt es keinen Toolaufruf mit der ID „{{id}}“. Sende Toolaufrufe zusammen mit ihren Ergebnissen.',
  client_result_missing:
    'Das Ergebnis des Toolaufrufs „{{name}}“ fehlt. Sende für jeden Aufruf deiner Tools ein Ergebnis.',
  conversation_busy:
    'In dieser Unterhaltung beginnen ständig neue Antworten. Versuche es noch einmal.',
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
  parent_not_an_answer: '`parent_id` muss eine Antwort in dieser Unterhaltung sein.',
  programs_exhausted:
    'Du kannst {{limit}} Programme gleichzeitig ausführen. Warte, bis eines fertig ist, oder stoppe eines.',
  python_unavailable:
    'Python kann hier nicht ausgeführt werden: Dieser Server bietet es nicht an, oder nicht für dein Konto.',
  project_would_be_too_large:
    'Das Projekt wäre {{size}} groß; höchstens {{limit}} sind erlaubt. Die Änderung wurde rückgängig gemacht.',
  restore_not_recorded:
    'Die Dateien sind wiederhergestellt, aber der Stand dazu konnte noch nicht gespeichert werden.',
  run_completed: 'Diese Antwort ist fertig; es gibt nichts fortzusetzen.',
  run_continues_soon:
    'Der Server setzt diese Antwort gleich fort. Versuche es in Kürze noch einmal.',
  run_not_prepared: 'Die Antwort konnte nicht vorbereitet werden. Versuche es noch einmal.',
  run_not_stored:
    'Die Antwort konnte nicht gespeichert werden und endet hier. Sende die Nachricht noch einmal oder setze die Antwort fort.',
  run_still_active: 'Diese Antwort läuft noch.',
  run_takes_no_decision:
    'Diese Antwort ist beendet: Keiner ihrer Toolaufrufe wartet auf eine Entscheidung.',
  run_takes_no_input:
    'Diese Antwort ist beendet: Keiner ihrer Toolaufrufe wartet auf eine Eingabe.',
  run_minutes_used_up:
    'Diese Antwort hat das Limit von {{limit}} Minuten erreicht. Du kannst sie fortsetzen.',
  run_tokens_used_up:
    'Diese Antwort hat das Limit von {{limit}} Token erreicht. Sende eine neue Nachricht, um fortzufahren.',
  run_without_answer: 'Es kam keine Antwort zustande. Versuche es noch einmal.',
  runs_exhausted:
    'Bei dir laufen schon {{limit}} Antworten. Warte, bis eine fertig ist, oder stoppe eine.',
  task_not_found: 'Diese Hintergrundaufgabe gibt es nicht.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  blobs_unavailable:
    'Der Speicher der Dateien ist gerade nicht verfügbar. Versuche es gleich noch einmal.',
  cursor_gone:
    'Die Nachricht, auf die diese Stelle zeigt, wurde gelöscht. Beginne wieder mit der ersten Seite.',
  cursor_invalid: 'Ungültige Stelle in der Liste. Beginne wieder mit der ersten Seite.',
  disk_unconfirmed:
    'Der Datenträger hat das Geschriebene nicht bestätigt. Prüfe ihn und starte dann den Server neu.',
  search_too_slow: 'Die Suche hat zu lange gedauert. Grenze sie ein und versuche es noch einmal.',
  store_busy: 'Die Datenbank ist beschäftigt. Versuche es gleich noch einmal.',
  store_closed: 'Die Datenbank ist geschlossen.',
  store_file_unusable:
    'Die Datenbankdatei ist gerade nicht verwendbar. Versuche es gleich noch einmal.',
  store_full:
    'Der Datenträger ist voll: Nichts wurde gespeichert. Schaffe Platz und versuche es noch einmal.',
  store_locked:
    'Die Datenbank ist durch ein anderes Programm gesperrt. Versuche es gleich noch einmal.',
  store_overloaded: 'Die Datenbank ist überlastet. Versuche es gleich noch einmal.',
  store_unanswered: 'Die Datenbank antwortet nicht. Versuche es gleich noch einmal.',
}
