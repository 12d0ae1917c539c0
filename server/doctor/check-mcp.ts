// Checks that the MCP servers can be reached, and says what their programs printed last where that helps.
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import { type Finding, failedBy, fine } from './finding.ts'

/** An MCP server as the last attempt to connect to it left it. */
export interface CheckedMcpServer {
  name: string
  state: 'connected' | 'sign_in_needed' | 'connecting' | 'failed'
  tools: number
  /** Why it is not connected; null if that is not known. */
  failure: DescribedFailure | null
  /** What its program printed on its standard error, without secrets; null if it printed nothing. */
  output: string | null
}

const MAX_LINES = 4
const MAX_CHARACTERS = 600

/** One finding for each server. */
export async function checkMcp(
  read: () => Promise<readonly CheckedMcpServer[]>,
): Promise<Finding[]> {
  return (await read()).map(findingOf)
}

function findingOf({ name, state, tools, failure, output }: CheckedMcpServer): Finding {
  const subject = `MCP server ${name}`
  const params = { server: name }
  if (state === 'connected')
    return fine('mcp_ok', subject, `responds, ${tools} tools`, { ...params, tools })
  if (state === 'sign_in_needed')
    return fine('mcp_sign_in', subject, 'responds; each user signs in to it', params)
  if (state === 'connecting')
    return {
      state: 'warn',
      code: 'mcp_connecting',
      params,
      subject,
      detail: 'is still starting; a first start may take minutes',
    }
  const why = failure ?? storedFailure('mcp_too_slow')
  const said = lastLines(output)
  return {
    state: 'fail',
    code: said === '' ? 'mcp_broken' : 'mcp_broken_output',
    params: { ...params, ...failedBy(why), output: said },
    subject,
    detail: why.message,
    advice:
      said === ''
        ? 'Check its settings. Until then, its tools cannot be called.'
        : `Its program printed last: ${said}`,
  }
}

/** The last lines of a program's output, in one line. */
const lastLines = (output: string | null): string =>
  (output ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-MAX_LINES)
    .join(' | ')
    .slice(-MAX_CHARACTERS)
