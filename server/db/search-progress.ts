// The settings with the progress of the background indexing, which belong to the search index of one database.

/**
 * Of texts that were never indexed, of those without their single characters, and of those without emoji, the parts of
 * compounds and words without article and vowel marks; of passages of documents without the latter.
 */
export const PROGRESS_KEYS = {
  missing: 'search-index',
  characters: 'search-characters',
  words: 'search-further-words',
  passages: 'search-passage-words',
} as const
