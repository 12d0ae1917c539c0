// Spanish texts of failures (files, models, documents, deliveries, MCP servers and imports), by the protocol's reasons.
import type { FILE_FAILURES } from '../../../../../server/protocol/failures/files.ts'
import type { MODEL_FAILURES } from '../../../../../server/protocol/failures/models.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const files: Texts<typeof FILE_FAILURES> = {
  binary_file:
    '«{{path}}» es un archivo binario ({{kind}}, {{size}}) y no se puede leer como texto.',
  checkpoint_not_found: 'Ese estado no existe.',
  content_expired:
    'El contenido anterior de «{{path}}» ya no está guardado, así que no se puede restaurar este estado.',
  disk_full: 'El disco está lleno: no se cambió nada. Libera espacio e inténtalo de nuevo.',
  edit_failed: '{{detail}}',
  encoding_mismatch: '«{{path}}» no es {{encoding}} válido. Prueba otra codificación.',
  encoding_not_writable:
    '«{{path}}» está codificado en {{encoding}}, que no puede contener este texto. Escribe el archivo entero en UTF-8.',
  encoding_unknown:
    'Codificación desconocida «{{encoding}}». Prueba utf-8, utf-16le, gb18030, shift_jis o windows-1252.',
  file_access_denied: 'El servidor no tiene permiso para hacer eso con «{{path}}».',
  file_changed_meanwhile:
    'Otra persona cambió «{{path}}» mientras tanto. Léelo de nuevo antes de cambiarlo.',
  file_changed_while_read: '«{{path}}» cambió mientras se leía. Inténtalo de nuevo.',
  file_content_missing:
    'El contenido de este archivo falta en el servidor. Un administrador puede restaurarlo de una copia de seguridad.',
  file_created_meanwhile: 'El archivo «{{path}}» ya existe. Léelo antes de cambiarlo.',
  file_deleted_meanwhile:
    'Otra persona eliminó «{{path}}» mientras tanto. Comprueba qué archivos hay antes de cambiarlo.',
  file_exists: '«{{path}}» ya existe o es una carpeta.',
  file_in_the_way: '«{{path}}» es un archivo; una carpeta no puede ocupar su lugar.',
  file_id_unknown: 'Ese archivo no existe.',
  file_name_too_long: 'El nombre de «{{path}}» es demasiado largo.',
  file_not_found: 'No hay ningún archivo ni carpeta «{{path}}».',
  file_removed_while_written: '«{{path}}» se eliminó mientras se escribía. Inténtalo de nuevo.',
  file_replaced:
    '«{{path}}» se reemplazó mientras se usaba. No se cambió nada; inténtalo de nuevo.',
  file_too_large: '«{{path}}» ocupa {{size}}; se pueden leer como máximo {{limit}}.',
  file_too_large_to_write:
    '«{{path}}» ocuparía {{size}}; se pueden escribir como máximo {{limit}}.',
  file_type_unsupported:
    '«{{name}}» no se puede adjuntar. Adjunta una imagen (PNG, JPEG, WebP, GIF), un documento PDF, DOCX, XLSX o PPTX, o texto.',
  file_unusable: 'No se pudo acceder a «{{path}}».',
  file_upload_too_large: 'Un archivo puede tener como máximo {{limit}}.',
  file_thumbnail_missing:
    '«{{name}}» no es una imagen y no tiene miniatura. Omite `thumb` para obtener el archivo.',
  file_used: 'Un mensaje usa este archivo. Elimina primero el mensaje.',
  file_would_be_too_large: '«{{path}}» sería demasiado grande.',
  file_missing: 'Envía un archivo en el campo `file`.',
  files_missing: 'Envía al menos un archivo en el campo `files[]`.',
  folder_exists: 'Ya hay una carpeta «{{path}}».',
  folder_in_the_way:
    'La carpeta «{{path}}» contiene archivos que el estado no conoce, así que no se puede restaurar el archivo con ese nombre.',
  folder_into_itself: 'Una carpeta no se puede mover dentro de sí misma.',
  folder_takes_no_file: '«{{path}}» es una carpeta; un archivo no puede ocupar su lugar.',
  glob_too_complex: 'El patrón tiene demasiadas alternativas entre llaves. Simplifícalo.',
  glob_too_long: 'Un patrón puede tener como máximo {{limit}} caracteres.',
  image_unreadable:
    '«{{name}}» no se puede leer como imagen: está dañada, tiene demasiados píxeles o su formato no se admite.',
  link_refused:
    '«{{path}}» es un enlace simbólico o pasa por uno. En los proyectos no se siguen enlaces.',
  names_collide: '«{{path}}» choca con otro archivo cuyo nombre es igual para este disco.',
  not_a_file: '«{{path}}» es una carpeta, no un archivo.',
  not_a_regular_file:
    '«{{path}}» es un dispositivo, una tubería o un socket, no un archivo normal.',
  old_name_taken:
    'La carpeta «{{path}}» se llamaba «{{old}}», pero ahora otra cosa tiene ese nombre. Muévela y vuelve a restaurar.',
  path_escapes:
    'La ruta sale del proyecto. Usa una ruta relativa a la carpeta del proyecto, como «src/main.py».',
  path_has_backslashes: 'Ruta no permitida: separa las carpetas con «/», no con «\\».',
  path_has_invisible_characters: 'Ruta no permitida: contiene caracteres de control o invisibles.',
  path_is_project: 'Ruta no permitida: es la propia carpeta del proyecto.',
  path_name_too_long: 'Ruta no permitida: contiene un nombre demasiado largo.',
  path_not_unicode: 'Ruta no permitida: no es Unicode válido.',
  path_taken: 'Ya hay un archivo o una carpeta con el nombre «{{path}}».',
  path_through_file: '«{{path}}» no existe: una parte de la ruta no es una carpeta.',
  path_too_deep: 'Ruta no permitida: más de {{limit}} carpetas de profundidad.',
  path_too_long: 'Ruta no permitida: es demasiado larga.',
  project_busy:
    'Otro cambio de este proyecto sigue en curso. No se cambió nada. Inténtalo de nuevo.',
  project_deleted: 'Este proyecto se eliminó. No se cambió nada y ya no se puede cambiar.',
  project_deleted_during_run:
    'El proyecto de esta conversación se eliminó durante la respuesta, así que la respuesta termina aquí. Envía de nuevo el mensaje para continuar sin el proyecto.',
  project_full: 'El proyecto superaría su límite de {{limit}}. Elimina antes algunos archivos.',
  project_name_taken: 'Ya tienes un proyecto con este nombre.',
  project_not_found: 'Ese proyecto no existe.',
  projects_exhausted: 'Ya tienes {{limit}} proyectos. Elimina uno primero.',
  quota_claim_refused:
    'No hay espacio para otros {{more}}. Puedes guardar como máximo {{limit}} entre proyectos, documentos y archivos adjuntos, y tienes guardados {{used}}. Elimina algo primero.',
  quota_exceeded:
    'El cambio se deshizo porque supera tu espacio. Puedes guardar como máximo {{limit}} entre proyectos, documentos y archivos adjuntos, y tienes guardados {{used}}. Elimina algo primero.',
  quota_texts_refused:
    'No hay espacio para otros {{more}} de texto. Puedes guardar como máximo {{limit}} y, con los textos de tus conversaciones y enlaces compartidos, tienes guardados {{used}}. Elimina primero conversaciones, enlaces compartidos o archivos.',
  request_stopped: 'La solicitud se canceló. No se cambió nada.',
  search_not_isolated: 'No se pudo aislar la búsqueda del sistema.',
  search_busy: 'Tienes {{count}} búsquedas en espera. Inténtalo de nuevo cuando terminen.',
  search_not_started: 'No se pudo iniciar el programa de búsqueda.',
  search_path_is_link: '«{{path}}» es un enlace simbólico, que no se sigue.',
  search_path_not_found: 'No hay ningún archivo ni carpeta «{{path}}» donde buscar.',
  search_pattern_invalid:
    'El patrón no es válido: {{detail}}. Pon «\\» delante de los caracteres especiales para buscarlos tal cual.',
  too_many_changes: 'Se pueden cambiar como máximo {{limit}} archivos a la vez.',
  too_many_files_open: 'Hay demasiados archivos abiertos. Inténtalo de nuevo en un momento.',
  too_many_restored: 'Se pueden restaurar como máximo {{limit}} archivos a la vez.',
  upload_fields_invalid: '{{detail}}',
  upload_has_too_many_files: 'Una subida puede tener como máximo {{limit}} archivos.',
  upload_repeats: 'La subida contiene «{{path}}» dos veces.',
  upload_too_large: 'Una subida puede tener como máximo {{limit}}.',
  upload_too_many_fields: 'La subida contiene más campos de los que permite este servidor.',
  upload_too_many_files: 'La subida contiene más archivos de los que permite este servidor.',
  upload_too_many_parts: 'La subida contiene más partes de las que permite este servidor.',
  uploaded_file_too_large: 'Un archivo de la subida es mayor de lo que permite este servidor.',
  uploads_busy: 'El servidor está recibiendo demasiadas subidas. Inténtalo de nuevo en un momento.',
  uploads_exhausted:
    'Puede haber como máximo {{limit}} subidas a la vez. Espera a que termine una e inténtalo de nuevo.',
  work_stopped: 'La operación se canceló.',
  work_too_slow: 'La operación tardó más de {{seconds}} s.',
  upload_not_multipart: 'Envía los archivos como multipart/form-data.',
}

export const models: Texts<typeof MODEL_FAILURES> = {
  model_answer_unfinished: 'El modelo paró sin terminar su respuesta.',
  model_answer_empty:
    'El modelo «{{model}}» no respondió nada. Envía tu mensaje de nuevo o elige otro modelo.',
  model_answer_endless:
    'La respuesta de «{{model}}» no terminaba y se cortó. Inténtalo de nuevo o elige otro modelo.',
  model_answer_filtered:
    'Un filtro de contenido del proveedor, o el propio «{{model}}», terminó esta respuesta ({{finish_reason}}). Reformula tu mensaje o elige otro modelo.',
  model_answer_is_page:
    'El proveedor de «{{model}}» envió una página web. Comprueba que api_url es la dirección de una API de modelos.',
  model_answer_no_json:
    'La respuesta del proveedor de «{{model}}» no es un objeto JSON. Comprueba que api_url es la dirección de una API de modelos.',
  model_answer_no_stream:
    'La respuesta del proveedor de «{{model}}» no es un flujo de eventos. Comprueba que api_url es la dirección de una API de modelos.',
  model_answer_only_thinking:
    '«{{model}}» razonó, pero no escribió ninguna respuesta. Envía tu mensaje de nuevo o elige otro modelo.',
  model_answer_only_thinking_cut:
    '«{{model}}» alcanzó su límite de salida antes de escribir una respuesta. Aumenta max_tokens de la conversación o del modelo, o haz que razone menos.',
  model_api_missing:
    'En esta dirección no hay ninguna API compatible con OpenAI. Comprueba la dirección.',
  model_call_malformed:
    '«{{model}}» escribió una llamada a herramienta que no se puede leer. Envía tu mensaje de nuevo o elige otro modelo.',
  model_call_unreadable:
    'El modelo escribió una llamada a herramienta ilegible. Se le pedirá que la escriba de nuevo.',
  model_context_exceeded:
    'La conversación es demasiado larga para «{{model}}». Empieza una nueva o elige un modelo con una ventana de contexto mayor.',
  model_key_lost:
    'No se puede descifrar la clave de API guardada de {{model}}. Un administrador tiene que escribirla de nuevo en Ajustes → Modelos.',
  model_list_empty: 'El proveedor no indica ningún modelo. Escribe el nombre de un modelo.',
  model_not_found:
    'El proveedor de «{{model}}» no conoce este modelo o esta dirección ({{status}}). Comprueba api_url y upstream_model.',
  model_rate_limited:
    'El proveedor de «{{model}}» limita el ritmo de solicitudes ({{status}}). Inténtalo de nuevo en un momento.',
  model_rate_limited_quota:
    'Tu cuota de «{{model}}» en el proveedor se agotó ({{status}}). Elige otro modelo o espera a que se renueve.',
  model_redirected:
    'La dirección de «{{model}}» responde con una redirección ({{status}}). Comprueba api_url.',
  model_refused: 'El proveedor de «{{model}}» rechazó la solicitud ({{status}}).',
  model_refused_credit:
    'Tu cuenta del proveedor de «{{model}}» no tiene saldo ({{status}}). Recárgala o elige otro modelo.',
  model_stopped: 'La solicitud a «{{model}}» se canceló.',
  model_stream_broken: 'La conexión con «{{model}}» se cerró antes de completar la respuesta.',
  model_stream_disordered:
    'El proveedor de «{{model}}» envió partes de la respuesta dos veces o desordenadas. Inténtalo de nuevo o elige otro modelo.',
  model_timeout: 'El proveedor de «{{model}}» tardó demasiado ({{status}}).',
  model_timeout_silence: 'El modelo «{{model}}» no envió nada durante {{seconds}} segundos.',
  model_unauthorized:
    'El proveedor rechazó la clave de API de «{{model}}» ({{status}}). Comprueba la clave en los ajustes.',
  model_unavailable:
    'El proveedor de «{{model}}» tiene un problema ({{status}}). Inténtalo de nuevo o elige otro modelo.',
  model_unavailable_connection:
    'No se puede llegar a «{{model}}»: la conexión falló. Comprueba la dirección del proveedor y la red.',
  model_unavailable_connection_closed:
    'No se puede llegar a «{{model}}»: la conexión se cerró. Comprueba la dirección del proveedor y la red.',
  model_unavailable_connection_refused:
    'No se puede llegar a «{{model}}»: la conexión fue rechazada. Comprueba la dirección del proveedor y la red.',
  model_unavailable_connection_timed_out:
    'No se puede llegar a «{{model}}»: se agotó el tiempo de conexión. Comprueba la dirección del proveedor y la red.',
  model_unavailable_host_not_found:
    'No se puede llegar a «{{model}}»: no se pudo resolver el nombre de host. Comprueba la dirección del proveedor y la red.',
  model_unavailable_host_unknown:
    'No se puede llegar a «{{model}}»: el nombre de host es desconocido. Comprueba la dirección del proveedor y la red.',
  model_unavailable_host_unreachable:
    'No se puede llegar a «{{model}}»: no se puede acceder al host. Comprueba la dirección del proveedor y la red.',
  model_unavailable_insecure:
    'No se puede llegar a «{{model}}»: la conexión TLS falló. Comprueba la dirección del proveedor y la red.',
  model_unavailable_network:
    'No se puede llegar a «{{model}}»: no se puede acceder a la red. Comprueba la dirección del proveedor y la red.',
  model_unavailable_reported:
    'El proveedor de «{{model}}» informó de un problema. Inténtalo de nuevo o elige otro modelo.',
}

export const storedFailures: Record<StoredFailureReason, string> = {
  document_archive_unsupported: 'no se admiten archivos comprimidos {{extension}}',
  document_archive_unknown: 'no se admite este tipo de archivo comprimido',
  document_binary:
    'es un archivo binario; se admiten texto, Markdown, PDF, DOCX, XLSX, PPTX, HTML y CSV',
  document_docx_damaged: 'el archivo DOCX está dañado',
  document_empty: 'no contiene texto',
  document_lost: 'la subida se perdió; vuelve a subirlo',
  document_not_indexed: 'no se pudo indexar',
  document_not_what_its_name_says:
    'su nombre termina en {{extension}}, pero su contenido tiene otro formato',
  document_office_damaged: 'el archivo {{extension}} está dañado',
  document_page_too_deep: 'la página tiene demasiados niveles',
  document_pdf_damaged: 'el PDF está dañado',
  document_partly_read: 'no hay texto legible en estas páginas: {{pages}}',
  document_pdf_protected: 'el PDF está protegido con contraseña',
  document_pdf_xfa:
    'es un formulario en el formato XFA de Adobe (imprímelo como PDF en Adobe Acrobat y adjunta ese archivo)',
  document_reader_not_started: 'no se pudo iniciar el programa que lee los documentos',
  document_reading_stopped: 'se canceló',
  document_reading_too_slow: 'se tardó demasiado en leerlo',
  document_scanned: 'no contiene texto (pasa antes un documento escaneado por un OCR)',
  document_too_large: 'el archivo es demasiado grande',
  document_too_large_to_read: 'es demasiado grande para leerlo',
  document_unreadable: 'no se pudo leer el archivo',
  delivery_channel_kind_gone: 'este tipo de canal ya no se ofrece',
  delivery_failed: 'el envío falló',
  delivery_mail_certificate_expired:
    'el certificado del servidor de correo ha caducado o aún no es válido',
  delivery_mail_certificate_other_host:
    'el certificado del servidor de correo pertenece a otro host',
  delivery_mail_certificate_self_signed: 'el certificado del servidor de correo está autofirmado',
  delivery_mail_certificate_untrusted:
    'el certificado del servidor de correo procede de una autoridad en la que este servidor no confía',
  delivery_mail_host_unknown: 'no se encontró el nombre de host del servidor de correo',
  delivery_mail_login_refused:
    'el servidor de correo rechazó el usuario o la contraseña de este servidor',
  delivery_mail_not_set_up: 'este servidor ya no tiene ajustes de SMTP',
  delivery_mail_refused_connection: 'el servidor de correo rechazó la conexión',
  delivery_mail_refused: 'el servidor de correo lo rechazó ({{status}})',
  delivery_mail_unconfirmed:
    'el dueño de {{address}} no ha aceptado recibir correos de este servidor',
  delivery_mail_unreachable: 'no se pudo llegar al servidor de correo o estaba ocupado',
  delivery_receiver_address_refused:
    'este servidor no puede enviar a la dirección del destinatario',
  delivery_receiver_certificate_invalid: 'el certificado del destinatario no es válido',
  delivery_receiver_closed_connection: 'el destinatario cerró la conexión',
  delivery_receiver_host_unknown: 'no se encontró el nombre de host del destinatario',
  delivery_receiver_refused_connection: 'el destinatario rechazó la conexión',
  delivery_receiver_timed_out: 'el destinatario no respondió a tiempo',
  delivery_receiver_unreachable: 'no se pudo llegar al destinatario',
  delivery_refused: 'el destinatario respondió con el estado {{status}}',
  delivery_settings_unfit: 'los ajustes de este canal ya no son válidos',
  mcp_certificate_invalid: 'su certificado no es válido o este servidor no confía en él',
  mcp_command_not_found: 'no se encontró su comando «{{command}}» en el servidor',
  mcp_command_not_allowed: 'su comando no se puede ejecutar',
  mcp_connection_failed: 'la conexión falló o se perdió',
  mcp_connection_refused: 'rechazó la conexión',
  mcp_credentials_refused: 'rechazó las credenciales',
  mcp_ended: 'su proceso terminó',
  mcp_folder_not_found: 'no se encontró su carpeta de trabajo en el servidor',
  mcp_host_unknown: 'su nombre de host es desconocido',
  mcp_sign_in_needed: 'tienes que iniciar sesión',
  mcp_settings_unreadable:
    'sus ajustes guardados ya no se pueden descifrar; edítalo y escribe otra vez su dirección',
  mcp_wrong_address: 'no hay ningún servidor MCP en su dirección',
  mcp_too_slow: 'no respondió a tiempo',
  blobs_unreachable: 'el almacenamiento de archivos no está disponible; inténtalo más tarde',
  export_failed: 'ocurrió un error inesperado; el registro del servidor tiene los detalles',
  export_interrupted: 'el servidor se reinició mientras tanto; inicia de nuevo la exportación',
  import_already_there: 'ya se importó antes',
  import_archive_bomb:
    'su tasa de compresión supera {{ratio}}, algo que ninguna exportación real alcanza',
  import_archive_damaged: 'el archivo comprimido está dañado o incompleto; descárgalo de nuevo',
  import_archive_encrypted:
    'está protegido con contraseña; descomprímelo y vuelve a comprimirlo sin ella',
  import_archive_too_large: 'descomprimido, ocupa más de {{limit}}',
  import_archive_too_many_files: 'el archivo comprimido tiene más de {{limit}} archivos',
  import_conversation_too_large: 'ocupa más de {{limit}}',
  import_cycle: 'sus mensajes forman un ciclo',
  import_database_unreadable: 'el archivo SQLite está dañado o tiene tablas desconocidas',
  import_disk_full: 'el disco del servidor está lleno',
  import_entry_link: 'es un enlace',
  import_entry_unsafe: 'su nombre sale del archivo comprimido',
  import_failed: 'ocurrió un error inesperado; el registro del servidor tiene los detalles',
  import_file_missing: 'la exportación no lo contiene',
  import_file_refused: 'este servidor lo rechaza: {{detail}}',
  import_format_unknown:
    'no es una exportación de NanoClaw, ChatGPT, Claude, Open WebUI o LibreChat, ni un archivo SQLite del NanoClaw en Python',
  import_in_trash: 'está en la papelera; restáuralo allí',
  import_interrupted:
    'el servidor se reinició mientras tanto; importa el archivo de nuevo: lo que ya está se queda y no se importa dos veces',
  import_json_damaged: 'el JSON está dañado o incompleto',
  import_marks_unknown:
    'las marcas de este tipo en «{{conversation}}» no se conocen, y la exportación no incluye su contenido',
  import_no_messages: 'no contiene mensajes',
  import_out_of_memory: 'necesita más memoria de la que puede usar una importación',
  import_parts_unknown:
    'las partes de este tipo en «{{conversation}}» no se conocen y se han omitido',
  import_project_exists: 'ya tienes un proyecto con este nombre; sus archivos no se cambiaron',
  import_storage_full:
    'tu almacenamiento no tiene espacio para sus textos; elimina conversaciones, enlaces compartidos o archivos e impórtalo de nuevo (lo que ya está no se importa dos veces)',
  import_too_many_messages: 'tiene más de {{limit}} mensajes',
  import_too_slow: 'se tardó demasiado en leerlo',
  import_unreadable: 'no tiene la forma esperada ({{detail}})',
}
