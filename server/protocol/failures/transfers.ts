// Why exports and imports fail, and why an import leaves something out, with their English texts.

/** `reason` → text. Each text completes "the export failed: …", "the import failed: …" or "<what> was left out: …". */
export const TRANSFER_FAILURES = {
  export_failed: "something unexpected happened; the server's log has the details",
  export_interrupted: 'the server was restarted meanwhile; start the export again',
  import_already_there: 'it was imported before',
  import_archive_bomb: 'it is compressed more than {{ratio}} times, which no real export is',
  import_archive_damaged: 'the archive is damaged or incomplete; download it again',
  import_archive_encrypted:
    'it is protected by a password; unpack the archive and pack it again without one',
  import_archive_too_large: 'unpacked, the archive is larger than {{limit}}',
  import_archive_too_many_files: 'the archive has more than {{limit}} files',
  import_conversation_too_large: 'it is larger than {{limit}}',
  import_cycle: 'its messages form a circle',
  import_database_unreadable: 'the SQLite file is damaged or has unknown tables',
  import_disk_full: "the server's disk is full",
  import_entry_link: 'it is a link',
  import_entry_unsafe: 'its name leads out of the archive',
  import_failed: "something unexpected happened; the server's log has the details",
  import_file_missing: 'the export does not contain it',
  import_file_refused: 'this server refuses it: {{detail}}',
  import_format_unknown:
    'this is no export of NanoClaw, ChatGPT, Claude, Open WebUI or LibreChat, and no SQLite file of the Python NanoClaw',
  import_in_trash: 'it is in the trash; restore it there',
  import_interrupted:
    'the server was restarted meanwhile; import the file again: what is already there stays and is not imported twice',
  import_json_damaged: 'the JSON is damaged or incomplete',
  import_no_messages: 'it contains no messages',
  import_out_of_memory: 'it needs more memory than an import may use',
  import_project_exists: 'you already have a project with this name; its files were not changed',
  import_too_many_messages: 'it has more than {{limit}} messages',
  import_too_slow: 'it took too long to read',
  import_unreadable: 'it does not have the expected form ({{detail}})',
} as const satisfies Record<string, string>
