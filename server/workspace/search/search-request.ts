// The parameters and results of a search in a project's files.
import type { GrepProgress } from './search-progress.ts'

/** What to search for in the files of a project. */
export interface GrepRequest {
  /** A regular expression, or plain text when `fixed`. */
  pattern: string
  fixed: boolean
  caseSensitive: boolean
  /** File or folder to search in; '' is the whole project. */
  path: string
  /** Only searches files whose path matches this pattern. */
  glob?: string
  maxResults: number
  /** Called a few times per second. */
  onProgress?(progress: GrepProgress): void
  signal?: AbortSignal
}

/** One line that matches. */
export interface GrepMatch {
  path: string
  /** From 1. */
  line: number
  /** The line, cut to 500 characters. */
  content: string
}

/** The matches of one search. */
export interface GrepResult {
  matches: GrepMatch[]
  /** There may be more matches: the search reached its result or time limit. */
  truncated: boolean
}

/** The paths that a search by name found. */
export interface FindResult {
  paths: string[]
  truncated: boolean
}
