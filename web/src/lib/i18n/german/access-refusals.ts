// German texts of refused requests (accounts, signing in and malformed requests), by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'

export const access: Record<keyof typeof ACCESS_FAILURES, string> = {
  address_missing: 'Dein Konto hat keine E-Mail-Adresse. Gib eine in `address` an.',
  mail_not_sent:
    'Die E-Mail konnte nicht gesendet werden. Prüfe die Adresse oder versuche es später noch einmal.',
  mail_not_set_up:
    'Dieser Server kann keine E-Mails senden. Bitte einen Administrator, `smtp` und `public_url` zu konfigurieren.',
  mails_exhausted: 'Es wurden zu viele E-Mails angefordert. Versuche es später noch einmal.',
  heir_is_same: 'Ein Konto kann nicht an sich selbst übergeben werden.',
  heir_missing: 'Nenne in `heir_id` das Konto, das die Daten erhält.',
  mcp_client_not_configured:
    'Der Autorisierungsserver registriert keine Clients. Ein Administrator muss `oauth.client_id` dieses MCP-Servers setzen.',
  mcp_not_connected:
    'Der MCP-Server „{{server}}“ ist gerade nicht verfügbar. Versuche es später noch einmal.',
  mcp_prompt_failed: 'Der MCP-Server „{{server}}“ hat diesen Prompt nicht geliefert.',
  mcp_resource_empty: 'Diese Ressource des MCP-Servers „{{server}}“ ist leer.',
  mcp_resource_failed: 'Der MCP-Server „{{server}}“ hat diese Ressource nicht geliefert.',
  mcp_headers_missing: 'Die URL des MCP-Servers hat sich geändert. Gib seine Header neu ein.',
  mcp_server_configured: 'Dieser MCP-Server steht in config.yml. Ändere ihn dort.',
  mcp_server_name_taken: 'Es gibt schon einen MCP-Server mit diesem Namen.',
  tool_changed_again:
    'Der MCP-Server hat dieses Werkzeug noch einmal geändert. Lies seine Beschreibung erneut und nimm sie dann an.',
  mcp_url_missing: 'Gib die Adresse des MCP-Servers ein.',
  mcp_server_not_found: 'Diesen MCP-Server gibt es nicht.',
  mcp_sign_in_refused:
    'Die Anmeldung bei „{{server}}“ ist fehlgeschlagen oder wurde abgelehnt. Versuche es noch einmal.',
  mcp_sign_in_unavailable:
    'Die Anmeldung bei „{{server}}“ ist gerade nicht möglich: Er nennt keinen Autorisierungsserver, oder dieser ist nicht erreichbar.',
  mcp_sign_in_unknown: 'Diese Anmeldung ist abgelaufen oder gehört jemand anderem. Beginne neu.',
  account_gone: 'Dieses Konto gibt es nicht mehr.',
  account_link_invalid:
    'Dieser Link funktioniert nicht mehr: Er wurde schon verwendet, ist abgelaufen oder wurde widerrufen. Bitte einen Administrator um einen neuen.',
  account_not_found: 'Dieses Konto gibt es nicht.',
  administrators_only: 'Das darf nur ein Administrator.',
  api_key_invalid: 'Dieser API-Schlüssel ist nicht gültig.',
  api_key_expiry_past: 'Das Ablaufdatum liegt in der Vergangenheit. Wähle ein späteres.',
  api_key_not_allowed: 'API-Schlüssel dürfen das nicht. Melde dich mit deinem Passwort an.',
  api_key_scope:
    'Diesem API-Schlüssel fehlt die Berechtigung „{{scope}}“. Verwende einen, der sie hat.',
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
  json_too_many_values: 'Das JSON hat mehr als {{limit}} Werte.',
  json_too_deep: 'Das JSON ist tiefer als {{levels}} Ebenen verschachtelt.',
  last_administrator:
    'Das ist der letzte aktive Administrator. Mache zuerst ein anderes Konto zum Administrator.',
  multipart_broken:
    'Der multipart-Inhalt ist nicht lesbar: Er ist unvollständig, oder seine Trennzeile fehlt oder ist länger als 250 Zeichen.',
  multipart_expected: 'Sende das als multipart/form-data.',
  no_password_in_single_mode: 'Im Einzelbenutzermodus gibt es kein Passwort.',
  nothing_here: 'Diese URL gibt es nicht. Prüfe den Pfad und die Methode.',
  origin_refused:
    'Seiten anderer Herkunft dürfen diesen Server nicht aufrufen. Wenn die Herkunft stimmt, füge sie zu cors_origins hinzu.',
  oidc_groups_withheld:
    'Single Sign-on hat nicht mitgeteilt, in welchen Gruppen du bist, weil es zu viele sind. Wende dich an einen Administrator.',
  oidc_no_account: 'Du hast hier kein Konto. Bitte einen Administrator, eines für dich anzulegen.',
  oidc_not_allowed:
    'Du bist in keiner Gruppe, die sich hier anmelden darf. Wende dich an einen Administrator.',
  oidc_refused: 'Single Sign-on wurde abgebrochen oder abgelehnt. Versuche es noch einmal.',
  oidc_response_invalid:
    'Single Sign-on ist fehlgeschlagen: Die Antwort ließ sich nicht überprüfen. Versuche es noch einmal; wenn es wieder passiert, wende dich an einen Administrator.',
  oidc_sign_in_unknown:
    'Diese Anmeldung ist abgelaufen oder wurde in einem anderen Browser begonnen. Versuche es noch einmal.',
  oidc_unreachable: 'Single Sign-on ist gerade nicht verfügbar. Versuche es gleich noch einmal.',
  account_without_password:
    'Das Konto „{{name}}“ hat kein Passwort, weil es sich per Single Sign-on anmeldet. Mit einem Passwort-Link käme die Person auch dann hinein, wenn Single Sign-on es nicht mehr erlaubt.',
  password_sign_in_off:
    'Die Anmeldung mit Passwort ist auf diesem Server ausgeschaltet. Verwende Single Sign-on.',
  password_common:
    'Dieses Passwort gehört zu den häufigsten und wäre sofort erraten. Wähle ein anderes.',
  password_is_name:
    'Das Passwort darf nicht der Benutzername oder die E-Mail-Adresse sein. Wähle ein anderes.',
  password_changed: 'Das Passwort wurde eben geändert. Melde dich neu an.',
  registration_closed: 'Die Registrierung ist geschlossen. Bitte einen Administrator um ein Konto.',
  registrations_exhausted:
    'Aus deinem Netz wurden zu viele Konten registriert. Versuche es später noch einmal oder frage einen Administrator.',
  request_field_invalid: '{{part}} ist nicht gültig: {{detail}}',
  request_invalid: '{{part}} ist nicht gültig.',
  request_refused: 'Die Anfrage wurde abgelehnt.',
  second_factor_unreadable:
    'Der Server kann das Geheimnis deiner Authenticator-App nicht mehr lesen. Nimm einen Wiederherstellungscode oder einen Passkey, oder bitte einen Administrator, deine zweiten Faktoren zurückzusetzen.',
  share_unreadable:
    'Der Link dieser Freigabe ist nicht mehr lesbar, weil er mit einem anderen geheimen Schlüssel verschlüsselt wurde. Beende die Freigabe und gib für einen neuen Link erneut frei, oder bitte den Betreiber, den Schlüssel wiederherzustellen.',
  secret_unreadable:
    'Ein gespeichertes Geheimnis lässt sich nicht entschlüsseln: Es wurde mit einem anderen Schlüssel verschlüsselt. Stelle diesen Schlüssel wieder her oder gib das Geheimnis neu ein.',
  passkey_invalid:
    'Dieser Passkey konnte nicht geprüft werden. Versuche es noch einmal oder melde dich anders an.',
  passkey_not_found: 'Diesen Passkey gibt es nicht.',
  passkey_unavailable:
    'Passkeys brauchen einen Hostnamen und HTTPS oder localhost. Setze public_url auf eine solche Adresse.',
  passkeys_exhausted: 'Du hast schon {{limit}} Passkeys. Lösche zuerst einen.',
  second_factor_code_wrong:
    'Dieser Code ist falsch, abgelaufen oder schon verwendet. Gib den aktuellen ein.',
  second_factor_expired: 'Diese Anmeldung ist abgelaufen. Melde dich noch einmal an.',
  second_factor_missing:
    'Es gibt keine Authenticator-App zu bestätigen oder zu entfernen. Beginne neu.',
  second_factor_refused: 'Dieser Code oder Passkey ist falsch, abgelaufen oder schon verwendet.',
  second_factor_required: 'Das Passwort stimmt. Bestätige die Anmeldung mit deinem zweiten Faktor.',
  second_factor_set: 'Eine Authenticator-App ist schon eingerichtet. Entferne sie zuerst.',
  session_not_found: 'Diese Sitzung gibt es nicht.',
  session_ended: 'Deine Sitzung ist beendet. Melde dich neu an.',
  setup_link_required:
    'Dieser Server hat noch keinen Administrator. Öffne den Einrichtungslink, den er beim Start ausgegeben hat.',
  shutting_down: 'Der Server startet neu. Versuche es in Kürze noch einmal.',
  sign_in_busy: 'Zu viele melden sich gleichzeitig an. Versuche es gleich noch einmal.',
  sign_in_required: 'Melde dich zuerst an.',
  sign_ins_exhausted:
    'Zu viele fehlgeschlagene Anmeldungen. Warte einen Moment und versuche es noch einmal.',
  single_user: 'Dieser Server läuft im Einzelbenutzermodus und braucht keine Anmeldung.',
  streams_exhausted:
    'Du hast {{limit}} Ereignisströme gleichzeitig offen. Schließe einige Tabs oder Verbindungen.',
  too_many_open:
    'Der Server hat zu viele Dateien und Verbindungen offen. Versuche es gleich noch einmal.',
  url_invalid: 'Die URL ist nicht gültig.',
  url_too_long: 'Die URL ist zu lang.',
  user_name_taken: 'Dieser Benutzername oder diese E-Mail-Adresse ist vergeben.',
  wrong_credentials: 'Benutzername oder Passwort ist falsch.',
  headers_too_large: 'Die Header der Anfrage sind zu groß.',
  request_timeout: 'Die Anfrage kam zu langsam an. Versuche es noch einmal.',
  request_malformed: 'Das ist keine gültige HTTP-Anfrage.',
}
