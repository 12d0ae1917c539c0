// Russian texts of refused requests (administration, conversations, runs and the store), by the protocol's reasons.
import type { ADMINISTRATION_FAILURES } from '../../../../../server/protocol/failures/administration.ts'
import type { CONVERSATION_FAILURES } from '../../../../../server/protocol/failures/conversations.ts'
import type { RUN_FAILURES } from '../../../../../server/protocol/failures/runs.ts'
import type { STORE_FAILURES } from '../../../../../server/protocol/failures/store.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

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
    'Ваш лимит сообщений в каналы на сегодня ({{limit}}) исчерпан. Он обновится: {{renews_at}}.',
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
  channel_address_refused:
    'Этот сервер не отправляет письма на {{address}}. Узнайте у администратора, какие адреса разрешены.',
  channel_mail_not_set_up:
    'Этот сервер не может отправлять письма. Попросите администратора настроить `smtp` или выберите канал другого типа.',
  channel_name_taken: 'У вас уже есть канал «{{name}}».',
  channel_not_found: 'Такого канала нет.',
  channel_settings_invalid: '{{detail}}',
  channel_type_unknown: 'Каналов типа «{{type}}» нет. Возможные типы: {{types}}.',
  channels_exhausted: 'Каналов может быть не больше {{limit}}. Сначала удалите один.',
  conversation_not_found: 'Такой беседы нет.',
  document_not_found: 'Такого документа нет.',
  document_encoding_fixed:
    'Для «{{name}}» нельзя выбрать другую кодировку: документ читается, его кодировка известна точно или его файл больше не хранится.',
  documents_exhausted:
    'В проекте может быть не больше {{limit}} документов. Сначала удалите несколько.',
  export_not_found: 'Такого экспорта нет. Экспорт удаляется через день.',
  export_not_ready: 'Экспорт ещё не готов. Дождитесь состояния `completed`.',
  export_running: 'У вас уже выполняется экспорт. Дождитесь его окончания.',
  import_invalid: 'В этом файле нет полной беседы ({{detail}}).',
  import_not_found: 'Такого импорта нет.',
  import_running: 'У вас уже выполняется импорт. Дождитесь его окончания.',
  import_upload_too_large: 'Размер импорта — не больше {{limit}}.',
  memory_too_long:
    'В памяти может быть не больше {{limit}} символов; в этом тексте — {{length}}. Сократите его.',
  message_not_found: 'Такого сообщения нет.',
  model_configured: 'Эта модель задана в config.yml. Измените её там.',
  model_id_taken: 'Модель с таким идентификатором уже есть.',
  model_key_missing: 'URL провайдера изменился. Введите ключ API заново.',
  model_unknown: 'Такой модели нет.',
  nothing_to_undelete: 'Нет удаления, которое можно отменить.',
  outbox_full: 'Отправки уже ждут {{limit}} сообщений. Попробуйте позже.',
  recipients_exhausted:
    'Ваши каналы могут писать {{limit}} получателям в час, и этот лимит достигнут. Повторите через {{minutes}} мин.',
  response_item_not_found: 'Ни в одном вашем ответе нет элемента «{{id}}».',
  response_not_found: 'Ответа «{{id}}» нет.',
  run_not_found: 'Такого ответа нет.',
  share_expired: 'Срок действия ссылки должен быть в будущем.',
  share_guesses_exhausted:
    'Слишком много неверных паролей для этой ссылки. Подождите и попробуйте снова.',
  share_not_found: 'Такой ссылки нет, или доступ по ней закрыт.',
  share_password_needed: 'Для этой ссылки нужен пароль (X-Share-Password).',
  share_password_wrong: 'Неверный пароль для этой ссылки.',
  share_too_large: 'Эта беседа слишком велика, чтобы ею делиться.',
  share_views_exhausted:
    'Из этой сети открыто слишком много общих бесед. Подождите минуту и попробуйте снова.',
  sharing_off: 'Общие ссылки на этом сервере выключены.',
  unknown_model: 'Модели «{{model}}» нет. Доступны: {{available}}.',
}

export const runs: Texts<typeof RUN_FAILURES> = {
  account_disabled: 'Эта учётная запись отключена. Обратитесь к администратору.',
  answer_without_question:
    'Нет сообщения, к которому относится этот ответ, поэтому его нельзя создать заново.',
  approval_not_found: 'Нет запроса на одобрение с этим id_ref, который ждал бы решения.',
  approved_arguments_invalid: '{{detail}}',
  attachment_needs_vision:
    'Эта модель не принимает изображения, поэтому «{{name}}» нельзя прикрепить. Выберите модель, которая их видит.',
  attachment_not_image: '«{{name}}» — не изображение типа {{type}}.',
  attachment_not_text:
    '«{{name}}» — не текстовый файл. Прикрепите текст или изображение PNG, JPEG, WebP или GIF.',
  attachments_too_large:
    'Общий размер вложений — {{size}}; можно не больше {{limit}}. Отправьте меньше файлов или файлы поменьше.',
  background_tasks_exhausted: 'Уже выполняется {{limit}} фоновых задач. Дождитесь окончания одной.',
  call_decided: 'Этот вызов инструмента уже одобрен или отклонён.',
  client_call_unknown:
    'Этому результату не предшествует вызов инструмента с ID «{{id}}». Отправляйте вызовы вместе с их результатами.',
  client_result_missing:
    'Нет результата вызова инструмента «{{name}}». Отправьте результат каждого вызова ваших инструментов.',
  conversation_busy: 'В этой беседе постоянно начинаются новые ответы. Попробуйте ещё раз.',
  conversation_gone: 'Беседа удалена.',
  conversation_has_run: 'В этой беседе уже готовится ответ. Дождитесь его или остановите.',
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
  parent_not_an_answer: '`parent_id` должен быть ответом в этой беседе.',
  programs_exhausted:
    'Одновременно можно запустить не больше {{limit}} программ. Дождитесь окончания одной или остановите её.',
  python_unavailable:
    'Запустить Python здесь нельзя: этот сервер его не предлагает или не предлагает вашей учётной записи.',
  project_would_be_too_large:
    'Размер проекта стал бы {{size}}; можно не больше {{limit}}. Изменение отменено.',
  restore_not_recorded:
    'Файлы восстановлены, но состояние восстановления пока не удалось сохранить.',
  run_completed: 'Этот ответ завершён; продолжать нечего.',
  run_continues_soon: 'Сервер вот-вот продолжит этот ответ. Повторите чуть позже.',
  run_not_prepared: 'Ответ не удалось подготовить. Попробуйте ещё раз.',
  run_not_stored:
    'Ответ не удалось сохранить, и на этом он заканчивается. Отправьте сообщение снова или продолжите ответ.',
  run_still_active: 'Этот ответ ещё готовится.',
  run_takes_no_decision: 'Этот ответ завершён: ни один его вызов инструмента не ждёт решения.',
  run_takes_no_input: 'Этот ответ завершён: ни один его вызов инструмента не ждёт данных.',
  run_minutes_used_up: 'Этот ответ достиг лимита: {{limit}} мин. Его можно продолжить.',
  run_tokens_used_up:
    'Этот ответ достиг лимита токенов ({{limit}}). Отправьте новое сообщение, чтобы продолжить.',
  run_without_answer: 'Ответ не получен. Попробуйте ещё раз.',
  runs_exhausted:
    'У вас уже готовится ответов: {{limit}}. Дождитесь одного из них или остановите один.',
  task_not_found: 'Такой фоновой задачи нет.',
}

export const store: Texts<typeof STORE_FAILURES> = {
  blobs_unavailable: 'Хранилище файлов сейчас недоступно. Повторите чуть позже.',
  cursor_gone:
    'Сообщение, на которое указывает эта позиция, удалено. Начните снова с первой страницы.',
  cursor_invalid: 'Неверная позиция. Начните снова с первой страницы.',
  disk_unconfirmed: 'Диск не подтвердил запись. Проверьте диск и перезапустите сервер.',
  search_too_slow: 'Поиск длился слишком долго. Уточните запрос и повторите.',
  store_busy: 'База данных занята. Повторите чуть позже.',
  store_closed: 'База данных закрыта.',
  store_file_unusable: 'Файл базы данных сейчас нельзя использовать. Повторите чуть позже.',
  store_full: 'Диск заполнен: ничего не сохранено. Освободите место и повторите.',
  store_locked: 'База данных заблокирована другой программой. Повторите чуть позже.',
  store_overloaded: 'База данных перегружена. Повторите чуть позже.',
  store_unanswered: 'База данных не отвечает. Повторите чуть позже.',
}
