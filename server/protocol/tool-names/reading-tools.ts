// The tools whose successful results are sources: what an answer may quote.
import { canonicalToolName } from './tool-aliases.ts'

/** Tools that return text that was there before: from the web, documents, files and earlier results. */
const READING_TOOLS: ReadonlySet<string> = new Set([
  'web_search',
  'fetch_page',
  'crawl_batch',
  'search_knowledge',
  'file_read',
  'file_list',
  'file_glob',
  'file_grep',
  'result_read',
])

/** Whether a tool reads, by its name or an alias. Those of MCP servers do, as far as anybody knows. */
export const isReadingTool = (name: string): boolean =>
  READING_TOOLS.has(canonicalToolName(name)) || name.startsWith('mcp__')
