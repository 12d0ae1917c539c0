// Run in a process with few descriptors: uses all of them up, starts a program, and prints what came of it.
import { closeSync, openSync } from 'node:fs'
import { runProcess } from '../../server/sandbox/process.ts'

const opened: number[] = []
process.on('uncaughtException', (error) => {
  // There may be no descriptor to print with.
  for (const descriptor of opened.splice(0)) closeSync(descriptor)
  console.log(JSON.stringify({ uncaught: error.message }))
  process.exit(1)
})

const start = () =>
  runProcess({
    command: '/bin/sh',
    args: ['-c', 'echo ran'],
    cwd: '/',
    env: {},
    maxOutputBytes: 100,
  })

const outcomes: string[] = []
// From no descriptor left to enough of them, so that the start fails at each of its steps once.
for (;;) {
  try {
    opened.push(openSync('/dev/null', 'r'))
  } catch {
    break
  }
}
for (;;) {
  const { startError, stdout } = await start()
  outcomes.push(startError === null ? stdout : ((startError as NodeJS.ErrnoException).code ?? ''))
  const last = opened.pop()
  if (startError === null || last === undefined) break
  closeSync(last)
}
for (const descriptor of opened) closeSync(descriptor)
console.log(JSON.stringify({ outcomes }))
