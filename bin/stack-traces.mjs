// Makes stack traces name the sources. Node's own support reads all source maps at startup, which takes 20 MB.
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The maps that traces have needed so far, by file of the build; null where there is none. */
const maps = new Map()

function mapOf(file) {
  if (!maps.has(file)) {
    let map = null
    try {
      map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
    } catch {
      // A package that is not part of the build has no map.
    }
    maps.set(file, map)
  }
  return maps.get(file)
}

/** One line of a trace, with its source location if known. */
function describe(call) {
  const text = call.toString()
  const place = call.getScriptNameOrSourceURL()
  const [line, column] = [call.getLineNumber(), call.getColumnNumber()]
  if (!place?.startsWith('file:') || line === null || column === null) return text
  const file = fileURLToPath(place)
  const entry = mapOf(file)?.findEntry(line - 1, column - 1)
  if (entry?.originalSource === undefined) return text
  const source = resolve(dirname(file), entry.originalSource)
  const original = `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  return text.replace(`${place}:${line}:${column}`, original)
}

/** Maps are read when the first trace is printed. Traces are built when something reads them, not when errors are thrown. */
export function nameSourcesInTraces() {
  Error.prepareStackTrace = (error, calls) =>
    [Error.prototype.toString.call(error), ...calls.map((call) => `    at ${describe(call)}`)].join(
      '\n',
    )
}
