// Portuguese texts of refused requests (accounts, signing in and malformed requests), by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'

export const access: Record<keyof typeof ACCESS_FAILURES, string> = {
  address_missing: 'Sua conta não tem e-mail. Informe um em `address`.',
  mail_not_sent: 'Não foi possível enviar o e-mail. Verifique o endereço ou tente mais tarde.',
  mail_not_set_up:
    'Este servidor não consegue enviar e-mails. Peça a um administrador que configure `smtp` e `public_url`.',
  mails_exhausted: 'Foram solicitados e-mails demais. Tente mais tarde.',
  heir_is_same: 'Uma conta não pode ser transferida para si mesma.',
  heir_missing: 'Indique em `heir_id` a conta que recebe os dados.',
  mcp_client_not_configured:
    'O servidor de autorização não registra clientes. Um administrador precisa definir `oauth.client_id` deste servidor MCP.',
  mcp_not_connected: 'O servidor MCP “{{server}}” não está disponível agora. Tente mais tarde.',
  mcp_prompt_failed: 'O servidor MCP “{{server}}” não devolveu este prompt.',
  mcp_resource_empty: 'Este recurso do servidor MCP “{{server}}” está vazio.',
  mcp_resource_failed: 'O servidor MCP “{{server}}” não devolveu este recurso.',
  mcp_headers_missing: 'A URL do servidor MCP mudou. Digite os cabeçalhos novamente.',
  mcp_server_configured: 'Este servidor MCP está definido em config.yml. Altere-o lá.',
  mcp_server_name_taken: 'Já existe um servidor MCP com este nome.',
  tool_changed_again:
    'O servidor MCP mudou esta ferramenta de novo. Leia a descrição outra vez e depois aceite.',
  mcp_url_missing: 'Digite o endereço do servidor MCP.',
  mcp_server_not_found: 'Esse servidor MCP não existe.',
  mcp_sign_in_refused: 'O login em “{{server}}” falhou ou foi recusado. Tente novamente.',
  mcp_sign_in_unavailable:
    'Não é possível entrar em “{{server}}” agora: ele não indica um servidor de autorização, ou este está inacessível.',
  mcp_sign_in_unknown: 'Este login expirou ou pertence a outra pessoa. Comece de novo.',
  account_gone: 'Esta conta não existe mais.',
  account_link_invalid:
    'Este link não funciona mais: já foi usado, expirou ou foi revogado. Peça um novo a um administrador.',
  account_not_found: 'Essa conta não existe.',
  administrators_only: 'Só um administrador pode fazer isso.',
  api_key_invalid: 'Esta chave de API não é válida.',
  api_key_expiry_past: 'A data de expiração já passou. Escolha uma posterior.',
  api_key_not_allowed: 'Chaves de API não podem fazer isso. Entre com sua senha.',
  api_key_scope: 'Falta a esta chave de API a permissão “{{scope}}”. Use uma que a tenha.',
  api_key_not_found: 'Essa chave de API não existe.',
  api_keys_exhausted: 'Você já tem {{limit}} chaves de API. Exclua uma primeiro.',
  body_empty: 'O corpo da solicitação está vazio.',
  body_not_json: 'O corpo da solicitação não é um JSON válido.',
  body_too_large: 'O corpo da solicitação é maior do que este servidor permite.',
  content_length_wrong: 'O corpo da solicitação não tem o tamanho indicado por Content-Length.',
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
  invitations_exhausted: 'Já há {{limit}} convites abertos. Revogue alguns primeiro.',
  json_list_too_long: 'Uma lista no JSON tem mais de {{entries}} itens.',
  json_too_many_values: 'O JSON tem mais de {{limit}} valores.',
  json_too_deep: 'O JSON tem mais de {{levels}} níveis.',
  last_administrator:
    'Este é o último administrador ativo. Primeiro torne outra conta administradora.',
  multipart_broken:
    'Não foi possível ler o corpo multipart: ele está incompleto, ou o separador falta ou tem mais de 250 caracteres.',
  multipart_expected: 'Envie isto como multipart/form-data.',
  no_password_in_single_mode: 'No modo de usuário único não há senha.',
  nothing_here: 'Esta URL não existe. Verifique o caminho e o método.',
  origin_refused:
    'Páginas de outra origem não podem chamar este servidor. Se a origem estiver certa, adicione-a a cors_origins.',
  oidc_groups_withheld:
    'O login único não informou em quais grupos você está, porque são muitos. Fale com um administrador.',
  oidc_no_account: 'Você não tem conta aqui. Peça a um administrador que crie uma.',
  oidc_not_allowed:
    'Você não está em nenhum dos grupos que podem entrar aqui. Fale com um administrador.',
  oidc_refused: 'O login único foi cancelado ou recusado. Tente novamente.',
  oidc_response_invalid:
    'O login único falhou: não foi possível verificar a resposta. Tente novamente; se acontecer de novo, fale com um administrador.',
  oidc_sign_in_unknown: 'Este login expirou ou foi iniciado em outro navegador. Tente novamente.',
  oidc_unreachable: 'O login único não está disponível agora. Tente novamente em instantes.',
  account_without_password:
    'A conta “{{name}}” não tem senha porque o dono usa o login único. Com um link de senha, ele poderia entrar mesmo que o login único não permita mais.',
  password_sign_in_off: 'O login com senha está desativado neste servidor. Use o login único.',
  password_common: 'Esta senha é uma das mais comuns e seria descoberta na hora. Escolha outra.',
  password_is_name: 'A senha não pode ser o nome de usuário nem o e-mail. Escolha outra.',
  password_changed: 'A senha acabou de ser alterada. Entre novamente.',
  registration_closed: 'O registro está fechado. Peça uma conta a um administrador.',
  registrations_exhausted:
    'Contas demais foram registradas da sua rede. Tente mais tarde ou fale com um administrador.',
  request_field_invalid: '{{part}} não é válido: {{detail}}',
  request_invalid: '{{part}} não é válido.',
  request_refused: 'A solicitação foi recusada.',
  second_factor_unreadable:
    'O servidor não consegue mais ler o segredo do seu aplicativo autenticador. Use um código de recuperação ou uma chave de acesso, ou peça a um administrador que redefina seus segundos fatores.',
  share_unreadable:
    'O link deste compartilhamento não pode mais ser lido, porque foi criptografado com outra chave secreta. Pare de compartilhar e compartilhe de novo para obter outro link, ou peça ao operador que restaure a chave.',
  secret_unreadable:
    'Um segredo salvo não pode ser descriptografado: foi criptografado com outra chave. Restaure essa chave ou digite o segredo novamente.',
  passkey_invalid:
    'Não foi possível verificar esta chave de acesso. Tente novamente ou entre de outra forma.',
  passkey_not_found: 'Essa chave de acesso não existe.',
  passkey_unavailable:
    'Chaves de acesso precisam de um nome de host e HTTPS, ou de localhost. Defina public_url com um endereço assim.',
  passkeys_exhausted: 'Você já tem {{limit}} chaves de acesso. Exclua uma primeiro.',
  second_factor_code_wrong: 'Este código está errado, expirou ou já foi usado. Digite o atual.',
  second_factor_expired: 'Este login expirou. Entre novamente.',
  second_factor_missing:
    'Não há aplicativo autenticador para confirmar ou remover. Comece de novo.',
  second_factor_refused: 'Este código ou chave de acesso está errado, expirou ou já foi usado.',
  second_factor_required: 'A senha está certa. Confirme o login com seu segundo fator.',
  second_factor_set: 'Já há um aplicativo autenticador configurado. Remova-o primeiro.',
  session_not_found: 'Essa sessão não existe.',
  session_ended: 'Sua sessão terminou. Entre novamente.',
  setup_link_required:
    'Este servidor ainda não tem administrador. Abra o link de configuração que ele exibiu ao iniciar.',
  shutting_down: 'O servidor está reiniciando. Tente novamente em breve.',
  sign_in_busy: 'Pessoas demais estão entrando ao mesmo tempo. Tente novamente em instantes.',
  sign_in_required: 'Entre primeiro.',
  sign_ins_exhausted: 'Muitas tentativas de login falharam. Espere um pouco e tente novamente.',
  single_user: 'Este servidor funciona no modo de usuário único e não exige login.',
  streams_exhausted:
    'Você tem {{limit}} fluxos de eventos abertos ao mesmo tempo. Feche algumas guias ou conexões.',
  too_many_open: 'O servidor tem arquivos e conexões demais abertos. Tente novamente em instantes.',
  url_invalid: 'A URL não é válida.',
  url_too_long: 'A URL é longa demais.',
  user_name_taken: 'Este nome de usuário ou e-mail já está em uso.',
  wrong_credentials: 'O nome de usuário ou a senha está incorreto.',
  headers_too_large: 'Os cabeçalhos da solicitação são grandes demais.',
  request_timeout: 'A solicitação demorou demais para chegar. Tente novamente.',
  request_malformed: 'Esta não é uma solicitação HTTP válida.',
}
