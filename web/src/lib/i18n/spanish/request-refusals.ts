// Spanish texts of refused requests (administration, conversations, runs and the store), by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

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
    'Tus {{limit}} mensajes a canales de hoy se agotaron. Se renuevan: {{renews_at}}.',
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
  channel_address_refused:
    'Este servidor no envía correos a {{address}}. Pregunta a un administrador qué direcciones están permitidas.',
  channel_mail_not_set_up:
    'Este servidor no puede enviar correos. Pide a un administrador que configure `smtp` o elige otro tipo de canal.',
  channel_name_taken: 'Ya tienes un canal llamado «{{name}}».',
  channel_not_found: 'Ese canal no existe.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: 'No hay canales del tipo «{{type}}». Usa uno de estos: {{types}}.',
  channels_exhausted: 'Puedes tener como máximo {{limit}} canales. Elimina uno primero.',
  conversation_not_found: 'Esa conversación no existe.',
  document_not_found: 'Ese documento no existe.',
  document_encoding_fixed:
    'No se puede elegir otra codificación para «{{name}}»: se está leyendo, su codificación es segura o su archivo ya no está guardado.',
  documents_exhausted:
    'Un proyecto puede tener como máximo {{limit}} documentos. Elimina algunos primero.',
  export_not_found: 'Esa exportación no existe. Las exportaciones se eliminan al cabo de un día.',
  export_not_ready: 'Esta exportación aún no está lista. Espera a que su estado sea `completed`.',
  export_running: 'Ya tienes una exportación en curso. Espera a que termine.',
  import_invalid: 'Este archivo no contiene una conversación completa ({{detail}}).',
  import_not_found: 'Esa importación no existe.',
  import_running: 'Ya tienes una importación en curso. Espera a que termine.',
  import_upload_too_large: 'Una importación puede tener como máximo {{limit}}.',
  memory_too_long:
    'La memoria puede tener como máximo {{limit}} caracteres; este texto tiene {{length}}. Acórtalo.',
  message_not_found: 'Ese mensaje no existe.',
  model_configured: 'Este modelo está definido en config.yml. Cámbialo allí.',
  model_id_taken: 'Ya hay un modelo con este identificador.',
  model_key_missing: 'La URL del proveedor cambió. Escribe de nuevo su clave de API.',
  model_unknown: 'Ese modelo no existe.',
  nothing_to_undelete: 'No hay ninguna eliminación que se pueda deshacer.',
  outbox_full: 'Ya hay {{limit}} mensajes esperando a ser enviados. Inténtalo más tarde.',
  recipients_exhausted:
    'Tus canales pueden enviar a {{limit}} destinatarios por hora y se alcanzó ese límite. Inténtalo de nuevo en {{minutes}} minutos.',
  response_item_not_found: 'No hay ningún elemento «{{id}}» en tus respuestas.',
  response_not_found: 'No hay ninguna respuesta «{{id}}».',
  run_not_found: 'Esa respuesta no existe.',
  share_expired: 'La fecha de caducidad del enlace tiene que estar en el futuro.',
  share_guesses_exhausted:
    'Demasiadas contraseñas incorrectas para este enlace. Espera un poco e inténtalo de nuevo.',
  share_not_found: 'Este enlace no existe o ya no se comparte.',
  share_password_needed: 'Este enlace necesita una contraseña (X-Share-Password).',
  share_password_wrong: 'La contraseña de este enlace es incorrecta.',
  share_too_large: 'Esta conversación es demasiado grande para compartirla.',
  share_views_exhausted:
    'Se abrieron demasiadas conversaciones compartidas desde esta red. Espera un minuto e inténtalo de nuevo.',
  sharing_off: 'Compartir está desactivado en este servidor.',
  unknown_model: 'No hay ningún modelo «{{model}}». Disponibles: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Esta cuenta está desactivada. Consulta a un administrador.',
  answer_without_question:
    'No hay ningún mensaje al que pertenezca esta respuesta, así que no se puede regenerar.',
  approval_not_found: 'Ninguna solicitud de aprobación con este id_ref espera una decisión.',
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
  call_decided: 'Esta llamada a herramienta ya se aprobó o se rechazó.',
  client_call_unknown:
    'Ninguna llamada a herramienta con el ID «{{id}}» precede a este resultado. Envía las llamadas junto con sus resultados.',
  client_result_missing:
    'Falta el resultado de la llamada a la herramienta «{{name}}». Envía un resultado por cada llamada a tus herramientas.',
  conversation_busy: 'En esta conversación no dejan de empezar respuestas. Inténtalo de nuevo.',
  conversation_gone: 'La conversación se eliminó.',
  conversation_has_run:
    'En esta conversación ya hay una respuesta en curso. Espera a que termine o detenla primero.',
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
  parent_not_an_answer: '`parent_id` tiene que ser una respuesta de esta conversación.',
  programs_exhausted:
    'Puedes ejecutar {{limit}} programas a la vez. Espera a que termine uno o detén uno.',
  python_unavailable:
    'Aquí no se puede ejecutar Python: este servidor no lo ofrece, o no a tu cuenta.',
  project_would_be_too_large:
    'El proyecto ocuparía {{size}}; se permiten como máximo {{limit}}. El cambio se deshizo.',
  restore_not_recorded:
    'Los archivos se restauraron, pero el estado de la restauración aún no se pudo guardar.',
  run_completed: 'Esta respuesta está completa; no hay nada que reanudar.',
  run_continues_soon:
    'El servidor está a punto de continuar esta respuesta. Inténtalo de nuevo en breve.',
  run_not_prepared: 'No se pudo preparar la respuesta. Inténtalo de nuevo.',
  run_not_stored:
    'No se pudo guardar la respuesta y termina aquí. Envía de nuevo el mensaje o reanuda la respuesta.',
  run_still_active: 'Esta respuesta sigue en curso.',
  run_takes_no_decision:
    'Esta respuesta ha terminado: ninguna de sus llamadas a herramientas espera una decisión.',
  run_takes_no_input:
    'Esta respuesta ha terminado: ninguna de sus llamadas a herramientas espera información.',
  run_minutes_used_up: 'Esta respuesta alcanzó el límite de {{limit}} minutos. Puedes reanudarla.',
  run_tokens_used_up:
    'Esta respuesta alcanzó el límite de {{limit}} tokens. Envía un mensaje nuevo para continuar.',
  run_without_answer: 'No se obtuvo ninguna respuesta. Inténtalo de nuevo.',
  runs_exhausted: 'Ya tienes {{limit}} respuestas en curso. Espera a que termine una o detén una.',
  task_not_found: 'Esa tarea en segundo plano no existe.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  blobs_unavailable:
    'El almacenamiento de archivos no está disponible ahora. Inténtalo de nuevo en un momento.',
  cursor_gone:
    'El mensaje al que apunta esta posición se eliminó. Empieza de nuevo por la primera página.',
  cursor_invalid: 'Posición no válida. Empieza de nuevo por la primera página.',
  disk_unconfirmed: 'El disco no confirmó lo escrito. Comprueba el disco y reinicia el servidor.',
  search_too_slow: 'La búsqueda tardó demasiado. Acótala e inténtalo de nuevo.',
  store_busy: 'La base de datos está ocupada. Inténtalo de nuevo en un momento.',
  store_closed: 'La base de datos está cerrada.',
  store_file_unusable:
    'El archivo de la base de datos no se puede usar ahora. Inténtalo de nuevo en un momento.',
  store_full: 'El disco está lleno: no se guardó nada. Libera espacio e inténtalo de nuevo.',
  store_locked: 'Otro programa tiene bloqueada la base de datos. Inténtalo de nuevo en un momento.',
  store_overloaded: 'La base de datos está sobrecargada. Inténtalo de nuevo en un momento.',
  store_unanswered: 'La base de datos no responde. Inténtalo de nuevo en un momento.',
}
