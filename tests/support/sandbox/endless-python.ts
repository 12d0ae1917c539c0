// A child process for tests that kill it: runs an endless Python program and prints "on" once it is running.
import { openPython } from './python.ts'

const python = await openPython({
  isolation: process.argv[2] === 'kernel' ? 'kernel' : 'wasm',
  poolSize: 1,
})
await python.program('print("on")\nwhile True:\n    pass', {
  strictness: 'lenient',
  onOutput: () => console.log('on'),
})
