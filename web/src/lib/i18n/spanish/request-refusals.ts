// Why requests are refused: access, administration, conversations and runs, in Spanish, by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const access: Texts<typeof ACCESS_FAILURES> = {
  address_missing: 'Tu cuenta no tiene correo. Indica uno en `address`.',
  mail_not_sent: 'No se pudo enviar el correo. Revisa la dirección o inténtalo más tarde.',
  mail_not_set_up:
    'Este servidor no puede enviar correos: necesita `smtp` y `public_url` en su configuración. Pregunta a un administrador.',
  mails_exhausted: 'Se han pedido demasiados correos. Inténtalo más tarde.',
  heir_is_same: 'Una cuenta no se puede traspasar a sí misma.',
  heir_missing: 'Indica en «heir_id» la cuenta que recibe los datos.',
  mcp_client_not_configured:
    'El servidor de autorización no registra clientes. Un administrador tiene que definir «oauth.client_id» de este servidor MCP.',
  mcp_not_connected: 'El servidor MCP «{{server}}» no está disponible ahora. Inténtalo de nuevo.',
  mcp_prompt_failed: 'El servidor MCP «{{server}}» no devolvió este prompt.',
  mcp_resource_empty: 'Este recurso del servidor MCP «{{server}}» está vacío.',
  mcp_resource_failed: 'El servidor MCP «{{server}}» no devolvió este recurso.',
  mcp_headers_missing: 'Cambiaste la dirección del servidor MCP; escribe también sus cabeceras.',
  mcp_server_configured: 'Este servidor MCP está definido en config.yml. Cámbialo allí.',
  mcp_server_name_taken: 'Ya hay un servidor MCP con este nombre.',
  mcp_url_missing: 'Escribe la dirección del servidor MCP.',
  mcp_server_not_found: 'Ese servidor MCP no existe.',
  mcp_sign_in_refused:
    'El inicio de sesión en «{{server}}» falló o fue rechazado. Inténtalo de nuevo.',
  mcp_sign_in_unavailable:
    'Ahora no se puede iniciar sesión en «{{server}}»: no indica ningún servidor de autorización o no se puede llegar a él.',
  mcp_sign_in_unknown: 'Este inicio de sesión terminó o lo empezó otra persona. Empieza de nuevo.',
  account_gone: 'Esta cuenta ya no existe.',
  account_link_invalid:
    'Este enlace ya no funciona: se usó, caducó o se retiró. Pide uno nuevo a un administrador.',
  account_not_found: 'Esa cuenta no existe.',
  administrators_only: 'Solo un administrador puede hacer esto.',
  api_key_invalid: 'Esta clave de API no es válida.',
  api_key_expiry_past: 'La clave ya habría caducado.',
  api_key_not_allowed: 'Las claves de API no pueden hacer esto. Inicia sesión con tu contraseña.',
  api_key_scope:
    'Esta clave de API no puede hacer esto: le falta el permiso «{{scope}}». Usa otra.',
  api_key_not_found: 'Esa clave de API no existe.',
  api_keys_exhausted: 'Ya tienes {{limit}} claves de API. Elimina una primero.',
  body_empty: 'El contenido está vacío.',
  body_not_json: 'El contenido no es JSON válido.',
  body_too_large: 'El contenido es mayor de lo que permite este servidor.',
  content_length_wrong: 'El contenido no tiene la longitud que indica Content-Length.',
  content_type_unsupported: 'Este tipo de contenido no se admite aquí. Envía application/json.',
  email_needs_password:
    'Para cambiar la dirección de correo hace falta la contraseña actual, porque allí llegan los enlaces para elegir una nueva.',
  current_password_missing: 'Para cambiar la contraseña hace falta la actual.',
  current_password_wrong: 'La contraseña actual es incorrecta.',
  host_refused:
    'El servidor no responde con ese nombre de host. Si es correcto, añádelo a trusted_hosts.',
  host_repeated: 'La solicitud tiene más de una cabecera Host.',
  idempotency_body_gone:
    'Una solicitud con esta Idempotency-Key se completó, pero su respuesta era demasiado grande para repetirla.',
  idempotency_key_invalid: 'Una Idempotency-Key tiene de 1 a {{limit}} caracteres.',
  idempotency_key_reused:
    'Esta Idempotency-Key se usó para otra solicitud. Usa una nueva para cada una.',
  idempotency_pending:
    'Una solicitud con esta Idempotency-Key sigue en curso. Inténtalo de nuevo en un momento.',
  internal:
    'Algo falló en el servidor. Inténtalo de nuevo; si vuelve a pasar, busca el identificador de la solicitud en el registro.',
  invitation_not_found: 'Esa invitación no existe.',
  invitation_required: 'Necesitas una invitación para registrarte aquí. Pídela a un administrador.',
  invitations_exhausted: 'Ya hay {{limit}} invitaciones abiertas. Retira algunas primero.',
  json_list_too_long: 'Una lista del JSON tiene más de {{entries}} elementos.',
  json_too_deep: 'El JSON está anidado a más de {{levels}} niveles.',
  last_administrator: 'Es el último administrador activo.',
  multipart_broken:
    'No se pudo leer el contenido multipart: termina antes de tiempo, o su separador falta o tiene más de 250 caracteres.',
  multipart_expected: 'Envíalo como multipart/form-data.',
  no_password_in_single_mode: 'En el modo de un solo usuario no hay contraseña.',
  nothing_here: 'En esta dirección no hay nada.',
  origin_refused:
    'Las páginas de otro origen no pueden llamar a este servidor. Si el origen es correcto, añádelo a cors_origins.',
  oidc_groups_withheld:
    'El inicio de sesión único no indicó en qué grupos estás, porque son demasiados. Consulta a un administrador.',
  oidc_no_account: 'No tienes cuenta aquí. Pide a un administrador que te cree una.',
  oidc_not_allowed:
    'No estás en ninguno de los grupos que pueden entrar aquí. Consulta a un administrador.',
  oidc_refused: 'El inicio de sesión único se canceló o se rechazó. Inténtalo de nuevo.',
  oidc_response_invalid:
    'El inicio de sesión único falló: la respuesta no era de fiar. Inténtalo de nuevo; si vuelve a pasar, avisa a un administrador.',
  oidc_sign_in_unknown:
    'Este inicio de sesión tardó demasiado o se empezó en otro navegador. Inténtalo de nuevo.',
  oidc_unreachable:
    'El inicio de sesión único no está disponible ahora. Inténtalo de nuevo en un momento.',
  password_sign_in_off:
    'Las contraseñas están desactivadas en este servidor. Usa el inicio de sesión único.',
  password_common: 'Esta contraseña es de las más comunes y se adivinaría al instante. Elige otra.',
  password_is_name: 'La contraseña no puede ser el nombre de usuario ni el correo. Elige otra.',
  password_changed: 'La contraseña se cambió hace un momento. Inicia sesión de nuevo.',
  registration_closed: 'El registro está cerrado. Pide una cuenta a un administrador.',
  registrations_exhausted:
    'Se registraron demasiadas cuentas desde tu dirección. Inténtalo más tarde o consulta a un administrador.',
  request_field_invalid: '{{part}} no es válido: {{detail}}',
  request_invalid: '{{part}} no es válido.',
  request_refused: 'La solicitud fue rechazada.',
  secret_unreadable:
    'No se puede leer un secreto guardado: se guardó con otra clave. Restaura esa clave o escribe de nuevo el secreto.',
  passkey_invalid:
    'No se pudo comprobar esta llave de acceso. Inténtalo de nuevo o entra de otra forma.',
  passkey_not_found: 'Esa llave de acceso no existe.',
  passkey_unavailable:
    'Las llaves de acceso necesitan un nombre de host y HTTPS, o localhost. Pon en public_url una dirección así.',
  passkeys_exhausted: 'Ya tienes {{limit}} llaves de acceso. Elimina una primero.',
  second_factor_code_wrong: 'Este código es incorrecto, caducó o ya se usó. Escribe el actual.',
  second_factor_expired: 'Tardó demasiado. Inicia sesión desde el principio.',
  second_factor_missing: 'No hay nada que confirmar o quitar. Empieza de nuevo.',
  second_factor_refused: 'Este código o llave de acceso es incorrecto, caducó o ya se usó.',
  second_factor_required:
    'La contraseña es correcta. Confirma el inicio de sesión con tu segundo factor.',
  second_factor_set: 'Ya hay una aplicación de autenticación configurada. Quítala primero.',
  session_not_found: 'Esa sesión no existe.',
  session_ended: 'Tu sesión ha terminado. Inicia sesión de nuevo.',
  setup_link_required:
    'Este servidor aún no tiene administrador. Abre el enlace de configuración que mostró al arrancar.',
  shutting_down: 'El servidor está a punto de reiniciarse. Inténtalo de nuevo en breve.',
  sign_in_busy: 'Demasiadas personas inician sesión a la vez. Inténtalo de nuevo en un momento.',
  sign_in_required: 'Inicia sesión primero.',
  sign_ins_exhausted: 'Demasiados intentos fallidos. Espera un momento e inténtalo de nuevo.',
  single_user: 'Este servidor tiene un solo usuario: no hace falta iniciar sesión.',
  streams_exhausted:
    'Tienes {{limit}} flujos de eventos abiertos a la vez. Cierra algunas pestañas o conexiones.',
  too_many_open:
    'El servidor tiene demasiados archivos y conexiones abiertos. Inténtalo de nuevo en un momento.',
  url_invalid: 'La URL no es válida.',
  url_too_long: 'La URL es demasiado larga.',
  user_name_taken: 'Este nombre de usuario o correo ya está en uso.',
  wrong_credentials: 'El nombre de usuario o la contraseña son incorrectos.',
  headers_too_large: 'Las cabeceras de la solicitud son demasiado grandes.',
  request_timeout: 'La solicitud tardó demasiado en llegar.',
  request_malformed: 'No es una solicitud HTTP válida.',
}

export const administration: Texts<typeof ADMINISTRATION_FAILURES> = {
  approval_mode_not_permitted:
    'Tu grupo no puede usar el modo de aprobación «{{mode}}». Elige otro: {{available}}.',
  cost_per_day_used_up: 'Tu presupuesto de {{limit}} para hoy se agotó. Se renueva: {{renews_at}}.',
  cost_per_month_used_up:
    'Tu presupuesto de {{limit}} para este mes se agotó. Se renueva: {{renews_at}}.',
  group_cost_used_up:
    'El presupuesto de {{limit}} que comparte tu grupo «{{group}}» se agotó. Se renueva: {{renews_at}}.',
  group_member_not_found: 'Esta cuenta no está en el grupo.',
  group_name_taken: 'Ya hay un grupo con este nombre.',
  group_not_found: 'Ese grupo no existe.',
  group_tokens_used_up:
    'Los {{limit}} tokens que comparte tu grupo «{{group}}» se agotaron. Se renuevan: {{renews_at}}.',
  groups_exhausted: 'Ya hay {{limit}} grupos. Elimina uno primero.',
  messages_per_day_used_up:
    'Tus {{limit}} mensajes de hoy se agotaron. Se renuevan: {{renews_at}}.',
  model_not_permitted: 'Tu grupo no puede usar el modelo «{{model}}». Elige otro: {{available}}.',
  no_model_permitted:
    'Tu grupo no puede usar ningún modelo de este servidor. Consulta a un administrador.',
  own_account_stays: 'No puedes eliminar tu propia cuenta. Pídelo a otro administrador.',
  program_seconds_used_up:
    'Tus {{limit}} segundos de programas de hoy se agotaron. Se renuevan: {{renews_at}}.',
  requests_exhausted:
    'Puedes enviar {{limit}} solicitudes por minuto. Inténtalo de nuevo en {{seconds}} segundos.',
  tokens_per_day_used_up: 'Tus {{limit}} tokens de hoy se agotaron. Se renuevan: {{renews_at}}.',
  tokens_per_month_used_up:
    'Tus {{limit}} tokens de este mes se agotaron. Se renuevan: {{renews_at}}.',
}

export const conversations: Texts<typeof CONVERSATION_FAILURES> = {
  webhook_not_found: 'Ese webhook no existe.',
  webhook_tests_exhausted:
    'Puedes enviar {{limit}} pruebas por hora y se alcanzó ese límite. Inténtalo más tarde.',
  webhooks_exhausted: 'Puedes tener como máximo {{limit}} webhooks. Elimina uno primero.',
  attachment_not_found: 'Ese adjunto no existe.',
  channel_name_taken: 'Ya tienes un canal llamado «{{name}}».',
  channel_not_found: 'Ese canal no existe.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: 'No hay canales del tipo «{{type}}». Usa uno de estos: {{types}}.',
  channels_exhausted: 'Puedes tener como máximo {{limit}} canales. Elimina uno primero.',
  conversation_not_found: 'Esa conversación no existe.',
  document_not_found: 'Ese documento no existe.',
  documents_exhausted:
    'Un proyecto puede tener como máximo {{limit}} documentos. Elimina algunos primero.',
  export_not_found: 'Esa exportación no existe. Las exportaciones se eliminan al cabo de un día.',
  export_not_ready: 'Esta exportación aún no está lista. Espera a que su estado sea «completed».',
  export_running: 'Ya tienes una exportación en curso. Espera a que termine.',
  import_invalid: 'Este archivo no contiene una conversación completa ({{detail}}).',
  import_not_found: 'Esa importación no existe.',
  import_running: 'Ya tienes una importación en curso. Espera a que termine.',
  import_upload_too_large: 'Una importación puede tener como máximo {{limit}}.',
  memory_too_long:
    'La memoria puede tener como máximo {{limit}} caracteres; este texto tiene {{length}}.',
  message_not_found: 'Ese mensaje no existe.',
  model_configured: 'Este modelo está definido en config.yml. Cámbialo allí.',
  model_id_taken: 'Ya hay un modelo con este identificador.',
  model_key_missing: 'Cambiaste la dirección del proveedor; escribe también su clave de API.',
  model_unknown: 'Ese modelo no existe.',
  nothing_to_undelete: 'No hay ninguna eliminación que se pueda deshacer.',
  outbox_full: 'Ya hay {{limit}} mensajes esperando a ser enviados. Inténtalo más tarde.',
  recipients_exhausted:
    'Tus canales pueden enviar a {{limit}} destinatarios por hora y se alcanzó ese límite. Inténtalo de nuevo en {{minutes}} minutos.',
  response_item_not_found: 'No hay ningún elemento «{{id}}» en tus respuestas.',
  response_not_found: 'No hay ninguna respuesta «{{id}}».',
  run_not_found: 'Esa ejecución no existe.',
  share_expired: 'El momento en que caduca el enlace tiene que estar en el futuro.',
  share_guesses_exhausted:
    'Demasiadas contraseñas incorrectas para este enlace. Espera un poco e inténtalo de nuevo.',
  share_not_found: 'No hay nada compartido en este enlace.',
  share_password_needed: 'Este enlace necesita una contraseña (X-Share-Password).',
  share_password_wrong: 'La contraseña de este enlace es incorrecta.',
  share_too_large: 'Esta conversación es demasiado grande para compartirla.',
  share_views_exhausted:
    'Se abrieron demasiadas conversaciones compartidas desde esta red. Espera un minuto e inténtalo de nuevo.',
  sharing_off: 'Compartir está desactivado en este servidor.',
  unknown_model: 'No hay ningún modelo «{{model}}». Disponibles: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Esta cuenta está desactivada.',
  answer_without_question:
    'No hay ningún mensaje al que pertenezca esta respuesta, así que no se puede regenerar.',
  approval_not_found: 'Ninguna solicitud de aprobación espera con este id_ref.',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    'Este modelo no admite imágenes, así que «{{name}}» no se puede adjuntar. Elige un modelo que vea imágenes.',
  attachment_not_image: '«{{name}}» no es una imagen de tipo {{type}}.',
  attachment_not_text:
    '«{{name}}» no es un archivo de texto. Adjunta texto o una imagen PNG, JPEG, WebP o GIF.',
  attachments_too_large:
    'Los adjuntos ocupan {{size}} en total; se permiten como máximo {{limit}}. Envía menos archivos o más pequeños.',
  background_tasks_exhausted:
    'Ya hay {{limit}} tareas en segundo plano en curso. Espera a que termine una.',
  call_decided: 'Ya se decidió sobre esta llamada.',
  client_call_unknown:
    'No hay ninguna llamada con el id «{{id}}» antes de su resultado. Envía juntas las llamadas y sus resultados.',
  client_result_missing:
    'Falta el resultado de la llamada a «{{name}}». Envía un resultado por cada llamada a tus herramientas.',
  conversation_busy: 'En esta conversación no dejan de empezar ejecuciones. Inténtalo de nuevo.',
  conversation_gone: 'La conversación se eliminó.',
  conversation_has_run:
    'Esta conversación ya tiene una ejecución activa. Espera a que termine o detenla primero.',
  image_not_data_url:
    'Envía las imágenes como URL de datos: data:image/png;base64,… (PNG, JPEG, WebP o GIF).',
  input_answered: 'Esta pregunta ya se respondió.',
  input_content_invalid: '{{detail}}',
  input_not_found: 'Ningún servidor MCP espera información con este id_ref.',
  message_too_long: 'El mensaje tiene {{length}} caracteres; se permiten como máximo {{limit}}.',
  nothing_to_answer:
    'No hay nada que responder: termina los mensajes con uno del usuario o con resultados de tus herramientas.',
  only_own_messages_editable: 'Solo puedes editar tus propios mensajes.',
  only_answers_revisable: 'Así solo se puede cambiar el texto de una respuesta.',
  answer_not_finished: 'Esta respuesta aún se está escribiendo. Espera o detenla primero.',
  parent_gone: 'El mensaje al que pertenece este se eliminó mientras tanto.',
  parent_not_an_answer: '«parent_id» tiene que ser una respuesta de esta conversación.',
  project_would_be_too_large:
    'El proyecto ocuparía {{size}}; se permiten como máximo {{limit}}. El cambio se deshizo.',
  restore_not_recorded:
    'Los archivos se restauraron, pero el estado de la restauración aún no se pudo guardar.',
  run_completed: 'Esta ejecución está completa; no hay nada que continuar.',
  run_continues_soon:
    'El servidor está a punto de continuar esta ejecución. Inténtalo de nuevo en breve.',
  run_not_prepared: 'No se pudo preparar la respuesta. Inténtalo de nuevo.',
  run_not_stored: 'No se pudo guardar la respuesta y termina aquí. Pregunta de nuevo o continúala.',
  run_still_active: 'Esta ejecución sigue activa.',
  run_takes_no_decision:
    'Esta ejecución ha terminado: ninguna de sus llamadas espera una decisión.',
  run_takes_no_input: 'Esta ejecución ha terminado: ninguna de sus llamadas espera información.',
  run_minutes_used_up: 'Una respuesta termina tras {{limit}} minutos. Puedes dejar que continúe.',
  run_tokens_used_up:
    'Se agotaron los {{limit}} tokens de una respuesta. Pide el resto en un mensaje nuevo.',
  run_without_answer: 'La ejecución terminó sin respuesta.',
  runs_exhausted: 'Ya tienes {{limit}} ejecuciones activas. Espera a que termine una o detén una.',
  task_not_found: 'Esa tarea no existe.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  cursor_gone:
    'El mensaje al que apunta esta posición se eliminó. Empieza de nuevo por la primera página.',
  cursor_invalid: 'Posición no válida. Empieza de nuevo por la primera página.',
  disk_unconfirmed: 'El disco no confirmó lo escrito. Comprueba el disco y reinicia el servidor.',
  search_too_slow: 'La búsqueda tardó demasiado. Acótala e inténtalo de nuevo.',
  store_busy: 'La base de datos está ocupada. Inténtalo de nuevo pronto.',
  store_closed: 'La base de datos está cerrada.',
  store_file_unusable: 'El archivo de la base de datos no se puede usar ahora.',
  store_full: 'El disco está lleno: no se guardó nada. Libera espacio e inténtalo de nuevo.',
  store_locked: 'Otro programa tiene bloqueada la base de datos. Inténtalo de nuevo pronto.',
  store_overloaded: 'La base de datos tiene demasiado trabajo. Inténtalo de nuevo pronto.',
  store_unanswered: 'La base de datos no responde. Inténtalo de nuevo pronto.',
}
