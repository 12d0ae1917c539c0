// The database and its disk.

export const STORE_FAILURES = {
  blobs_unavailable: [
    'store_unavailable',
    'The storage of files is not available right now. Try again soon.',
  ],
  cursor_gone: [
    'bad_cursor',
    'The message this cursor points to was deleted. Start again from the first page.',
  ],
  cursor_invalid: ['bad_cursor', 'Invalid cursor. Start again from the first page.'],
  disk_unconfirmed: [
    'internal',
    'The disk did not confirm a write. Check the disk, then restart the server.',
  ],
  search_too_slow: ['store_busy', 'The search took too long. Narrow it down and try again.'],
  store_busy: ['store_busy', 'The database is busy. Try again soon.'],
  store_closed: ['store_unavailable', 'The database is closed.'],
  store_file_unusable: [
    'store_unavailable',
    'The database file is currently unusable. Try again soon.',
  ],
  store_full: [
    'store_full',
    'The disk is full. Nothing was stored. Free some space and try again.',
  ],
  store_locked: ['store_busy', 'Another program has locked the database. Try again soon.'],
  store_overloaded: ['store_busy', 'The database is overloaded. Try again soon.'],
  store_unanswered: ['store_unavailable', 'The database is not responding. Try again soon.'],
} as const
