// Helpers that both drivers apply to every statement.
import type { Logger } from 'drizzle-orm'
import type { StatementListener } from './database.ts'

/** PostgreSQL's text cannot contain U+0000. It is replaced on both databases, so that both return the same text. */
export const bindableText = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text

/** drizzle's options for passing every statement to a listener. */
export const toDrizzleLogger = (onStatement: StatementListener | undefined): { logger?: Logger } =>
  onStatement === undefined ? {} : { logger: { logQuery: onStatement } }
