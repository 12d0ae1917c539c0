// Projects, their files, uploads, search and checkpoints.

export const FILE_FAILURES = {
  binary_file: [
    'binary_file',
    '"{{path}}" is a binary file ({{kind}}, {{size}}) and cannot be read as text.',
  ],
  checkpoint_not_found: ['not_found', 'There is no such checkpoint.'],
  content_expired: [
    'conflict',
    'The earlier content of "{{path}}" is no longer stored, so this state cannot be restored.',
  ],
  disk_full: [
    'store_full',
    'The disk is full: nothing was changed. Free some space and try again.',
  ],
  edit_failed: ['bad_request', '{{detail}}'],
  encoding_mismatch: ['bad_request', '"{{path}}" is not valid {{encoding}}. Try another encoding.'],
  encoding_not_writable: [
    'bad_request',
    '"{{path}}" is encoded in {{encoding}}, which cannot hold this text. Write the whole file in UTF-8 instead.',
  ],
  encoding_unknown: [
    'bad_request',
    'Unknown encoding "{{encoding}}". Try utf-8, utf-16le, gb18030, shift_jis or windows-1252.',
  ],
  file_access_denied: ['forbidden', 'The server has no permission to do that to "{{path}}".'],
  file_changed_meanwhile: [
    'file_changed',
    '"{{path}}" was changed by somebody else meanwhile. Read it again before changing it.',
  ],
  file_changed_while_read: ['file_changed', '"{{path}}" changed while it was read. Try again.'],
  file_content_missing: [
    'internal',
    'The content of this file is missing on the server. Its operator can restore it from a backup.',
  ],
  file_created_meanwhile: [
    'file_changed',
    'The file "{{path}}" already exists. Read it before changing it.',
  ],
  file_deleted_meanwhile: [
    'file_changed',
    '"{{path}}" was deleted by somebody else meanwhile. Read it again before changing it.',
  ],
  file_exists: ['conflict', '"{{path}}" already exists, or is a folder.'],
  file_in_the_way: ['conflict', '"{{path}}" is a file; a folder cannot take its place.'],
  file_id_unknown: ['not_found', 'There is no such file.'],
  file_name_too_long: ['bad_request', 'The name of "{{path}}" is too long.'],
  file_not_found: ['not_found', 'There is no file or folder "{{path}}".'],
  file_removed_while_written: ['file_changed', '"{{path}}" was removed while it was written.'],
  file_replaced: [
    'file_changed',
    '"{{path}}" was replaced while it was in use. Nothing was changed; try again.',
  ],
  file_too_large: [
    'file_too_large',
    'The size of "{{path}}" is {{size}}; at most {{limit}} can be read.',
  ],
  file_too_large_to_write: [
    'file_too_large',
    '"{{path}}" would have a size of {{size}}; at most {{limit}} can be written.',
  ],
  file_thumbnail_missing: [
    'not_found',
    '"{{name}}" is not an image and has no thumbnail. Leave out `thumb` to get the file itself.',
  ],
  file_type_unsupported: [
    'unsupported_media_type',
    '"{{name}}" cannot be attached. Attach an image (PNG, JPEG, WebP, GIF), a PDF, DOCX, XLSX or PPTX document, or text.',
  ],
  file_unusable: ['internal', '"{{path}}" could not be used.'],
  file_upload_too_large: ['payload_too_large', 'A file can have at most {{limit}}.'],
  file_used: ['conflict', 'A message uses this file. Delete the message first.'],
  file_would_be_too_large: ['file_too_large', '"{{path}}" would be too large.'],
  file_missing: ['bad_request', 'Send one file in the field `file`.'],
  files_missing: ['bad_request', 'Send at least one file in the field `files[]`.'],
  folder_exists: ['conflict', 'There is already a folder "{{path}}".'],
  folder_in_the_way: [
    'conflict',
    'The folder "{{path}}" contains files that the checkpoint does not know, so the file of that name cannot be restored.',
  ],
  folder_into_itself: ['bad_request', 'A folder cannot be moved into itself.'],
  folder_takes_no_file: ['conflict', '"{{path}}" is a folder; a file cannot take its place.'],
  glob_too_complex: ['bad_request', 'The pattern has too many alternatives in braces.'],
  glob_too_long: ['bad_request', 'A pattern can have at most {{limit}} characters.'],
  image_unreadable: [
    'unsupported_media_type',
    '"{{name}}" cannot be read as an image: it is damaged, has too many pixels, or its format is not supported.',
  ],
  link_refused: [
    'path_escapes',
    '"{{path}}" is, or passes through, a symbolic link. Links are not followed in a project.',
  ],
  names_collide: [
    'conflict',
    '"{{path}}" contains the name of another file, as this disk compares names.',
  ],
  not_a_file: ['bad_request', '"{{path}}" is a folder, not a file.'],
  not_a_regular_file: [
    'bad_request',
    '"{{path}}" is a device, a pipe or a socket, not a regular file.',
  ],
  old_name_taken: [
    'conflict',
    'The folder "{{path}}" used to be "{{old}}", but something else has that name now. Move it away, then restore again.',
  ],
  path_escapes: [
    'path_escapes',
    'The path leaves the project. Use a path relative to the project folder, like "src/main.py".',
  ],
  path_has_backslashes: ['bad_request', 'Path not allowed: separate folders by "/", not by "\\".'],
  path_has_invisible_characters: [
    'bad_request',
    'Path not allowed: it contains control or invisible characters.',
  ],
  path_is_project: ['bad_request', 'Path not allowed: it names the project folder itself.'],
  path_name_too_long: ['bad_request', 'Path not allowed: a name in it is too long.'],
  path_not_unicode: ['bad_request', 'Path not allowed: it is not valid Unicode.'],
  path_taken: ['conflict', 'There is already something at "{{path}}".'],
  path_through_file: [
    'not_found',
    '"{{path}}" cannot be reached: a part of the path is not a folder.',
  ],
  path_too_deep: ['bad_request', 'Path not allowed: more than {{limit}} folders deep.'],
  path_too_long: ['bad_request', 'Path not allowed: it is too long.'],
  project_busy: [
    'store_busy',
    'Another change of this project is still running. Nothing was changed.',
  ],
  project_deleted: [
    'project_deleted',
    'This project was deleted. Nothing was changed, and it can no longer be changed.',
  ],
  project_deleted_during_run: [
    'project_deleted',
    'The project of this conversation was deleted during the run, so the answer ends here. Send the message again to continue without the project.',
  ],
  project_full: [
    'project_full',
    'The project would grow past its limit of {{limit}}. Delete something first.',
  ],
  project_name_taken: ['name_taken', 'You already have a project with this name.'],
  project_not_found: ['not_found', 'There is no such project.'],
  quota_claim_refused: [
    'quota_exceeded',
    'There is not enough storage for another {{more}}. You can store at most {{limit}} in all projects, documents and attached files together, and have stored {{used}}. Delete some of them first.',
  ],
  quota_exceeded: [
    'quota_exceeded',
    'The change was undone because it exceeds your storage. You can store at most {{limit}} in all projects, documents and attached files together, and have stored {{used}}. Delete some of them first.',
  ],
  request_stopped: ['store_busy', 'The request was stopped. Nothing was changed.'],
  search_not_isolated: ['internal', 'The search could not be isolated from the host.'],
  search_busy: ['store_busy', 'You have {{count}} searches waiting. Try again when they are done.'],
  search_not_started: ['internal', 'The search program could not be started.'],
  search_path_is_link: ['path_escapes', '"{{path}}" is a symbolic link, which is not followed.'],
  search_path_not_found: ['not_found', 'There is no file or folder "{{path}}" to search.'],
  search_pattern_invalid: [
    'bad_request',
    'The pattern cannot be read: {{detail}}. Escape special characters with "\\" to search for them as they are.',
  ],
  too_many_changes: ['bad_request', 'At most {{limit}} files can be changed at once.'],
  too_many_files_open: ['store_busy', 'Too many files are open. Try again in a moment.'],
  too_many_restored: ['bad_request', 'At most {{limit}} files can be restored at once.'],
  upload_fields_invalid: ['validation_failed', '{{detail}}'],
  upload_has_too_many_files: ['payload_too_large', 'An upload can have at most {{limit}} files.'],
  upload_repeats: ['conflict', 'The upload contains "{{path}}" twice.'],
  upload_too_large: ['payload_too_large', 'An upload can have at most {{limit}}.'],
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
    'A file of the upload is larger than this server allows.',
  ],
  uploads_busy: ['server_busy', 'The server is receiving too many uploads. Try again in a moment.'],
  uploads_exhausted: [
    'too_many_requests',
    'At most {{limit}} uploads can run at once. Wait for one to end, then try again.',
  ],
  work_stopped: ['bad_request', 'The work was stopped.'],
  work_too_slow: ['bad_request', 'The work took longer than {{seconds}} s.'],
  upload_not_multipart: ['bad_request', 'Send the files as multipart/form-data.'],
} as const
