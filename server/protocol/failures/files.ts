// Projects, their files, uploads, search and checkpoints.

export const FILE_FAILURES = {
  binary_file: [
    'binary_file',
    '“{{path}}” is a binary file ({{kind}}, {{size}}) and cannot be read as text.',
  ],
  checkpoint_not_found: ['not_found', 'Checkpoint not found.'],
  content_expired: [
    'conflict',
    'The earlier content of “{{path}}” is no longer stored, so this state cannot be restored.',
  ],
  disk_full: [
    'store_full',
    'The disk is full. Nothing was changed. Free some space and try again.',
  ],
  edit_failed: ['bad_request', '{{detail}}'],
  encoding_mismatch: ['bad_request', '“{{path}}” is not valid {{encoding}}. Try another encoding.'],
  encoding_not_writable: [
    'bad_request',
    '“{{path}}” uses the encoding {{encoding}}, which cannot represent this text. Write the whole file in UTF-8 instead.',
  ],
  encoding_unknown: [
    'bad_request',
    'Unknown encoding “{{encoding}}”. Try utf-8, utf-16le, gb18030, shift_jis or windows-1252.',
  ],
  file_access_denied: [
    'forbidden',
    'The server does not have permission to do this with “{{path}}”.',
  ],
  file_changed_meanwhile: [
    'file_changed',
    'Someone else changed “{{path}}” in the meantime. Read it again before changing it.',
  ],
  file_changed_while_read: [
    'file_changed',
    '“{{path}}” changed while it was being read. Try again.',
  ],
  file_content_missing: [
    'internal',
    'The content of this file is missing on the server. An administrator can restore it from a backup.',
  ],
  file_created_meanwhile: [
    'file_changed',
    'The file “{{path}}” already exists. Read it before changing it.',
  ],
  file_deleted_meanwhile: [
    'file_changed',
    'Someone else deleted “{{path}}” in the meantime. Check which files exist before changing it.',
  ],
  file_exists: ['conflict', '“{{path}}” already exists, or is a folder.'],
  file_in_the_way: ['conflict', '“{{path}}” is a file and cannot be replaced with a folder.'],
  file_id_unknown: ['not_found', 'File not found.'],
  file_name_too_long: ['bad_request', 'The name of “{{path}}” is too long.'],
  file_not_found: ['not_found', 'No file or folder “{{path}}”.'],
  file_removed_while_written: [
    'file_changed',
    '“{{path}}” was removed while it was being written. Try again.',
  ],
  file_replaced: [
    'file_changed',
    '“{{path}}” was replaced while it was in use. Nothing was changed. Try again.',
  ],
  file_too_large: [
    'file_too_large',
    '“{{path}}” is too large to read ({{size}}). The limit is {{limit}}.',
  ],
  file_too_large_to_write: [
    'file_too_large',
    '“{{path}}” would be too large to write ({{size}}). The limit is {{limit}}.',
  ],
  file_thumbnail_missing: [
    'not_found',
    '“{{name}}” is not an image and has no thumbnail. Omit `thumb` to get the file itself.',
  ],
  file_type_unsupported: [
    'unsupported_media_type',
    'Files like “{{name}}” cannot be attached. Attach an image (PNG, JPEG, WebP, GIF), a PDF, DOCX, XLSX or PPTX document, a recording (MP3, M4A, Ogg, WebM, WAV, FLAC), or text.',
  ],
  file_unusable: ['internal', '“{{path}}” could not be accessed.'],
  file_upload_too_large: ['payload_too_large', 'The file is too large: the limit is {{limit}}.'],
  file_used: ['conflict', 'A message uses this file. Delete that message first.'],
  file_would_be_too_large: ['file_too_large', '“{{path}}” would be too large.'],
  file_missing: ['bad_request', 'Send one file in the field `file`.'],
  files_missing: ['bad_request', 'Send at least one file in the field `files[]`.'],
  folder_exists: ['conflict', 'A folder named “{{path}}” already exists.'],
  folder_in_the_way: [
    'conflict',
    'The file “{{path}}” cannot be restored: a folder with that name contains files that are not in the checkpoint.',
  ],
  folder_into_itself: ['bad_request', 'A folder cannot be moved into itself.'],
  folder_takes_no_file: ['conflict', '“{{path}}” is a folder and cannot be replaced with a file.'],
  glob_too_complex: [
    'bad_request',
    'The pattern has too many alternatives in braces. Simplify it.',
  ],
  glob_too_long: ['bad_request', 'The pattern is too long: the limit is {{limit}} characters.'],
  icon_not_image: [
    'bad_request',
    'The icon of a project is one emoji, or the id of an image that you have uploaded.',
  ],
  project_import_unknown: [
    'bad_request',
    'This file holds no project: neither a bundle of a project, nor agents of LibreChat, models of Open WebUI, or a character card.',
  ],
  project_import_json_damaged: [
    'bad_request',
    'The JSON in this file is damaged or incomplete. Export it again.',
  ],
  project_import_picture_damaged: [
    'bad_request',
    'The picture is damaged or incomplete. Download it again.',
  ],
  project_import_archive_damaged: [
    'bad_request',
    'The archive is damaged or incomplete. Download it again.',
  ],
  project_import_encrypted: [
    'bad_request',
    'The archive is password-protected. Unpack it and pack it again without a password.',
  ],
  project_import_too_large: [
    'bad_request',
    'This file is too large to be imported: the limit is {{limit}}.',
  ],
  project_import_unpacked_too_large: [
    'bad_request',
    'The archive is too large to be imported: the limit is {{limit}} once it is unpacked.',
  ],
  project_import_too_many: [
    'bad_request',
    'This file contains more than {{limit}} assistants. Split it.',
  ],
  project_import_empty: [
    'bad_request',
    'This file contains only models without instructions. Nothing can be imported.',
  ],
  project_import_too_costly: [
    'bad_request',
    'Reading this file takes more time or memory than an import may use.',
  ],
  project_import_entry_missing: [
    'bad_request',
    'This is not the bundle of a project: the archive has no “{{path}}”.',
  ],
  project_import_entry_invalid: [
    'bad_request',
    'The file “{{path}}” in the archive cannot be read.',
  ],
  project_import_entry_too_large: [
    'bad_request',
    'The file “{{path}}” in the archive is too large.',
  ],
  project_import_entry_refused: [
    'bad_request',
    'The archive contains “{{path}}”, which is not allowed: a link, a name that is refused, or content that unpacks to far too much.',
  ],
  project_import_field_invalid: [
    'bad_request',
    'The field “{{field}}” in “{{path}}” of the bundle has no valid value.',
  ],
  image_unreadable: [
    'unsupported_media_type',
    '“{{name}}” cannot be read as an image: it is damaged, has too many pixels, or its format is not supported.',
  ],
  link_refused: [
    'path_escapes',
    '“{{path}}” is a symbolic link or passes through one. Links in a project are not followed.',
  ],
  names_collide: [
    'conflict',
    '“{{path}}” conflicts with another file whose name this disk considers the same.',
  ],
  not_a_file: ['bad_request', '“{{path}}” is a folder, not a file.'],
  not_a_regular_file: [
    'bad_request',
    '“{{path}}” is a device, a pipe or a socket, not a regular file.',
  ],
  old_name_taken: [
    'conflict',
    'The folder “{{path}}” used to be “{{old}}”, but that name is now taken. Move the other item away, then restore again.',
  ],
  path_escapes: [
    'path_escapes',
    'The path leads outside the project. Use a path relative to the project folder, such as “src/main.py”.',
  ],
  path_has_backslashes: ['bad_request', 'Invalid path: separate folders with “/”, not “\\”.'],
  path_has_invisible_characters: [
    'bad_request',
    'Invalid path: it contains control or invisible characters.',
  ],
  path_is_project: ['bad_request', 'Invalid path: it refers to the project folder itself.'],
  path_name_too_long: ['bad_request', 'Invalid path: a name in it is too long.'],
  path_not_unicode: ['bad_request', 'Invalid path: it is not valid Unicode.'],
  path_taken: ['conflict', 'A file or folder named “{{path}}” already exists.'],
  path_through_file: ['not_found', '“{{path}}” does not exist: part of the path is not a folder.'],
  path_too_deep: ['bad_request', 'Invalid path: it is more than {{limit}} folders deep.'],
  path_too_long: ['bad_request', 'Invalid path: it is too long.'],
  project_busy: [
    'store_busy',
    'Another change to this project is in progress. Nothing was changed. Try again.',
  ],
  project_deleted: [
    'project_deleted',
    'This project was deleted and can no longer be changed. Nothing was changed.',
  ],
  project_already_kept: ['conflict', 'This project already is an ordinary one.'],
  project_deleted_during_run: [
    'project_deleted',
    'The project of this conversation was deleted meanwhile, so the answer stops here. Send the message again to continue without the project.',
  ],
  project_handed_over_during_run: [
    'conflict',
    'The project of this conversation went to another account while the answer was being written, so the answer stops here. Send the message again to continue.',
  ],
  project_entries_full: [
    'project_full',
    'A project can hold up to {{limit}} files and folders. Delete some first.',
  ],
  project_full: [
    'project_full',
    'The project would exceed its limit of {{limit}}. Delete some files first.',
  ],
  project_is_scratch: [
    'conflict',
    'These are the files of one conversation. Keep them as a project first.',
  ],
  project_name_taken: ['name_taken', 'You already have a project with this name.'],
  member_unknown: ['not_found', 'There is no such member of this project.'],
  members_exhausted: [
    'conflict',
    'A project can have up to {{limit}} members. Add a group instead.',
  ],
  members_off: [
    'not_found',
    'Sharing projects is not available on this server or for this account.',
  ],
  everyone_cannot_own: [
    'validation_failed',
    '“Everyone” can use or edit a project, but not own it. Choose accounts as owners.',
  ],
  last_owner: [
    'last_owner',
    'This is the last owner of the project. Make somebody else an owner first.',
  ],
  owner_only: ['owner_only', 'Only owners of this project can do this. Ask one of them.'],
  read_only_project: [
    'read_only_project',
    'You can use this project, but not change it. Ask an owner to let you edit it, or make a copy of it.',
  ],
  projects_shared_used_up: [
    'quota_exceeded',
    'You have reached the limit of shared projects ({{limit}}). Stop sharing one first.',
  ],
  project_not_found: ['not_found', 'Project not found.'],
  projects_exhausted: ['conflict', 'You already have {{limit}} projects. Delete one first.'],
  quota_claim_refused: [
    'quota_exceeded',
    'Not enough storage for another {{more}}. You can store up to {{limit}} across all projects, documents and attached files, and are using {{used}}. Delete some of them first.',
  ],
  quota_exceeded: [
    'quota_exceeded',
    'The change was undone because it exceeds your storage. You can store up to {{limit}} across all projects, documents and attached files, and are using {{used}}. Delete some of them first.',
  ],
  quota_texts_refused: [
    'quota_exceeded',
    'Not enough storage for another {{more}} of text. You can store up to {{limit}}, and with the texts of your conversations and shared links you are using {{used}}. Delete some conversations, shared links or files first.',
  ],
  request_stopped: ['store_busy', 'The request was cancelled. Nothing was changed.'],
  search_not_isolated: ['internal', 'The search could not be isolated from the host.'],
  search_busy: [
    'store_busy',
    'You already have {{count}} searches waiting. Try again when they finish.',
  ],
  search_not_started: ['internal', 'The search program could not be started.'],
  search_path_is_link: ['path_escapes', '“{{path}}” is a symbolic link, which is not followed.'],
  search_path_not_found: ['not_found', 'No file or folder “{{path}}” to search.'],
  search_pattern_invalid: [
    'bad_request',
    'Invalid pattern: {{detail}}. To match special characters literally, escape them with “\\”.',
  ],
  too_many_changes: ['bad_request', 'You can change up to {{limit}} files at once.'],
  too_many_files_open: ['store_busy', 'Too many files are open. Try again in a moment.'],
  too_many_restored: ['bad_request', 'You can restore up to {{limit}} files at once.'],
  upload_fields_invalid: ['validation_failed', '{{detail}}'],
  upload_has_too_many_files: ['payload_too_large', 'An upload can contain up to {{limit}} files.'],
  upload_repeats: ['conflict', 'The upload contains “{{path}}” twice.'],
  upload_too_large: ['payload_too_large', 'The upload is too large: the limit is {{limit}}.'],
  upload_too_many_fields: [
    'payload_too_large',
    'The upload contains more fields than this server allows.',
  ],
  upload_too_many_files: [
    'payload_too_large',
    'The upload contains more files than this server allows.',
  ],
  upload_too_many_parts: [
    'payload_too_large',
    'The upload contains more parts than this server allows.',
  ],
  uploaded_file_too_large: [
    'payload_too_large',
    'A file in the upload is larger than this server allows.',
  ],
  uploads_busy: ['server_busy', 'The server is receiving too many uploads. Try again in a moment.'],
  uploads_exhausted: [
    'too_many_requests',
    'Up to {{limit}} uploads can run at once. Wait for one to finish, then try again.',
  ],
  work_stopped: ['bad_request', 'The operation was cancelled.'],
  work_too_slow: ['bad_request', 'The operation took longer than {{seconds}} s.'],
  upload_not_multipart: ['bad_request', 'Send the files as multipart/form-data.'],
} as const
