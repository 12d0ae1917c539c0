// Russian texts of failures (files, models, documents, deliveries, MCP servers and imports), by the protocol's reasons.
import type { FILE_FAILURES } from '../../../../../server/protocol/failures/files.ts'
import type { MODEL_FAILURES } from '../../../../../server/protocol/failures/models.ts'
import type { StoredFailureReason } from '../../../../../server/protocol/failures/stored.ts'

type Texts<Reasons> = Record<keyof Reasons, string>

export const files: Texts<typeof FILE_FAILURES> = {
  binary_file: '«{{path}}» — двоичный файл ({{kind}}, {{size}}), его нельзя прочитать как текст.',
  checkpoint_not_found: 'Такого состояния нет.',
  content_expired:
    'Прежнее содержимое «{{path}}» больше не хранится, поэтому это состояние нельзя восстановить.',
  disk_full: 'Диск заполнен: ничего не изменено. Освободите место и повторите.',
  edit_failed: '{{detail}}',
  encoding_mismatch: '«{{path}}» — некорректный {{encoding}}. Попробуйте другую кодировку.',
  encoding_not_writable:
    '«{{path}}» в кодировке {{encoding}}, в которой этот текст не представить. Запишите весь файл в UTF-8.',
  encoding_unknown:
    'Неизвестная кодировка «{{encoding}}». Попробуйте utf-8, utf-16le, gb18030, shift_jis или windows-1252.',
  file_access_denied: 'У сервера нет прав на это действие с «{{path}}».',
  file_changed_meanwhile:
    'Тем временем «{{path}}» изменил кто-то другой. Прочитайте файл заново, прежде чем менять.',
  file_changed_while_read: '«{{path}}» изменился во время чтения. Попробуйте ещё раз.',
  file_content_missing:
    'Содержимого этого файла нет на сервере. Администратор может восстановить его из резервной копии.',
  file_created_meanwhile: 'Файл «{{path}}» уже есть. Прочитайте его, прежде чем менять.',
  file_deleted_meanwhile:
    'Тем временем «{{path}}» удалил кто-то другой. Прежде чем менять, проверьте, какие файлы есть.',
  file_exists: '«{{path}}» уже есть или это папка.',
  file_in_the_way: '«{{path}}» — файл; папка не может занять его место.',
  file_id_unknown: 'Такого файла нет.',
  file_name_too_long: 'Слишком длинное имя: «{{path}}».',
  file_not_found: 'Нет файла или папки «{{path}}».',
  file_removed_while_written: '«{{path}}» удалён во время записи. Попробуйте ещё раз.',
  file_replaced:
    '«{{path}}» заменён во время использования. Ничего не изменено; попробуйте ещё раз.',
  file_too_large: 'Размер «{{path}}» — {{size}}; прочитать можно не больше {{limit}}.',
  file_too_large_to_write:
    'Размер «{{path}}» стал бы {{size}}; записать можно не больше {{limit}}.',
  file_type_unsupported:
    '«{{name}}» нельзя прикрепить. Подходят изображения (PNG, JPEG, WebP, GIF), документы PDF, DOCX, XLSX, PPTX и текст.',
  file_unusable: 'Не удалось получить доступ к «{{path}}».',
  file_upload_too_large: 'Размер файла — не больше {{limit}}.',
  file_thumbnail_missing:
    '«{{name}}» — не изображение, миниатюры нет. Уберите `thumb`, чтобы получить сам файл.',
  file_used: 'Этот файл используется в сообщении. Сначала удалите сообщение.',
  file_would_be_too_large: '«{{path}}» был бы слишком велик.',
  file_missing: 'Отправьте один файл в поле `file`.',
  files_missing: 'Отправьте хотя бы один файл в поле `files[]`.',
  folder_exists: 'Папка «{{path}}» уже есть.',
  folder_in_the_way:
    'В папке «{{path}}» есть файлы, неизвестные этому состоянию, поэтому файл с таким именем нельзя восстановить.',
  folder_into_itself: 'Папку нельзя переместить в саму себя.',
  folder_takes_no_file: '«{{path}}» — папка; файл не может занять её место.',
  glob_too_complex: 'В шаблоне слишком много вариантов в фигурных скобках. Упростите его.',
  glob_too_long: 'В шаблоне может быть не больше {{limit}} символов.',
  image_unreadable:
    '«{{name}}» не читается как изображение: оно повреждено, в нём слишком много пикселей или формат не поддерживается.',
  link_refused:
    '«{{path}}» — символическая ссылка или проходит через неё. Переходы по ссылкам в проекте не выполняются.',
  names_collide: '«{{path}}» конфликтует с другим файлом, имя которого этот диск считает таким же.',
  not_a_file: '«{{path}}» — папка, а не файл.',
  not_a_regular_file: '«{{path}}» — устройство, канал или сокет, а не обычный файл.',
  old_name_taken:
    'Папка «{{path}}» раньше называлась «{{old}}», но теперь это имя занято. Переименуйте или переместите занявший его объект и восстановите снова.',
  path_escapes:
    'Путь выходит за пределы проекта. Используйте путь относительно папки проекта, например «src/main.py».',
  path_has_backslashes: 'Недопустимый путь: разделяйте папки знаком «/», а не «\\».',
  path_has_invisible_characters: 'Недопустимый путь: в нём есть управляющие или невидимые символы.',
  path_is_project: 'Недопустимый путь: это сама папка проекта.',
  path_name_too_long: 'Недопустимый путь: в нём слишком длинное имя.',
  path_not_unicode: 'Недопустимый путь: некорректный Юникод.',
  path_taken: 'Файл или папка с именем «{{path}}» уже есть.',
  path_through_file: '«{{path}}» не существует: часть пути — не папка.',
  path_too_deep: 'Недопустимый путь: глубже {{limit}} папок.',
  path_too_long: 'Недопустимый путь: он слишком длинный.',
  project_busy:
    'Ещё выполняется другое изменение этого проекта. Ничего не изменено. Попробуйте ещё раз.',
  project_deleted: 'Этот проект удалён. Ничего не изменено, и изменить его больше нельзя.',
  project_deleted_during_run:
    'Проект этой беседы удалён во время ответа, поэтому ответ на этом заканчивается. Отправьте сообщение снова, чтобы продолжить без проекта.',
  project_full: 'Проект превысил бы лимит {{limit}}. Сначала удалите несколько файлов.',
  project_name_taken: 'У вас уже есть проект с таким названием.',
  project_not_found: 'Такого проекта нет.',
  projects_exhausted: 'У вас уже есть проекты: {{limit}}. Сначала удалите один из них.',
  quota_claim_refused:
    'Не хватает места ещё для {{more}}. Во всех проектах, документах и вложениях вместе можно хранить не больше {{limit}}, занято {{used}}. Сначала удалите часть из них.',
  quota_exceeded:
    'Изменение отменено, потому что превышает доступное вам место. Во всех проектах, документах и вложениях вместе можно хранить не больше {{limit}}, занято {{used}}. Сначала удалите часть из них.',
  quota_texts_refused:
    'Не хватает места ещё для {{more}} текста. Можно хранить не больше {{limit}}, вместе с текстами бесед и общих ссылок занято {{used}}. Сначала удалите часть бесед, общих ссылок или файлов.',
  request_stopped: 'Запрос отменён. Ничего не изменено.',
  search_not_isolated: 'Поиск не удалось изолировать от системы.',
  search_busy: 'Ваших поисков в ожидании: {{count}}. Повторите, когда они закончатся.',
  search_not_started: 'Не удалось запустить программу поиска.',
  search_path_is_link: '«{{path}}» — символическая ссылка, переход по ней не выполняется.',
  search_path_not_found: 'Для поиска нет файла или папки «{{path}}».',
  search_pattern_invalid:
    'Недопустимый шаблон: {{detail}}. Чтобы искать специальные символы как есть, ставьте перед ними «\\».',
  too_many_changes: 'За один раз можно изменить не больше {{limit}} файлов.',
  too_many_files_open: 'Открыто слишком много файлов. Повторите чуть позже.',
  too_many_restored: 'За один раз можно восстановить не больше {{limit}} файлов.',
  upload_fields_invalid: '{{detail}}',
  upload_has_too_many_files: 'За один раз можно загрузить не больше {{limit}} файлов.',
  upload_repeats: 'В загрузке дважды встречается «{{path}}».',
  upload_too_large: 'Размер загрузки — не больше {{limit}}.',
  upload_too_many_fields: 'В загрузке больше полей, чем разрешает сервер.',
  upload_too_many_files: 'В загрузке больше файлов, чем разрешает сервер.',
  upload_too_many_parts: 'В загрузке больше частей, чем разрешает сервер.',
  uploaded_file_too_large: 'Один из файлов больше, чем разрешает сервер.',
  uploads_busy: 'Сервер принимает слишком много загрузок. Повторите чуть позже.',
  uploads_exhausted:
    'Одновременно может быть не больше {{limit}} загрузок. Дождитесь окончания одной и повторите.',
  work_stopped: 'Операция отменена.',
  work_too_slow: 'Операция длилась дольше {{seconds}} с.',
  upload_not_multipart: 'Отправьте файлы как multipart/form-data.',
}

export const models: Texts<typeof MODEL_FAILURES> = {
  model_answer_unfinished: 'Модель остановилась, не закончив ответ.',
  model_answer_empty:
    'Модель «{{model}}» ничего не ответила. Отправьте сообщение ещё раз или выберите другую модель.',
  model_answer_endless:
    'Ответ «{{model}}» не заканчивался и был обрезан. Повторите или выберите другую модель.',
  model_answer_filtered:
    'Фильтр содержимого провайдера или сама «{{model}}» прервали этот ответ ({{finish_reason}}). Сформулируйте сообщение иначе или выберите другую модель.',
  model_answer_is_page:
    'Провайдер «{{model}}» прислал веб-страницу. Проверьте, что api_url — адрес API модели.',
  model_answer_no_json:
    'Ответ провайдера «{{model}}» — не объект JSON. Проверьте, что api_url — адрес API модели.',
  model_answer_no_stream:
    'Ответ провайдера «{{model}}» — не поток событий. Проверьте, что api_url — адрес API модели.',
  model_answer_only_thinking:
    '«{{model}}» размышляла, но не написала ответа. Отправьте сообщение ещё раз или выберите другую модель.',
  model_answer_only_thinking_cut:
    '«{{model}}» достигла предела вывода, не написав ответа. Увеличьте max_tokens беседы или модели или уменьшите размышления.',
  model_api_missing: 'По этому адресу нет API, совместимого с OpenAI. Проверьте адрес.',
  model_call_malformed:
    '«{{model}}» написала вызов инструмента, который невозможно прочитать. Отправьте сообщение ещё раз или выберите другую модель.',
  model_call_unreadable:
    'Модель написала нечитаемый вызов инструмента. Её попросят написать его ещё раз.',
  model_context_exceeded:
    'Беседа слишком длинна для «{{model}}». Начните новую или выберите модель с большим окном контекста.',
  model_key_lost:
    'Сохранённый ключ API модели {{model}} не удаётся расшифровать. Администратор должен ввести его заново: «Настройки → Модели».',
  model_list_empty: 'Провайдер не сообщает ни одной модели. Введите название модели.',
  model_not_found:
    'Провайдер «{{model}}» не знает этой модели или адреса ({{status}}). Проверьте api_url и upstream_model.',
  model_rate_limited:
    'Провайдер «{{model}}» ограничивает частоту запросов ({{status}}). Повторите чуть позже.',
  model_rate_limited_quota:
    'Ваша квота на «{{model}}» у провайдера исчерпана ({{status}}). Выберите другую модель или дождитесь обновления.',
  model_redirected: 'Адрес «{{model}}» перенаправляет ({{status}}). Проверьте api_url.',
  model_refused: 'Провайдер «{{model}}» отклонил запрос ({{status}}).',
  model_refused_credit:
    'На счёте у провайдера «{{model}}» нет средств ({{status}}). Пополните его или выберите другую модель.',
  model_stopped: 'Запрос к «{{model}}» отменён.',
  model_stream_broken: 'Связь с «{{model}}» прервалась до окончания ответа.',
  model_stream_disordered:
    'Провайдер «{{model}}» прислал части ответа дважды или не по порядку. Повторите или выберите другую модель.',
  model_timeout: 'Провайдер «{{model}}» отвечал слишком долго ({{status}}).',
  model_timeout_silence: 'Модель «{{model}}» ничего не присылала {{seconds}} с.',
  model_unauthorized:
    'Провайдер отклонил ключ API модели «{{model}}» ({{status}}). Проверьте ключ в настройках.',
  model_unavailable:
    'У провайдера «{{model}}» неполадки ({{status}}). Повторите или выберите другую модель.',
  model_unavailable_connection:
    '«{{model}}» недоступна: не удалось установить соединение. Проверьте адрес провайдера и сеть.',
  model_unavailable_connection_closed:
    '«{{model}}» недоступна: соединение закрыто. Проверьте адрес провайдера и сеть.',
  model_unavailable_connection_refused:
    '«{{model}}» недоступна: в соединении отказано. Проверьте адрес провайдера и сеть.',
  model_unavailable_connection_timed_out:
    '«{{model}}» недоступна: истекло время ожидания соединения. Проверьте адрес провайдера и сеть.',
  model_unavailable_host_not_found:
    '«{{model}}» недоступна: не удалось разрешить имя хоста. Проверьте адрес провайдера и сеть.',
  model_unavailable_host_unknown:
    '«{{model}}» недоступна: неизвестное имя хоста. Проверьте адрес провайдера и сеть.',
  model_unavailable_host_unreachable:
    '«{{model}}» недоступна: хост недоступен. Проверьте адрес провайдера и сеть.',
  model_unavailable_insecure:
    '«{{model}}» недоступна: не удалось установить TLS-соединение. Проверьте адрес провайдера и сеть.',
  model_unavailable_network:
    '«{{model}}» недоступна: нет доступа к сети. Проверьте адрес провайдера и сеть.',
  model_unavailable_reported:
    'Провайдер «{{model}}» сообщил о неполадке. Повторите или выберите другую модель.',
}

export const storedFailures: Record<StoredFailureReason, string> = {
  document_archive_unsupported: 'архивы {{extension}} не поддерживаются',
  document_archive_unknown: 'такие архивы не поддерживаются',
  document_binary:
    'это двоичный файл; поддерживаются текст, Markdown, PDF, DOCX, XLSX, PPTX, HTML и CSV',
  document_docx_damaged: 'файл DOCX повреждён',
  document_empty: 'в нём нет текста',
  document_lost: 'загрузка потеряна; загрузите файл снова',
  document_not_indexed: 'его не удалось проиндексировать',
  document_not_what_its_name_says:
    'имя оканчивается на {{extension}}, но содержимое в другом формате',
  document_office_damaged: 'файл {{extension}} повреждён',
  document_page_too_deep: 'слишком глубокая вложенность страницы',
  document_pdf_damaged: 'PDF повреждён',
  document_partly_read: 'на этих страницах нет текста, который можно прочитать: {{pages}}',
  document_pdf_protected: 'PDF защищён паролем',
  document_pdf_xfa:
    'это форма в формате XFA от Adobe (напечатайте её в PDF в Adobe Acrobat и приложите этот файл)',
  document_reader_not_started: 'программу чтения документов не удалось запустить',
  document_reading_stopped: 'чтение отменено',
  document_reading_too_slow: 'чтение длилось слишком долго',
  document_scanned: 'в нём нет текста (отсканированный документ сначала распознайте)',
  document_too_large: 'файл слишком велик',
  document_too_large_to_read: 'он слишком велик для чтения',
  document_unreadable: 'файл не удалось прочитать',
  delivery_channel_kind_gone: 'такие каналы больше не предлагаются',
  delivery_failed: 'отправка не удалась',
  delivery_mail_certificate_expired: 'сертификат почтового сервера истёк или ещё не действует',
  delivery_mail_certificate_other_host: 'сертификат почтового сервера выдан для другого хоста',
  delivery_mail_certificate_self_signed: 'сертификат почтового сервера самоподписанный',
  delivery_mail_certificate_untrusted:
    'сертификат почтового сервера выдан центром, которому этот сервер не доверяет',
  delivery_mail_host_unknown: 'имя хоста почтового сервера не найдено',
  delivery_mail_login_refused: 'почтовый сервер отклонил имя пользователя или пароль этого сервера',
  delivery_mail_not_set_up: 'на этом сервере больше нет настроек SMTP',
  delivery_mail_refused_connection: 'почтовый сервер отклонил соединение',
  delivery_mail_refused: 'почтовый сервер отклонил сообщение ({{status}})',
  delivery_mail_unconfirmed: 'владелец {{address}} не дал согласия на письма от этого сервера',
  delivery_mail_unreachable: 'почтовый сервер недоступен или занят',
  delivery_receiver_address_refused: 'серверу нельзя отправлять на адрес получателя',
  delivery_receiver_certificate_invalid: 'сертификат получателя недействителен',
  delivery_receiver_closed_connection: 'получатель закрыл соединение',
  delivery_receiver_host_unknown: 'имя хоста получателя не найдено',
  delivery_receiver_refused_connection: 'получатель отказал в соединении',
  delivery_receiver_timed_out: 'получатель не ответил вовремя',
  delivery_receiver_unreachable: 'получатель недоступен',
  delivery_refused: 'получатель ответил кодом {{status}}',
  delivery_settings_unfit: 'настройки этого канала больше не действуют',
  mcp_certificate_invalid: 'его сертификат недействителен, или этот сервер ему не доверяет',
  mcp_command_not_found: 'его команда «{{command}}» не найдена на сервере',
  mcp_command_not_allowed: 'его команду нельзя запускать',
  mcp_connection_failed: 'соединение не удалось или прервалось',
  mcp_connection_refused: 'он отказал в соединении',
  mcp_credentials_refused: 'он отклонил учётные данные',
  mcp_ended: 'его процесс завершился',
  mcp_folder_not_found: 'его рабочая папка не найдена на сервере',
  mcp_host_unknown: 'имя его хоста неизвестно',
  mcp_sign_in_needed: 'нужно войти',
  mcp_settings_unreadable:
    'его сохранённые настройки больше не удаётся расшифровать; измените его и введите адрес снова',
  mcp_wrong_address: 'по его адресу нет MCP-сервера',
  mcp_too_slow: 'он не ответил вовремя',
  blobs_unreachable: 'хранилище файлов недоступно; повторите позже',
  export_failed: 'произошла непредвиденная ошибка; подробности в журнале сервера',
  export_interrupted: 'тем временем сервер перезапустился; начните экспорт снова',
  import_already_there: 'уже импортировано раньше',
  import_archive_bomb: 'степень сжатия больше {{ratio}}, чего в настоящем экспорте не бывает',
  import_archive_damaged: 'архив повреждён или неполон; скачайте его снова',
  import_archive_encrypted: 'защищено паролем; распакуйте архив и упакуйте снова без пароля',
  import_archive_too_large: 'распакованный архив больше {{limit}}',
  import_archive_too_many_files: 'в архиве больше {{limit}} файлов',
  import_conversation_too_large: 'размер больше {{limit}}',
  import_cycle: 'сообщения образуют цикл',
  import_database_unreadable: 'файл SQLite повреждён или содержит неизвестные таблицы',
  import_disk_full: 'диск сервера заполнен',
  import_entry_link: 'это ссылка',
  import_entry_unsafe: 'имя ведёт за пределы архива',
  import_failed: 'произошла непредвиденная ошибка; подробности в журнале сервера',
  import_file_missing: 'в экспорте этого нет',
  import_file_refused: 'сервер отклонил: {{detail}}',
  import_format_unknown:
    'это не экспорт NanoClaw, ChatGPT, Claude, Open WebUI или LibreChat и не файл SQLite от NanoClaw на Python',
  import_in_trash: 'в корзине; восстановите оттуда',
  import_interrupted:
    'тем временем сервер перезапустился; импортируйте файл снова: имеющееся останется и не задвоится',
  import_json_damaged: 'JSON повреждён или неполон',
  import_marks_unknown:
    'метки этого вида в «{{conversation}}» неизвестны, и в экспорте нет их содержимого',
  import_no_messages: 'нет сообщений',
  import_out_of_memory: 'нужно больше памяти, чем доступно импорту',
  import_parts_unknown: 'части этого вида в «{{conversation}}» неизвестны и пропущены',
  import_project_exists: 'у вас уже есть проект с таким названием; его файлы не изменены',
  import_storage_full:
    'в хранилище нет места для этих текстов; удалите часть бесед, общих ссылок или файлов и импортируйте ещё раз (то, что уже есть, повторно не импортируется)',
  import_too_many_messages: 'больше {{limit}} сообщений',
  import_too_slow: 'чтение длилось слишком долго',
  import_unreadable: 'не та структура, что ожидалась ({{detail}})',
}
