// The request that runs a Python program, without the model.
import type { PythonOutcome } from '../../../../../server/protocol/programs/python.ts'
import { request } from '../../../lib/http/api-client.ts'

/** Text in quotation marks that names something in the project's folder. */
const IN_WORKSPACE = /(["'])\/workspace\/([^"'\n]+)\1/g
/** A placeholder of a formatted text, whose value only the program knows. */
const PLACEHOLDER = /\{[^}]*\}/g

/** The paths and patterns of the project files that a program names: `f"/workspace/{month}.csv"` -> `*.csv`. */
export const filesNamedIn = (code: string): string[] => {
  const found = [...code.matchAll(IN_WORKSPACE)].map(([, , path]) => path ?? '')
  return [...new Set(found.map((path) => path.replace(PLACEHOLDER, '*')))]
}

/** Runs the program until it ends, or until `signal` is aborted. */
export const runPython = (
  code: string,
  place: { conversationId: string; projectId: string | null },
  signal: AbortSignal,
): Promise<PythonOutcome> =>
  request<PythonOutcome>(`/api/conversations/${place.conversationId}/python`, {
    method: 'POST',
    body: { code, files: place.projectId === null ? [] : filesNamedIn(code) },
    signal,
  })
