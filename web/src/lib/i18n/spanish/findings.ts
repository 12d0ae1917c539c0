// Spanish texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL =
  'Instala bubblewrap (apt-get install bubblewrap) y permite los espacios de nombres de usuario.'
const ONE_BY_ONE = 'los vectores se comparan uno a uno en JavaScript'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: 'NanoClaw no está probado con {{version}}',
    advice: 'Instala Node 20.19, 22.12, 24 o posterior.',
  },
  folder_not_folder: {
    detail: '{{folder}} no es una carpeta',
    advice: 'Muévelo, o indica otra carpeta en config.yml.',
  },
  folder_not_writable: {
    detail: 'este usuario no puede escribir en {{folder}}',
    advice: 'Cambia los permisos con chown o chmod, o indica otra carpeta en config.yml.',
  },
  folder_created_later: { detail: 'se creará {{folder}}' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: 'solo quedan {{megabytes}} MB libres',
    advice: 'Libera espacio: con el disco lleno no se puede guardar nada.',
  },
  folder_readable: {
    detail: 'otros usuarios de este equipo pueden leerla',
    advice: 'chmod 700 {{folder}}',
  },
  page_built: { subject: 'página', detail: 'compilada' },
  page_not_built: { subject: 'página', detail: 'sin compilar', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}, aislado por el kernel' },
  python_wasm: { detail: '{{engine}}, aislado solo por WebAssembly {{reason}}', advice: INSTALL },
  shell_off: { detail: 'desactivado en config.yml (tools.exec.enabled)' },
  shell_network_broken: {
    detail: 'tools.exec.network no funciona aquí y el servidor no arrancará',
    advice: '{{advice}}',
  },
  shell_internet: { detail: 'activado, aislado por el kernel, solo con acceso a internet' },
  shell_host_network: {
    detail:
      'activado, aislado por el kernel, pero en la red del equipo: los comandos llegan a este servidor y a todo lo que lo rodea',
    advice: 'Pon tools.exec.network en true (solo internet) o false.',
  },
  shell_kernel: { detail: 'activado, aislado por el kernel' },
  shell_not_isolated: { detail: 'activado, pero sin aislar: {{reason}}', advice: INSTALL },
  database_created_later: {
    subject: 'base de datos',
    detail: 'SQLite, se crea en el primer arranque: {{file}}',
  },
  database_used: { subject: 'base de datos', detail: '{{location}}; un servidor la usa' },
  database_unused: { subject: 'base de datos', detail: '{{location}}; ningún servidor la usa' },
  tables_none: { subject: 'tablas', detail: 'todavía ninguna: se crean en el primer arranque' },
  tables_old: {
    subject: 'tablas',
    detail: 'de una versión anterior: quedan {{count}} migraciones',
    advice: 'El próximo arranque las ejecuta. Antes, ejecuta `nanoclaw backup`.',
  },
  sqlite_broken: {
    subject: 'base de datos',
    detail: '{{reason}}',
    advice:
      'Revisa db_sqlite_file y sus permisos; `nanoclaw restore <archivo>` recupera una copia.',
  },
  postgres_broken: {
    subject: 'base de datos',
    detail: '{{reason}}',
    advice:
      'Revisa db_host, db_port, db_user, db_password y db_name (o database_url), y que el servidor de la base de datos esté en marcha.',
  },
  blobs_ok: { subject: 'adjuntos', detail: '{{count}}, todos completos' },
  blobs_missing: {
    subject: 'adjuntos',
    detail: 'faltan {{missing}} de {{count}} en {{folder}}: {{named}}',
    advice:
      'Cópialos de la carpeta `files` de una copia de seguridad. Hasta entonces esos adjuntos no se pueden abrir.',
  },
  blobs_unknown: { subject: 'adjuntos', detail: '{{reason}}' },
  projects_ok: { subject: 'proyectos', detail: '{{count}} con archivos, todos tienen su carpeta' },
  projects_missing: {
    subject: 'proyectos',
    detail: '{{missing}} de {{count}} no tienen carpeta en {{folder}}: {{named}}',
    advice: 'Revisa workspace_root o recupera una copia que contenga los proyectos.',
  },
  projects_unknown: { subject: 'proyectos', detail: '{{reason}}' },
  secrets_ok: {
    subject: 'secretos guardados',
    detail: '{{count}} probados, todos se pueden abrir',
  },
  secrets_unreadable: {
    subject: 'secretos guardados',
    detail: 'no todos se pueden abrir con la clave secreta: {{kinds}}',
    advice:
      'Añade la clave de la copia a secret.key en data_dir (puede haber varias claves, una por línea) o indícala en NANOCLAW_SECRET_KEY.',
  },
  secrets_unknown: { subject: 'secretos guardados', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}} responde' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}} no responde ({{reason}})',
    advice:
      'Inicia Redis o corrige redis_url. Hasta entonces, cada instancia cuenta los límites por su cuenta y las respuestas de otras instancias se leen de la base de datos.',
  },
  registration_open: {
    subject: 'registro',
    detail: 'cualquiera que llegue a {{host}} puede crear una cuenta y usar los modelos',
    advice:
      'Si no es lo que quieres, pon registration: invite (o closed) en config.yml o en Administración → Servidor.',
  },
  embeddings_ok: { subject: 'embeddings', detail: '{{host}} responde, {{dimensions}} dimensiones' },
  embeddings_broken: {
    subject: 'embeddings',
    detail: '{{host}} no devolvió vectores ({{reason}})',
    advice:
      'Revisa embeddings.api_url, api_key y model. Hasta entonces solo se busca por palabras.',
  },
  vectors_ok: { subject: 'búsqueda vectorial', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: 'búsqueda vectorial',
    detail: ONE_BY_ONE,
    advice: 'Instala la extensión pgvector en este PostgreSQL y permite que su usuario la cree.',
  },
  vectors_without_sqlite_vec: {
    subject: 'búsqueda vectorial',
    detail: ONE_BY_ONE,
    advice: 'Ejecuta `npm ci` sin --omit=optional: sqlite-vec es el doble de rápido.',
  },
  vectors_unknown: {
    subject: 'búsqueda vectorial',
    detail: 'sin comprobar: la base de datos no responde',
    advice: 'Arregla primero la base de datos.',
  },
  copies: {
    subject: 'copias de lo reemplazado',
    detail: '{{count}}, se eliminan {{days}} días después de crearse: {{names}}',
  },
  copies_kept: {
    subject: 'copias de lo reemplazado',
    detail: '{{count}}, se conservan hasta que las elimines: {{names}}',
  },
  installation_later: {
    subject: 'instalación',
    detail: 'el próximo arranque marcará las carpetas',
  },
  installation_differs: { subject: 'instalación', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: {
    subject: 'instalación',
    detail: 'las carpetas pertenecen a esta base de datos',
  },
  installation_unknown: { subject: 'instalación', detail: '{{reason}}' },
  bucket_broken: {
    subject: 'adjuntos',
    detail: 'el bucket {{bucket}} en {{host}} no se puede usar: {{reason}}',
    advice:
      'Revisa s3.endpoint, bucket, region y las dos claves. Hasta entonces no se pueden adjuntar ni abrir archivos.',
  },
  mail_broken: {
    subject: 'servidor de correo',
    detail: '{{host}}: {{reason}}',
    advice: 'Revisa smtp.host, port, user y password. Hasta entonces no se envía ningún correo.',
  },
  mail_certificate: {
    subject: 'servidor de correo',
    detail: '{{host}}: {{reason}}',
    advice:
      'Dale al servidor de correo un certificado en el que confíe este equipo, o indica en NODE_EXTRA_CA_CERTS un archivo con el certificado y reinicia.',
  },
  mail_ok: { subject: 'servidor de correo', detail: '{{host}} responde' },
  mcp_broken: {
    subject: 'servidor MCP {{server}}',
    detail: '{{reason}}',
    advice: 'Revisa sus ajustes. Hasta entonces no se pueden usar sus herramientas.',
  },
  mcp_broken_output: {
    subject: 'servidor MCP {{server}}',
    detail: '{{reason}}',
    advice: 'Lo último que mostró su programa: {{output}}',
  },
  mcp_connecting: {
    subject: 'servidor MCP {{server}}',
    detail: 'aún está arrancando; el primer arranque puede tardar minutos',
  },
  mcp_ok: { subject: 'servidor MCP {{server}}', detail: 'responde, herramientas: {{tools}}' },
  mcp_sign_in: {
    subject: 'servidor MCP {{server}}',
    detail: 'responde; cada usuario inicia sesión en él',
  },
  models_none: {
    subject: 'modelos',
    detail:
      'ninguno en config.yml: el servidor usa los añadidos en la página o, si no hay, la demo incluida',
  },
  model_key_refused: {
    subject: 'modelo {{model}}',
    detail: '{{host}} rechaza la clave de API ({{status}})',
    advice: 'Revisa api_key y la variable de entorno a la que remite.',
  },
  model_ok: { subject: 'modelo {{model}}', detail: '{{host}} responde' },
  model_silent: {
    subject: 'modelo {{model}}',
    detail: '{{host}} no responde',
    advice: 'Revisa api_url y la red y, si es un proveedor local, que esté en marcha.',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': 'carpeta de datos',
  workspaces: 'espacios de trabajo',
}
