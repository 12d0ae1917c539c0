// Why requests are refused: access, administration, conversations and runs, in Portuguese, by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const access: Texts<typeof ACCESS_FAILURES> = {
  address_missing: 'Sua conta não tem e-mail. Informe um em `address`.',
  mail_not_sent: 'Não foi possível enviar o e-mail. Verifique o endereço ou tente mais tarde.',
  mail_not_set_up:
    'Este servidor não consegue enviar e-mails: faltam `smtp` e `public_url` na configuração. Fale com um administrador.',
  mails_exhausted: 'Foram pedidos e-mails demais. Tente mais tarde.',
  heir_is_same: 'Uma conta não pode ser transferida para si mesma.',
  heir_missing: 'Indique em “heir_id” a conta que recebe os dados.',
  mcp_client_not_configured:
    'O servidor de autorização não registra clientes. Um administrador precisa definir “oauth.client_id” deste servidor MCP.',
  mcp_not_connected: 'O servidor MCP “{{server}}” não está disponível agora. Tente novamente.',
  mcp_prompt_failed: 'O servidor MCP “{{server}}” não devolveu este prompt.',
  mcp_resource_empty: 'Este recurso do servidor MCP “{{server}}” está vazio.',
  mcp_resource_failed: 'O servidor MCP “{{server}}” não devolveu este recurso.',
  mcp_headers_missing: 'Você alterou o endereço do servidor MCP; digite também os cabeçalhos dele.',
  mcp_server_configured: 'Este servidor MCP está definido em config.yml. Altere-o lá.',
  mcp_server_name_taken: 'Já existe um servidor MCP com este nome.',
  mcp_url_missing: 'Digite o endereço do servidor MCP.',
  mcp_server_not_found: 'Esse servidor MCP não existe.',
  mcp_sign_in_refused: 'A entrada em “{{server}}” falhou ou foi recusada. Tente novamente.',
  mcp_sign_in_unavailable:
    'Não é possível entrar em “{{server}}” agora: ele não indica um servidor de autorização, ou este está inacessível.',
  mcp_sign_in_unknown: 'Esta entrada terminou ou foi iniciada por outra pessoa. Comece de novo.',
  account_gone: 'Esta conta não existe mais.',
  account_link_invalid:
    'Este link não funciona mais: foi usado, expirou ou foi retirado. Peça um novo a um administrador.',
  account_not_found: 'Essa conta não existe.',
  administrators_only: 'Só um administrador pode fazer isso.',
  api_key_invalid: 'Esta chave de API não é válida.',
  api_key_expiry_past: 'A chave já teria expirado.',
  api_key_not_allowed: 'Chaves de API não podem fazer isso. Entre com sua senha.',
  api_key_scope: 'Esta chave de API não pode fazer isso: falta a permissão “{{scope}}”. Use outra.',
  api_key_not_found: 'Essa chave de API não existe.',
  api_keys_exhausted: 'Você já tem {{limit}} chaves de API. Exclua uma primeiro.',
  body_empty: 'O conteúdo está vazio.',
  body_not_json: 'O conteúdo não é um JSON válido.',
  body_too_large: 'O conteúdo é maior do que este servidor permite.',
  content_length_wrong: 'O conteúdo não tem o tamanho indicado por Content-Length.',
  content_type_unsupported: 'Este tipo de conteúdo não é aceito aqui. Envie application/json.',
  email_needs_password:
    'Para alterar o endereço de e-mail, é necessária a senha atual, pois os links para uma nova senha vão para lá.',
  current_password_missing: 'Para alterar a senha, é necessária a senha atual.',
  current_password_wrong: 'A senha atual está incorreta.',
  host_refused:
    'Este servidor não responde por esse nome de host. Se o nome estiver certo, adicione-o a trusted_hosts.',
  host_repeated: 'A solicitação tem mais de um cabeçalho Host.',
  idempotency_body_gone:
    'Uma solicitação com esta Idempotency-Key foi concluída, mas a resposta era grande demais para ser repetida.',
  idempotency_key_invalid: 'Uma Idempotency-Key tem de 1 a {{limit}} caracteres.',
  idempotency_key_reused:
    'Esta Idempotency-Key foi usada em outra solicitação. Use uma nova para cada uma.',
  idempotency_pending:
    'Uma solicitação com esta Idempotency-Key ainda está em andamento. Tente novamente em instantes.',
  internal:
    'Algo deu errado no servidor. Tente novamente; se acontecer de novo, procure o identificador da solicitação no log.',
  invitation_not_found: 'Esse convite não existe.',
  invitation_required: 'É preciso um convite para se registrar aqui. Peça um a um administrador.',
  invitations_exhausted: 'Já há {{limit}} convites abertos. Retire alguns primeiro.',
  json_list_too_long: 'Uma lista no JSON tem mais de {{entries}} itens.',
  json_too_deep: 'O JSON tem mais de {{levels}} níveis.',
  last_administrator: 'Este é o último administrador ativo.',
  multipart_broken:
    'Não foi possível ler o conteúdo multipart: ele termina cedo demais, ou o separador falta ou tem mais de 250 caracteres.',
  multipart_expected: 'Envie isto como multipart/form-data.',
  no_password_in_single_mode: 'No modo de usuário único não há senha.',
  nothing_here: 'Não há nada neste endereço.',
  origin_refused:
    'Páginas de outra origem não podem chamar este servidor. Se a origem estiver certa, adicione-a a cors_origins.',
  oidc_groups_withheld:
    'O login único não informou em quais grupos você está, porque são muitos. Fale com um administrador.',
  oidc_no_account: 'Você não tem conta aqui. Peça a um administrador que crie uma.',
  oidc_not_allowed:
    'Você não está em nenhum dos grupos que podem entrar aqui. Fale com um administrador.',
  oidc_refused: 'O login único foi cancelado ou recusado. Tente novamente.',
  oidc_response_invalid:
    'O login único falhou: a resposta não era confiável. Tente novamente; se acontecer de novo, avise um administrador.',
  oidc_sign_in_unknown:
    'Esta entrada demorou demais ou foi iniciada em outro navegador. Tente novamente.',
  oidc_unreachable: 'O login único não está disponível agora. Tente novamente em instantes.',
  password_sign_in_off: 'As senhas estão desativadas neste servidor. Use o login único.',
  password_common: 'Esta senha é uma das mais comuns e seria descoberta na hora. Escolha outra.',
  password_is_name: 'A senha não pode ser o nome de usuário nem o e-mail. Escolha outra.',
  password_changed: 'A senha acabou de ser alterada. Entre novamente.',
  registration_closed: 'O registro está fechado. Peça uma conta a um administrador.',
  registrations_exhausted:
    'Contas demais foram registradas do seu endereço. Tente mais tarde ou fale com um administrador.',
  request_field_invalid: '{{part}} não é válido: {{detail}}',
  request_invalid: '{{part}} não é válido.',
  request_refused: 'A solicitação foi recusada.',
  secret_unreadable:
    'Um segredo guardado não pode ser lido: foi guardado com outra chave. Restaure essa chave ou digite o segredo novamente.',
  passkey_invalid:
    'Não foi possível verificar esta chave de acesso. Tente novamente ou entre de outra forma.',
  passkey_not_found: 'Essa chave de acesso não existe.',
  passkey_unavailable:
    'Chaves de acesso precisam de um nome de host e HTTPS, ou de localhost. Defina public_url com um endereço assim.',
  passkeys_exhausted: 'Você já tem {{limit}} chaves de acesso. Exclua uma primeiro.',
  second_factor_code_wrong: 'Este código está errado, expirou ou já foi usado. Digite o atual.',
  second_factor_expired: 'Demorou demais. Entre novamente desde o início.',
  second_factor_missing: 'Não há nada para confirmar ou remover. Comece de novo.',
  second_factor_refused: 'Este código ou chave de acesso está errado, expirou ou já foi usado.',
  second_factor_required: 'A senha está certa. Confirme a entrada com seu segundo fator.',
  second_factor_set: 'Já há um aplicativo autenticador configurado. Remova-o primeiro.',
  session_not_found: 'Essa sessão não existe.',
  session_ended: 'Sua sessão terminou. Entre novamente.',
  setup_link_required:
    'Este servidor ainda não tem administrador. Abra o link de configuração que ele exibiu ao iniciar.',
  shutting_down: 'O servidor está prestes a reiniciar. Tente novamente em breve.',
  sign_in_busy: 'Pessoas demais estão entrando ao mesmo tempo. Tente novamente em instantes.',
  sign_in_required: 'Entre primeiro.',
  sign_ins_exhausted: 'Tentativas de entrada demais. Espere um pouco e tente novamente.',
  single_user: 'Este servidor tem um único usuário: não é preciso entrar.',
  streams_exhausted:
    'Você tem {{limit}} fluxos de eventos abertos ao mesmo tempo. Feche algumas guias ou conexões.',
  too_many_open: 'O servidor tem arquivos e conexões demais abertos. Tente novamente em instantes.',
  url_invalid: 'A URL não é válida.',
  url_too_long: 'A URL é longa demais.',
  user_name_taken: 'Este nome de usuário ou e-mail já está em uso.',
  wrong_credentials: 'O nome de usuário ou a senha está incorreto.',
  headers_too_large: 'Os cabeçalhos da solicitação são grandes demais.',
  request_timeout: 'A solicitação demorou demais para chegar.',
  request_malformed: 'Esta não é uma solicitação HTTP válida.',
}

export const administration: Texts<typeof ADMINISTRATION_FAILURES> = {
  approval_mode_not_permitted:
    'Seu grupo não pode usar o modo de aprovação “{{mode}}”. Escolha outro: {{available}}.',
  cost_per_day_used_up:
    'Seu orçamento de {{limit}} para hoje acabou. Ele é renovado em {{renews_at}}.',
  cost_per_month_used_up:
    'Seu orçamento de {{limit}} para este mês acabou. Ele é renovado em {{renews_at}}.',
  group_cost_used_up:
    'O orçamento de {{limit}} compartilhado pelo seu grupo “{{group}}” acabou. Ele é renovado em {{renews_at}}.',
  group_member_not_found: 'Esta conta não está no grupo.',
  group_name_taken: 'Já existe um grupo com este nome.',
  group_not_found: 'Esse grupo não existe.',
  group_tokens_used_up:
    'Os {{limit}} tokens compartilhados pelo seu grupo “{{group}}” acabaram. São renovados em {{renews_at}}.',
  groups_exhausted: 'Já há {{limit}} grupos. Exclua um primeiro.',
  messages_per_day_used_up:
    'Suas {{limit}} mensagens de hoje acabaram. São renovadas em {{renews_at}}.',
  model_not_permitted:
    'Seu grupo não pode usar o modelo “{{model}}”. Escolha outro: {{available}}.',
  no_model_permitted:
    'Seu grupo não pode usar nenhum modelo deste servidor. Fale com um administrador.',
  own_account_stays: 'Você não pode excluir a própria conta. Peça a outro administrador.',
  program_seconds_used_up:
    'Seus {{limit}} segundos de programas de hoje acabaram. São renovados em {{renews_at}}.',
  requests_exhausted:
    'Você pode enviar {{limit}} solicitações por minuto. Tente novamente em {{seconds}} segundos.',
  tokens_per_day_used_up: 'Seus {{limit}} tokens de hoje acabaram. São renovados em {{renews_at}}.',
  tokens_per_month_used_up:
    'Seus {{limit}} tokens deste mês acabaram. São renovados em {{renews_at}}.',
}

export const conversations: Texts<typeof CONVERSATION_FAILURES> = {
  webhook_not_found: 'Esse webhook não existe.',
  webhook_tests_exhausted:
    'Você pode enviar {{limit}} testes por hora, e esse limite foi atingido. Tente mais tarde.',
  webhooks_exhausted: 'Você pode ter no máximo {{limit}} webhooks. Exclua um primeiro.',
  attachment_not_found: 'Esse anexo não existe.',
  channel_name_taken: 'Você já tem um canal chamado “{{name}}”.',
  channel_not_found: 'Esse canal não existe.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: 'Não há canal do tipo “{{type}}”. Use um destes: {{types}}.',
  channels_exhausted: 'Você pode ter no máximo {{limit}} canais. Exclua um primeiro.',
  conversation_not_found: 'Essa conversa não existe.',
  document_not_found: 'Esse documento não existe.',
  documents_exhausted:
    'Um projeto pode ter no máximo {{limit}} documentos. Exclua alguns primeiro.',
  export_not_found: 'Essa exportação não existe. As exportações são excluídas após um dia.',
  export_not_ready:
    'Esta exportação ainda não está pronta. Espere até que o status seja “completed”.',
  export_running: 'Você já tem uma exportação em andamento. Espere que termine.',
  import_invalid: 'Este arquivo não contém uma conversa completa ({{detail}}).',
  import_not_found: 'Essa importação não existe.',
  import_running: 'Você já tem uma importação em andamento. Espere que termine.',
  import_upload_too_large: 'Uma importação pode ter no máximo {{limit}}.',
  memory_too_long: 'A memória pode ter no máximo {{limit}} caracteres; este texto tem {{length}}.',
  message_not_found: 'Essa mensagem não existe.',
  model_configured: 'Este modelo está definido em config.yml. Altere-o lá.',
  model_id_taken: 'Já existe um modelo com este identificador.',
  model_key_missing: 'Você alterou o endereço do provedor; digite também a chave de API dele.',
  model_unknown: 'Esse modelo não existe.',
  nothing_to_undelete: 'Não há exclusão que possa ser desfeita.',
  outbox_full: '{{limit}} mensagens já aguardam envio. Tente mais tarde.',
  recipients_exhausted:
    'Seus canais podem enviar a {{limit}} destinatários por hora, e esse limite foi atingido. Tente novamente em {{minutes}} minutos.',
  response_item_not_found: 'Não há item “{{id}}” em nenhuma resposta sua.',
  response_not_found: 'Não há resposta “{{id}}”.',
  run_not_found: 'Essa execução não existe.',
  share_expired: 'A data em que o link expira deve estar no futuro.',
  share_guesses_exhausted:
    'Senhas erradas demais para este link. Espere um pouco e tente novamente.',
  share_not_found: 'Nada é compartilhado neste link.',
  share_password_needed: 'Este link precisa de uma senha (X-Share-Password).',
  share_password_wrong: 'A senha deste link está incorreta.',
  share_too_large: 'Esta conversa é grande demais para ser compartilhada.',
  share_views_exhausted:
    'Conversas compartilhadas demais foram abertas desta rede. Espere um minuto e tente novamente.',
  sharing_off: 'O compartilhamento está desativado neste servidor.',
  unknown_model: 'Não há modelo “{{model}}”. Disponíveis: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Esta conta está desativada.',
  answer_without_question:
    'Não há mensagem à qual esta resposta pertença, por isso ela não pode ser gerada novamente.',
  approval_not_found: 'Nenhum pedido de aprovação aguarda neste id_ref.',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    'Este modelo não aceita imagens, por isso “{{name}}” não pode ser anexado. Escolha um modelo que veja imagens.',
  attachment_not_image: '“{{name}}” não é uma imagem do tipo {{type}}.',
  attachment_not_text:
    '“{{name}}” não é um arquivo de texto. Anexe texto ou uma imagem PNG, JPEG, WebP ou GIF.',
  attachments_too_large:
    'Os anexos têm {{size}} no total; no máximo {{limit}} são permitidos. Envie menos arquivos ou arquivos menores.',
  background_tasks_exhausted:
    '{{limit}} tarefas em segundo plano já estão em execução. Espere uma terminar.',
  call_decided: 'Esta chamada já foi decidida.',
  client_call_unknown:
    'Não há chamada com o id “{{id}}” antes do resultado. Envie as chamadas junto com os resultados.',
  client_result_missing:
    'Falta o resultado da chamada de “{{name}}”. Envie um resultado para cada chamada das suas ferramentas.',
  conversation_busy: 'Novas execuções não param de começar nesta conversa. Tente novamente.',
  conversation_gone: 'A conversa foi excluída.',
  conversation_has_run:
    'Esta conversa já tem uma execução ativa. Espere por ela ou pare-a primeiro.',
  image_not_data_url:
    'Envie imagens como URLs de dados: data:image/png;base64,… (PNG, JPEG, WebP ou GIF).',
  input_answered: 'Esta pergunta já foi respondida.',
  input_content_invalid: '{{detail}}',
  input_not_found: 'Nenhum servidor MCP aguarda informações neste id_ref.',
  message_too_long: 'A mensagem tem {{length}} caracteres; no máximo {{limit}} são permitidos.',
  nothing_to_answer:
    'Não há nada a responder: termine as mensagens com uma do usuário ou com resultados das suas ferramentas.',
  only_own_messages_editable: 'Só as suas próprias mensagens podem ser editadas.',
  only_answers_revisable: 'Só o texto de uma resposta pode ser alterado assim.',
  answer_not_finished: 'Esta resposta ainda está sendo escrita. Espere ou pare-a primeiro.',
  parent_gone: 'A mensagem à qual esta pertence foi excluída nesse meio-tempo.',
  parent_not_an_answer: '“parent_id” deve ser uma resposta desta conversa.',
  project_would_be_too_large:
    'O projeto teria {{size}}; no máximo {{limit}} são permitidos. A alteração foi desfeita.',
  restore_not_recorded:
    'Os arquivos foram restaurados, mas o estado da restauração ainda não pôde ser guardado.',
  run_completed: 'Esta execução está concluída; não há nada para continuar.',
  run_continues_soon:
    'O servidor está prestes a continuar esta execução. Tente novamente em breve.',
  run_not_prepared: 'A resposta não pôde ser preparada. Tente novamente.',
  run_not_stored:
    'A resposta não pôde ser guardada e termina aqui. Pergunte de novo ou continue-a.',
  run_still_active: 'Esta execução ainda está ativa.',
  run_takes_no_decision: 'Esta execução terminou: nenhuma de suas chamadas aguarda decisão.',
  run_takes_no_input: 'Esta execução terminou: nenhuma de suas chamadas aguarda informações.',
  run_minutes_used_up: 'Uma resposta termina após {{limit}} minutos. Você pode deixá-la continuar.',
  run_tokens_used_up:
    'Os {{limit}} tokens de uma resposta acabaram. Peça o restante em uma nova mensagem.',
  run_without_answer: 'A execução terminou sem resposta.',
  runs_exhausted: 'Você já tem {{limit}} execuções ativas. Espere uma terminar ou pare uma.',
  task_not_found: 'Essa tarefa não existe.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  cursor_gone:
    'A mensagem para a qual esta posição aponta foi excluída. Comece de novo pela primeira página.',
  cursor_invalid: 'Posição inválida. Comece de novo pela primeira página.',
  disk_unconfirmed:
    'O disco não confirmou o que foi gravado. Verifique o disco e reinicie o servidor.',
  search_too_slow: 'A pesquisa demorou demais. Refine-a e tente novamente.',
  store_busy: 'O banco de dados está ocupado. Tente novamente em breve.',
  store_closed: 'O banco de dados está fechado.',
  store_file_unusable: 'O arquivo do banco de dados não pode ser usado no momento.',
  store_full: 'O disco está cheio: nada foi guardado. Libere espaço e tente novamente.',
  store_locked: 'Outro programa bloqueou o banco de dados. Tente novamente em breve.',
  store_overloaded: 'O banco de dados está sobrecarregado. Tente novamente em breve.',
  store_unanswered: 'O banco de dados não responde. Tente novamente em breve.',
}
