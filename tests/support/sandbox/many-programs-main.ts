// A process for tests that kill it: starts programs without end, isolated by bubblewrap or not, and prints "on" with the first.
import { bubblewrapArguments, detectBubblewrap } from '../../../server/sandbox/bubblewrap.ts'
import { startProcess } from '../../../server/sandbox/process.ts'

const [, , isolation, mark = ''] = process.argv
const PROGRAMS = 30
const bubblewrap = await detectBubblewrap()
const program = ['/bin/sh', '-c', 'while :; do sleep 1; done', mark]
const [command = '', ...args] =
  isolation === 'kernel' && bubblewrap.available
    ? [
        bubblewrap.path,
        ...(await bubblewrapArguments({ workingDirectory: '/tmp', network: 'none' })),
        ...program,
      ]
    : program
for (let count = 0; count < PROGRAMS; count += 1) {
  startProcess({
    command,
    args,
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    maxOutputBytes: 1_000,
    endsWithServer: true,
  })
  if (count === 0) process.stdout.write('on\n')
  await new Promise(setImmediate)
}
