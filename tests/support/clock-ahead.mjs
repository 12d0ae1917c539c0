// Sets the clock of a process ahead, by five minutes or by AHEAD_MS, or by what the file AHEAD_FILE says, which is read again
// at SIGUSR2: `node --import …/clock-ahead.mjs`.
import { readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const { AHEAD_FILE, AHEAD_MS = 5 * 60_000 } = process.env
const readAhead = () =>
  Number(AHEAD_FILE === undefined ? AHEAD_MS : readFileSync(AHEAD_FILE, 'utf8'))
let ahead = readAhead()
if (AHEAD_FILE !== undefined && isMainThread)
  process.on('SIGUSR2', () => {
    ahead = readAhead()
  })

const now = Date.now
Date.now = () => now() + ahead
globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) =>
    Reflect.construct(target, values.length === 0 ? [Date.now()] : values, made),
})
