// German texts of failures (files, models, documents, deliveries, MCP servers and imports), by the protocol's reasons.
import type { FILE_FAILURES } from '../../../../../server/protocol/failures/files.ts'
import type { MODEL_FAILURES } from '../../../../../server/protocol/failures/models.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const files: Texts<typeof FILE_FAILURES> = {
  binary_file: '„{{path}}“ ist eine Binärdatei ({{kind}}, {{size}}) und nicht als Text lesbar.',
  checkpoint_not_found: 'Diesen Stand gibt es nicht.',
  content_expired:
    'Der frühere Inhalt von „{{path}}“ ist nicht mehr gespeichert, deshalb lässt sich dieser Stand nicht wiederherstellen.',
  disk_full:
    'Der Datenträger ist voll: Nichts wurde geändert. Schaffe Platz und versuche es noch einmal.',
  edit_failed: '{{detail}}',
  encoding_mismatch: '„{{path}}“ ist kein gültiges {{encoding}}. Versuche eine andere Kodierung.',
  encoding_not_writable:
    '„{{path}}“ ist in {{encoding}} kodiert, worin sich dieser Text nicht darstellen lässt. Schreibe die ganze Datei in UTF-8.',
  encoding_unknown:
    'Unbekannte Kodierung „{{encoding}}“. Versuche utf-8, utf-16le, gb18030, shift_jis oder windows-1252.',
  file_access_denied: 'Der Server hat dafür keine Rechte an „{{path}}“.',
  file_changed_meanwhile:
    '„{{path}}“ wurde inzwischen von jemand anderem geändert. Lies die Datei neu, bevor du sie änderst.',
  file_changed_while_read: '„{{path}}“ hat sich beim Lesen geändert. Versuche es noch einmal.',
  file_content_missing:
    'Der Inhalt dieser Datei fehlt auf dem Server. Ein Administrator kann ihn aus einer Sicherung wiederherstellen.',
  file_created_meanwhile: 'Die Datei „{{path}}“ gibt es schon. Lies sie, bevor du sie änderst.',
  file_deleted_meanwhile:
    '„{{path}}“ wurde inzwischen von jemand anderem gelöscht. Prüfe vor der Änderung, welche Dateien es gibt.',
  file_exists: '„{{path}}“ gibt es schon, oder es ist ein Ordner.',
  file_in_the_way: '„{{path}}“ ist eine Datei; ein Ordner kann nicht an ihre Stelle treten.',
  file_id_unknown: 'Diese Datei gibt es nicht.',
  file_name_too_long: 'Der Name von „{{path}}“ ist zu lang.',
  file_not_found: 'Es gibt keine Datei und keinen Ordner „{{path}}“.',
  file_removed_while_written: '„{{path}}“ wurde beim Schreiben entfernt. Versuche es noch einmal.',
  file_replaced:
    '„{{path}}“ wurde während der Verwendung ersetzt. Nichts wurde geändert; versuche es noch einmal.',
  file_too_large: '„{{path}}“ ist {{size}} groß; höchstens {{limit}} können gelesen werden.',
  file_too_large_to_write:
    '„{{path}}“ wäre {{size}} groß; höchstens {{limit}} können geschrieben werden.',
  file_type_unsupported:
    '„{{name}}“ lässt sich nicht anhängen. Möglich sind Bilder (PNG, JPEG, WebP, GIF), PDF-, DOCX-, XLSX- und PPTX-Dokumente sowie Text.',
  file_unusable: 'Auf „{{path}}“ konnte nicht zugegriffen werden.',
  file_upload_too_large: 'Eine Datei darf höchstens {{limit}} groß sein.',
  file_thumbnail_missing:
    '„{{name}}“ ist kein Bild und hat keine Vorschau. Lass `thumb` weg, um die Datei selbst zu erhalten.',
  file_used: 'Eine Nachricht verwendet diese Datei. Lösche zuerst die Nachricht.',
  file_would_be_too_large: '„{{path}}“ wäre zu groß.',
  file_missing: 'Sende eine Datei im Feld `file`.',
  files_missing: 'Sende mindestens eine Datei im Feld `files[]`.',
  folder_exists: 'Den Ordner „{{path}}“ gibt es schon.',
  folder_in_the_way:
    'Der Ordner „{{path}}“ enthält Dateien, die der Stand nicht kennt; deshalb lässt sich die Datei dieses Namens nicht wiederherstellen.',
  folder_into_itself: 'Ein Ordner lässt sich nicht in sich selbst verschieben.',
  folder_takes_no_file: '„{{path}}“ ist ein Ordner; eine Datei kann nicht an seine Stelle treten.',
  glob_too_complex:
    'Das Muster hat zu viele Alternativen in geschweiften Klammern. Vereinfache es.',
  glob_too_long: 'Ein Muster darf höchstens {{limit}} Zeichen haben.',
  image_unreadable:
    '„{{name}}“ ist nicht als Bild lesbar: Es ist beschädigt, hat zu viele Pixel, oder sein Format wird nicht unterstützt.',
  link_refused:
    '„{{path}}“ ist ein symbolischer Link oder führt durch einen. In Projekten wird Links nicht gefolgt.',
  names_collide:
    '„{{path}}“ kollidiert mit einer anderen Datei, deren Namen dieser Datenträger als gleich ansieht.',
  not_a_file: '„{{path}}“ ist ein Ordner, keine Datei.',
  not_a_regular_file:
    '„{{path}}“ ist ein Gerät, eine Pipe oder ein Socket, keine gewöhnliche Datei.',
  old_name_taken:
    'Der Ordner „{{path}}“ hieß früher „{{old}}“, aber diesen Namen hat jetzt etwas anderes. Verschiebe es und stelle dann noch einmal wieder her.',
  path_escapes:
    'Der Pfad führt aus dem Projekt hinaus. Verwende einen Pfad relativ zum Projektordner, etwa „src/main.py“.',
  path_has_backslashes: 'Pfad nicht erlaubt: Trenne Ordner mit „/“, nicht mit „\\“.',
  path_has_invisible_characters:
    'Pfad nicht erlaubt: Er enthält Steuerzeichen oder unsichtbare Zeichen.',
  path_is_project: 'Pfad nicht erlaubt: Er bezeichnet den Projektordner selbst.',
  path_name_too_long: 'Pfad nicht erlaubt: Ein Name darin ist zu lang.',
  path_not_unicode: 'Pfad nicht erlaubt: Er ist kein gültiges Unicode.',
  path_taken: 'Es gibt schon eine Datei oder einen Ordner namens „{{path}}“.',
  path_through_file: '„{{path}}“ gibt es nicht: Ein Teil des Pfads ist kein Ordner.',
  path_too_deep: 'Pfad nicht erlaubt: mehr als {{limit}} Ordner tief.',
  path_too_long: 'Pfad nicht erlaubt: Er ist zu lang.',
  project_busy:
    'Eine andere Änderung dieses Projekts läuft noch. Nichts wurde geändert. Versuche es noch einmal.',
  project_deleted:
    'Dieses Projekt wurde gelöscht. Nichts wurde geändert, und es lässt sich nicht mehr ändern.',
  project_deleted_during_run:
    'Das Projekt dieser Unterhaltung wurde während der Antwort gelöscht, deshalb endet die Antwort hier. Sende die Nachricht noch einmal, um ohne das Projekt weiterzumachen.',
  project_full:
    'Das Projekt würde größer als sein Limit von {{limit}}. Lösche zuerst einige Dateien.',
  project_name_taken: 'Du hast schon ein Projekt mit diesem Namen.',
  project_not_found: 'Dieses Projekt gibt es nicht.',
  projects_exhausted: 'Du hast schon {{limit}} Projekte. Lösche zuerst eines.',
  quota_claim_refused:
    'Der Speicher reicht nicht für weitere {{more}}. Du kannst in allen Projekten, Dokumenten und angehängten Dateien zusammen höchstens {{limit}} speichern und hast {{used}} gespeichert. Lösche zuerst etwas davon.',
  quota_exceeded:
    'Die Änderung wurde rückgängig gemacht, weil sie deinen Speicher überschreitet. Du kannst in allen Projekten, Dokumenten und angehängten Dateien zusammen höchstens {{limit}} speichern und hast {{used}} gespeichert. Lösche zuerst etwas davon.',
  quota_texts_refused:
    'Der Speicher reicht nicht für weitere {{more}} Text. Du kannst höchstens {{limit}} speichern und hast mit den Texten deiner Unterhaltungen und geteilten Links {{used}} gespeichert. Lösche zuerst einige Unterhaltungen, geteilte Links oder Dateien.',
  request_stopped: 'Die Anfrage wurde abgebrochen. Nichts wurde geändert.',
  search_not_isolated: 'Die Suche ließ sich nicht vom System isolieren.',
  search_busy:
    '{{count}} deiner Suchen warten schon. Versuche es noch einmal, wenn sie fertig sind.',
  search_not_started: 'Das Suchprogramm konnte nicht gestartet werden.',
  search_path_is_link: '„{{path}}“ ist ein symbolischer Link; ihm wird nicht gefolgt.',
  search_path_not_found: 'Es gibt keine Datei und keinen Ordner „{{path}}“ zum Durchsuchen.',
  search_pattern_invalid:
    'Das Muster ist nicht gültig: {{detail}}. Stelle Sonderzeichen ein „\\“ voran, um sie wörtlich zu suchen.',
  too_many_changes: 'Höchstens {{limit}} Dateien lassen sich auf einmal ändern.',
  too_many_files_open: 'Zu viele Dateien sind geöffnet. Versuche es gleich noch einmal.',
  too_many_restored: 'Höchstens {{limit}} Dateien lassen sich auf einmal wiederherstellen.',
  upload_fields_invalid: '{{detail}}',
  upload_has_too_many_files: 'Ein Upload darf höchstens {{limit}} Dateien haben.',
  upload_repeats: 'Der Upload enthält „{{path}}“ zweimal.',
  upload_too_large: 'Ein Upload darf höchstens {{limit}} groß sein.',
  upload_too_many_fields: 'Der Upload enthält mehr Felder, als dieser Server erlaubt.',
  upload_too_many_files: 'Der Upload enthält mehr Dateien, als dieser Server erlaubt.',
  upload_too_many_parts: 'Der Upload enthält mehr Teile, als dieser Server erlaubt.',
  uploaded_file_too_large: 'Eine Datei des Uploads ist größer, als dieser Server erlaubt.',
  uploads_busy:
    'Der Server nimmt gerade zu viele Uploads entgegen. Versuche es gleich noch einmal.',
  uploads_exhausted:
    'Höchstens {{limit}} Uploads können gleichzeitig laufen. Warte, bis einer fertig ist, und versuche es noch einmal.',
  work_stopped: 'Der Vorgang wurde abgebrochen.',
  work_too_slow: 'Der Vorgang dauerte länger als {{seconds}} s.',
  upload_not_multipart: 'Sende die Dateien als multipart/form-data.',
}

export const models: Texts<typeof MODEL_FAILURES> = {
  model_answer_unfinished: 'Das Modell hat aufgehört, ohne seine Antwort zu beenden.',
  model_answer_empty:
    'Das Modell „{{model}}“ hat nichts geantwortet. Sende deine Nachricht noch einmal oder wähle ein anderes Modell.',
  model_answer_endless:
    'Die Antwort von „{{model}}“ nahm kein Ende und wurde abgeschnitten. Frage noch einmal oder wähle ein anderes Modell.',
  model_answer_filtered:
    'Ein Inhaltsfilter des Anbieters oder „{{model}}“ selbst hat diese Antwort beendet ({{finish_reason}}). Formuliere deine Nachricht um oder wähle ein anderes Modell.',
  model_answer_is_page:
    'Der Anbieter von „{{model}}“ hat eine Webseite geschickt. Prüfe, ob api_url die Adresse einer Modell-API ist.',
  model_answer_no_json:
    'Die Antwort des Anbieters von „{{model}}“ ist kein JSON-Objekt. Prüfe, ob api_url die Adresse einer Modell-API ist.',
  model_answer_no_stream:
    'Die Antwort des Anbieters von „{{model}}“ ist kein Ereignisstrom. Prüfe, ob api_url die Adresse einer Modell-API ist.',
  model_answer_only_thinking:
    '„{{model}}“ hat nachgedacht, aber keine Antwort geschrieben. Sende deine Nachricht noch einmal oder wähle ein anderes Modell.',
  model_answer_only_thinking_cut:
    '„{{model}}“ hat seine Ausgabegrenze erreicht, bevor es eine Antwort schrieb. Erhöhe max_tokens der Unterhaltung oder des Modells oder lass es weniger nachdenken.',
  model_api_missing: 'Unter dieser Adresse gibt es keine OpenAI-kompatible API. Prüfe die Adresse.',
  model_call_malformed:
    '„{{model}}“ hat einen Toolaufruf geschrieben, der sich nicht lesen lässt. Sende deine Nachricht noch einmal oder wähle ein anderes Modell.',
  model_call_unreadable:
    'Das Modell hat einen unlesbaren Toolaufruf geschrieben. Es wird gebeten, ihn noch einmal zu schreiben.',
  model_context_exceeded:
    'Die Unterhaltung ist zu lang für „{{model}}“. Beginne eine neue oder wähle ein Modell mit größerem Kontextfenster.',
  model_key_lost:
    'Der gespeicherte API-Schlüssel von {{model}} lässt sich nicht entschlüsseln. Ein Administrator muss ihn unter Einstellungen → Modelle neu eingeben.',
  model_list_empty: 'Der Anbieter nennt keine Modelle. Gib den Namen eines Modells ein.',
  model_not_found:
    'Der Anbieter von „{{model}}“ kennt dieses Modell oder diese Adresse nicht ({{status}}). Prüfe api_url und upstream_model.',
  model_rate_limited:
    'Der Anbieter von „{{model}}“ begrenzt die Zahl der Anfragen ({{status}}). Versuche es gleich noch einmal.',
  model_rate_limited_quota:
    'Dein Kontingent für „{{model}}“ beim Anbieter ist aufgebraucht ({{status}}). Wähle ein anderes Modell oder warte, bis es erneuert wird.',
  model_redirected: 'Die Adresse von „{{model}}“ leitet weiter ({{status}}). Prüfe api_url.',
  model_refused: 'Der Anbieter von „{{model}}“ hat die Anfrage abgelehnt ({{status}}).',
  model_refused_credit:
    'Dein Guthaben beim Anbieter von „{{model}}“ ist aufgebraucht ({{status}}). Lade es auf oder wähle ein anderes Modell.',
  model_stopped: 'Die Anfrage an „{{model}}“ wurde abgebrochen.',
  model_stream_broken: 'Die Verbindung zu „{{model}}“ brach ab, bevor die Antwort vollständig war.',
  model_stream_disordered:
    'Der Anbieter von „{{model}}“ hat Teile der Antwort doppelt oder in falscher Reihenfolge geschickt. Frage noch einmal oder wähle ein anderes Modell.',
  model_timeout: 'Der Anbieter von „{{model}}“ hat zu lange gebraucht ({{status}}).',
  model_timeout_silence: 'Das Modell „{{model}}“ hat {{seconds}} Sekunden lang nichts gesendet.',
  model_unauthorized:
    'Der Anbieter hat den API-Schlüssel von „{{model}}“ abgelehnt ({{status}}). Prüfe den Schlüssel in den Einstellungen.',
  model_unavailable:
    'Der Anbieter von „{{model}}“ hat eine Störung ({{status}}). Versuche es noch einmal oder wähle ein anderes Modell.',
  model_unavailable_connection:
    '„{{model}}“ ist nicht erreichbar: Die Verbindung ist fehlgeschlagen. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_connection_closed:
    '„{{model}}“ ist nicht erreichbar: Die Verbindung wurde geschlossen. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_connection_refused:
    '„{{model}}“ ist nicht erreichbar: Die Verbindung wurde abgelehnt. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_connection_timed_out:
    '„{{model}}“ ist nicht erreichbar: Beim Verbinden wurde das Zeitlimit überschritten. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_host_not_found:
    '„{{model}}“ ist nicht erreichbar: Der Hostname ließ sich nicht auflösen. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_host_unknown:
    '„{{model}}“ ist nicht erreichbar: Der Hostname ist unbekannt. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_host_unreachable:
    '„{{model}}“ ist nicht erreichbar: Der Host ist nicht erreichbar. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_insecure:
    '„{{model}}“ ist nicht erreichbar: Die TLS-Verbindung ist fehlgeschlagen. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_network:
    '„{{model}}“ ist nicht erreichbar: Das Netzwerk ist nicht erreichbar. Prüfe die Adresse des Anbieters und das Netzwerk.',
  model_unavailable_reported:
    'Der Anbieter von „{{model}}“ hat eine Störung gemeldet. Versuche es noch einmal oder wähle ein anderes Modell.',
}

export const storedFailures: Record<StoredFailureReason, string> = {
  document_archive_unsupported: '{{extension}}-Archive werden nicht unterstützt',
  document_archive_unknown: 'diese Art von Archiv wird nicht unterstützt',
  document_binary:
    'es ist eine Binärdatei; unterstützt werden Text, Markdown, PDF, DOCX, XLSX, PPTX, HTML und CSV',
  document_docx_damaged: 'die DOCX-Datei ist beschädigt',
  document_empty: 'sie enthält keinen Text',
  document_lost: 'der Upload ging verloren; lade die Datei noch einmal hoch',
  document_not_indexed: 'sie konnte nicht indexiert werden',
  document_not_what_its_name_says:
    'ihr Name endet auf {{extension}}, aber ihr Inhalt hat ein anderes Format',
  document_office_damaged: 'die {{extension}}-Datei ist beschädigt',
  document_page_too_deep: 'die Seite ist zu tief verschachtelt',
  document_pdf_damaged: 'das PDF ist beschädigt',
  document_partly_read: 'auf diesen Seiten gibt es keinen lesbaren Text: {{pages}}',
  document_pdf_protected: 'das PDF ist durch ein Passwort geschützt',
  document_pdf_xfa:
    'es ist ein Formular im XFA-Format von Adobe (drucke es in Adobe Acrobat als PDF und füge diese Datei an)',
  document_reader_not_started:
    'das Programm zum Lesen von Dokumenten konnte nicht gestartet werden',
  document_reading_stopped: 'das Lesen wurde abgebrochen',
  document_reading_too_slow: 'das Lesen dauerte zu lange',
  document_scanned:
    'sie enthält keinen Text (lass ein gescanntes Dokument zuerst durch eine Texterkennung laufen)',
  document_too_large: 'die Datei ist zu groß',
  document_too_large_to_read: 'sie ist zu groß zum Lesen',
  document_unreadable: 'die Datei konnte nicht gelesen werden',
  delivery_channel_kind_gone: 'diese Art von Kanal wird nicht mehr angeboten',
  delivery_failed: 'das Senden ist fehlgeschlagen',
  delivery_mail_certificate_expired:
    'das Zertifikat des Mailservers ist abgelaufen oder noch nicht gültig',
  delivery_mail_certificate_other_host:
    'das Zertifikat des Mailservers gehört zu einem anderen Host',
  delivery_mail_certificate_self_signed: 'das Zertifikat des Mailservers ist selbst signiert',
  delivery_mail_certificate_untrusted:
    'das Zertifikat des Mailservers stammt von einer Stelle, der dieser Server nicht vertraut',
  delivery_mail_host_unknown: 'der Hostname des Mailservers wurde nicht gefunden',
  delivery_mail_login_refused:
    'der Mailserver hat den Benutzernamen oder das Passwort dieses Servers abgelehnt',
  delivery_mail_not_set_up: 'dieser Server hat keine SMTP-Einstellungen mehr',
  delivery_mail_refused_connection: 'der Mailserver hat die Verbindung abgelehnt',
  delivery_mail_refused: 'der Mailserver hat sie abgelehnt ({{status}})',
  delivery_mail_unconfirmed:
    'die Inhaberin oder der Inhaber von {{address}} hat E-Mails von diesem Server nicht zugestimmt',
  delivery_mail_unreachable: 'der Mailserver war nicht erreichbar oder ausgelastet',
  delivery_receiver_address_refused:
    'dieser Server darf nicht an die Adresse des Empfängers senden',
  delivery_receiver_certificate_invalid: 'das Zertifikat des Empfängers ist nicht gültig',
  delivery_receiver_closed_connection: 'der Empfänger hat die Verbindung geschlossen',
  delivery_receiver_host_unknown: 'der Hostname des Empfängers wurde nicht gefunden',
  delivery_receiver_refused_connection: 'der Empfänger hat die Verbindung abgelehnt',
  delivery_receiver_timed_out: 'der Empfänger hat nicht rechtzeitig geantwortet',
  delivery_receiver_unreachable: 'der Empfänger war nicht erreichbar',
  delivery_refused: 'der Empfänger hat mit Status {{status}} geantwortet',
  delivery_settings_unfit: 'die Einstellungen dieses Kanals sind nicht mehr gültig',
  mcp_certificate_invalid:
    'sein Zertifikat ist nicht gültig, oder dieser Server vertraut ihm nicht',
  mcp_command_not_found: 'sein Befehl „{{command}}“ wurde auf dem Server nicht gefunden',
  mcp_command_not_allowed: 'sein Befehl darf nicht ausgeführt werden',
  mcp_connection_failed: 'die Verbindung ist fehlgeschlagen oder abgebrochen',
  mcp_connection_refused: 'er hat die Verbindung abgelehnt',
  mcp_credentials_refused: 'er hat die Zugangsdaten abgelehnt',
  mcp_ended: 'sein Prozess wurde beendet',
  mcp_folder_not_found: 'sein Arbeitsordner wurde auf dem Server nicht gefunden',
  mcp_host_unknown: 'sein Hostname ist unbekannt',
  mcp_sign_in_needed: 'du musst dich anmelden',
  mcp_settings_unreadable:
    'seine gespeicherten Einstellungen lassen sich nicht mehr entschlüsseln; bearbeite ihn und gib seine Adresse neu ein',
  mcp_wrong_address: 'unter seiner Adresse gibt es keinen MCP-Server',
  mcp_too_slow: 'er hat nicht rechtzeitig geantwortet',
  blobs_unreachable: 'der Speicher der Dateien ist nicht verfügbar; versuche es später noch einmal',
  export_failed: 'ein unerwarteter Fehler ist aufgetreten; Näheres steht im Log des Servers',
  export_interrupted: 'der Server wurde inzwischen neu gestartet; starte den Export noch einmal',
  import_already_there: 'es wurde schon importiert',
  import_archive_bomb: 'es ist mehr als {{ratio}}-fach komprimiert, was kein echter Export ist',
  import_archive_damaged:
    'das Archiv ist beschädigt oder unvollständig; lade es noch einmal herunter',
  import_archive_encrypted:
    'es ist durch ein Passwort geschützt; entpacke das Archiv und packe es ohne Passwort neu',
  import_archive_too_large: 'entpackt ist das Archiv größer als {{limit}}',
  import_archive_too_many_files: 'das Archiv hat mehr als {{limit}} Dateien',
  import_conversation_too_large: 'es ist größer als {{limit}}',
  import_cycle: 'seine Nachrichten bilden einen Kreis',
  import_database_unreadable: 'die SQLite-Datei ist beschädigt oder hat unbekannte Tabellen',
  import_disk_full: 'der Datenträger des Servers ist voll',
  import_entry_link: 'es ist ein Link',
  import_entry_unsafe: 'sein Name führt aus dem Archiv hinaus',
  import_failed: 'ein unerwarteter Fehler ist aufgetreten; Näheres steht im Log des Servers',
  import_file_missing: 'der Export enthält es nicht',
  import_file_refused: 'dieser Server lehnt es ab: {{detail}}',
  import_format_unknown:
    'das ist kein Export von NanoClaw, ChatGPT, Claude, Open WebUI oder LibreChat und keine SQLite-Datei des Python-NanoClaw',
  import_in_trash: 'es liegt im Papierkorb; stelle es dort wieder her',
  import_interrupted:
    'der Server wurde inzwischen neu gestartet; importiere die Datei noch einmal: Vorhandenes bleibt und wird nicht doppelt importiert',
  import_json_damaged: 'das JSON ist beschädigt oder unvollständig',
  import_marks_unknown:
    'Marken dieser Art in „{{conversation}}“ sind nicht bekannt, und der Export enthält ihren Inhalt nicht',
  import_no_messages: 'es enthält keine Nachrichten',
  import_out_of_memory: 'es braucht mehr Speicher, als ein Import verwenden darf',
  import_parts_unknown:
    'Teile dieser Art in „{{conversation}}“ sind nicht bekannt und wurden weggelassen',
  import_project_exists:
    'du hast schon ein Projekt mit diesem Namen; seine Dateien wurden nicht geändert',
  import_storage_full:
    'dein Speicher reicht nicht für die Texte; lösche einige Unterhaltungen, geteilte Links oder Dateien und importiere noch einmal (was schon da ist, wird nicht doppelt importiert)',
  import_too_many_messages: 'es hat mehr als {{limit}} Nachrichten',
  import_too_slow: 'das Lesen dauerte zu lange',
  import_unreadable: 'es hat nicht die erwartete Form ({{detail}})',
}
