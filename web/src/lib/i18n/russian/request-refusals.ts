// Why requests are refused: access, administration, conversations and runs, in Russian, by the protocol's reasons.
import type { ACCESS_FAILURES } from '../../../../../server/protocol/failures/access.ts'
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const access: Texts<typeof ACCESS_FAILURES> = {
  address_missing: 'У вашей учётной записи нет адреса почты. Укажите его в `address`.',
  mail_not_sent: 'Письмо не удалось отправить. Проверьте адрес или попробуйте позже.',
  mail_not_set_up:
    'Этот сервер не может отправлять письма: в настройках нужны `smtp` и `public_url`. Обратитесь к администратору.',
  mails_exhausted: 'Запрошено слишком много писем. Попробуйте позже.',
  heir_is_same: 'Учётную запись нельзя передать самой себе.',
  heir_missing: 'Укажите в «heir_id» учётную запись, которая получит данные.',
  mcp_client_not_configured:
    'Сервер авторизации не регистрирует клиентов. Администратор должен задать «oauth.client_id» этого MCP-сервера.',
  mcp_not_connected: 'MCP-сервер «{{server}}» сейчас недоступен. Попробуйте ещё раз.',
  mcp_prompt_failed: 'MCP-сервер «{{server}}» не вернул этот промпт.',
  mcp_resource_empty: 'Этот ресурс MCP-сервера «{{server}}» пуст.',
  mcp_resource_failed: 'MCP-сервер «{{server}}» не вернул этот ресурс.',
  mcp_headers_missing: 'Вы изменили адрес MCP-сервера, поэтому введите и его заголовки.',
  mcp_server_configured: 'Этот MCP-сервер задан в config.yml. Измените его там.',
  mcp_server_name_taken: 'MCP-сервер с таким именем уже есть.',
  mcp_url_missing: 'Введите адрес MCP-сервера.',
  mcp_server_not_found: 'Такого MCP-сервера нет.',
  mcp_sign_in_refused: 'Вход в «{{server}}» не удался или отклонён. Попробуйте ещё раз.',
  mcp_sign_in_unavailable:
    'Войти в «{{server}}» сейчас нельзя: он не называет сервер авторизации, или тот недоступен.',
  mcp_sign_in_unknown: 'Этот вход завершён или начат кем-то другим. Начните заново.',
  account_gone: 'Этой учётной записи больше нет.',
  account_link_invalid:
    'Эта ссылка больше не работает: она использована, истекла или отозвана. Попросите у администратора новую.',
  account_not_found: 'Такой учётной записи нет.',
  administrators_only: 'Это может делать только администратор.',
  api_key_invalid: 'Этот ключ API недействителен.',
  api_key_expiry_past: 'Срок этого ключа уже истёк бы.',
  api_key_not_allowed: 'Ключам API это запрещено. Войдите с паролем.',
  api_key_scope: 'Этому ключу API это запрещено: у него нет права «{{scope}}». Возьмите другой.',
  api_key_not_found: 'Такого ключа API нет.',
  api_keys_exhausted: 'У вас уже {{limit}} ключей API. Сначала удалите один.',
  body_empty: 'Тело запроса пустое.',
  body_not_json: 'Тело запроса — некорректный JSON.',
  body_too_large: 'Тело запроса больше, чем разрешает сервер.',
  content_length_wrong: 'Длина тела запроса не совпадает с Content-Length.',
  content_type_unsupported:
    'Такой тип содержимого здесь не поддерживается. Отправьте application/json.',
  email_needs_password:
    'Для смены адреса почты нужен текущий пароль: на этот адрес приходят ссылки для нового пароля.',
  current_password_missing: 'Для смены пароля нужен текущий пароль.',
  current_password_wrong: 'Текущий пароль неверен.',
  host_refused:
    'Сервер не отвечает под этим именем хоста. Если имя верно, добавьте его в trusted_hosts.',
  host_repeated: 'В запросе больше одного заголовка Host.',
  idempotency_body_gone:
    'Запрос с этим Idempotency-Key выполнен, но его ответ слишком велик, чтобы вернуть его ещё раз.',
  idempotency_key_invalid: 'Длина Idempotency-Key — от 1 до {{limit}} символов.',
  idempotency_key_reused:
    'Этот Idempotency-Key использован для другого запроса. Берите для каждого новый.',
  idempotency_pending: 'Запрос с этим Idempotency-Key ещё выполняется. Повторите чуть позже.',
  internal:
    'На сервере произошла ошибка. Повторите; если она появится снова, найдите в журнале идентификатор запроса.',
  invitation_not_found: 'Такого приглашения нет.',
  invitation_required: 'Для регистрации нужно приглашение. Попросите его у администратора.',
  invitations_exhausted: 'Уже есть {{limit}} открытых приглашений. Сначала отзовите несколько.',
  json_list_too_long: 'В JSON есть список длиннее {{entries}} элементов.',
  json_too_deep: 'Вложенность JSON больше {{levels}} уровней.',
  last_administrator: 'Это последний действующий администратор.',
  multipart_broken:
    'Не удалось прочитать тело multipart: оно обрывается, либо его разделитель отсутствует или длиннее 250 символов.',
  multipart_expected: 'Отправьте это как multipart/form-data.',
  no_password_in_single_mode: 'В однопользовательском режиме пароля нет.',
  nothing_here: 'По этому адресу ничего нет.',
  origin_refused:
    'Страницам с других источников нельзя обращаться к серверу. Если источник верен, добавьте его в cors_origins.',
  oidc_groups_withheld:
    'Единый вход не сообщил ваши группы, потому что их слишком много. Обратитесь к администратору.',
  oidc_no_account: 'У вас здесь нет учётной записи. Попросите администратора создать её.',
  oidc_not_allowed:
    'Вы не состоите ни в одной группе, которой разрешён вход. Обратитесь к администратору.',
  oidc_refused: 'Единый вход отменён или отклонён. Попробуйте ещё раз.',
  oidc_response_invalid:
    'Единый вход не удался: ответу нельзя доверять. Попробуйте ещё раз; если повторится, сообщите администратору.',
  oidc_sign_in_unknown:
    'Этот вход длился слишком долго или начат в другом браузере. Попробуйте ещё раз.',
  oidc_unreachable: 'Единый вход сейчас недоступен. Повторите чуть позже.',
  password_sign_in_off: 'Пароли на этом сервере отключены. Используйте единый вход.',
  password_common:
    'Этот пароль — один из самых распространённых, его сразу подберут. Выберите другой.',
  password_is_name:
    'Пароль не может совпадать с именем пользователя или адресом почты. Выберите другой.',
  password_changed: 'Пароль только что изменён. Войдите снова.',
  registration_closed: 'Регистрация закрыта. Попросите учётную запись у администратора.',
  registrations_exhausted:
    'С вашего адреса зарегистрировано слишком много записей. Попробуйте позже или обратитесь к администратору.',
  request_field_invalid: '{{part}}: недопустимое значение: {{detail}}',
  request_invalid: '{{part}}: недопустимое значение.',
  request_refused: 'Запрос отклонён.',
  secret_unreadable:
    'Сохранённый секрет не читается: он сохранён с другим ключом. Верните тот ключ или введите секрет заново.',
  passkey_invalid: 'Не удалось проверить этот ключ доступа. Повторите или войдите иначе.',
  passkey_not_found: 'Такого ключа доступа нет.',
  passkey_unavailable:
    'Для ключей доступа нужны имя хоста и HTTPS либо localhost. Укажите такой адрес в public_url.',
  passkeys_exhausted: 'У вас уже {{limit}} ключей доступа. Сначала удалите один.',
  second_factor_code_wrong: 'Код неверен, истёк или уже использован. Введите текущий.',
  second_factor_expired: 'Прошло слишком много времени. Войдите с самого начала.',
  second_factor_missing: 'Подтверждать или удалять нечего. Начните заново.',
  second_factor_refused: 'Код или ключ доступа неверен, истёк или уже использован.',
  second_factor_required: 'Пароль верен. Подтвердите вход вторым фактором.',
  second_factor_set: 'Приложение для аутентификации уже настроено. Сначала удалите его.',
  session_not_found: 'Такого сеанса нет.',
  session_ended: 'Ваш сеанс завершён. Войдите снова.',
  setup_link_required:
    'У этого сервера ещё нет администратора. Откройте ссылку для настройки, которую он вывел при запуске.',
  shutting_down: 'Сервер скоро перезапустится. Повторите чуть позже.',
  sign_in_busy: 'Слишком много людей входит одновременно. Повторите чуть позже.',
  sign_in_required: 'Сначала войдите.',
  sign_ins_exhausted:
    'Слишком много неудачных попыток входа. Подождите немного и попробуйте снова.',
  single_user: 'На этом сервере один пользователь: вход не нужен.',
  streams_exhausted:
    'У вас одновременно открыто {{limit}} потоков событий. Закройте несколько вкладок или соединений.',
  too_many_open: 'У сервера открыто слишком много файлов и соединений. Повторите чуть позже.',
  url_invalid: 'Некорректный URL.',
  url_too_long: 'URL слишком длинный.',
  user_name_taken: 'Это имя пользователя или адрес почты заняты.',
  wrong_credentials: 'Неверное имя пользователя или пароль.',
  headers_too_large: 'Заголовки запроса слишком велики.',
  request_timeout: 'Запрос поступал слишком долго.',
  request_malformed: 'Это некорректный HTTP-запрос.',
}

export const administration: Texts<typeof ADMINISTRATION_FAILURES> = {
  approval_mode_not_permitted:
    'Вашей группе нельзя использовать режим одобрения «{{mode}}». Выберите другой: {{available}}.',
  cost_per_day_used_up: 'Ваш бюджет {{limit}} на сегодня исчерпан. Он обновится: {{renews_at}}.',
  cost_per_month_used_up:
    'Ваш бюджет {{limit}} на этот месяц исчерпан. Он обновится: {{renews_at}}.',
  group_cost_used_up:
    'Общий бюджет {{limit}} вашей группы «{{group}}» исчерпан. Он обновится: {{renews_at}}.',
  group_member_not_found: 'Этой учётной записи нет в группе.',
  group_name_taken: 'Группа с таким названием уже есть.',
  group_not_found: 'Такой группы нет.',
  group_tokens_used_up:
    'Общий лимит группы «{{group}}» ({{limit}} токенов) исчерпан. Он обновится: {{renews_at}}.',
  groups_exhausted: 'Групп уже {{limit}}. Сначала удалите одну.',
  messages_per_day_used_up:
    'Ваш лимит сообщений на сегодня ({{limit}}) исчерпан. Он обновится: {{renews_at}}.',
  model_not_permitted:
    'Вашей группе нельзя использовать модель «{{model}}». Выберите другую: {{available}}.',
  no_model_permitted:
    'Вашей группе нельзя использовать ни одну модель этого сервера. Обратитесь к администратору.',
  own_account_stays: 'Свою учётную запись удалить нельзя. Попросите другого администратора.',
  program_seconds_used_up:
    'Ваш лимит работы программ на сегодня ({{limit}} с) исчерпан. Он обновится: {{renews_at}}.',
  requests_exhausted:
    'Можно отправлять {{limit}} запросов в минуту. Повторите через {{seconds}} с.',
  tokens_per_day_used_up:
    'Ваш лимит токенов на сегодня ({{limit}}) исчерпан. Он обновится: {{renews_at}}.',
  tokens_per_month_used_up:
    'Ваш лимит токенов на этот месяц ({{limit}}) исчерпан. Он обновится: {{renews_at}}.',
}

export const conversations: Texts<typeof CONVERSATION_FAILURES> = {
  webhook_not_found: 'Такого вебхука нет.',
  webhook_tests_exhausted:
    'Можно отправлять {{limit}} проверок в час, и этот лимит достигнут. Попробуйте позже.',
  webhooks_exhausted: 'Вебхуков может быть не больше {{limit}}. Сначала удалите один.',
  attachment_not_found: 'Такого вложения нет.',
  channel_name_taken: 'У вас уже есть канал «{{name}}».',
  channel_not_found: 'Такого канала нет.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: 'Каналов типа «{{type}}» нет. Возможные типы: {{types}}.',
  channels_exhausted: 'Каналов может быть не больше {{limit}}. Сначала удалите один.',
  conversation_not_found: 'Такой беседы нет.',
  document_not_found: 'Такого документа нет.',
  documents_exhausted:
    'В проекте может быть не больше {{limit}} документов. Сначала удалите несколько.',
  export_not_found: 'Такого экспорта нет. Экспорт удаляется через день.',
  export_not_ready: 'Экспорт ещё не готов. Дождитесь состояния «completed».',
  export_running: 'У вас уже выполняется экспорт. Дождитесь его окончания.',
  import_invalid: 'В этом файле нет полной беседы ({{detail}}).',
  import_not_found: 'Такого импорта нет.',
  import_running: 'У вас уже выполняется импорт. Дождитесь его окончания.',
  import_upload_too_large: 'Размер импорта — не больше {{limit}}.',
  memory_too_long: 'В памяти может быть не больше {{limit}} символов; в этом тексте — {{length}}.',
  message_not_found: 'Такого сообщения нет.',
  model_configured: 'Эта модель задана в config.yml. Измените её там.',
  model_id_taken: 'Модель с таким идентификатором уже есть.',
  model_key_missing: 'Вы изменили адрес провайдера, поэтому введите и его ключ API.',
  model_unknown: 'Такой модели нет.',
  nothing_to_undelete: 'Нет удаления, которое можно отменить.',
  outbox_full: 'Отправки уже ждут {{limit}} сообщений. Попробуйте позже.',
  recipients_exhausted:
    'Ваши каналы могут писать {{limit}} получателям в час, и этот лимит достигнут. Повторите через {{minutes}} мин.',
  response_item_not_found: 'Ни в одном вашем ответе нет элемента «{{id}}».',
  response_not_found: 'Ответа «{{id}}» нет.',
  run_not_found: 'Такого запуска нет.',
  share_expired: 'Срок действия ссылки должен быть в будущем.',
  share_guesses_exhausted:
    'Слишком много неверных паролей для этой ссылки. Подождите и попробуйте снова.',
  share_not_found: 'По этой ссылке ничего нет.',
  share_password_needed: 'Для этой ссылки нужен пароль (X-Share-Password).',
  share_password_wrong: 'Неверный пароль для этой ссылки.',
  share_too_large: 'Эта беседа слишком велика, чтобы ею делиться.',
  share_views_exhausted:
    'Из этой сети открыто слишком много общих бесед. Подождите минуту и попробуйте снова.',
  sharing_off: 'Доступ по ссылке на этом сервере выключен.',
  unknown_model: 'Модели «{{model}}» нет. Доступны: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Эта учётная запись отключена.',
  answer_without_question:
    'Нет сообщения, к которому относится этот ответ, поэтому его нельзя создать заново.',
  approval_not_found: 'Под этим id_ref не ждёт ни один запрос на одобрение.',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    'Эта модель не принимает изображения, поэтому «{{name}}» нельзя прикрепить. Выберите модель, которая их видит.',
  attachment_not_image: '«{{name}}» — не изображение типа {{type}}.',
  attachment_not_text:
    '«{{name}}» — не текстовый файл. Прикрепите текст или изображение PNG, JPEG, WebP или GIF.',
  attachments_too_large:
    'Общий размер вложений — {{size}}; можно не больше {{limit}}. Отправьте меньше файлов или файлы поменьше.',
  background_tasks_exhausted: 'Уже выполняется {{limit}} фоновых задач. Дождитесь окончания одной.',
  call_decided: 'По этому вызову решение уже принято.',
  client_call_unknown:
    'Перед результатом нет вызова с id «{{id}}». Отправляйте вызовы вместе с результатами.',
  client_result_missing:
    'Нет результата вызова «{{name}}». Отправьте результат каждого вызова ваших инструментов.',
  conversation_busy: 'В этой беседе постоянно начинаются новые запуски. Попробуйте ещё раз.',
  conversation_gone: 'Беседа удалена.',
  conversation_has_run: 'В этой беседе уже есть активный запуск. Дождитесь его или остановите.',
  image_not_data_url:
    'Отправляйте изображения как data URL: data:image/png;base64,… (PNG, JPEG, WebP или GIF).',
  input_answered: 'На этот вопрос уже ответили.',
  input_content_invalid: '{{detail}}',
  input_not_found: 'Под этим id_ref ни один MCP-сервер не ждёт данных.',
  message_too_long: 'В сообщении {{length}} символов; можно не больше {{limit}}.',
  nothing_to_answer:
    'Отвечать не на что: последним должно быть сообщение пользователя или результаты ваших инструментов.',
  only_own_messages_editable: 'Изменять можно только свои сообщения.',
  only_answers_revisable: 'Так можно изменить только текст ответа.',
  answer_not_finished: 'Этот ответ ещё пишется. Подождите или остановите его.',
  parent_gone: 'Сообщение, к которому относится это, тем временем удалено.',
  parent_not_an_answer: '«parent_id» должен быть ответом в этой беседе.',
  project_would_be_too_large:
    'Размер проекта стал бы {{size}}; можно не больше {{limit}}. Изменение отменено.',
  restore_not_recorded:
    'Файлы восстановлены, но состояние восстановления пока не удалось сохранить.',
  run_completed: 'Этот запуск завершён; продолжать нечего.',
  run_continues_soon: 'Сервер вот-вот продолжит этот запуск. Повторите чуть позже.',
  run_not_prepared: 'Ответ не удалось подготовить. Попробуйте ещё раз.',
  run_not_stored:
    'Ответ не удалось сохранить, и на этом он заканчивается. Спросите снова или продолжите его.',
  run_still_active: 'Этот запуск ещё активен.',
  run_takes_no_decision: 'Этот запуск завершён: ни один его вызов не ждёт решения.',
  run_takes_no_input: 'Этот запуск завершён: ни один его вызов не ждёт данных.',
  run_minutes_used_up: 'Ответ прерывается через {{limit}} мин. Можно разрешить ему продолжиться.',
  run_tokens_used_up:
    'Лимит в {{limit}} токенов на один ответ исчерпан. Попросите продолжение новым сообщением.',
  run_without_answer: 'Запуск завершился без ответа.',
  runs_exhausted:
    'У вас уже {{limit}} активных запусков. Дождитесь окончания одного или остановите.',
  task_not_found: 'Такой задачи нет.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  cursor_gone:
    'Сообщение, на которое указывает эта позиция, удалено. Начните снова с первой страницы.',
  cursor_invalid: 'Неверная позиция. Начните снова с первой страницы.',
  disk_unconfirmed: 'Диск не подтвердил запись. Проверьте диск и перезапустите сервер.',
  search_too_slow: 'Поиск длился слишком долго. Уточните запрос и повторите.',
  store_busy: 'База данных занята. Повторите чуть позже.',
  store_closed: 'База данных закрыта.',
  store_file_unusable: 'Файл базы данных сейчас нельзя использовать.',
  store_full: 'Диск заполнен: ничего не сохранено. Освободите место и повторите.',
  store_locked: 'База данных заблокирована другой программой. Повторите чуть позже.',
  store_overloaded: 'База данных перегружена. Повторите чуть позже.',
  store_unanswered: 'База данных не отвечает. Повторите чуть позже.',
}
