// Portuguese texts of refused requests (administration, conversations, runs and the store), by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

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
    'Suas {{limit}} mensagens a canais de hoje acabaram. São renovadas em {{renews_at}}.',
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
  channel_address_refused:
    'Este servidor não envia e-mails para {{address}}. Pergunte a um administrador quais endereços são permitidos.',
  channel_mail_not_set_up:
    'Este servidor não consegue enviar e-mails. Peça a um administrador que configure `smtp` ou escolha outro tipo de canal.',
  channel_name_taken: 'Você já tem um canal chamado “{{name}}”.',
  channel_not_found: 'Esse canal não existe.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: 'Não há canal do tipo “{{type}}”. Use um destes: {{types}}.',
  channels_exhausted: 'Você pode ter no máximo {{limit}} canais. Exclua um primeiro.',
  conversation_not_found: 'Essa conversa não existe.',
  document_not_found: 'Esse documento não existe.',
  document_encoding_fixed:
    'Não é possível escolher outra codificação para “{{name}}”: está sendo lido, sua codificação é certa ou seu arquivo não está mais armazenado.',
  documents_exhausted:
    'Um projeto pode ter no máximo {{limit}} documentos. Exclua alguns primeiro.',
  export_not_found: 'Essa exportação não existe. As exportações são excluídas após um dia.',
  export_not_ready:
    'Esta exportação ainda não está pronta. Espere até que o status seja `completed`.',
  export_running: 'Você já tem uma exportação em andamento. Espere que termine.',
  import_invalid: 'Este arquivo não contém uma conversa completa ({{detail}}).',
  import_not_found: 'Essa importação não existe.',
  import_running: 'Você já tem uma importação em andamento. Espere que termine.',
  import_upload_too_large: 'Uma importação pode ter no máximo {{limit}}.',
  memory_too_long:
    'A memória pode ter no máximo {{limit}} caracteres; este texto tem {{length}}. Encurte-o.',
  message_not_found: 'Essa mensagem não existe.',
  model_configured: 'Este modelo está definido em config.yml. Altere-o lá.',
  model_id_taken: 'Já existe um modelo com este identificador.',
  model_key_missing: 'A URL do provedor mudou. Digite a chave de API novamente.',
  model_unknown: 'Esse modelo não existe.',
  nothing_to_undelete: 'Não há exclusão que possa ser desfeita.',
  outbox_full: '{{limit}} mensagens já aguardam envio. Tente mais tarde.',
  recipients_exhausted:
    'Seus canais podem enviar a {{limit}} destinatários por hora, e esse limite foi atingido. Tente novamente em {{minutes}} minutos.',
  response_item_not_found: 'Não há item “{{id}}” em nenhuma resposta sua.',
  response_not_found: 'Não há resposta “{{id}}”.',
  run_not_found: 'Essa resposta não existe.',
  share_expired: 'A data em que o link expira deve estar no futuro.',
  share_guesses_exhausted:
    'Senhas erradas demais para este link. Espere um pouco e tente novamente.',
  share_not_found: 'Este link não existe ou não é mais compartilhado.',
  share_password_needed: 'Este link precisa de uma senha (X-Share-Password).',
  share_password_wrong: 'A senha deste link está incorreta.',
  share_too_large: 'Esta conversa é grande demais para ser compartilhada.',
  share_views_exhausted:
    'Conversas compartilhadas demais foram abertas desta rede. Espere um minuto e tente novamente.',
  sharing_off: 'O compartilhamento está desativado neste servidor.',
  unknown_model: 'Não há modelo “{{model}}”. Disponíveis: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Esta conta está desativada. Fale com um administrador.',
  answer_without_question:
    'Não há mensagem à qual esta resposta pertença, por isso ela não pode ser gerada novamente.',
  approval_not_found: 'Nenhuma solicitação de aprovação com este id_ref aguarda uma decisão.',
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
  call_decided: 'Esta chamada de ferramenta já foi aprovada ou recusada.',
  client_call_unknown:
    'Nenhuma chamada de ferramenta com o ID “{{id}}” antecede este resultado. Envie as chamadas junto com os resultados.',
  client_result_missing:
    'Falta o resultado da chamada de ferramenta “{{name}}”. Envie um resultado para cada chamada das suas ferramentas.',
  conversation_busy: 'Novas respostas não param de começar nesta conversa. Tente novamente.',
  conversation_gone: 'A conversa foi excluída.',
  conversation_has_run:
    'Já há uma resposta em andamento nesta conversa. Espere por ela ou pare-a primeiro.',
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
  parent_not_an_answer: '`parent_id` deve ser uma resposta desta conversa.',
  programs_exhausted:
    'Você pode executar {{limit}} programas ao mesmo tempo. Espere um terminar ou interrompa um.',
  python_unavailable:
    'Não é possível executar Python aqui: este servidor não o oferece, ou não para a sua conta.',
  project_would_be_too_large:
    'O projeto teria {{size}}; no máximo {{limit}} são permitidos. A alteração foi desfeita.',
  restore_not_recorded:
    'Os arquivos foram restaurados, mas o estado da restauração ainda não pôde ser salvo.',
  run_completed: 'Esta resposta está concluída; não há nada para retomar.',
  run_continues_soon:
    'O servidor está prestes a continuar esta resposta. Tente novamente em breve.',
  run_not_prepared: 'Não foi possível preparar a resposta. Tente novamente.',
  run_not_stored:
    'Não foi possível salvar a resposta, e ela termina aqui. Envie a mensagem novamente ou retome a resposta.',
  run_still_active: 'Esta resposta ainda está em andamento.',
  run_takes_no_decision:
    'Esta resposta terminou: nenhuma de suas chamadas de ferramentas aguarda decisão.',
  run_takes_no_input:
    'Esta resposta terminou: nenhuma de suas chamadas de ferramentas aguarda informações.',
  run_minutes_used_up: 'Esta resposta atingiu o limite de {{limit}} minutos. Você pode retomá-la.',
  run_tokens_used_up:
    'Esta resposta atingiu o limite de {{limit}} tokens. Envie uma nova mensagem para continuar.',
  run_without_answer: 'Nenhuma resposta foi produzida. Tente novamente.',
  runs_exhausted: 'Você já tem {{limit}} respostas em andamento. Espere uma terminar ou pare uma.',
  task_not_found: 'Essa tarefa em segundo plano não existe.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  blobs_unavailable:
    'O armazenamento de arquivos não está disponível no momento. Tente novamente em instantes.',
  cursor_gone:
    'A mensagem para a qual esta posição aponta foi excluída. Comece de novo pela primeira página.',
  cursor_invalid: 'Posição inválida. Comece de novo pela primeira página.',
  disk_unconfirmed:
    'O disco não confirmou o que foi gravado. Verifique o disco e reinicie o servidor.',
  search_too_slow: 'A pesquisa demorou demais. Refine-a e tente novamente.',
  store_busy: 'O banco de dados está ocupado. Tente novamente em instantes.',
  store_closed: 'O banco de dados está fechado.',
  store_file_unusable:
    'O arquivo do banco de dados não pode ser usado no momento. Tente novamente em instantes.',
  store_full: 'O disco está cheio: nada foi salvo. Libere espaço e tente novamente.',
  store_locked: 'Outro programa bloqueou o banco de dados. Tente novamente em instantes.',
  store_overloaded: 'O banco de dados está sobrecarregado. Tente novamente em instantes.',
  store_unanswered: 'O banco de dados não responde. Tente novamente em instantes.',
}
