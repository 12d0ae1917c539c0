// What both drivers need around every statement.
import type { Logger } from 'drizzle-orm'
import type { StatementListener } from './database.ts'

/** PostgreSQL's text cannot hold U+0000; replaced on both databases, so that both give the same text back. */
export const bindableText = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text

export const toDrizzleLogger = (onStatement: StatementListener | undefined): { logger?: Logger } =>
  onStatement === undefined ? {} : { logger: { logQuery: onStatement } }
