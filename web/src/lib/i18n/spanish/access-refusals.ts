// Spanish texts of refused requests (accounts, signing in and malformed requests), by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'

export const access: Record<keyof typeof ACCESS_FAILURES, string> = {
  address_missing: 'Tu cuenta no tiene correo. Indica uno en `address`.',
  mail_not_sent: 'No se pudo enviar el correo. Revisa la dirección o inténtalo más tarde.',
  mail_not_set_up:
    'Este servidor no puede enviar correos. Pide a un administrador que configure `smtp` y `public_url`.',
  mails_exhausted: 'Se han pedido demasiados correos. Inténtalo más tarde.',
  heir_is_same: 'Una cuenta no se puede traspasar a sí misma.',
  heir_missing: 'Indica en `heir_id` la cuenta que recibe los datos.',
  mcp_client_not_configured:
    'El servidor de autorización no registra clientes. Un administrador tiene que definir `oauth.client_id` de este servidor MCP.',
  mcp_not_connected: 'El servidor MCP «{{server}}» no está disponible ahora. Inténtalo más tarde.',
  mcp_prompt_failed: 'El servidor MCP «{{server}}» no devolvió este prompt.',
  mcp_resource_empty: 'Este recurso del servidor MCP «{{server}}» está vacío.',
  mcp_resource_failed: 'El servidor MCP «{{server}}» no devolvió este recurso.',
  mcp_headers_missing: 'La URL del servidor MCP cambió. Escribe de nuevo sus cabeceras.',
  mcp_server_configured: 'Este servidor MCP está definido en config.yml. Cámbialo allí.',
  mcp_server_name_taken: 'Ya hay un servidor MCP con este nombre.',
  tool_changed_again:
    'El servidor MCP ha vuelto a cambiar esta herramienta. Lee otra vez su descripción y acéptala después.',
  mcp_url_missing: 'Escribe la dirección del servidor MCP.',
  mcp_server_not_found: 'Ese servidor MCP no existe.',
  mcp_sign_in_refused:
    'El inicio de sesión en «{{server}}» falló o fue rechazado. Inténtalo de nuevo.',
  mcp_sign_in_unavailable:
    'Ahora no se puede iniciar sesión en «{{server}}»: no indica ningún servidor de autorización o no se puede llegar a él.',
  mcp_sign_in_unknown: 'Este inicio de sesión caducó o pertenece a otra persona. Empieza de nuevo.',
  account_gone: 'Esta cuenta ya no existe.',
  account_link_invalid:
    'Este enlace ya no funciona: se usó, caducó o se revocó. Pide uno nuevo a un administrador.',
  account_not_found: 'Esa cuenta no existe.',
  administrators_only: 'Solo un administrador puede hacer esto.',
  api_key_invalid: 'Esta clave de API no es válida.',
  api_key_expiry_past: 'La fecha de caducidad ya pasó. Elige una posterior.',
  api_key_not_allowed: 'Las claves de API no pueden hacer esto. Inicia sesión con tu contraseña.',
  api_key_scope: 'A esta clave de API le falta el permiso «{{scope}}». Usa una que lo tenga.',
  api_key_not_found: 'Esa clave de API no existe.',
  api_keys_exhausted: 'Ya tienes {{limit}} claves de API. Elimina una primero.',
  body_empty: 'El cuerpo de la solicitud está vacío.',
  body_not_json: 'El cuerpo de la solicitud no es JSON válido.',
  body_too_large: 'El cuerpo de la solicitud es mayor de lo que permite este servidor.',
  content_length_wrong: 'El cuerpo de la solicitud no tiene la longitud que indica Content-Length.',
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
  invitations_exhausted: 'Ya hay {{limit}} invitaciones abiertas. Revoca algunas primero.',
  json_list_too_long: 'Una lista del JSON tiene más de {{entries}} elementos.',
  json_too_many_values: 'El JSON tiene más de {{limit}} valores.',
  json_too_deep: 'El JSON está anidado a más de {{levels}} niveles.',
  last_administrator:
    'Es el último administrador activo. Convierte antes otra cuenta en administradora.',
  multipart_broken:
    'No se pudo leer el cuerpo multipart: está incompleto, o su separador falta o tiene más de 250 caracteres.',
  multipart_expected: 'Envíalo como multipart/form-data.',
  no_password_in_single_mode: 'En el modo de un solo usuario no hay contraseña.',
  nothing_here: 'Esta URL no existe. Comprueba la ruta y el método.',
  origin_refused:
    'Las páginas de otro origen no pueden llamar a este servidor. Si el origen es correcto, añádelo a cors_origins.',
  oidc_groups_withheld:
    'El inicio de sesión único no indicó en qué grupos estás, porque son demasiados. Consulta a un administrador.',
  oidc_no_account: 'No tienes cuenta aquí. Pide a un administrador que te cree una.',
  oidc_not_allowed:
    'No estás en ninguno de los grupos que pueden entrar aquí. Consulta a un administrador.',
  oidc_refused: 'El inicio de sesión único se canceló o se rechazó. Inténtalo de nuevo.',
  oidc_response_invalid:
    'El inicio de sesión único falló: no se pudo verificar la respuesta. Inténtalo de nuevo; si vuelve a pasar, avisa a un administrador.',
  oidc_sign_in_unknown:
    'Este inicio de sesión caducó o se empezó en otro navegador. Inténtalo de nuevo.',
  oidc_unreachable:
    'El inicio de sesión único no está disponible ahora. Inténtalo de nuevo en un momento.',
  account_without_password:
    'La cuenta «{{name}}» no tiene contraseña porque su dueño usa el inicio de sesión único. Con un enlace de contraseña podría entrar aunque el inicio de sesión único ya no lo permita.',
  password_sign_in_off:
    'El inicio de sesión con contraseña está desactivado en este servidor. Usa el inicio de sesión único.',
  password_common: 'Esta contraseña es de las más comunes y se adivinaría al instante. Elige otra.',
  password_is_name: 'La contraseña no puede ser el nombre de usuario ni el correo. Elige otra.',
  password_changed: 'La contraseña se cambió hace un momento. Inicia sesión de nuevo.',
  registration_closed: 'El registro está cerrado. Pide una cuenta a un administrador.',
  registrations_exhausted:
    'Se registraron demasiadas cuentas desde tu red. Inténtalo más tarde o consulta a un administrador.',
  request_field_invalid: '{{part}} no es válido: {{detail}}',
  request_invalid: '{{part}} no es válido.',
  request_refused: 'La solicitud fue rechazada.',
  second_factor_unreadable:
    'El servidor ya no puede leer el secreto de tu aplicación de autenticación. Usa un código de recuperación o una llave de acceso, o pide a un administrador que restablezca tus segundos factores.',
  share_unreadable:
    'El enlace de este contenido compartido ya no se puede leer, porque se cifró con otra clave secreta. Deja de compartir y comparte de nuevo para obtener otro enlace, o pide al operador que restaure la clave.',
  secret_unreadable:
    'No se puede descifrar un secreto guardado: se cifró con otra clave. Restaura esa clave o escribe de nuevo el secreto.',
  passkey_invalid:
    'No se pudo comprobar esta llave de acceso. Inténtalo de nuevo o entra de otra forma.',
  passkey_not_found: 'Esa llave de acceso no existe.',
  passkey_unavailable:
    'Las llaves de acceso necesitan un nombre de host y HTTPS, o localhost. Pon en public_url una dirección así.',
  passkeys_exhausted: 'Ya tienes {{limit}} llaves de acceso. Elimina una primero.',
  second_factor_code_wrong: 'Este código es incorrecto, caducó o ya se usó. Escribe el actual.',
  second_factor_expired: 'Este inicio de sesión caducó. Inicia sesión de nuevo.',
  second_factor_missing:
    'No hay ninguna aplicación de autenticación que confirmar o quitar. Empieza de nuevo.',
  second_factor_refused: 'Este código o llave de acceso es incorrecto, caducó o ya se usó.',
  second_factor_required:
    'La contraseña es correcta. Confirma el inicio de sesión con tu segundo factor.',
  second_factor_set: 'Ya hay una aplicación de autenticación configurada. Quítala primero.',
  session_not_found: 'Esa sesión no existe.',
  session_ended: 'Tu sesión ha terminado. Inicia sesión de nuevo.',
  setup_link_required:
    'Este servidor aún no tiene administrador. Abre el enlace de configuración que mostró al arrancar.',
  shutting_down: 'El servidor se está reiniciando. Inténtalo de nuevo en breve.',
  sign_in_busy: 'Demasiadas personas inician sesión a la vez. Inténtalo de nuevo en un momento.',
  sign_in_required: 'Inicia sesión primero.',
  sign_ins_exhausted:
    'Demasiados inicios de sesión fallidos. Espera un momento e inténtalo de nuevo.',
  single_user: 'Este servidor funciona en modo de un solo usuario y no necesita inicio de sesión.',
  streams_exhausted:
    'Tienes {{limit}} flujos de eventos abiertos a la vez. Cierra algunas pestañas o conexiones.',
  too_many_open:
    'El servidor tiene demasiados archivos y conexiones abiertos. Inténtalo de nuevo en un momento.',
  url_invalid: 'La URL no es válida.',
  url_too_long: 'La URL es demasiado larga.',
  user_name_taken: 'Este nombre de usuario o correo ya está en uso.',
  wrong_credentials: 'El nombre de usuario o la contraseña son incorrectos.',
  headers_too_large: 'Las cabeceras de la solicitud son demasiado grandes.',
  request_timeout: 'La solicitud tardó demasiado en llegar. Inténtalo de nuevo.',
  request_malformed: 'No es una solicitud HTTP válida.',
}
