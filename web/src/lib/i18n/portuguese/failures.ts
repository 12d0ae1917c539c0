// Portuguese texts of failures (files, models, documents, deliveries, MCP servers and imports), by the protocol's reasons.
import type { FILE_FAILURES } from '../../../../../server/protocol/failures/files.ts'
import type { MODEL_FAILURES } from '../../../../../server/protocol/failures/models.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const files: Texts<typeof FILE_FAILURES> = {
  binary_file:
    '“{{path}}” é um arquivo binário ({{kind}}, {{size}}) e não pode ser lido como texto.',
  checkpoint_not_found: 'Esse estado não existe.',
  content_expired:
    'O conteúdo anterior de “{{path}}” não está mais salvo, por isso este estado não pode ser restaurado.',
  disk_full: 'O disco está cheio: nada foi alterado. Libere espaço e tente novamente.',
  edit_failed: '{{detail}}',
  encoding_mismatch: '“{{path}}” não é {{encoding}} válido. Tente outra codificação.',
  encoding_not_writable:
    '“{{path}}” está codificado em {{encoding}}, que não comporta este texto. Grave o arquivo inteiro em UTF-8.',
  encoding_unknown:
    'Codificação desconhecida “{{encoding}}”. Tente utf-8, utf-16le, gb18030, shift_jis ou windows-1252.',
  file_access_denied: 'O servidor não tem permissão para fazer isso com “{{path}}”.',
  file_changed_meanwhile:
    'Outra pessoa alterou “{{path}}” nesse meio-tempo. Leia-o novamente antes de alterá-lo.',
  file_changed_while_read: '“{{path}}” mudou durante a leitura. Tente novamente.',
  file_content_missing:
    'O conteúdo deste arquivo está faltando no servidor. Um administrador pode restaurá-lo de um backup.',
  file_created_meanwhile: 'O arquivo “{{path}}” já existe. Leia-o antes de alterá-lo.',
  file_deleted_meanwhile:
    'Outra pessoa excluiu “{{path}}” nesse meio-tempo. Verifique quais arquivos existem antes de alterá-lo.',
  file_exists: '“{{path}}” já existe ou é uma pasta.',
  file_in_the_way: '“{{path}}” é um arquivo; uma pasta não pode ocupar o lugar dele.',
  file_id_unknown: 'Esse arquivo não existe.',
  file_name_too_long: 'O nome de “{{path}}” é longo demais.',
  file_not_found: 'Não há arquivo nem pasta “{{path}}”.',
  file_removed_while_written: '“{{path}}” foi removido durante a gravação. Tente novamente.',
  file_replaced: '“{{path}}” foi substituído durante o uso. Nada foi alterado; tente novamente.',
  file_too_large: '“{{path}}” tem {{size}}; é possível ler no máximo {{limit}}.',
  file_too_large_to_write: '“{{path}}” teria {{size}}; é possível gravar no máximo {{limit}}.',
  file_type_unsupported:
    '“{{name}}” não pode ser anexado. Anexe uma imagem (PNG, JPEG, WebP, GIF), um documento PDF, DOCX, XLSX ou PPTX, ou texto.',
  file_unusable: 'Não foi possível acessar “{{path}}”.',
  file_upload_too_large: 'Um arquivo pode ter no máximo {{limit}}.',
  file_thumbnail_missing:
    '“{{name}}” não é uma imagem e não tem miniatura. Omita `thumb` para obter o arquivo.',
  file_used: 'Uma mensagem usa este arquivo. Exclua primeiro a mensagem.',
  file_would_be_too_large: '“{{path}}” seria grande demais.',
  file_missing: 'Envie um arquivo no campo `file`.',
  files_missing: 'Envie pelo menos um arquivo no campo `files[]`.',
  folder_exists: 'Já existe uma pasta “{{path}}”.',
  folder_in_the_way:
    'A pasta “{{path}}” contém arquivos que o estado não conhece, por isso o arquivo com esse nome não pode ser restaurado.',
  folder_into_itself: 'Uma pasta não pode ser movida para dentro de si mesma.',
  folder_takes_no_file: '“{{path}}” é uma pasta; um arquivo não pode ocupar o lugar dela.',
  glob_too_complex: 'O padrão tem alternativas demais entre chaves. Simplifique-o.',
  glob_too_long: 'Um padrão pode ter no máximo {{limit}} caracteres.',
  image_unreadable:
    '“{{name}}” não pode ser lido como imagem: está danificado, tem pixels demais ou o formato não é aceito.',
  link_refused:
    '“{{path}}” é um link simbólico ou passa por um. Links não são seguidos em um projeto.',
  names_collide:
    '“{{path}}” entra em conflito com outro arquivo cujo nome este disco considera igual.',
  not_a_file: '“{{path}}” é uma pasta, não um arquivo.',
  not_a_regular_file: '“{{path}}” é um dispositivo, um pipe ou um socket, não um arquivo comum.',
  old_name_taken:
    'A pasta “{{path}}” se chamava “{{old}}”, mas outra coisa tem esse nome agora. Mova-a e restaure novamente.',
  path_escapes:
    'O caminho sai do projeto. Use um caminho relativo à pasta do projeto, como “src/main.py”.',
  path_has_backslashes: 'Caminho não permitido: separe as pastas com “/”, não com “\\”.',
  path_has_invisible_characters:
    'Caminho não permitido: contém caracteres de controle ou invisíveis.',
  path_is_project: 'Caminho não permitido: é a própria pasta do projeto.',
  path_name_too_long: 'Caminho não permitido: um nome nele é longo demais.',
  path_not_unicode: 'Caminho não permitido: não é Unicode válido.',
  path_taken: 'Já existe um arquivo ou uma pasta com o nome “{{path}}”.',
  path_through_file: '“{{path}}” não existe: uma parte do caminho não é uma pasta.',
  path_too_deep: 'Caminho não permitido: mais de {{limit}} pastas de profundidade.',
  path_too_long: 'Caminho não permitido: é longo demais.',
  project_busy:
    'Outra alteração deste projeto ainda está em andamento. Nada foi alterado. Tente novamente.',
  project_deleted:
    'Este projeto foi excluído. Nada foi alterado, e ele não pode mais ser alterado.',
  project_deleted_during_run:
    'O projeto desta conversa foi excluído durante a resposta, por isso a resposta termina aqui. Envie a mensagem novamente para continuar sem o projeto.',
  project_full: 'O projeto passaria do limite de {{limit}}. Exclua alguns arquivos primeiro.',
  project_name_taken: 'Você já tem um projeto com este nome.',
  project_not_found: 'Esse projeto não existe.',
  projects_exhausted: 'Você já tem {{limit}} projetos. Exclua um primeiro.',
  quota_claim_refused:
    'Não há espaço para mais {{more}}. Você pode armazenar no máximo {{limit}} em todos os projetos, documentos e arquivos anexados juntos, e está usando {{used}}. Exclua algo primeiro.',
  quota_exceeded:
    'A alteração foi desfeita porque excede seu espaço. Você pode armazenar no máximo {{limit}} em todos os projetos, documentos e arquivos anexados juntos, e está usando {{used}}. Exclua algo primeiro.',
  quota_texts_refused:
    'Não há espaço para mais {{more}} de texto. Você pode armazenar no máximo {{limit}} e, com os textos das suas conversas e links compartilhados, está usando {{used}}. Exclua primeiro conversas, links compartilhados ou arquivos.',
  request_stopped: 'A solicitação foi cancelada. Nada foi alterado.',
  search_not_isolated: 'Não foi possível isolar a pesquisa do sistema.',
  search_busy: 'Você tem {{count}} pesquisas em espera. Tente novamente quando terminarem.',
  search_not_started: 'Não foi possível iniciar o programa de pesquisa.',
  search_path_is_link: '“{{path}}” é um link simbólico, que não é seguido.',
  search_path_not_found: 'Não há arquivo nem pasta “{{path}}” para pesquisar.',
  search_pattern_invalid:
    'O padrão não é válido: {{detail}}. Coloque “\\” antes de caracteres especiais para pesquisá-los literalmente.',
  too_many_changes: 'No máximo {{limit}} arquivos podem ser alterados de uma vez.',
  too_many_files_open: 'Há arquivos demais abertos. Tente novamente em instantes.',
  too_many_restored: 'No máximo {{limit}} arquivos podem ser restaurados de uma vez.',
  upload_fields_invalid: '{{detail}}',
  upload_has_too_many_files: 'Um envio pode ter no máximo {{limit}} arquivos.',
  upload_repeats: 'O envio contém “{{path}}” duas vezes.',
  upload_too_large: 'Um envio pode ter no máximo {{limit}}.',
  upload_too_many_fields: 'O envio contém mais campos do que este servidor permite.',
  upload_too_many_files: 'O envio contém mais arquivos do que este servidor permite.',
  upload_too_many_parts: 'O envio contém mais partes do que este servidor permite.',
  uploaded_file_too_large: 'Um arquivo do envio é maior do que este servidor permite.',
  uploads_busy: 'O servidor está recebendo envios demais. Tente novamente em instantes.',
  uploads_exhausted:
    'No máximo {{limit}} envios podem ocorrer ao mesmo tempo. Espere um terminar e tente novamente.',
  work_stopped: 'A operação foi cancelada.',
  work_too_slow: 'A operação demorou mais de {{seconds}} s.',
  upload_not_multipart: 'Envie os arquivos como multipart/form-data.',
}

export const models: Texts<typeof MODEL_FAILURES> = {
  model_answer_unfinished: 'O modelo parou sem terminar a resposta.',
  model_answer_empty:
    'O modelo “{{model}}” não respondeu nada. Envie sua mensagem novamente ou escolha outro modelo.',
  model_answer_endless:
    'A resposta de “{{model}}” não terminava e foi cortada. Tente novamente ou escolha outro modelo.',
  model_answer_filtered:
    'Um filtro de conteúdo do provedor, ou o próprio “{{model}}”, encerrou esta resposta ({{finish_reason}}). Reformule sua mensagem ou escolha outro modelo.',
  model_answer_is_page:
    'O provedor de “{{model}}” enviou uma página da web. Verifique se api_url é o endereço de uma API de modelos.',
  model_answer_no_json:
    'A resposta do provedor de “{{model}}” não é um objeto JSON. Verifique se api_url é o endereço de uma API de modelos.',
  model_answer_no_stream:
    'A resposta do provedor de “{{model}}” não é um fluxo de eventos. Verifique se api_url é o endereço de uma API de modelos.',
  model_answer_only_thinking:
    '“{{model}}” raciocinou, mas não escreveu uma resposta. Envie sua mensagem novamente ou escolha outro modelo.',
  model_answer_only_thinking_cut:
    '“{{model}}” atingiu o limite de saída antes de escrever uma resposta. Aumente max_tokens da conversa ou do modelo, ou faça-o raciocinar menos.',
  model_api_missing: 'Não há API compatível com a OpenAI neste endereço. Verifique o endereço.',
  model_call_malformed:
    '“{{model}}” escreveu uma chamada de ferramenta que não pode ser lida. Envie sua mensagem novamente ou escolha outro modelo.',
  model_call_unreadable:
    'O modelo escreveu uma chamada de ferramenta ilegível. Ele será solicitado a escrevê-la novamente.',
  model_context_exceeded:
    'A conversa é longa demais para “{{model}}”. Comece uma nova ou escolha um modelo com uma janela de contexto maior.',
  model_key_lost:
    'A chave de API salva de {{model}} não pode ser descriptografada. Um administrador precisa digitá-la novamente em Configurações → Modelos.',
  model_list_empty: 'O provedor não lista nenhum modelo. Informe o nome de um modelo.',
  model_not_found:
    'O provedor de “{{model}}” não conhece este modelo ou este endereço ({{status}}). Verifique api_url e upstream_model.',
  model_rate_limited:
    'O provedor de “{{model}}” está limitando o ritmo de solicitações ({{status}}). Tente novamente em instantes.',
  model_rate_limited_quota:
    'Sua cota de “{{model}}” no provedor acabou ({{status}}). Escolha outro modelo ou espere a renovação.',
  model_redirected:
    'O endereço de “{{model}}” responde com um redirecionamento ({{status}}). Verifique api_url.',
  model_refused: 'O provedor de “{{model}}” recusou a solicitação ({{status}}).',
  model_refused_credit:
    'Sua conta no provedor de “{{model}}” está sem crédito ({{status}}). Recarregue-a ou escolha outro modelo.',
  model_stopped: 'A solicitação a “{{model}}” foi cancelada.',
  model_stream_broken: 'A conexão com “{{model}}” foi fechada antes de a resposta ficar completa.',
  model_stream_disordered:
    'O provedor de “{{model}}” enviou partes da resposta duas vezes ou fora de ordem. Tente novamente ou escolha outro modelo.',
  model_timeout: 'O provedor de “{{model}}” demorou demais ({{status}}).',
  model_timeout_silence: 'O modelo “{{model}}” não enviou nada por {{seconds}} segundos.',
  model_unauthorized:
    'O provedor recusou a chave de API de “{{model}}” ({{status}}). Verifique a chave nas configurações.',
  model_unavailable:
    'O provedor de “{{model}}” está com problemas ({{status}}). Tente novamente ou escolha outro modelo.',
  model_unavailable_connection:
    '“{{model}}” está inacessível: a conexão falhou. Verifique o endereço do provedor e a rede.',
  model_unavailable_connection_closed:
    '“{{model}}” está inacessível: a conexão foi fechada. Verifique o endereço do provedor e a rede.',
  model_unavailable_connection_refused:
    '“{{model}}” está inacessível: a conexão foi recusada. Verifique o endereço do provedor e a rede.',
  model_unavailable_connection_timed_out:
    '“{{model}}” está inacessível: o tempo limite da conexão se esgotou. Verifique o endereço do provedor e a rede.',
  model_unavailable_host_not_found:
    '“{{model}}” está inacessível: não foi possível resolver o nome de host. Verifique o endereço do provedor e a rede.',
  model_unavailable_host_unknown:
    '“{{model}}” está inacessível: o nome de host é desconhecido. Verifique o endereço do provedor e a rede.',
  model_unavailable_host_unreachable:
    '“{{model}}” está inacessível: não é possível alcançar o host. Verifique o endereço do provedor e a rede.',
  model_unavailable_insecure:
    '“{{model}}” está inacessível: a conexão TLS falhou. Verifique o endereço do provedor e a rede.',
  model_unavailable_network:
    '“{{model}}” está inacessível: não é possível acessar a rede. Verifique o endereço do provedor e a rede.',
  model_unavailable_reported:
    'O provedor de “{{model}}” relatou um problema. Tente novamente ou escolha outro modelo.',
}

export const storedFailures: Record<StoredFailureReason, string> = {
  document_archive_unsupported: 'arquivos compactados {{extension}} não são aceitos',
  document_archive_unknown: 'este tipo de arquivo compactado não é aceito',
  document_binary:
    'é um arquivo binário; texto, Markdown, PDF, DOCX, XLSX, PPTX, HTML e CSV são aceitos',
  document_docx_damaged: 'o arquivo DOCX está danificado',
  document_empty: 'não contém texto',
  document_lost: 'o envio se perdeu; envie novamente',
  document_not_indexed: 'não foi possível indexá-lo',
  document_not_what_its_name_says:
    'o nome termina em {{extension}}, mas o conteúdo tem outro formato',
  document_office_damaged: 'o arquivo {{extension}} está danificado',
  document_page_too_deep: 'a página tem níveis demais',
  document_pdf_damaged: 'o PDF está danificado',
  document_partly_read: 'não há texto legível nestas páginas: {{pages}}',
  document_pdf_protected: 'o PDF é protegido por senha',
  document_pdf_xfa:
    'é um formulário no formato XFA da Adobe (imprima-o como PDF no Adobe Acrobat e anexe esse arquivo)',
  document_reader_not_started: 'o programa que lê documentos não pôde ser iniciado',
  document_reading_stopped: 'foi cancelado',
  document_reading_too_slow: 'a leitura demorou demais',
  document_scanned: 'não contém texto (passe antes um documento escaneado por OCR)',
  document_too_large: 'o arquivo é grande demais',
  document_too_large_to_read: 'é grande demais para ser lido',
  document_unreadable: 'o arquivo não pôde ser lido',
  delivery_channel_kind_gone: 'este tipo de canal não é mais oferecido',
  delivery_failed: 'o envio falhou',
  delivery_mail_certificate_expired:
    'o certificado do servidor de e-mail expirou ou ainda não é válido',
  delivery_mail_certificate_other_host: 'o certificado do servidor de e-mail pertence a outro host',
  delivery_mail_certificate_self_signed: 'o certificado do servidor de e-mail é autoassinado',
  delivery_mail_certificate_untrusted:
    'o certificado do servidor de e-mail vem de uma autoridade em que este servidor não confia',
  delivery_mail_host_unknown: 'o nome de host do servidor de e-mail não foi encontrado',
  delivery_mail_login_refused: 'o servidor de e-mail recusou o usuário ou a senha deste servidor',
  delivery_mail_not_set_up: 'este servidor não tem mais configurações de SMTP',
  delivery_mail_refused_connection: 'o servidor de e-mail recusou a conexão',
  delivery_mail_refused: 'o servidor de e-mail recusou ({{status}})',
  delivery_mail_unconfirmed: 'o dono de {{address}} não aceitou receber e-mails deste servidor',
  delivery_mail_unreachable: 'o servidor de e-mail estava inacessível ou ocupado',
  delivery_receiver_address_refused: 'este servidor não pode enviar ao endereço do destinatário',
  delivery_receiver_certificate_invalid: 'o certificado do destinatário não é válido',
  delivery_receiver_closed_connection: 'o destinatário fechou a conexão',
  delivery_receiver_host_unknown: 'o nome de host do destinatário não foi encontrado',
  delivery_receiver_refused_connection: 'o destinatário recusou a conexão',
  delivery_receiver_timed_out: 'o destinatário não respondeu a tempo',
  delivery_receiver_unreachable: 'o destinatário estava inacessível',
  delivery_refused: 'o destinatário respondeu com o status {{status}}',
  delivery_settings_unfit: 'as configurações deste canal não são mais válidas',
  mcp_certificate_invalid: 'o certificado dele não é válido ou este servidor não confia nele',
  mcp_command_not_found: 'o comando dele, “{{command}}”, não foi encontrado no servidor',
  mcp_command_not_allowed: 'o comando dele não pode ser executado',
  mcp_connection_failed: 'a conexão falhou ou foi perdida',
  mcp_connection_refused: 'ele recusou a conexão',
  mcp_credentials_refused: 'ele recusou as credenciais',
  mcp_ended: 'o processo dele terminou',
  mcp_folder_not_found: 'a pasta de trabalho dele não foi encontrada no servidor',
  mcp_host_unknown: 'o nome de host dele é desconhecido',
  mcp_sign_in_needed: 'é preciso entrar',
  mcp_settings_unreadable:
    'as configurações salvas não podem mais ser descriptografadas; edite-o e digite o endereço novamente',
  mcp_wrong_address: 'não há servidor MCP no endereço dele',
  mcp_too_slow: 'ele não respondeu a tempo',
  blobs_unreachable: 'o armazenamento de arquivos não está disponível; tente mais tarde',
  export_failed: 'ocorreu um erro inesperado; o log do servidor tem os detalhes',
  export_interrupted: 'o servidor foi reiniciado nesse meio-tempo; inicie a exportação novamente',
  import_already_there: 'já foi importado antes',
  import_archive_bomb:
    'a taxa de compactação passa de {{ratio}}, o que nenhuma exportação real atinge',
  import_archive_damaged: 'o arquivo compactado está danificado ou incompleto; baixe-o novamente',
  import_archive_encrypted:
    'é protegido por senha; descompacte o arquivo e compacte-o novamente sem senha',
  import_archive_too_large: 'descompactado, é maior que {{limit}}',
  import_archive_too_many_files: 'o arquivo compactado tem mais de {{limit}} arquivos',
  import_conversation_too_large: 'é maior que {{limit}}',
  import_cycle: 'as mensagens formam um ciclo',
  import_database_unreadable: 'o arquivo SQLite está danificado ou tem tabelas desconhecidas',
  import_disk_full: 'o disco do servidor está cheio',
  import_entry_link: 'é um link',
  import_entry_unsafe: 'o nome leva para fora do arquivo compactado',
  import_failed: 'ocorreu um erro inesperado; o log do servidor tem os detalhes',
  import_file_missing: 'a exportação não o contém',
  import_file_refused: 'este servidor o recusa: {{detail}}',
  import_format_unknown:
    'não é uma exportação do NanoClaw, ChatGPT, Claude, Open WebUI ou LibreChat, nem um arquivo SQLite do NanoClaw em Python',
  import_in_trash: 'está na lixeira; restaure-o lá',
  import_interrupted:
    'o servidor foi reiniciado nesse meio-tempo; importe o arquivo novamente: o que já está lá permanece e não é importado duas vezes',
  import_json_damaged: 'o JSON está danificado ou incompleto',
  import_marks_unknown:
    'as marcas deste tipo em “{{conversation}}” não são conhecidas, e a exportação não traz o conteúdo delas',
  import_no_messages: 'não contém mensagens',
  import_out_of_memory: 'precisa de mais memória do que uma importação pode usar',
  import_parts_unknown:
    'as partes deste tipo em “{{conversation}}” não são conhecidas e foram omitidas',
  import_project_exists:
    'você já tem um projeto com este nome; os arquivos dele não foram alterados',
  import_storage_full:
    'seu armazenamento não tem espaço para os textos; exclua conversas, links compartilhados ou arquivos e importe de novo (o que já existe não é importado duas vezes)',
  import_too_many_messages: 'tem mais de {{limit}} mensagens',
  import_too_slow: 'a leitura demorou demais',
  import_unreadable: 'não tem a forma esperada ({{detail}})',
}
