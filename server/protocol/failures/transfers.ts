// Why exports and imports fail, and why an import leaves something out, with their English texts.

/** `reason` → text. Each text completes "the export failed: …", "the import failed: …" or "<what> was left out: …". */
export const TRANSFER_FAILURES = {
  blobs_unreachable: 'the storage of files is not available; try again later',
  export_failed: 'an unexpected error occurred; see the server log for details',
  export_interrupted: 'the server restarted in the meantime; start the export again',
  import_already_there: 'it was already imported',
  import_archive_bomb: 'its compression ratio is above {{ratio}}, which no genuine export reaches',
  import_archive_damaged: 'the archive is damaged or incomplete; download it again',
  import_archive_encrypted:
    'it is password-protected; unpack the archive and pack it again without a password',
  import_archive_too_large: 'the unpacked archive is larger than {{limit}}',
  import_archive_too_many_files: 'the archive has more than {{limit}} files',
  import_conversation_too_large: 'it is larger than {{limit}}',
  import_cycle: 'its messages form a cycle',
  import_database_unreadable: 'the SQLite file is damaged or has an unknown schema',
  import_disk_full: "the server's disk is full",
  import_entry_link: 'it is a link',
  import_entry_unsafe: 'its name points outside the archive',
  import_failed: 'an unexpected error occurred; see the server log for details',
  import_file_missing: 'it is missing from the export',
  import_file_refused: 'this server does not accept it: {{detail}}',
  import_format_unknown:
    'this is not an export from NanoClaw, ChatGPT, Claude, Open WebUI or LibreChat, nor a SQLite file of the Python NanoClaw',
  import_in_trash: 'it is in the trash; restore it there',
  import_interrupted:
    'the server restarted in the meantime; import the file again (what is already there is not imported twice)',
  import_json_damaged: 'the JSON is damaged or incomplete',
  import_marks_unknown:
    'marks of this kind in “{{conversation}}” are not known, and the export does not contain what they show',
  import_no_messages: 'it contains no messages',
  import_out_of_memory: 'it needs more memory than an import is allowed to use',
  import_parts_unknown: 'parts of this kind in “{{conversation}}” are not known and were left out',
  import_project_exists: 'you already have a project with this name; its files were not changed',
  import_storage_full:
    'your storage has no room for its texts; delete some conversations, shared links or files and import it again (what is already there is not imported twice)',
  import_too_many_messages: 'it has more than {{limit}} messages',
  import_too_slow: 'reading it took too long',
  import_unreadable: 'it does not have the expected structure ({{detail}})',
} as const satisfies Record<string, string>
