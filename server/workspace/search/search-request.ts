// What is asked of a search in a project's files, and what it answers.

export interface GrepRequest {
  /** A regular expression, or plain text when `fixed`. */
  pattern: string
  fixed: boolean
  caseSensitive: boolean
  /** File or folder to which the search is limited; '' is the whole project. */
  path: string
  /** Only files that match this pattern of paths. */
  glob?: string
  maxResults: number
  signal?: AbortSignal
}

export interface GrepMatch {
  path: string
  /** From 1. */
  line: number
  /** The line, cut to 500 characters. */
  content: string
}

export interface GrepResult {
  matches: GrepMatch[]
  /** There may be more: the number of results or the time was up. */
  truncated: boolean
}

export interface FindResult {
  paths: string[]
  truncated: boolean
}
