// Portuguese texts of the doctor's findings, by their codes in the protocol.
import type { FindingFolders, FindingTexts } from '../finding-texts.ts'

const INSTALL = 'Instale o bubblewrap (apt-get install bubblewrap) e permita namespaces de usuário.'
const ONE_BY_ONE = 'os vetores são comparados um a um em JavaScript'

export const findings: FindingTexts = {
  node_ok: { detail: '{{version}}' },
  node_untested: {
    detail: 'O NanoClaw não foi testado com {{version}}',
    advice: 'Instale o Node 20.19, 22.12, 24 ou mais recente.',
  },
  folder_not_folder: {
    detail: '{{folder}} não é uma pasta',
    advice: 'Mova-o ou defina outra pasta em config.yml.',
  },
  folder_not_writable: {
    detail: 'este usuário não pode gravar em {{folder}}',
    advice: 'Altere as permissões com chown ou chmod, ou defina outra pasta em config.yml.',
  },
  folder_created_later: { detail: '{{folder}} será criada' },
  folder_ok: { detail: '{{folder}}' },
  folder_low_space: {
    detail: 'restam apenas {{megabytes}} MB livres',
    advice: 'Libere espaço: com o disco cheio, nada pode ser gravado.',
  },
  folder_readable: {
    detail: 'outros usuários desta máquina podem ler a pasta',
    advice: 'chmod 700 {{folder}}',
  },
  page_built: { subject: 'página', detail: 'compilada' },
  page_not_built: { subject: 'página', detail: 'não compilada', advice: 'npm run build' },
  python_off: { detail: '{{reason}}', advice: INSTALL },
  python_kernel: { detail: '{{engine}}, isolado pelo kernel' },
  python_wasm: { detail: '{{engine}}, isolado apenas por WebAssembly {{reason}}', advice: INSTALL },
  shell_off: { detail: 'desativado em config.yml (tools.exec.enabled)' },
  shell_network_broken: {
    detail: 'tools.exec.network não funciona aqui, e o servidor não vai iniciar',
    advice: '{{advice}}',
  },
  shell_internet: { detail: 'ativado, isolado pelo kernel, com acesso apenas à internet' },
  shell_host_network: {
    detail:
      'ativado, isolado pelo kernel, mas na rede da máquina: os comandos alcançam este servidor e tudo ao redor',
    advice: 'Defina tools.exec.network como true (só a internet) ou false.',
  },
  shell_kernel: { detail: 'ativado, isolado pelo kernel' },
  shell_not_isolated: { detail: 'ativado, mas não isolado: {{reason}}', advice: INSTALL },
  database_created_later: {
    subject: 'banco de dados',
    detail: 'SQLite, criado na primeira inicialização: {{file}}',
  },
  database_used: { subject: 'banco de dados', detail: '{{location}}; um servidor o usa' },
  database_unused: { subject: 'banco de dados', detail: '{{location}}; nenhum servidor o usa' },
  tables_none: {
    subject: 'tabelas',
    detail: 'ainda nenhuma: são criadas na primeira inicialização',
  },
  tables_old: {
    subject: 'tabelas',
    detail: 'de uma versão anterior: {{count}} migrações pendentes',
    advice: 'A próxima inicialização as executa. Antes, execute `nanoclaw backup`.',
  },
  sqlite_broken: {
    subject: 'banco de dados',
    detail: '{{reason}}',
    advice:
      'Verifique db_sqlite_file e suas permissões; `nanoclaw restore <arquivo>` restaura um backup.',
  },
  postgres_broken: {
    subject: 'banco de dados',
    detail: '{{reason}}',
    advice:
      'Verifique db_host, db_port, db_user, db_password e db_name (ou database_url), e se o servidor do banco de dados está em execução.',
  },
  blobs_ok: { subject: 'anexos', detail: '{{count}}, todos completos' },
  blobs_missing: {
    subject: 'anexos',
    detail: 'faltam {{missing}} de {{count}} em {{folder}}: {{named}}',
    advice: 'Copie-os da pasta `files` de um backup. Até lá, esses anexos não podem ser abertos.',
  },
  blobs_unknown: { subject: 'anexos', detail: '{{reason}}' },
  projects_ok: { subject: 'projetos', detail: '{{count}} com arquivos, todos têm sua pasta' },
  projects_missing: {
    subject: 'projetos',
    detail: '{{missing}} de {{count}} não têm pasta em {{folder}}: {{named}}',
    advice: 'Verifique workspace_root ou restaure um backup que contenha os projetos.',
  },
  projects_unknown: { subject: 'projetos', detail: '{{reason}}' },
  secrets_ok: {
    subject: 'segredos armazenados',
    detail: '{{count}} testados, todos podem ser abertos',
  },
  secrets_unreadable: {
    subject: 'segredos armazenados',
    detail: 'nem todos podem ser abertos com a chave secreta: {{kinds}}',
    advice:
      'Coloque a chave do backup em secret.key em data_dir (pode haver várias chaves, uma por linha) ou defina NANOCLAW_SECRET_KEY com ela.',
  },
  secrets_unknown: { subject: 'segredos armazenados', detail: '{{reason}}' },
  redis_ok: { subject: 'Redis', detail: '{{host}} responde' },
  redis_broken: {
    subject: 'Redis',
    detail: '{{host}} não responde ({{reason}})',
    advice:
      'Inicie o Redis ou corrija redis_url. Até lá, cada instância conta os limites sozinha, e as respostas de outras instâncias são lidas do banco de dados.',
  },
  registration_open: {
    subject: 'cadastro',
    detail: 'qualquer pessoa que alcance {{host}} pode criar uma conta e usar os modelos',
    advice:
      'Se não for o desejado, defina registration: invite (ou closed) em config.yml ou em Administração → Servidor.',
  },
  embeddings_ok: { subject: 'embeddings', detail: '{{host}} responde, {{dimensions}} dimensões' },
  embeddings_broken: {
    subject: 'embeddings',
    detail: '{{host}} não devolveu vetores ({{reason}})',
    advice: 'Verifique embeddings.api_url, api_key e model. Até lá, a pesquisa é só por palavras.',
  },
  vectors_ok: { subject: 'busca vetorial', detail: '{{by}}' },
  vectors_without_pgvector: {
    subject: 'busca vetorial',
    detail: ONE_BY_ONE,
    advice: 'Instale a extensão pgvector neste PostgreSQL e permita que o usuário a crie.',
  },
  vectors_without_sqlite_vec: {
    subject: 'busca vetorial',
    detail: ONE_BY_ONE,
    advice: 'Execute `npm ci` sem --omit=optional: com o sqlite-vec, leva metade do tempo.',
  },
  vectors_unknown: {
    subject: 'busca vetorial',
    detail: 'não verificada: o banco de dados não responde',
    advice: 'Corrija primeiro o banco de dados.',
  },
  copies: {
    subject: 'cópias do que foi substituído',
    detail: '{{count}}, removidas {{days}} dias após a criação: {{names}}',
  },
  copies_kept: {
    subject: 'cópias do que foi substituído',
    detail: '{{count}}, mantidas até você removê-las: {{names}}',
  },
  installation_later: {
    subject: 'instalação',
    detail: 'a próxima inicialização marcará as pastas',
  },
  installation_differs: { subject: 'instalação', detail: '{{detail}}', advice: '{{advice}}' },
  installation_ok: { subject: 'instalação', detail: 'as pastas pertencem a este banco de dados' },
  installation_unknown: { subject: 'instalação', detail: '{{reason}}' },
  bucket_broken: {
    subject: 'anexos',
    detail: 'o bucket {{bucket}} em {{host}} não pode ser usado: {{reason}}',
    advice:
      'Verifique s3.endpoint, bucket, region e as duas chaves. Até lá, arquivos não podem ser anexados nem abertos.',
  },
  mail_broken: {
    subject: 'servidor de e-mail',
    detail: '{{host}}: {{reason}}',
    advice: 'Verifique smtp.host, port, user e password. Até lá, nenhum e-mail é enviado.',
  },
  mail_certificate: {
    subject: 'servidor de e-mail',
    detail: '{{host}}: {{reason}}',
    advice:
      'Dê ao servidor de e-mail um certificado em que esta máquina confie, ou aponte NODE_EXTRA_CA_CERTS para um arquivo com o certificado e reinicie.',
  },
  mail_ok: { subject: 'servidor de e-mail', detail: '{{host}} responde' },
  mcp_broken: {
    subject: 'servidor MCP {{server}}',
    detail: '{{reason}}',
    advice: 'Verifique as configurações dele. Até lá, as ferramentas dele não podem ser chamadas.',
  },
  mcp_broken_output: {
    subject: 'servidor MCP {{server}}',
    detail: '{{reason}}',
    advice: 'A última saída do programa dele: {{output}}',
  },
  mcp_connecting: {
    subject: 'servidor MCP {{server}}',
    detail: 'ainda está iniciando; a primeira vez pode levar minutos',
  },
  mcp_ok: { subject: 'servidor MCP {{server}}', detail: 'responde, ferramentas: {{tools}}' },
  mcp_sign_in: { subject: 'servidor MCP {{server}}', detail: 'responde; cada usuário entra nele' },
  models_none: {
    subject: 'modelos',
    detail:
      'nenhum em config.yml: o servidor usa os adicionados na página ou, sem eles, a demonstração integrada',
  },
  model_key_refused: {
    subject: 'modelo {{model}}',
    detail: '{{host}} recusa a chave de API ({{status}})',
    advice: 'Verifique api_key e a variável de ambiente a que ela se refere.',
  },
  model_ok: { subject: 'modelo {{model}}', detail: '{{host}} responde' },
  model_silent: {
    subject: 'modelo {{model}}',
    detail: '{{host}} não responde',
    advice: 'Verifique api_url e a rede e, se for um provedor local, se ele está em execução.',
  },
}

/** Names of folders, by the server's names. */
export const folders: FindingFolders = {
  'data folder': 'pasta de dados',
  workspaces: 'espaços de trabalho',
}
