// A child process with a low file descriptor limit: exhausts it, starts programs and prints the outcomes as JSON.
import { closeSync, openSync } from 'node:fs'
import { runProcess } from '../../../server/sandbox/process.ts'

const opened: number[] = []
process.on('uncaughtException', (error) => {
  // Printing may need a descriptor.
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
// Exhausts the descriptors, then frees one after each failed start, so that starting fails once at each of its steps.
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
